//! Edits of texts that have changed since their author saw them.

use bytes::Bytes;
use overlay::merge_texts;

use super::{
    outcome::{Changed, Reason, Refused},
    text::{with_endings_of, with_lf},
};

/// Merges an edit of an earlier text with the text as it is now.
pub(super) fn merged_since(seen: &str, edited: &str, now: &str) -> Result<Changed, Refused> {
    let text = merged_text(seen, edited, now)?;
    if text == now {
        return Err(Reason::ChangesNothing.into());
    }
    let notes = vec!["merged with what changed in the file since you read it".to_owned()];
    Ok(Changed { text, notes })
}

fn merged_text(seen: &str, edited: &str, now: &str) -> Result<String, Refused> {
    let bytes = |it: &str| Bytes::copy_from_slice(it.as_bytes());
    let merged = merge_texts(&bytes(seen), &bytes(edited), &bytes(now));
    Ok(merged.and_then(|it| String::from_utf8(it.into()).ok()).ok_or(Reason::Overtaken)?)
}

/// The text of a file that its author sends whole: with the line ends of the file, and with what changed in it since it was `seen`.
pub fn replace_file(sent: &str, seen: Option<&str>, now: Option<&[u8]>) -> Result<String, Refused> {
    let Some(now) = now else { return seen.map_or(Ok(sent.to_owned()), |_| Err(Reason::Gone.into())) };
    match (seen, str::from_utf8(now)) {
        (Some(seen), Ok(now)) if seen != now => merged_text(seen, &with_endings(seen, sent), now),
        (Some(_), Err(_)) => Err(Reason::Overtaken.into()),
        (_, Ok(now)) => Ok(with_endings(now, sent)),
        (None, Err(_)) => Ok(sent.to_owned()),
    }
}

/// The text that is sent, with the line ends of a file that has CR LF. If all of its own are CR LF, they are meant.
fn with_endings(file: &str, sent: &str) -> String {
    let is_meant = sent.matches('\n').count() == sent.matches("\r\n").count();
    match is_meant || !file.contains("\r\n") {
        true => sent.to_owned(),
        false => with_endings_of(file, &with_lf(sent)),
    }
}
