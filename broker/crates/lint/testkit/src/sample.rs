//! Linters that find one of everything in a workspace of odd files: what each format shows, and what is kept of answers.

use std::sync::Arc;

use lint::{Applicability, Diagnostic, Edit, Fix, FixAvailability, Related, Rule, Severity, Span};
use overlay::{Memory, View, WorkspacePath};

use crate::Scripted;

const APP: &str = "import os\nimport sys\n\n\ndef main():\n\tprint(\"a\u{10400}b\", x)\r\n    return\n";

/// A path, a text and a message with the special characters of each format, and with characters that no format can hold.
const ODD_PATH: &str = "src/\u{e9} \"q\" %;]&.py";
const ODD: &str = "\u{feff}\tx]]>\r\ny\r\n";
const ODD_MESSAGE: &str = "]]> <a b='\"'> & 5%0A, ;#: \u{1}\t\u{ffff}\r\n##[x] a\u{10400}b";

/// The files.
pub fn view() -> Arc<dyn View> {
    let files = [
        ("src/app.py", APP),
        ("src/book.ipynb", "{}"),
        ("bad, name.py", "a\n"),
        ("docs/odd.txt", "x"),
        (ODD_PATH, ODD),
    ];
    Arc::new(Memory::from_files(files).unwrap())
}

fn path(path: &str) -> WorkspacePath {
    WorkspacePath::new(path).unwrap()
}

fn span_of(text: &str, part: &str) -> Span {
    let start = u32::try_from(text.find(part).unwrap()).unwrap();
    Span::new(start, start + u32::try_from(part.len()).unwrap())
}

fn diagnostic(code: &str, message: &str, severity: Severity, span: Span) -> Diagnostic {
    Diagnostic {
        code: code.to_owned(),
        name: None,
        message: message.to_owned(),
        severity,
        cell: None,
        span,
        tags: Vec::new(),
        url: None,
        shared_name: None,
        fixes: Vec::new(),
        related: Vec::new(),
    }
}

fn unused(cell: Option<u32>) -> Diagnostic {
    let edits = vec![Edit { span: Span::new(0, 10), replacement: String::new() }];
    let message = Some("Remove unused import: `os`".to_owned());
    Diagnostic {
        name: Some("unused-import".to_owned()),
        url: Some("https://docs.astral.sh/ruff/rules/unused-import".to_owned()),
        cell,
        fixes: vec![Fix { message, applicability: Applicability::Safe, edits }],
        ..diagnostic("F401", "`os` imported but unused", Severity::Error, Span::new(7, 9))
    }
}

fn undefined() -> Diagnostic {
    let edit = Edit { span: span_of(APP, "x"), replacement: "y".to_owned() };
    Diagnostic {
        name: Some("undefined-name".to_owned()),
        fixes: vec![
            Fix {
                message: Some("Call it `y`".into()),
                applicability: Applicability::Unsafe,
                edits: vec![edit],
            },
            Fix { message: None, applicability: Applicability::DisplayOnly, edits: Vec::new() },
        ],
        related: vec![
            Related { path: None, span: Span::new(0, 6), message: "imports are here".into() },
            Related { path: Some(path("docs/odd.txt")), span: Span::new(0, 1), message: "see here".into() },
        ],
        ..diagnostic("F821", "undefined name `x`\nand more", Severity::Warning, span_of(APP, "x"))
    }
}

fn hostile() -> Diagnostic {
    let edit = Edit { span: span_of(ODD, "x]]>"), replacement: "]]>\r\n\u{1}\"".to_owned() };
    Diagnostic {
        name: Some("a<b>".to_owned()),
        fixes: vec![Fix { message: None, applicability: Applicability::Safe, edits: vec![edit] }],
        ..diagnostic("X]]>&", ODD_MESSAGE, Severity::Error, span_of(ODD, "x]]>"))
    }
}

/// About a file as such; two are alike but for the message.
fn nowhere(message: &str) -> Diagnostic {
    diagnostic("W391", message, Severity::Warning, Span::new(0, 0))
}

fn python() -> Scripted {
    let long = diagnostic("W999", "spans lines", Severity::Info, span_of(APP, "def main():\n\tprint"));
    Scripted::new("python", &["*.py", "*.ipynb"])
        .finds("src/app.py", vec![undefined(), unused(None), long])
        .finds(ODD_PATH, vec![hostile(), nowhere("nothing to point at"), nowhere("nor here")])
        .cells("src/book.ipynb", vec!["# Title", "import os\n"])
        .finds("src/book.ipynb", vec![unused(Some(1))])
        .fails("bad, name.py", "plugin `python` 1.0.0 crashed: 100%")
        .knows(Rule {
            code: "F401".into(),
            name: "unused-import".into(),
            summary: "Checks for unused imports".into(),
            explanation: "## What it does\nChecks for unused imports.".into(),
            url: None,
            fix: FixAvailability::Sometimes,
            default: true,
        })
}

fn text() -> Scripted {
    let odd = diagnostic("bidi", "steers\u{1b}[31m the terminal", Severity::Hint, Span::new(0, 1));
    Scripted::new("text", &["*"]).finds("docs/odd.txt", vec![odd]).partly("docs/odd.txt", "too many findings")
}

/// The linters.
pub fn linters() -> Vec<Arc<dyn lint::Linter>> {
    vec![Arc::new(python()), Arc::new(text())]
}
