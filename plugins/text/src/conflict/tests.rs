//! Conflicts beside listings, here-documents and literals, which hold examples of them.

use std::fmt::Write as _;
use std::path::Path;

use super::check;

const CONFLICT: &str = "<<<<<<< HEAD\na\n=======\nb\n>>>>>>> topic\n";

/// The lines of conflicts that are found in a text, in which `@` is one.
fn found(path: &str, text: &str) -> String {
    let content = text.replace("@\n", CONFLICT);
    let mut found = Vec::new();
    check(Path::new(path), content.as_bytes(), &mut found);
    let line = |at: u32| content[..at as usize].lines().count() + 1;
    found.iter().map(|it| line(it.span.start).to_string()).collect::<Vec<_>>().join(" ")
}

#[test]
fn operands_begin_no_here_document() {
    for (path, text) in [
        ("a.rb", "items << item\n@\n"),
        ("a.rb", "class Shop\n  class << self\n@\n    def x\n      self\n"),
        ("a.rb", "list << entry\n@\nentry\n"),
        ("bin/a", "#!/usr/bin/env ruby\nlist << entry\n@\nentry\n"),
        ("a.pl", "my $b = 1 << width;\n@\nwidth\n"),
        ("a.sh", "m=$((1 << n))\n@\nn\n"),
        ("a.sh", "(( m <<= n ))\n@\n"),
        ("a.bash", "read x <<< word\n@\nword\n"),
        ("a.sh", "cat << END\n@\n  END\n"),
        ("a.sh", "# cat <<END\n@\nEND\n"),
        ("a.sh", "<<END cat\nEND\n@\n"),
        ("a.sh", "cat <<END\nEND\n@\nEND\n"),
    ] {
        assert!(!found(path, text).is_empty(), "{path}: {text}");
    }
}

#[test]
fn here_documents() {
    for (path, text) in [
        ("a.sh", "cat << END >file\n@\nEND\n"),
        ("a.sh", "cat <<'the end' | sort\n@\nthe end\n"),
        ("a.sh", "n=$((1 << k)); cat <<-END\n@\n\tEND\n"),
        ("a.zsh", "diff <(cat <<ONE) <(cat <<TWO)\nONE\n@\nTWO\n"),
        ("a.rb", "x = <<~TEXT.lines\n@\n  TEXT\n"),
        ("a.rb", "names << name\nputs(<<A, <<B)\n@\nA\n@\nB\n"),
        ("a.pm", "print <<\"END\";\r\n@\nEND\r\n"),
        ("a.t", "test_it <<\\END\n@\nEND\n"),
        ("Rakefile", "sh <<END\n@\nEND\n"),
    ] {
        assert_eq!(found(path, text), "", "{path}: {text}");
    }
    assert_eq!(found("a.sh", "cat <<END\n@\nEND\n@\ncat <<END\n@\nEND\n@\n"), "8 20");
    assert_eq!(found("a.c", "cat <<END\n@\nEND\n"), "2", "another language");
}

#[test]
fn asciidoc() {
    for text in
        ["----\n@\n----\n", "[source]\n--------\n@\n--------\n", "......\n@\n......\n", "```c\n@\n```\n"]
    {
        assert_eq!(found("a.adoc", text), "", "{text}");
    }
    for (text, lines) in [
        ("Usage\n-----\n\n@\n", "4"),
        ("Usage\n-----\n\n@\nNotes\n------\n\n----\n@\n----\n", "4"),
        ("[[id]]\nÜbung\n-----\n@\n-----\nx\n-----\n", "4"),
        ("----\n------\n----\n@\n------\n", "4"),
        ("------\n@\n", "2"),
        ("Two lines\nof a text:\n----------\n@\n----------\n", ""),
        ("---\n@\n---\n", "2"),
    ] {
        assert_eq!(found("a.adoc", text), lines, "{text}");
    }
}

#[test]
fn markdown() {
    for (text, lines) in [
        ("````\n```\n@\n```\n````\n@\n", "10"),
        ("- ```sh\n  x\n  ```\n\n@\n", "5"),
        ("1. ~~~\n   ```\n@\n   ~~~\n@\n", "9"),
        ("a\n```in a line``` of text\n@\n", "3"),
        ("```\n@\n", ""),
    ] {
        assert_eq!(found("a.md", text), lines, "{text}");
    }
}

#[test]
fn many_conflicts_take_linear_time() {
    let mut text = String::new();
    for number in 0..10_000 {
        _ = writeln!(text, "x << word{number}\n`{CONFLICT}`");
    }
    for path in ["a.md", "a.adoc", "a.sh", "a.rb", "a.test.ts", "a_test.py"] {
        let mut found = Vec::new();
        check(Path::new(path), text.as_bytes(), &mut found);
        assert!(found.is_empty(), "{path}: one character before each");
        check(Path::new(path), text.replace("\n`", "\n\n").as_bytes(), &mut found);
        assert_eq!(found.len(), 10_000, "{path}");
    }
}
