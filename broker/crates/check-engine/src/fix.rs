//! Selection of the fixes of one file that can be made together.
//!
//! Fixes are made in ruff's order: by position, ties by linter and rule; a fix that begins before or at the end of the
//! previous one waits for the next round. All edits of a fix are made, or none; an edit that several fixes have in common
//! is made once.

use std::{collections::HashSet, sync::Arc};

use lint::{Applicability, Span};
use overlay::TextEdit;

use crate::{Edit, Finding, Fix, RuleRef};

/// Fixes that can be made together.
#[derive(Debug, Default)]
pub struct Picked {
    pub edits: Vec<TextEdit>,
    pub fixes: Vec<FixId>,
}

/// Identity of a fix that stays the same while offsets change.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FixId {
    pub rule: Arc<RuleRef>,
    message: Arc<str>,
    replacements: Vec<Box<str>>,
}

/// Options for the choice of fixes.
pub struct Choice<'a> {
    pub least: Applicability,
    pub limit: usize,
    pub order: Order,
    pub refused: &'a HashSet<FixId>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    InText,
    /// Fixes that remove more text than they add go last: another fix may need that text, an import for example.
    RemovalsLast,
}

/// The fixes that are to be made and can be made together. `findings` are of one file, in a report's order. What is
/// in a notebook's cell is left alone.
pub fn pick(findings: &[Finding], choice: &Choice<'_>) -> Picked {
    let fixes = findings.iter().filter_map(|it| Some((it, fix_of(it, choice.least)?)));
    let mut fixes: Vec<_> = fixes.filter_map(|(it, fix)| Some((start(fix)?, it, fix))).collect();
    let is_late = |fix: &Fix| choice.order == Order::RemovalsLast && removes(fix);
    fixes.sort_by_key(|(start, it, fix)| (!it.rule.fixes_first, is_late(fix), *start, Arc::clone(&it.rule)));
    let mut picked = Picked::default();
    let mut made: HashSet<(Span, &str)> = HashSet::new();
    let mut last = None;
    for (_, finding, fix) in fixes {
        if picked.fixes.len() >= choice.limit {
            break;
        }
        let id = FixId::of(finding, fix);
        if choice.refused.contains(&id) {
            continue;
        }
        let new: Vec<_> =
            fix.edits.iter().filter(|it| !made.contains(&(it.span, &*it.replacement))).collect();
        if new.first().is_some_and(|it| last.is_some_and(|last| last >= it.span.start)) {
            continue;
        }
        last = new.last().map(|it| it.span.end).or(last);
        made.extend(new.iter().map(|it| (it.span, &*it.replacement)));
        picked.edits.extend(new.into_iter().map(text_edit));
        picked.fixes.push(id);
    }
    picked
}

impl FixId {
    fn of(finding: &Finding, fix: &Fix) -> Self {
        Self {
            rule: Arc::clone(&finding.rule),
            message: Arc::clone(&finding.message),
            replacements: fix.edits.iter().map(|it| it.replacement.clone()).collect(),
        }
    }
}

/// Whether the fix removes more bytes than it adds.
fn removes(fix: &Fix) -> bool {
    let removed: u64 = fix.edits.iter().map(|it| u64::from(it.span.end - it.span.start)).sum();
    removed > fix.edits.iter().map(|it| it.replacement.len() as u64).sum()
}

/// The fix of a finding that may be made.
pub fn fix_of(finding: &Finding, least: Applicability) -> Option<&Fix> {
    let is_sure = |it: &&Fix| it.applicability >= least && !it.edits.is_empty();
    finding.fixes.iter().find(is_sure).filter(|_| finding.cell.is_none())
}

fn start(fix: &Fix) -> Option<u32> {
    fix.edits.iter().map(|it| it.span.start).min()
}

fn text_edit(edit: &Edit) -> TextEdit {
    let Span { start, end } = edit.span;
    TextEdit { start, end, replacement: edit.replacement.to_string() }
}

#[cfg(test)]
mod tests {
    use lint::{LineColumn, Severity};
    use overlay::WorkspacePath;

    use super::*;
    use crate::{CheckedFile, Range};

