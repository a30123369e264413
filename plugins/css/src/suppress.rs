//! stylelint's comments: `stylelint-disable`, `-enable`, `-disable-line` and `-disable-next-line`, with names of rules, or
//! for all.

use std::ops::Range;

use raffia::token::Comment;

/// Where which rule is off; all are where none is named.
#[derive(Debug, Default)]
pub(crate) struct Suppressed(Vec<(Range<usize>, Option<String>)>);

impl Suppressed {
    pub(crate) fn of(text: &str, comments: &[Comment<'_>]) -> Self {
        let mut off: Vec<(Range<usize>, Option<String>)> = Vec::new();
        for it in comments {
            let Some(rest) = it.content.trim().strip_prefix("stylelint-") else { continue };
            let (verb, names) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
            let names = names.split(" --").next().unwrap_or_default().trim();
            let named = names.split(',').map(str::trim).filter(|it| !it.is_empty());
            let mut named: Vec<Option<String>> = named.map(|it| Some(it.to_owned())).collect();
            if named.is_empty() {
                named.push(None);
            }
            let line = line(text, it.span.start);
            match verb {
                "disable" => off.extend(named.into_iter().map(|name| (it.span.start..usize::MAX, name))),
                "disable-line" => off.extend(named.into_iter().map(|name| (line.clone(), name))),
                "disable-next-line" => {
                    let next = self::line(text, line.end);
                    off.extend(named.into_iter().map(|name| (next.clone(), name)));
                }
                "enable" => {
                    let is_meant = |name: &Option<String>| named.contains(&None) || named.contains(name);
                    let open =
                        off.iter_mut().filter(|(range, name)| range.end == usize::MAX && is_meant(name));
                    open.for_each(|(range, _)| range.end = it.span.start);
                }
                _ => {}
            }
        }
        Self(off)
    }

    pub(crate) fn drop(&self, code: &str, at: usize) -> bool {
        self.0.iter().any(|(range, name)| range.contains(&at) && name.as_deref().is_none_or(|it| it == code))
    }
}

/// The line of a place, with what ends it.
fn line(text: &str, at: usize) -> Range<usize> {
    let at = at.min(text.len());
    let start = text[..at].rfind('\n').map_or(0, |it| it + 1);
    let end = text[at..].find('\n').map_or(text.len(), |it| at + it + 1);
    start..end
}
