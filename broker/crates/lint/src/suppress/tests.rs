//! Texts with suppressions, and findings wherever there is a `!`.

use overlay::WorkspacePath;

use super::*;
use crate::{Applicability, Span};

const TOLD: Options = Options { report_unused: Some(Severity::Warning), require_reason: false };

/// Everything is known.
const ALL: Coverage<'_> =
    Coverage { whole: &["l"], is_all: true, is_of_whole: &|_| false, remark: &|_| None };

/// A finding of `l/X` at each `!`, and of `l/Y` at each `?`; from a `{` to the next `}` one of `l/Z`.
fn findings(text: &str) -> Vec<FindingKey<'_>> {
    let key = |code, start: usize, end: usize| FindingKey {
        linter: "l",
        code,
        name: Some("named"),
        message: "m",
        cell: None,
        span: Span::new(start as u32, end as u32),
    };
    let simple = text.char_indices().filter_map(|(at, it)| match it {
        '!' => Some(key("X", at, at + 1)),
        '?' => Some(key("Y", at, at + 1)),
        '{' => Some(key("Z", at, at + text[at..].find('}')? + 1)),
        _ => None,
    });
    simple.collect()
}

fn verdict(path: &str, text: &str, options: Options) -> Verdict {
    covered(path, text, ALL, options)
}

fn covered(path: &str, text: &str, coverage: Coverage<'_>, options: Options) -> Verdict {
    let findings = findings(text);
    let file = FileFindings { text: text.as_bytes(), findings: &findings };
    suppress(&WorkspacePath::new(path).unwrap(), file, coverage, options)
}

