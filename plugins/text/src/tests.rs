//! Findings in small texts, and texts without any.

#![allow(clippy::disallowed_methods, reason = "a plugin has no overlay: its file system is the branch")]

use broker_plugin_sdk::Severity;

use super::*;

fn check(path: &str, content: impl AsRef<[u8]>) -> String {
    let found = findings(Path::new(path), content.as_ref());
    let told = found.iter().map(|it| format!("{} {}-{}", it.code, it.span.start, it.span.end));
    told.collect::<Vec<_>>().join(", ")
}

#[test]
fn conflicts() {
    assert_eq!(check("a.py", "x\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> topic\n"), "merge-conflict 2-14");
    assert_eq!(
        check("a.py", "<<<<<<< HEAD\r\na\r\n||||||| 1a2b\r\n=======\r\n>>>>>>> topic\r\n"),
        "merge-conflict 0-12"
    );
    assert_eq!(check("a.rst", "<<<<<<< a\n=======\nTitle\n=======\n>>>>>>> b\n"), "merge-conflict 0-9");
    assert_eq!(check("a.rst", "Title\n=======\n"), "");
    assert_eq!(
        check("a.md", "    <<<<<<< HEAD\n    =======\n    >>>>>>> topic\n"),
        "",
        "indented: an example"
    );
    assert_eq!(check("a.txt", "<<<<<<< HEAD\n>>>>>>> topic\n=======\n"), "", "out of order");
    assert_eq!(check("a.txt", "<<<<<<<< HEAD\n=======\n>>>>>>>> topic\n"), "", "eight");
}

#[test]
fn encodings() {
    assert_eq!(check("a.c", b"// caf\xe9\n"), "invalid-utf8 6-7");
    assert_eq!(check("a.py", b"# -*- coding: latin-1 -*-\n# caf\xe9\n"), "");
    assert_eq!(check("a.py", b"# -*- coding: utf-8 -*-\n# caf\xe9\n"), "invalid-utf8 29-30");
    assert_eq!(check("a.xml", b"<?xml version='1.0' encoding='iso-8859-1'?><a>\xe9</a>"), "");
    assert_eq!(check("de.po", b"\"Content-Type: text/plain; charset=ISO-8859-1\\n\"\nmsgstr \"\xfc\"\n"), "");
    assert_eq!(check("a.txt", b"\xff\xfea\0b\0"), "");
    assert_eq!(check("a.bin", b"\xe9\0"), "");
    let found = findings(Path::new("a.c"), b"a \xe9 b \xe9 c with more text to make it text\n");
    assert_eq!(found[0].message, "not valid UTF-8 in 2 places, first here: byte 0xE9");
}

#[test]
fn hidden_directions() {
    assert_eq!(
        check("a.py", "access = 'user\u{202e} \u{2066}# admin\u{2069} \u{2066}'\n"),
        "bidi-control 14-17"
    );
    assert_eq!(check("a.rs", "// \u{2067}abc\n"), "bidi-control 3-6", "never closed");
    assert_eq!(check("a.rs", "// \u{2067}abc\u{2069}\n"), "", "closed");
    assert_eq!(check("a.js", "x\u{200f}"), "", "a mark");
    assert_eq!(check("he.po", "msgstr \"\u{202b}abc\"\n"), "");
    assert_eq!(check("he.po", "msgstr \"\u{202e}abc\"\n"), "bidi-control 8-11");
}

#[test]
fn line_endings() {
    assert_eq!(check("a.txt", "a\nb\n"), "");
    assert_eq!(check("a.txt", "a\r\nb\r\n"), "");
    assert_eq!(check("a.txt", "a\r\nb\nc\n"), "mixed-line-endings 1-3");
    assert_eq!(check("a.txt", "a\r\nb\nc\r\n"), "mixed-line-endings 4-5");
    assert_eq!(check("a.txt", "a\rb\nc\n"), "", "a lone CR is data");
    assert_eq!(check("a.patch", "a\r\nb\n"), "");
    let found = findings(Path::new("a.txt"), b"a\r\nb\nc\r\n");
    assert_eq!(found[0].message, "2 lines end in CRLF, but 1 in LF");
    assert_eq!(found[0].fixes[0].edits[0].replacement, "\r\n");
}

/// A key's marker. In two parts, so that no tool takes this file for a key.
fn begin(kind: &str) -> String {
    format!("-----BEGIN {kind}PRIVATE KEY-----")
}

