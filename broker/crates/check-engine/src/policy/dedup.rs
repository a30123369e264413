//! Removal of what several linters find in the same place: a syntax error, a name that is not defined. It is reported once,
//! as the first of them says it; plugins come before language servers. Which rules are the same is declared by the linters.

use std::{collections::HashMap, sync::Arc};

use lint::Span;

use crate::Finding;

/// Splits off what a linter that comes earlier in `linters` says already.
pub(super) fn dedup(findings: Vec<Finding>, linters: &[&str]) -> (Vec<Finding>, Vec<Finding>) {
    if findings.iter().all(|it| it.rule.linter == findings[0].rule.linter) {
        return (findings, Vec::new());
    }
    let rank =
        |it: &Finding| linters.iter().position(|name| **name == *it.rule.linter).unwrap_or(linters.len());
    let mut first: HashMap<Thing, usize> = HashMap::new();
    for finding in &findings {
        let rank = rank(finding);
        first.entry(Thing::of(finding)).and_modify(|it| *it = rank.min(*it)).or_insert(rank);
    }
    findings.into_iter().partition(|it| first.get(&Thing::of(it)) == Some(&rank(it)))
}

/// Key that findings of different linters have in common if they are about the same thing.
#[derive(PartialEq, Eq, Hash)]
enum Thing {
    /// A file that cannot be parsed has one fault, wherever each parser sees it. Not if they call it otherwise: a
    /// grammar for editors may be wrong where a compiler is right.
    Syntax(String),
    /// A finding for which several linters have rules, under one shared name.
    Shared {
        cell: Option<u32>,
        span: Span,
        name: String,
    },
    Other {
        cell: Option<u32>,
        span: Span,
        code: String,
        message: Arc<str>,
    },
}

impl Thing {
    fn of(it: &Finding) -> Self {
        if it.rule.is_syntax_error {
            return Self::Syntax(it.rule.code.clone());
        }
        let (cell, span) = (it.cell.as_ref().map(|it| it.index), it.span);
        match &it.rule.shared_name {
            Some(name) => Self::Shared { cell, span, name: name.clone() },
            None => Self::Other { cell, span, code: it.rule.code.clone(), message: Arc::clone(&it.message) },
        }
    }
}

#[cfg(test)]
mod tests {
    use lint::{LineColumn, Severity};
    use overlay::WorkspacePath;

    use super::*;
    use crate::{CheckedFile, Range, RuleRef};

    fn finding((linter, code, start): (&str, &str, u32)) -> Finding {
        let at = LineColumn { line: 1, column: 1 };
        // A code can have the name after it that it shares with others.
        let (code, shared_name) = code.split_once('=').map_or((code, None), |(code, it)| (code, Some(it)));
        let rule = RuleRef {
            linter: linter.into(),
            code: code.to_owned(),
            name: None,
            url: None,
            is_syntax_error: ["invalid-syntax", "rust"].contains(&code),
            fixes_first: false,
            is_unnecessary: false,
            is_deprecated: false,
            shared_name: shared_name.map(str::to_owned),
        };
        Finding {
            file: Arc::new(CheckedFile { path: WorkspacePath::root(), content: None }),
            rule: Arc::new(rule),
            message: "".into(),
            severity: Severity::Error,
            cell: None,
            span: Span::new(start, start + 1),
            range: Range { start: at, end: at },
            fixes: Arc::new([]),
            related: Arc::new([]),
        }
    }

    #[track_caller]
    fn check(findings: &[(&str, &str, u32)], want: &[&str]) {
        let linters = ["python", "css", "ty", "css-language-server"];
        let (told, again) = dedup(findings.iter().copied().map(finding).collect(), &linters);
        assert_eq!(told.len() + again.len(), findings.len());
        assert_eq!(told.iter().map(|it| it.rule.to_string()).collect::<Vec<_>>(), want);
    }

    #[test]
    fn the_first_linter_is_reported() {
        let undefined = ["F821=undefined-name", "unresolved-reference=undefined-name"];
        check(&[("ty", undefined[1], 3), ("python", undefined[0], 3)], &["python/F821"]);
        check(
            &[("python", undefined[0], 1), ("ty", undefined[1], 3)],
            &["python/F821", "ty/unresolved-reference"],
        );
        let others = [("python", undefined[0], 3), ("ty", "unresolved-reference=another-name", 3)];
        check(&others, &["python/F821", "ty/unresolved-reference"]);
        check(&[("ty", "invalid-syntax", 9), ("python", "invalid-syntax", 3)], &["python/invalid-syntax"]);
        check(
            &[("ty", "invalid-syntax", 9), ("ty", "invalid-syntax", 9)],
            &["ty/invalid-syntax", "ty/invalid-syntax"],
        );
        check(&[("python", "rust", 3), ("ty", "invalid-syntax", 9)], &["python/rust", "ty/invalid-syntax"]);
        check(&[("python", "F401", 3), ("ty", "unused", 3)], &["python/F401", "ty/unused"]);
        check(&[("css", "same", 3), ("css-language-server", "same", 3)], &["css/same"]);
    }
}
