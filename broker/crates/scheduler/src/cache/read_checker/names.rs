//! Which names a directory has, for questions about those that it lacks.

use std::collections::HashSet;

use foldhash::fast::RandomState;
use overlay::Listing;

/// Names in lower case: on some file systems a name is found in any case.
#[derive(Clone)]
pub(super) struct Names(HashSet<String, RandomState>);

impl Names {
    /// `None` for a directory with names beyond ASCII, whose cases only the file system knows.
    pub(super) fn of(listing: &Listing) -> Option<Self> {
        let names = listing.entries.iter().map(|it| it.name.is_ascii().then(|| it.name.to_ascii_lowercase()));
        names.collect::<Option<_>>().map(Self)
    }

    /// Whether certainly nothing is there under this name.
    pub(super) fn lacks(&self, name: &str) -> bool {
        name.is_ascii() && !self.0.contains(&name.to_ascii_lowercase())
    }
}
