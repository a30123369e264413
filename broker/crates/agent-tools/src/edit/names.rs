//! The names that the parts of a patch give their files, and which file of a workspace each means.

use overlay::WorkspacePath;
use patch::bare;

use super::outcome::{Reason, Refused};

/// The file of one part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Named {
    /// No name: the target.
    Nothing,
    One(String),
    /// A name on one side of a diff only, so that its first folder may be git's prefix.
    MaybePrefixed {
        bare: String,
        whole: String,
    },
    /// Two sides of a diff that do not agree, without git's lines of a rename.
    Two(String, String),
    Moved {
        from: String,
        to: String,
    },
}

impl Named {
    fn all(&self) -> Vec<&str> {
        match self {
            Self::Nothing => Vec::new(),
            Self::One(name) => vec![name],
            Self::MaybePrefixed { bare: a, whole: b } | Self::Two(a, b) | Self::Moved { from: a, to: b } => {
                vec![a, b]
            }
        }
    }

    /// The name that a refusal shows.
    pub(super) fn shown(&self) -> &str {
        self.all().first().copied().unwrap_or_default()
    }

    /// Whether an edit with these names can be of this file.
    pub(super) fn is_of(&self, path: &WorkspacePath) -> bool {
        let all = self.all();
        all.is_empty() || all.iter().any(|it| is_of(it, path))
    }

    /// Whether the name is the whole path.
    pub(super) fn is_exactly(&self, path: &WorkspacePath) -> bool {
        *self == Self::Nothing || self.all().iter().any(|it| place(it).as_ref() == Ok(path))
    }

    /// Path of the file that is meant, without a target.
    pub(super) fn place(&self, exists: impl Fn(&WorkspacePath) -> bool) -> Result<WorkspacePath, Refused> {
        let (first, second) = match self {
            Self::Nothing => return Err(Reason::Path(String::new()).into()),
            Self::One(name) | Self::Moved { from: name, .. } => return place(name),
            Self::Two(old, new) => (old, new),
            Self::MaybePrefixed { bare, whole } => match (place(bare), place(whole)) {
                // The folder that the prefix would be is not there, nor a file in it.
                (Ok(it), Ok(other)) if !top(&other).is_some_and(|it| exists(&it)) => return Ok(it),
                _ => (bare, whole),
            },
        };
        Err(Reason::TwoNames { first: first.clone(), second: second.clone() }.into())
    }
}

fn top(path: &WorkspacePath) -> Option<WorkspacePath> {
    path.as_str().split('/').next().and_then(|it| WorkspacePath::new(it).ok())
}

/// Whether a name is a path, or the end of it as it is seen from a folder further down.
pub(super) fn is_of(named: &str, path: &WorkspacePath) -> bool {
    let Ok(named) = place(named) else { return false };
    let above = path.as_str().strip_suffix(named.as_str());
    above.is_some_and(|it| it.is_empty() || it.ends_with('/'))
}

pub(super) fn place(named: &str) -> Result<WorkspacePath, Refused> {
    let path = WorkspacePath::new(named.trim()).ok().filter(|it| !it.is_root());
    path.ok_or_else(|| Reason::Path(named.to_owned()).into())
}

/// The target if the whole edit is of it. `None` if the edit names its files itself, of which the target is one.
pub(super) fn only_target<'a>(
    parts: &[Named],
    target: Option<&'a WorkspacePath>,
) -> Result<Option<&'a WorkspacePath>, Refused> {
    let (Some(target), Some(first)) = (target.filter(|it| !it.is_root()), parts.first()) else {
        return Ok(None);
    };
    let is_one = !matches!(first, Named::Moved { .. }) && parts.iter().all(|it| it == first);
    match is_one {
        true if first.is_of(target) => Ok(Some(target)),
        true => Err(Reason::OtherFile { named: first.shown().to_owned() }.into()),
        false if parts.iter().any(|it| it.is_exactly(target)) => Ok(None),
        false => Err(Reason::SeveralFiles.into()),
    }
}

/// The name on the two sides of a diff. `None` is a side without a file.
pub(super) fn of_sides(old: Option<&str>, new: Option<&str>) -> Named {
    let prefixed = |whole: &str, prefix| match whole.strip_prefix(prefix) {
        Some(bare) => Named::MaybePrefixed { bare: bare.to_owned(), whole: whole.to_owned() },
        None => Named::One(whole.to_owned()),
    };
    match (old, new) {
        (None, None) => Named::Nothing,
        (Some(old), None) => prefixed(old, "a/"),
        (None, Some(new)) => prefixed(new, "b/"),
        (Some(old), Some(new)) => match bare(old, new) {
            (old, new) if old == new => Named::One(old.to_owned()),
            (old, new) => Named::Two(old.to_owned(), new.to_owned()),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_are_gits_only_on_both_sides() {
        let one = |name: &str| Named::One(name.into());
        assert_eq!(of_sides(Some("a/x"), Some("b/x")), one("x"));
        assert_eq!(of_sides(Some("a/x"), Some("a/x")), one("a/x"));
        assert_eq!(of_sides(Some("b/x"), Some("b/x")), one("b/x"));
        assert_eq!(of_sides(Some("x"), Some("a/x")), Named::Two("x".into(), "a/x".into()));
        assert_eq!(
            of_sides(None, Some("b/x")),
            Named::MaybePrefixed { bare: "x".into(), whole: "b/x".into() }
        );
        assert_eq!(of_sides(Some("x"), None), one("x"));
    }

    #[test]
    fn a_name_may_be_the_end_of_the_path() {
        let is_of = |named| is_of(named, &WorkspacePath::new("src/foo.py").unwrap());
        assert!(is_of("src/foo.py") && is_of("./src/foo.py") && is_of("foo.py"));
        assert!(!is_of("oo.py") && !is_of("lib/src/foo.py") && !is_of("") && !is_of("/src/foo.py"));
    }
}
