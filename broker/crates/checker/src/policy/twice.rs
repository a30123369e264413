//! What several linters say of the same place: a parser's complaint, a name that is not defined. It is reported once,
//! as the first of them says it; plugins come before language servers.

use std::{collections::HashMap, sync::Arc};

use lint::Span;

use crate::Finding;

/// Codes of different linters for the same thing.
const SAME: [&[&str]; 3] = [
    &["F821", "unresolved-reference", "reportUndefinedVariable"],
    &["property-no-unknown", "unknownProperties"],
    &["at-rule-no-unknown", "unknownAtRules"],
];

/// ShellCheck's code for the same, which is a code or where a rule is described.
fn shellcheck(it: &Finding) -> Option<&str> {
    let described = it.rule.url.as_deref().and_then(|it| it.rsplit('/').next());
    let is_one = |it: &&str| {
        it.strip_prefix("SC").is_some_and(|it| it.len() == 4 && it.bytes().all(|it| it.is_ascii_digit()))
    };
    [Some(it.rule.code.as_str()), described].into_iter().flatten().find(is_one)
}

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
        code: String,
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
        let same = SAME.iter().find(|all| all.contains(&code.as_str())).map(|all| all[0]);
        match same.or_else(|| shellcheck(it)) {
            Some(known) => Self::Known { cell, span, code: known.to_owned() },
            None => Self::Other { cell, span, code: code.clone(), message: Arc::clone(&it.message) },
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
        let linters = ["python", "css", "ty", "css-language-server"];
        let (told, again) = once(findings.iter().copied().map(finding).collect(), &linters);
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
        let css = [("css", "property-no-unknown", 3), ("css-language-server", "unknownProperties", 3)];
        check(&css, &["css/property-no-unknown"]);
    }

    #[test]
    fn a_rule_of_shellcheck_is_known_by_its_page() {
        let told = |urls: [&str; 2], codes: [&str; 2]| {
            let mut all = ["shell", "bash-language-server"].map(|linter| finding((linter, "", 3)));
            for (it, (url, code)) in all.iter_mut().zip(urls.into_iter().zip(codes)) {
                let url = Some(url.to_owned()).filter(|it| !it.is_empty());
                let linter = Arc::clone(&it.rule.linter);
                it.rule = Arc::new(RuleRef { linter, code: code.to_owned(), url, ..(*it.rule).clone() });
            }
            let (told, _) = once(all.to_vec(), &["shell", "bash-language-server"]);
            told.iter().map(|it| it.rule.to_string()).collect::<Vec<_>>()
        };
        let page = "https://www.shellcheck.net/wiki/SC2154";
        assert_eq!(told([page, ""], ["C006", "SC2154"]), ["shell/C006"]);
        assert_eq!(told([page, page], ["C006", "SC2154"]), ["shell/C006"]);
        assert_eq!(told([page, ""], ["C006", "SC2034"]).len(), 2);
        assert_eq!(told(["https://x/SC21", ""], ["C006", "SC2154"]).len(), 2);
    }
}
