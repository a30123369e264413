//! From the world's records to [`lint`]'s, believing nothing: a guest's spans are checked here, once.

use std::{collections::HashSet, sync::Arc};

use lint::{
    Applicability, Because, Completeness, Diagnostic, Edit, EnabledRule, Fix, FixAvailability, Outcome,
    Related, Rule, Severity, Span, Tag,
};
use overlay::WorkspacePath;

use crate::{
    Limits, Manifest, PluginError,
    bindings::{explaining, types},
    error::shortened,
};

/// Converts a report on the file with these bytes.
pub(crate) fn outcome(
    report: types::Report,
    bytes: &[u8],
    manifest: &Manifest,
    limits: &Limits,
) -> Result<Outcome, PluginError> {
    let name = &manifest.full_name();
    check_amounts(&report, limits).map_err(|what| name.too_much(what))?;
    let texts = Texts { file: bytes, cells: report.cells.iter().map(String::as_bytes).collect() };
    let diagnostics = report.diagnostics.into_iter().map(|it| {
        let mut it = diagnostic(it, &texts)?;
        declare(&mut it, manifest);
        Ok::<_, String>(it)
    });
    let diagnostics = diagnostics.collect::<Result<Vec<_>, _>>().map_err(|error| name.invalid(error))?;
    let completeness = match report.completeness {
        types::Completeness::Complete => Completeness::Complete,
        types::Completeness::Excluded if diagnostics.is_empty() => Completeness::Excluded,
        types::Completeness::Excluded => {
            return Err(name.invalid("it has findings in a file that it left out"));
        }
        types::Completeness::Partial(why) => Completeness::Partial(shortened(why)),
    };
    let cells = report.cells.into_iter().map(Arc::from).collect();
    Ok(Outcome { diagnostics, cells, ..Outcome::without_findings(completeness) })
}

/// Adds what the manifest says of the finding's rule.
fn declare(it: &mut Diagnostic, manifest: &Manifest) {
    let name = it.name.as_deref();
    if manifest.is_syntax_error(&it.code, name) {
        it.tags.push(Tag::SyntaxError);
    }
    if manifest.fixes_first(&it.code, name) {
        it.tags.push(Tag::FixFirst);
    }
    it.shared_name = manifest.same_as.shared_name(&it.code, it.url.as_deref());
}

/// Other files that the findings of one file may point into: each is read to tell the lines.
const MAX_OTHERS: usize = 1_000;

/// Each place that a report names takes the host some time and memory.
fn check_amounts(report: &types::Report, limits: &Limits) -> Result<(), String> {
    let diagnostics = &report.diagnostics;
    let edits = diagnostics.iter().flat_map(|it| &it.fixes).map(|it| 1 + it.edits.len());
    let related = diagnostics.iter().map(|it| it.related.len());
    let others = diagnostics.iter().flat_map(|it| &it.related).filter_map(|it| it.path.as_ref());
    let amounts = [
        (diagnostics.len(), limits.diagnostics, "diagnostics for one file"),
        (edits.sum::<usize>() + related.sum::<usize>(), limits.details, "fixes, edits and related places"),
        (others.collect::<HashSet<_>>().len(), MAX_OTHERS, "other files that its findings point into"),
    ];
    let too_much = amounts.into_iter().find(|(count, most, _)| count > most);
    too_much.map_or(Ok(()), |(count, most, what)| Err(format!("{count} {what}, where {most} are allowed")))
}

/// The texts that spans may lie in.
struct Texts<'t> {
    file: &'t [u8],
    cells: Vec<&'t [u8]>,
}

fn diagnostic(it: types::Diagnostic, texts: &Texts<'_>) -> Result<Diagnostic, String> {
    let text = match it.cell {
        None => texts.file,
        Some(cell) => *texts.cells.get(cell as usize).ok_or_else(|| {
            format!("{} is in cell {cell}, and there are {} cells", it.code, texts.cells.len())
        })?,
    };
    let span = |span: types::Span| within(span, text, &it.code);
    let other_file = |span: types::Span| Ok(Span::new(span.start, span.end.max(span.start)));
    let related = it.related.into_iter().map(|related| {
        let span = if related.path.is_some() { other_file(related.span) } else { span(related.span) };
        let path = related.path.map(|path| WorkspacePath::new(&path)).transpose();
        Ok::<_, String>(Related {
            path: path.map_err(|it| it.to_string())?,
            span: span?,
            message: related.message,
        })
    });
    let related = related.collect::<Result<_, _>>()?;
    let fixes = it.fixes.into_iter().map(|it| fix(it, &span)).collect::<Result<_, _>>()?;
    Ok(Diagnostic {
        span: span(it.span)?,
        name: it.name,
        message: it.message,
        severity: severity(it.severity),
        cell: it.cell,
        tags: tags(it.tags),
        url: it.url,
        shared_name: None,
        fixes,
        related,
        code: it.code,
    })
}

