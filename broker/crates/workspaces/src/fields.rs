//! Fields of requests as clients send them, and what they may be.

use std::{collections::BTreeMap, ffi::OsStr};

use lint::is_invisible;
use overlay::{ContentHash, WorkspacePath};

use super::DaemonError;

/// The longest path, as Linux has it.
const LONGEST_PATH: usize = 4096;

const LARGEST_ENVIRONMENT: usize = 1 << 20;

const LONGEST_NAME: usize = 200;

/// One page of a sorted list, as a client asks for it.
#[derive(Debug, Clone, Default)]
pub struct PageRequest {
    /// 0 for the usual one.
    pub size: u32,
    /// Empty for the first page.
    pub token: String,
}

/// One page of a list.
#[derive(Debug, Clone)]
pub struct Paged<T> {
    pub items: Vec<T>,
    /// For the next page; empty on the last.
    pub next_token: String,
}

/// One page of a sorted list. The token is the number of items before it: what was added or removed since
/// shifts it, as the conventions allow.
#[derive(Debug)]
pub(super) struct Page {
    start: usize,
    size: usize,
}

impl Page {
    pub(super) fn of(request: &PageRequest, default: usize, most: usize) -> Result<Self, DaemonError> {
        let start = if request.token.is_empty() { Ok(0) } else { request.token.parse() };
        let start =
            start.map_err(|_| DaemonError::invalid("page_token", "not a token of an earlier page"))?;
        let size = if request.size == 0 { default } else { (request.size as usize).min(most) };
        Ok(Self { start, size })
    }

    pub(super) fn cut<T>(&self, items: impl ExactSizeIterator<Item = T>) -> Paged<T> {
        let total = items.len();
        let end = self.start.saturating_add(self.size);
        let next_token = if end < total { end.to_string() } else { String::new() };
        Paged { items: items.skip(self.start).take(self.size).collect(), next_token }
    }
}

pub(super) fn path(field: &'static str, text: &str) -> Result<WorkspacePath, DaemonError> {
    if text.len() > LONGEST_PATH {
        return Err(DaemonError::invalid(field, format!("a path of {} bytes is too long", text.len())));
    }
    WorkspacePath::new(text).map_err(|error| DaemonError::invalid(field, error))
}

/// The values by their paths.
pub(super) fn by_path<T>(
    field: &'static str,
    values: BTreeMap<String, T>,
) -> Result<BTreeMap<WorkspacePath, T>, DaemonError> {
    values.into_iter().map(|(text, value)| Ok((path(field, &text)?, value))).collect()
}

pub(super) fn paths<C: FromIterator<WorkspacePath>>(
    field: &'static str,
    texts: &[String],
) -> Result<C, DaemonError> {
    texts.iter().map(|it| path(field, it)).collect()
}

pub(super) fn content_hash(field: &'static str, text: &str) -> Result<ContentHash, DaemonError> {
    ContentHash::from_hex(text).ok_or_else(|| DaemonError::invalid(field, "not 64 hexadecimal digits"))
}

/// A name that people can read and type; an empty one asks for a name. `what` has it, and `size` counts it.
pub(super) fn expect_name(what: &str, size: &'static str, name: &str) -> Result<(), DaemonError> {
    DaemonError::expect_at_most(LONGEST_NAME, name.len(), size)?;
    if name.chars().any(is_invisible) {
        let message = format!("{what} may not contain control characters or invisible ones");
        return Err(DaemonError::invalid("name", message));
    }
    if name.starts_with('-') || name.trim() != name {
        let message = format!("{what} may not begin with `-`, or begin or end with a space");
        return Err(DaemonError::invalid("name", message));
    }
    Ok(())
}

/// Variables that a process can have: no empty names, `=` or NUL.
pub(super) fn expect_environment<T: AsRef<OsStr>>(variables: &BTreeMap<T, T>) -> Result<(), DaemonError> {
    let size = variables.iter().map(|(name, value)| name.as_ref().len() + value.as_ref().len()).sum();
    DaemonError::expect_at_most(LARGEST_ENVIRONMENT, size, "bytes of an environment")?;
    let has = |text: &T, byte: u8| text.as_ref().as_encoded_bytes().contains(&byte);
    let is_wrong = |name: &T| name.as_ref().is_empty() || has(name, b'=') || has(name, 0);
    match variables.iter().find(|(name, value)| is_wrong(name) || has(value, 0)) {
        Some((name, _)) => {
            let name = name.as_ref().display();
            Err(DaemonError::invalid("environment", format!("`{name}` cannot be a variable")))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_cannot_be_read_or_typed_are_refused() {
        let check = |name| expect_name("a name", "bytes", name);
        for good in ["", "a", "fix/issue-12", "a b", "\u{f6}\u{4e2d}", "a-"] {
            check(good).unwrap();
        }
        for bad in
            ["-x", "--", " ", "a ", "\u{a0}", "a\u{202e}b", "a\u{2066}b", "a\u{200b}", "a\nb", "\u{feff}a"]
        {
            check(bad).unwrap_err();
        }
    }

    #[test]
    fn pages_follow_each_other() {
        let items = [1, 2, 3, 4, 5];
        let page = |size, token: &str| {
            let page = Page::of(&PageRequest { size, token: token.to_owned() }, 100, 1000);
            page.map(|it| it.cut(items.iter().copied())).map(|it| (it.items, it.next_token))
        };
        assert_eq!(page(2, "").unwrap(), (vec![1, 2], "2".to_owned()));
        assert_eq!(page(2, "4").unwrap(), (vec![5], String::new()));
        assert_eq!(page(0, "9").unwrap(), (vec![], String::new()));
        page(1, "x").unwrap_err();
        let largest = PageRequest { size: u32::MAX, token: String::new() };
        assert_eq!(Page::of(&largest, 100, 1000).unwrap().size, 1000);
    }
}