const BODY: &str = "MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v0WxP4y0Cq2c9PUu7o9tG3Kf0mXn1QeVbRz8a";

#[test]
fn private_keys() {
    let key = begin("");
    assert_eq!(check("a.pem", format!("{key}\n{BODY}\n-----END")), "private-key 0-27");
    assert_eq!(
        check("a.pem", format!("{key}\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES,00\n\n{BODY}\n")),
        "private-key 0-27"
    );
    assert_eq!(check("a.py", format!("K = '''{key}\n{BODY}\n'''")), "private-key 7-34");
    assert_eq!(check("a.js", format!("const k = \"{key}\\n\" +\n  \"{BODY}\\n\" +\n")), "private-key 11-38");
    assert_eq!(check("a.json", format!("{{\"key\": \"{key}\\n{BODY}\\n-----END\"}}")), "private-key 9-36");
    for sample in
        ["test_tls.py", "caddytest/a.pem", "Tests/a.pem", "t/a.pem", "examples/a.pem", "e2e-tests/a.pem"]
    {
        assert_eq!(check(sample, format!("{key}\n{BODY}\n")), "sample-private-key 0-27", "{sample}");
    }
    for real in ["latest/a.pem", "contest/a.pem", "src/a.pem", "attest/a.pem"] {
        assert_eq!(check(real, format!("{key}\n{BODY}\n")), "private-key 0-27", "{real}");
    }
    assert_eq!(check("a.md", format!("paste the `{key}` line")), "");
    assert_eq!(check("a.md", format!("{key}\n...\n-----END")), "");
    assert_eq!(check("a.md", format!("{key}\nMIIEpAIBAAKCAQEA...\n-----END")), "");
    assert_eq!(
        check(
            "a.py",
            format!(
                "if text.startswith('{key}'):\n    return parse_private_key_from_the_text_that_follows(text)"
            )
        ),
        ""
    );
    assert_eq!(check("a.pem", format!("{}\n{BODY}\n", begin("").replace("PRIVATE", "PUBLIC"))), "");
}

#[test]
fn keys_that_are_cut_short() {
    let key = begin("");
    let found = |body: &str| check("ldap.conf", format!("{key}\n{body}\n-----END"));
    for dots in ["...", "…", "....", "[...]", "(…)", "MIIE...", "…q8Zz"] {
        for body in [
            format!("{BODY}\n{dots}\n{BODY}"),
            format!("{BODY}\n{BODY}\n{BODY}\n  {dots}\n{BODY}"),
            format!("{BODY}{dots}{BODY}"),
            format!("{BODY}\n{BODY}\n{BODY}{dots}"),
            format!("# {BODY}\n# {dots}\n# {BODY}"),
            format!("{BODY}\\n{dots}\\n{BODY}"),
            format!("{}{dots}", format!("{BODY}\n").repeat(40)),
        ] {
            assert_eq!(found(&body), "", "{body}");
        }
    }
    assert_eq!(found(&format!("{BODY}\nx0Zq==\nand so on ...")), "private-key 0-27", "after its end");
    assert_eq!(found(&format!("Comment: mine ...\n\n{BODY}\n{BODY}")), "private-key 0-27", "in a header");
    assert_eq!(found(&format!("{BODY}..\n{BODY}")), "private-key 0-27", "what joins strings in Lua");
}

#[test]
fn data_without_nul_is_no_text() {
    let data = b"\x08\x96\x01\x12\x07\xfft\x1a\r\n\x02\x04x\ny\r\n".to_vec();
    assert!(findings(Path::new("message"), &data).is_empty());
    assert_eq!(
        check("colours.log", "\x1b[1m\x08\x08\x08\x08\x08a\r\nb\n"),
        "mixed-line-endings 10-12",
        "is UTF-8"
    );
}

