//! Pairs of branches whose merge may have something that neither branch has. All others are passed over.
//!
//! Answers of linters are functions of what they read. Take a merge of A and B, which wrote different paths, and a file whose
//! answer in it is another than in A and another than in B: its answer in A rests on something that B wrote, and that in B on
//! something that A wrote. If A wrote what it is about, or what it rests on, it is among A's answers, and otherwise it is as in the
//! ancestor, and so among B's. So it is enough to compare what each wrote with what the other's answers rest on. Where that is not
//! known, as of language servers and commands, two branches are merged if each wrote something that the same linter's answers may
//! rest on (`untraced.rs`).
//!
//! A change of configuration may change which linters are asked at all: such a branch is merged with all others.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use lint::counted;
use overlay::{Snapshot, WorkspacePath};
use scheduler::ReadIndex;
use tokio::time::Instant;

use super::{
    definitions::{added_scopes, imports_gone},
    side::Side,
};
use crate::checked::not_asked;

/// Reasons for missing answers that are told.
const MAX_REASONS: usize = 20;

/// Pairs, each with the lower place first, to be merged and checked.
pub(super) struct Candidates {
    pub(super) pairs: BTreeMap<(usize, usize), Contact>,
    pub(super) notes: Vec<String>,
}

/// Cause for a look at a pair: what is known to touch comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Contact {
    Known,
    Possible,
}

impl Candidates {
    /// Finds pairs until the deadline. Pairs that are not judged by then count as contacts.
    pub(super) fn find(sides: &[Side], ancestor: &Snapshot, deadline: Instant) -> Self {
        let mut it = Self { pairs: BTreeMap::new(), notes: Vec::new() };
        it.add_writers(sides);
        it.add_readers(sides, ancestor);
        it.add_names(sides, deadline);
        it.add_untraced(sides);
        it.add_incomplete(sides);
        it.add_configuring(sides);
        it.notes.extend(not_asked(sides.iter().map(|it| &it.checked)));
        it
    }

    fn add(&mut self, a: usize, b: usize, contact: Contact) {
        if a != b {
            let known = self.pairs.entry((a.min(b), a.max(b))).or_insert(contact);
            *known = contact.min(*known);
        }
    }

    /// Branches that wrote the same path, or one above the other's.
    fn add_writers(&mut self, sides: &[Side]) {
        let mut writers: BTreeMap<&WorkspacePath, Vec<usize>> = BTreeMap::new();
        for (place, side) in sides.iter().enumerate() {
            side.writes.iter().for_each(|it| writers.entry(it).or_default().push(place));
        }
        for (path, places) in &writers {
            let above = path.ancestors().filter_map(|it| writers.get(&it)).flatten();
            for other in above {
                places.iter().for_each(|place| self.add(*place, *other, Contact::Known));
            }
        }
    }

    /// Branches of which one wrote what the other's answers rest on.
    fn add_readers(&mut self, sides: &[Side], ancestor: &Snapshot) {
        let mut index = ReadIndex::default();
        let mut readers: HashMap<u32, Vec<usize>> = HashMap::new();
        for (place, side) in sides.iter().enumerate() {
            let (mut affected, mut others) = (HashSet::new(), HashSet::new());
            for (file, reads) in &side.checked.reads {
                let number = index.add(reads, |_| true);
                if side.writes(file) {
                    affected.insert(number)
                } else {
                    others.insert(number)
                };
            }
            // An answer that rests on nothing of what the branch wrote is the ancestor's.
            let touched = index.touched(&side.writes, &[ancestor]);
            affected.extend(others.into_iter().filter(|it| touched.contains(it)));
            affected.into_iter().for_each(|it| readers.entry(it).or_default().push(place));
        }
        for (writer, side) in sides.iter().enumerate() {
            let touched = index.touched(&side.writes, &[&side.snapshot]);
            let reading = touched.iter().filter_map(|it| readers.get(it)).flatten();
            reading.for_each(|reader| self.add(writer, *reader, Contact::Known));
        }
    }

