//! Findings of sqruff's that are wrong, and those that may be no mistake where nothing is configured.

use sqruff_lib::core::rules::LintResult;
use sqruff_lib_core::dialects::Dialect;
use sqruff_lib_core::dialects::syntax::{SyntaxKind, SyntaxSet};
use sqruff_lib_core::parser::segments::ErasedSegment;
use sqruff_lib_core::utils::analysis::select::get_select_statement_info;

/// Places of conditions: elsewhere `= NULL` may set something, or show its result.
const CONDITIONS: SyntaxSet = SyntaxSet::new(&[
    SyntaxKind::WhereClause,
    SyntaxKind::HavingClause,
    SyntaxKind::JoinOnCondition,
    SyntaxKind::WhenClause,
]);

/// Whether the finding is wrong whatever is configured.
pub(crate) fn refutes(code: &str, found: &LintResult, tree: &ErasedSegment) -> bool {
    let Some(anchor) = &found.anchor else { return false };
    match code {
        // `f() AS a(b int)` says what columns there are: without the alias PostgreSQL refuses the query.
        "AL05" => {
            let aliases = all(tree, const { &SyntaxSet::single(SyntaxKind::AliasExpression) });
            aliases.iter().any(|it| is_same_or_in(anchor, it) && it.raw().contains('('))
        }
        // A function in FROM that has no alias has its own name for one.
        "RF01" => {
            let name = part(anchor.raw(), |it| it.split('.').next());
            let tables = all(tree, const { &SyntaxSet::single(SyntaxKind::TableExpression) });
            let functions =
                tables.iter().flat_map(|it| all(it, const { &SyntaxSet::single(SyntaxKind::FunctionName) }));
            functions.into_iter().any(|it| part(it.raw(), |it| it.rsplit('.').next()) == name)
        }
        _ => false,
    }
}

/// Whether a finding is a mistake in any database.
pub(crate) fn is_certain(code: &str, found: &LintResult, tree: &ErasedSegment, dialect: &Dialect) -> bool {
    let Some(anchor) = &found.anchor else { return true };
    match code {
        "AL04" => {
            let selects = all(tree, const { &SyntaxSet::single(SyntaxKind::SelectStatement) });
            selects.iter().any(|it| has_twice(it, anchor, dialect))
        }
        "CV05" => tree.path_to(anchor).iter().any(|it| CONDITIONS.contains(it.segment.get_type())),
        _ => true,
    }
}

/// Whether one FROM has an alias twice. A subquery may have an alias of the query around it, and tables of two schemas one name.
fn has_twice(select: &ErasedSegment, alias: &ErasedSegment, dialect: &Dialect) -> bool {
    let Some(info) = get_select_statement_info(select, Some(dialect), true) else { return false };
    let all = info.table_aliases;
    let is_it = |it: &ErasedSegment| place(it) == place(alias);
    let object = |it: &Option<ErasedSegment>| it.as_ref().map(|it| it.raw().clone());
    all.iter().enumerate().any(|(number, it)| {
        let is_again = |before: &sqruff_lib_core::dialects::common::AliasInfo| {
            let is_named = before.aliased || it.aliased;
            let is_same = object(&before.object_reference) == object(&it.object_reference);
            before.ref_str == it.ref_str && (is_named || is_same)
        };
        it.segment.as_ref().is_some_and(is_it) && all[..number].iter().any(is_again)
    })
}

fn all(tree: &ErasedSegment, kinds: &SyntaxSet) -> Vec<ErasedSegment> {
    tree.recursive_crawl(kinds, true, &SyntaxSet::EMPTY, true)
}

fn place(segment: &ErasedSegment) -> Option<std::ops::Range<usize>> {
    segment.get_position_marker().map(|it| it.source_slice.clone())
}

fn is_same_or_in(inner: &ErasedSegment, outer: &ErasedSegment) -> bool {
    let (Some(inner), Some(outer)) = (place(inner), place(outer)) else { return false };
    outer.start <= inner.start && inner.end <= outer.end
}

/// A name without quotes, in small letters.
fn part<'a>(text: &'a str, choose: impl Fn(&'a str) -> Option<&'a str>) -> String {
    let quotes: &[char] = &['"', '`', '[', ']'];
    choose(text).unwrap_or_default().trim().trim_matches(quotes).to_lowercase()
}
