//! What several linters say of the same place: a parser's complaint, a name that nobody defines. It is told once,
//! as the first of them says it; plugins come before language servers.

use std::{collections::HashMap, sync::Arc};

use lint::Span;

use crate::check::Finding;

/// Codes of different linters for the same thing.
const SAME: [&[&str]; 1] = [&["F821", "unresolved-reference", "reportUndefinedVariable"]];

/// Splits off what a linter that comes earlier in `linters` says already.
pub(super) fn once(findings: Vec<Finding>, linters: &[&str]) -> (Vec<Finding>, Vec<Finding>) {
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

/// What findings of different linters may have in common.
#[derive(PartialEq, Eq, Hash)]
enum Thing {
    /// A file that cannot be parsed has one fault, wherever each parser sees it. Not if they call it otherwise: a
    /// grammar for editors may be wrong where a compiler is right.
    Syntax(String),
    /// A code that several linters have a word of their own for.
    Known {
        cell: Option<u32>,
        span: Span,
        code: &'static str,
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
        let (cell, span, code) = (it.cell.as_ref().map(|it| it.index), it.span, &it.rule.code);
        match SAME.iter().find(|all| all.contains(&code.as_str())) {
            Some(all) => Self::Known { cell, span, code: all[0] },
            None => Self::Other { cell, span, code: code.clone(), message: Arc::clone(&it.message) },
        }
    }
}

#[cfg(test)]
mod tests {
    use lint::{LineColumn, Severity};
    use overlay::WorkspacePath;

    use super::*;
    use crate::check::{CheckedFile, Range, RuleRef};

    fn finding((linter, code, start): (&str, &str, u32)) -> Finding {
        let at = LineColumn { line: 1, column: 1 };
        let is_syntax_error = ["invalid-syntax", "rust"].contains(&code);
        let rule =
            RuleRef { linter: linter.into(), code: code.to_owned(), name: None, url: None, is_syntax_error };
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
        let (told, again) = once(findings.iter().copied().map(finding).collect(), &["python", "ty"]);
        assert_eq!(told.len() + again.len(), findings.len());
        assert_eq!(told.iter().map(|it| it.rule.to_string()).collect::<Vec<_>>(), want);
    }

    #[test]
    fn the_first_linter_tells() {
        check(&[("ty", "unresolved-reference", 3), ("python", "F821", 3)], &["python/F821"]);
        check(
            &[("python", "F821", 1), ("ty", "unresolved-reference", 3)],
            &["python/F821", "ty/unresolved-reference"],
        );
        check(&[("ty", "invalid-syntax", 9), ("python", "invalid-syntax", 3)], &["python/invalid-syntax"]);
        check(
            &[("ty", "invalid-syntax", 9), ("ty", "invalid-syntax", 9)],
            &["ty/invalid-syntax", "ty/invalid-syntax"],
        );
        check(&[("python", "rust", 3), ("ty", "invalid-syntax", 9)], &["python/rust", "ty/invalid-syntax"]);
        check(&[("python", "F401", 3), ("ty", "unused", 3)], &["python/F401", "ty/unused"]);
    }
}