#[test]
fn examples_of_conflicts_in_tests() {
    let conflict = "<<<<<<< HEAD\na\n=======\nb\n>>>>>>> topic\n";
    let rust = format!("#[test]\nfn a() {{\n    check('\"', \"\n{conflict}\");\n}}\n");
    assert_eq!(check("src/a.rs", &rust), "");
    assert_eq!(check("src/a.rs", rust.replace("#[test]\n", "")), "merge-conflict 26-38", "no test");
    assert_eq!(check("tests/a.py", format!("A = \"\"\"\n{conflict}\"\"\"\n")), "");
    assert_eq!(check("tests/a.py", format!("A = 1\n{conflict}B = 2\n")), "merge-conflict 6-18", "in code");
    assert_eq!(check("a.py", format!("A = \"\"\"\n{conflict}\"\"\"\n")), "merge-conflict 8-20", "no test");
    assert_eq!(check("src/a.test.ts", format!("const a = `\n{conflict}`;\n")), "");
    assert_eq!(check("fixtures/merge_conflict.txt", conflict), "");
    assert_eq!(check("fixtures/other.txt", conflict), "merge-conflict 0-12");
    assert_eq!(check("docs/a.md", format!("# A\n\n```text\n{conflict}```\n")), "");
    assert_eq!(check("docs/a.md", format!("```text\n```\n{conflict}")), "merge-conflict 12-24");
    assert_eq!(check("docs/a.adoc", format!("----\n{conflict}----\n")), "");
    assert_eq!(check("t.sh", format!("cat >want <<-\\EOF\n{conflict}EOF\n")), "");
    assert_eq!(check("t.sh", format!("cat <<EOF\nEOF\n{conflict}")), "merge-conflict 14-26");
}

#[test]
fn edit_blocks_for_models_are_no_conflicts() {
    let conflict = "<<<<<<< HEAD\na\n=======\nb\n>>>>>>> topic\n";
    let block = conflict.replace("HEAD", "SEARCH").replace("topic", "REPLACE");
    assert_eq!(check("prompt.txt", &block), "");
    assert_eq!(check("prompt.txt", block.replace('\n', "\r\n")), "");
    assert_eq!(check("prompt.txt", format!("{block}{conflict}")), "merge-conflict 43-55");
    assert_eq!(check("a.txt", block.replace("REPLACE", "topic")), "merge-conflict 0-14", "of a branch");
    assert_eq!(check("a.txt", format!("\u{feff}{conflict}")), "merge-conflict 3-15");
}

#[test]
fn keys_of_tests_have_a_rule_of_their_own() {
    let key = format!("{}\n{BODY}\n-----END", begin(""));
    let found = |path: &str| findings(Path::new(path), key.as_bytes()).remove(0);
    assert_eq!(found("server.key").severity, Severity::Error);
    let sample = found("tests/certs/server.key");
    assert_eq!((sample.code.as_str(), sample.severity), ("sample-private-key", Severity::Warning));
}

#[test]
fn keys_that_are_published() {
    let of_vagrant = "MIIEogIBAAKCAQEA6NF8iallvQVp22WDkTkyrtvp9eWW6A8YVr+kz4TjGYe7gHzI";
    let key = begin("");
    assert_eq!(check("id_rsa", format!("{key}\n{of_vagrant}\n{BODY}\n")), "sample-private-key 0-27");
    let in_a_text = format!("k = \"{key}\\n{of_vagrant}\\n{BODY}\\n\"\n");
    assert_eq!(check("boxes.rb", in_a_text), "sample-private-key 5-32");
    for (path, code) in [
        ("insecure_key", "sample-private-key"),
        ("ssl-cert-snakeoil.key", "sample-private-key"),
        ("secure_key", "private-key"),
    ] {
        assert_eq!(check(path, format!("{key}\n{BODY}\n")), format!("{code} 0-27"), "{path}");
    }
}

#[test]
fn binary_formats() {
    let der = [&[0x30, 0x81, 0x85][..], &b"not all text \xe9\xe8 and so on".repeat(6)[..0x85]].concat();
    assert_eq!(check("key.pk8", &der), "");
    assert_eq!(check("key.der", &der[..40]), "", "by its name");
    assert_eq!(check("key.txt", &der[..60]), "invalid-utf8 1-2", "cut off");
    assert_eq!(check("a.gif", b"GIF89a\xe9 a\r\n\n"), "");
}

#[test]
fn texts_may_begin_as_binary_formats_do() {
    let conflict = "\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> topic\n";
    let second = char::from(u8::try_from(conflict.len() + 2).unwrap());
    assert_eq!(check("a.txt", format!("0{second}{conflict}  ")), "merge-conflict 3-15", "its own length");
    assert_eq!(check("a.txt", format!("BZhao{conflict}")), "merge-conflict 6-18");
    assert_eq!(check("a.txt", format!("GIF8{conflict}")), "merge-conflict 5-17");
    assert_eq!(check("a.txt", format!("x^{conflict}")), "merge-conflict 3-15");
}

#[test]
fn objects_of_git_are_no_text() {
    assert_eq!(check("objects/95/e1f2", [0x78, 0x01, 0x4b, 0xca, 0xc9, 0x4f, 0x52]), "");
}
