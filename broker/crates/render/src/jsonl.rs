//! One JSON object per line: each finding, each incomplete answer, then the summary; told apart by `type`.

use std::{
    borrow::Cow,
    io::{self, Write},
};

use serde::Serialize;

use super::{
    Page,
    json::{Excluded, Finding, Incomplete, Summary, Unavailable, root},
};

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Line<'a> {
    Finding(Finding<'a>),
    Incomplete(Incomplete<'a>),
    Unavailable(Unavailable<'a>),
    Excluded(Excluded<'a>),
    ReadInPart(Excluded<'a>),
    Summary {
        root: Cow<'a, str>,
        #[serde(flatten)]
        summary: Summary,
    },
}

pub(super) fn render(page: &Page<'_>, out: &mut dyn Write) -> io::Result<()> {
    let report = page.report;
    report.findings.iter().try_for_each(|it| line(&Line::Finding(Finding::of(it)), out))?;
    report.incomplete.iter().try_for_each(|it| line(&Line::Incomplete(Incomplete::of(it)), out))?;
    report.unavailable.iter().try_for_each(|it| line(&Line::Unavailable(Unavailable::of(it)), out))?;
    let excluded = |it| match Excluded::of(it) {
        part if it.in_part => Line::ReadInPart(part),
        whole => Line::Excluded(whole),
    };
    report.excluded.iter().try_for_each(|it| line(&excluded(it), out))?;
    line(&Line::Summary { root: root(page), summary: Summary::of(report) }, out)
}

fn line(line: &Line<'_>, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, line)?;
    writeln!(out)
}

#[cfg(test)]
mod tests {
    use crate::{Format, fixture};

    #[test]
    fn looks_so() {
        insta::assert_snapshot!(fixture::render(Format::Jsonl));
    }
}
