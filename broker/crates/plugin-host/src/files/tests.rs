//! Records of a file that is too large to be opened.

use lint::Cancel;
use overlay::{Branch, Memory, Read, View};

use super::*;
use crate::host::Permits;

fn path(text: &str) -> WorkspacePath {
    WorkspacePath::new(text).unwrap()
}

#[test]
fn a_file_beyond_the_budget_is_refused_unread() {
    let base: Arc<dyn View> =
        Arc::new(Memory::from_files([("large", "0123456789"), ("small", "0")]).unwrap());
    let traced = Arc::new(Traced::of_kinds(Arc::clone(&base)));
    let mut files = GuestFiles::new(Arc::clone(&traced), "");
    let mut budget = Budget::new(5, Permits::new(1), Cancel::default());
    files.open(path("small"), true, false, &mut budget).unwrap();
    let reads = traced.read_set();
    assert!(files.open(path("large"), true, false, &mut budget).is_err());
    let of_the_refusal: Vec<_> =
        traced.read_set().iter().map(|(read, _)| read.clone()).filter(|it| reads.get(it).is_none()).collect();
    assert_eq!(of_the_refusal, [Read::Metadata(path("large")), Read::Kind(path("large"))]);
    let mut branch = Branch::new(base);
    branch.write(&path("large"), "small now".into()).unwrap();
    assert!(!traced.read_set().holds_in(&branch.snapshot()), "it may fit now");
}