fn within(span: types::Span, text: &[u8], code: &str) -> Result<Span, String> {
    let types::Span { start, end } = span;
    let wrong = |what: String| Err(format!("the span {start}..{end} of {code} {what}"));
    if start > end {
        return wrong("ends before it begins".to_owned());
    }
    if end as usize > text.len() {
        return wrong(format!("is outside the text of {} bytes", text.len()));
    }
    match [start, end].into_iter().find(|it| is_inside_character(text, *it as usize)) {
        Some(at) => wrong(format!("cuts the character at byte {at} in two")),
        None => Ok(Span::new(start, end)),
    }
}

/// Whether the offset lies inside a UTF-8 character; bytes that are no text have none.
fn is_inside_character(text: &[u8], at: usize) -> bool {
    let may_be = text.get(at).is_some_and(|it| it & 0b1100_0000 == 0b1000_0000);
    may_be && str::from_utf8(text).is_ok()
}

fn fix(it: types::Fix, span: &impl Fn(types::Span) -> Result<Span, String>) -> Result<Fix, String> {
    let edit = |it: types::Edit| Ok(Edit { span: span(it.span)?, replacement: it.replacement });
    let edits = it.edits.into_iter().map(edit).collect::<Result<Vec<_>, String>>()?;
    if !edits.is_sorted_by(|a, b| a.span.end <= b.span.start) {
        return Err("the edits of a fix overlap or are not in order".to_owned());
    }
    Ok(Fix { message: it.message, applicability: applicability(it.applicability), edits })
}

fn applicability(it: types::Applicability) -> Applicability {
    match it {
        types::Applicability::Safe => Applicability::Safe,
        types::Applicability::Unsafe => Applicability::Unsafe,
        types::Applicability::DisplayOnly => Applicability::DisplayOnly,
    }
}

fn severity(it: types::Severity) -> Severity {
    match it {
        types::Severity::Error => Severity::Error,
        types::Severity::Warning => Severity::Warning,
        types::Severity::Info => Severity::Info,
        types::Severity::Hint => Severity::Hint,
    }
}

fn tags(it: types::Tags) -> Vec<Tag> {
    let known = [(types::Tags::UNNECESSARY, Tag::Unnecessary), (types::Tags::DEPRECATED, Tag::Deprecated)];
    known.into_iter().filter(|(flag, _)| it.contains(*flag)).map(|(_, tag)| tag).collect()
}

pub(crate) fn enabled_rule(it: explaining::EnabledRule) -> EnabledRule {
    let because = match it.because {
        explaining::Because::Default => Because::Default,
        explaining::Because::Configured(file) => Because::Configured(file),
        explaining::Because::Selected => Because::Selected,
    };
    EnabledRule { code: it.code, because }
}

pub(crate) fn rule(it: types::Rule) -> Rule {
    Rule {
        code: it.code,
        name: it.name,
        summary: it.summary,
        explanation: it.explanation,
        url: it.url,
        fix: match it.fix {
            types::FixAvailability::None => FixAvailability::None,
            types::FixAvailability::Sometimes => FixAvailability::Sometimes,
            types::FixAvailability::Always => FixAvailability::Always,
        },
        default: it.default,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_of_whole_characters_in_the_text() {
        let check = |text: &[u8], start, end| {
            within(types::Span { start, end }, text, "x").map(|it| (it.start, it.end))
        };
        let text = "a\u{e9}b".as_bytes();
        assert_eq!(check(text, 1, 3), Ok((1, 3)));
        assert_eq!(check(text, 4, 4), Ok((4, 4)));
        assert_eq!(check(text, 3, 1).unwrap_err(), "the span 3..1 of x ends before it begins");
        assert_eq!(check(text, 1, 5).unwrap_err(), "the span 1..5 of x is outside the text of 4 bytes");
        let inside = "the span 2..3 of x cuts the character at byte 2 in two";
        assert_eq!(check(text, 2, 3).unwrap_err(), inside);
        assert_eq!(check(b"\xff\x80", 1, 2), Ok((1, 2)), "it is no text");
    }
}