/// Returns the findings that are left, as `line:code`, then the problems likewise.
fn left(path: &str, text: &str) -> String {
    let verdict = verdict(path, text, TOLD);
    let line = |span: Span| crate::LineTable::new(text.as_bytes()).utf8(span.start).line;
    let found = findings(text);
    let left = found.iter().zip(&verdict.suppressed).filter(|(_, suppressed)| !**suppressed);
    let left = left.map(|(it, _)| format!("{}:{}", line(it.span), it.code));
    let problems = verdict.problems.iter().map(|it| format!("{}:{}", line(it.span), it.code));
    left.chain(problems).collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn check(text: &str, want: &str) {
    assert_eq!(left("a.py", text), want, "{text}");
}

#[test]
fn after_code_it_is_for_its_line() {
    check("a! # broker: ignore\nb!\n", "2:X");
    check("a! # broker: ignore[X] it is so\n", "");
    check("a! # broker:ignore[l/X]\n", "");
    check("a!? # broker: ignore[X]\n", "1:Y");
    check("a!? # broker: ignore[X, named]\n", "");
    check("a!? # broker: ignore[l/*]\n", "");
    check("a! # broker: ignore[Y]\n", "1:X 1:unused-suppression");
}

#[test]
fn findings_that_end_on_the_line_are_meant() {
    check("a {\n b\n} # broker: ignore[Z]\n", "");
    check("a { # broker: ignore[Z]\n b\n}\n", "");
    check("a {\n b # broker: ignore[Z]\n}\n", "1:Z 2:unused-suppression");
}

#[test]
fn alone_it_is_for_the_next_line_with_code() {
    check("# broker: ignore[X]\na!\nb!\n", "3:X");
    check("  # broker: ignore[X]\n\n# a comment\n\ta!\n", "");
    check("# broker: ignore[X]\n# broker: ignore[Y]\na!?\n", "");
    check("# broker: ignore[Z]\n}{\n}\n", "");
    check("a {\n# broker: ignore[Z]\n}\n", "1:Z 2:unused-suppression");
    check("# broker: ignore\n", "1:unused-suppression");
}

#[test]
fn next_line_is_the_next_line_with_code_wherever_it_stands() {
    check("a! # broker: ignore-next-line[X]\n\nb!\nc!\n", "1:X 4:X");
    check("# broker: ignore-next-line\nb!?\n", "");
}

#[test]
fn a_file_is_meant_as_a_whole() {
    check("a!\nb?\n# broker: ignore-file[X]\nc!\n", "2:Y");
    check("a! # broker: ignore[X]\n# broker: ignore-file[X]\n", "2:unused-suppression");
}

#[test]
fn ranges_are_switched_off_and_on() {
    check("a!\n# broker: disable[X]\nb!\nc?\n# broker: enable[X]\nd!\n", "1:X 4:Y 6:X");
    check("# broker: disable\na!\nb?\n", "");
    check("# broker: disable\na!\n# broker: enable[X]\nb!?\n# broker: enable\nc?\n", "4:X 6:Y");
    check("# broker: disable[X]\n# broker: enable\na!\n", "3:X 1:unused-suppression");
    check("a!\n# broker: enable[X]\n", "1:X 2:unused-suppression");
    check("# broker: disable[X]\na!\n# broker: enable[X, Y]\n", "3:unused-suppression");
}

#[test]
fn only_comments_count() {
    check("a! # see broker: ignore\n", "1:X");
    check("a! = '# broker: ignore'\n", "1:X");
    check("a! = \"it's # broker: ignore\"\n", "1:X");
    check("a! = '\\'# broker: ignore'\n", "1:X");
    check("a! = 'x' # broker: ignore\n", "");
    check("a! = '''x # broker: ignore'''\n", "1:X");
    check("{'''x\n}''' # broker: ignore\n", "");
    check("a! # don't # broker: ignore\n", "");
    check("a! ## broker: ignore\n", "");
    check("a! # http://broker: ignore\n", "1:X");
    check("a! // broker: ignore\n", "1:X");
}

#[test]
fn other_languages_have_other_comments() {
    for (path, text) in [
        ("a.rs", "let c: &'a str = '\"'; b! // broker: ignore[X]\n"),
        ("a.js", "/* broker: ignore[X] */ a!\n"),
        ("a.js", "a(`x\n!`); // broker: ignore[X]\n"),
        ("a.js", "/* broker: ignore[X] why */\na!\n"),
        ("a.css", "a { b: c! } /* broker: ignore */\n"),
        ("a.sql", "select a! -- broker: ignore[X] -- it is so\n"),
        ("a.lua", "a! -- broker: ignore\n"),
        ("a.hs", "{- broker: ignore-file[Z, X] -}\na!\n"),
        ("a.ml", "(* broker: ignore *)\na!\n"),
        ("a.clj", "(a!) ;; broker: ignore\n"),
        ("a.tex", "a! % broker: ignore\n"),
        ("a.f90", "! broker: ignore-file\n a!\n"),
        ("a.vbs", "rem broker: ignore\na!\n"),
        ("a.vb", "a! ' broker: ignore\n"),
        ("a.bat", ":: broker: ignore\na!\n"),
        ("a.php", "a! # broker: ignore\nb! // broker: ignore\n"),
        ("Dockerfile", "# broker: ignore\nRUN a!\n"),
    ] {
        assert_eq!(left(path, text), "", "{path} {text}");
    }
    let html = "<!-- broker: ignore-next-line[X] -->\n<a>!\n";
    assert_eq!(left("a.html", html), "1:X", "the mark has a ! itself");
    assert_eq!(left("a.rs", "/// broker: ignore\na!\n"), "2:X", "documentation");
    assert_eq!(left("a.vbs", "parem broker: ignore\na!\n"), "2:X");
    assert_eq!(left("a.unknown", "# broker: ignore\na!\n"), "2:X");
}

#[test]
fn mistakes_are_told() {
    check("a! # broker: ignroe[X]\n", "1:X 1:invalid-suppression");
    check("a! # broker: ignore[X\n", "1:X 1:invalid-suppression");
    check("a! # broker: a prose\n", "1:X");
    let needs = Options { require_reason: true, ..TOLD };
    let problems = |text| verdict("a.py", text, needs).problems.len();
    assert_eq!(problems("a! # broker: ignore[X]\n"), 1);
    assert_eq!(problems("a! # broker: ignore[X] why\n"), 0);
    assert_eq!(problems("# broker: disable[X] why\na!\n# broker: enable[X]\n"), 0);
}

#[test]
fn what_is_unused_is_told_only_if_asked() {
    let quiet = Options { report_unused: None, require_reason: false };
    assert_eq!(verdict("a.py", "# broker: ignore\na\n", quiet).problems, []);
    check("# broker: ignore[other/X]\na\n", "");
    check("# broker: ignore[other/*, l/X]\na\n", "1:unused-suppression");
}

#[test]
fn what_another_linter_may_have_found_is_not_called_unused() {
    let text = "# broker: ignore\na\nb # broker: ignore[l/X, X, m/Y]\n# broker: ignore-file[l/*]\n";
    let unused = |whole: &[&str], is_all| {
        let problems = covered("a.py", text, Coverage { whole, is_all, ..ALL }, TOLD).problems;
        problems.into_iter().map(|it| it.message).collect::<Vec<_>>()
    };
    let nothing = "this suppression suppresses nothing";
    let named = |rules| format!("this suppression suppresses no {rules}");
    assert_eq!(unused(&["l"], false), [named("`l/X`"), named("`l/*`")], "others have not looked");
    assert_eq!(unused(&["m"], false), [named("`m/Y`")]);
    assert_eq!(unused(&[], false), [""; 0], "the file cannot be parsed");
    let of_whole = |rule: &RulePattern| rule.to_string() == "X";
    let coverage = Coverage { is_all: false, is_of_whole: &of_whole, ..ALL };
    let problems = covered("a.py", text, coverage, TOLD).problems;
    assert_eq!(problems[0].message, "this suppression suppresses no `l/X`, `X`", "no other linter has that");
    assert_eq!(unused(&["l"], true), [nothing.to_owned(), named("`l/X`, `X`"), named("`l/*`")]);
    let remark = |rule: &RulePattern| rule.linter().is_none().then(|| "there is none".to_owned());
    let problems = covered("a.py", text, Coverage { remark: &remark, ..ALL }, TOLD).problems;
    assert_eq!(problems[1].message, named("`l/X`, `X` (there is none)"));
}

#[test]
fn rules_without_brackets_are_a_mistake() {
    check("a! # broker: ignore X\n", "1:invalid-suppression");
    check("a! # broker: ignore: l/X it is so\n", "1:invalid-suppression");
    check("a! # broker: ignore named\n", "1:invalid-suppression");
    check("a! # broker: ignore F401, python/E501\n", "1:invalid-suppression");
    check("a! # broker: ignore it is X\n", "");
    check("a! # broker: ignore SHA256 is what it is\n", "");
    check("a! # broker: ignore[X] F401\n", "");
    let problem = &verdict("a.py", "a! # broker: ignore X Y why\n", TOLD).problems[0];
    let write = "this suppresses every rule: `X` is not in brackets; write `ignore[X]` for it alone";
    assert_eq!((problem.message.as_str(), problem.fixes[0].applicability), (write, Applicability::Unsafe));
    let fixed =
        applied("a! # broker: ignore X Y why\n", &verdict("a.py", "a! # broker: ignore X Y why\n", TOLD));
    assert_eq!(fixed, "a! # broker: ignore[X] Y why\n");
    let two = "a! # broker: ignore-file F401, E501\n";
    assert_eq!(applied(two, &verdict("a.py", two, TOLD)), "a! # broker: ignore-file[F401, E501]\n");
}

#[test]
fn a_lone_enable_may_belong_to_something() {
    let verdict = verdict("a.py", "# broker: enable[X]\na!\n# broker: disable[X]\nb!\n", TOLD);
    assert_eq!(verdict.problems[0].fixes[0].applicability, Applicability::Unsafe);
}

fn applied(text: &str, verdict: &Verdict) -> String {
    let mut text = text.to_owned();
    for edit in verdict.problems.iter().rev().flat_map(|it| &it.fixes).flat_map(|it| &it.edits) {
        text.replace_range(edit.span.start as usize..edit.span.end as usize, &edit.replacement);
    }
    text
}

/// The text once every fix is applied.
fn fixed(path: &str, text: &str) -> String {
    applied(text, &verdict(path, text, TOLD))
}

#[test]
fn what_is_unused_is_removed() {
    for (before, after) in [
        ("a  # broker: ignore\nb\n", "a\nb\n"),
        ("a  # broker: ignore\r\nb\r\n", "a\r\nb\r\n"),
        ("a\n  # broker: ignore[X] why\nb\n", "a\nb\n"),
        ("a\r\n# broker: ignore\r\nb", "a\r\nb"),
        ("# broker: ignore", ""),
        ("\u{feff}# broker: ignore\na\n", "\u{feff}a\n"),
        ("a  # broker: ignore[X] why # noqa\n", "a  # noqa\n"),
        ("a!  # broker: ignore[X,Y,  V] why\n", "a!  # broker: ignore[X] why\n"),
        ("a  # broker: ignore[l/X, o/X]\n", "a  # broker: ignore[o/X]\n"),
        ("a!  # broker: ignore[X]\n", "a!  # broker: ignore[X]\n"),
        ("# broker: disable[X]\na\n# broker: enable[X]\n", "a\n# broker: enable[X]\n"),
    ] {
        assert_eq!(fixed("a.py", before), after);
    }
    assert_eq!(fixed("a.js", "a(/* broker: ignore */ b)\n"), "a(b)\n");
    assert_eq!(fixed("a.js", "a() /* broker: ignore */\n"), "a()\n");
}

#[test]
fn comments_in_a_cell_are_for_the_cell() {
    let cell = "a! # broker: ignore\n";
    let key = |cell| FindingKey { cell: Some(cell), ..findings("a!")[0] };
    let findings = [key(cell), key("a!\n")];
    let text = br##"{"source": "a! # broker: ignore\n"}"##;
    let path = WorkspacePath::new("a.ipynb").unwrap();
    let verdict = suppress(&path, FileFindings { text, findings: &findings }, ALL, TOLD);
    assert_eq!((verdict.suppressed, verdict.problems), (vec![true, false], vec![]));
}

#[test]
fn any_bytes_will_do() {
    let text = b"\xff! # broker: ignore[\xff]\n# broker:";
    let path = WorkspacePath::new("a.py").unwrap();
    let verdict = suppress(&path, FileFindings { text, findings: &[] }, ALL, TOLD);
    assert_eq!(verdict.problems.len(), 1);
}