    /// Branches of which one changed a definition that the other's lines may use, or deleted what the other imports, and
    /// branches that add a definition of one name in one scope.
    fn add_names(&mut self, sides: &[Side], deadline: Instant) {
        let (mut changing, mut adding) = (HashMap::<_, Vec<usize>>::new(), HashMap::<_, Vec<usize>>::new());
        for (place, side) in sides.iter().enumerate() {
            let changed =
                side.files.iter().flat_map(|it| it.changed.iter().map(move |changed| (it.family, changed)));
            let names: BTreeSet<_> = changed.map(|(family, it)| (family, it.used_as())).collect();
            names.into_iter().for_each(|it| changing.entry(it).or_default().push(place));
            added_scopes(side).into_keys().for_each(|it| adding.entry(it).or_default().push(place));
        }
        for places in adding.values() {
            places.iter().for_each(|a| places.iter().for_each(|b| self.add(*a, *b, Contact::Known)));
        }
        for (user, side) in sides.iter().enumerate() {
            let used = side.files.iter().flat_map(|file| file.used_names().map(|it| (file.family, it)));
            let used: BTreeSet<_> = used.collect();
            let changers = used.into_iter().filter_map(|it| changing.get(&it)).flatten();
            changers.for_each(|changer| self.add(user, *changer, Contact::Known));
            let deleting = sides.iter().enumerate().filter(|(_, it)| !it.gone.is_empty());
            let deleting = deleting.filter(|(_, it)| Instant::now() >= deadline || imports_gone(it, side));
            deleting.for_each(|(place, _)| self.add(user, place, Contact::Known));
        }
    }

    /// Branches that each wrote something that answers of one linter may rest on, whose reads are not known.
    fn add_untraced(&mut self, sides: &[Side]) {
        let mut by_linter: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
        for (place, side) in sides.iter().enumerate() {
            side.untraced.iter().for_each(|it| _ = by_linter.entry(it).or_default().insert(place));
        }
        for (linter, places) in by_linter.into_iter().filter(|(_, it)| it.len() > 1) {
            places.iter().for_each(|a| places.iter().for_each(|b| self.add(*a, *b, Contact::Possible)));
            let count = places.len();
            self.notes.push(format!(
                "what {linter} reads is not known, so that the {count} branches that change files it may read are merged in pairs"
            ));
        }
    }

    /// Branches of which an answer is missing, which might rest on anything, with all others that have edits.
    fn add_incomplete(&mut self, sides: &[Side]) {
        let with_edits: Vec<_> = (0..sides.len()).filter(|it| !sides[*it].writes.is_empty()).collect();
        let mut by_reason: BTreeMap<&str, usize> = BTreeMap::new();
        for place in &with_edits {
            let reasons = &sides[*place].checked.incomplete;
            reasons.iter().for_each(|it| *by_reason.entry(it).or_default() += 1);
            if !reasons.is_empty() {
                with_edits.iter().for_each(|it| self.add(*place, *it, Contact::Possible));
            }
        }
        self.notes.extend(by_reason.into_iter().take(MAX_REASONS).map(|(reason, count)| {
            format!("not computed: {reason}; merged with all others for that: {}", counted(count, "branch"))
        }));
    }

    /// Branches that may change which linters are asked, with all others that have edits.
    fn add_configuring(&mut self, sides: &[Side]) {
        let with_edits: Vec<_> = (0..sides.len()).filter(|it| !sides[*it].writes.is_empty()).collect();
        for (place, side) in sides.iter().enumerate() {
            let Some(path) = side.writes.iter().find(|it| is_configuration(it)) else { continue };
            with_edits.iter().for_each(|it| self.add(place, *it, Contact::Possible));
            self.notes.push(format!(
                "`{path}`, which {} changes, may be configuration, so that the branch is merged with all others",
                side.id
            ));
        }
    }
}

/// Whether a file may say which linters are asked, or what is reported. Plugins read their own configuration, which is among what
/// their answers rest on.
fn is_configuration(path: &WorkspacePath) -> bool {
    let name = path.file_name().unwrap_or_default();
    let extension = path.extension().unwrap_or_default();
    name.starts_with('.') || matches!(extension, "toml" | "json" | "jsonc" | "cfg" | "ini")
}
