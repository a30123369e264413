//! stylelint's comments: `stylelint-disable`, `-enable`, `-disable-line` and `-disable-next-line`, with names of rules, or
//! for all.

use std::ops::Range;

use raffia::token::Comment;

/// Rules that comments switch off. A rule is `None` where none is named, which means all.
#[derive(Debug, Default)]
pub(crate) struct Suppressed {
    /// From a place on, whether a rule is on: the last that is about a rule holds.
    switches: Vec<(usize, Option<String>, bool)>,
    /// In these lines a rule is off.
    lines: Vec<(Range<usize>, Option<String>)>,
}

impl Suppressed {
    pub(crate) fn of(text: &str, comments: &[Comment<'_>]) -> Self {
        let mut suppressed = Self::default();
        for it in comments {
            let Some(rest) = it.content.trim().strip_prefix("stylelint-") else { continue };
            let (verb, names) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
            for name in rules(names) {
                match verb {
                    "disable" => suppressed.switches.push((it.span.start, name, false)),
                    "enable" => suppressed.switches.push((it.span.start, name, true)),
                    "disable-line" => suppressed.lines.push((line(text, it.span.start), name)),
                    "disable-next-line" => {
                        let last = line(text, it.span.end.saturating_sub(1));
                        suppressed.lines.push((line(text, last.end), name));
                    }
                    _ => {}
                }
            }
        }
        suppressed
    }

    pub(crate) fn drop(&self, code: &str, at: usize) -> bool {
        let is_about = |name: &Option<String>| name.as_deref().is_none_or(|it| it == code);
        let switch = self.switches.iter().rfind(|(from, name, _)| *from <= at && is_about(name));
        switch.is_some_and(|it| !it.2)
            || self.lines.iter().any(|(line, name)| line.contains(&at) && is_about(name))
    }
}

/// Names up to the description after `--`; all rules where there are none.
fn rules(text: &str) -> Vec<Option<String>> {
    let names = text.split("--").next().unwrap_or_default();
    let named = names.split(',').map(str::trim).filter(|it| !it.is_empty());
    let named: Vec<_> = named.map(|it| Some(it.to_owned())).collect();
    if named.is_empty() { vec![None] } else { named }
}

/// The line of a place, with what ends it.
fn line(text: &str, at: usize) -> Range<usize> {
    let at = at.min(text.len());
    let start = text[..at].rfind('\n').map_or(0, |it| it + 1);
    let end = text[at..].find('\n').map_or(text.len(), |it| at + it + 1);
    start..end
}