    const SAFE: Applicability = Applicability::Safe;
    const UNSAFE: Applicability = Applicability::Unsafe;

    fn finding(rule: &str, applicability: Applicability, edits: &[(u32, u32, &str)]) -> Finding {
        let at = LineColumn { line: 1, column: 1 };
        let range = Range { start: at, end: at };
        let edit =
            |it: &(u32, u32, &str)| Edit { span: Span::new(it.0, it.1), range, replacement: it.2.into() };
        let fix = Fix { message: None, applicability, edits: edits.iter().map(edit).collect() };
        Finding {
            file: Arc::new(CheckedFile { path: WorkspacePath::root(), content: None }),
            rule: Arc::new(RuleRef {
                linter: "l".into(),
                code: rule.to_owned(),
                name: None,
                url: None,
                is_syntax_error: false,
                fixes_first: false,
                is_unnecessary: false,
                is_deprecated: false,
                shared_name: None,
            }),
            message: "m".into(),
            severity: Severity::Warning,
            cell: None,
            span: Span::new(0, 0),
            range,
            fixes: [fix].into(),
            related: Arc::default(),
        }
    }

    fn told(findings: &[Finding], least: Applicability, limit: usize) -> String {
        chosen(findings, &Choice { least, limit, order: Order::InText, refused: &HashSet::new() })
    }

    fn chosen(findings: &[Finding], choice: &Choice<'_>) -> String {
        let picked = pick(findings, choice);
        let rules: Vec<_> = picked.fixes.iter().map(|it| it.rule.code.as_str()).collect();
        let edits: Vec<_> = picked.edits.iter().map(|it| format!("{}-{}", it.start, it.end)).collect();
        format!("{}: {}", rules.join(" "), edits.join(" "))
    }

    #[test]
    fn what_makes_others_appear_goes_first() {
        let mut all = [finding("a", SAFE, &[(2, 4, "")]), finding("first", SAFE, &[(3, 5, "")])];
        all[1].rule = Arc::new(RuleRef { fixes_first: true, ..(*all[1].rule).clone() });
        assert_eq!(told(&all, SAFE, 9), "first: 3-5");
    }

    #[test]
    fn what_overlaps_or_touches_waits() {
        let all = [
            finding("late", SAFE, &[(9, 10, "")]),
            finding("b", SAFE, &[(2, 5, "")]),
            finding("a", SAFE, &[(2, 4, "")]),
            finding("touches", SAFE, &[(4, 6, "")]),
        ];
        assert_eq!(told(&all, SAFE, 9), "a late: 2-4 9-10");
        assert_eq!(told(&all, SAFE, 1), "a: 2-4");
    }

    #[test]
    fn all_edits_of_a_fix_or_none() {
        let all = [
            finding("two", SAFE, &[(0, 1, ""), (8, 9, "")]),
            finding("between", SAFE, &[(4, 5, "")]),
            finding("same", SAFE, &[(8, 9, "")]),
        ];
        assert_eq!(told(&all, SAFE, 9), "two same: 0-1 8-9");
    }

    #[test]
    fn what_is_not_sure_enough_is_left() {
        let all = [finding("safe", SAFE, &[(0, 1, "")]), finding("unsafe", UNSAFE, &[(4, 5, "")])];
        assert_eq!(told(&all, SAFE, 9), "safe: 0-1");
        assert_eq!(told(&all, UNSAFE, 9), "safe unsafe: 0-1 4-5");
    }

    #[test]
    fn what_removes_goes_last_and_what_is_refused_never() {
        let all = [finding("removes", SAFE, &[(0, 3, "x")]), finding("adds", SAFE, &[(7, 8, "longer")])];
        let chosen = |refused: &[&Finding], limit| {
            let refused = refused.iter().map(|it| FixId::of(it, &it.fixes[0])).collect();
            chosen(&all, &Choice { least: SAFE, limit, order: Order::RemovalsLast, refused: &refused })
        };
        assert_eq!(chosen(&[], 1), "adds: 7-8");
        assert_eq!(chosen(&[&all[1]], 1), "removes: 0-3");
        assert_eq!(chosen(&[&all[0], &all[1]], 1), ": ");
    }
}
