//! Random states, asks and broken-off asks: never a trace of another state.

use std::{collections::BTreeMap, sync::Arc, thread, time::Duration};

use lint::{Cancel, Completeness};
use overlay::View;
use proptest::prelude::*;

use crate::{
    bench::{Bench, path, said},
    fixture::far,
};

const NAMES: [&str; 5] = ["a.m", "b.m", "dir/c.m", "n.m", "dir/z.m"];

/// A branch's edits: a text, or a delete.
type Edits = BTreeMap<usize, Option<u8>>;

#[derive(Debug, Clone)]
struct Ask {
    branch: usize,
    unit: usize,
    /// Broken off after so many microseconds.
    patience: Option<u64>,
}

fn edits() -> impl Strategy<Value = Edits> {
    prop::collection::btree_map(0..NAMES.len(), prop::option::weighted(0.8, 0..4_u8), 0..4)
}

fn ask() -> impl Strategy<Value = Ask> {
    let patience = prop::option::weighted(0.3, 0..800_u64);
    (0..5_usize, 0..NAMES.len(), patience).prop_map(|(branch, unit, patience)| Ask { branch, unit, patience })
}

fn view(bench: &Bench, edits: &Edits) -> Arc<dyn View> {
    let mut branch = bench.branch();
    for (name, text) in edits {
        let place = path(NAMES[*name]);
        match text {
            Some(text) => drop(branch.write(&place, format!("text{text}").into())),
            // The file need not be there.
            None => drop(branch.remove(&place)),
        }
    }
    Arc::new(branch.snapshot())
}

/// Expected finding of the model server in this state, and in no other.
fn want(bench: &Bench, view: &dyn View, unit: &str) -> String {
    let text = |view: &dyn View, name: &str| {
        view.read(&path(name)).ok().map(|it| String::from_utf8(it.to_vec()).unwrap())
    };
    if text(view, unit).is_none() {
        return "failed: there is no such file".to_owned();
    }
    let (mut open, mut gone) = (BTreeMap::new(), Vec::new());
    for name in NAMES {
        match (text(view, name), text(&*bench.disk, name)) {
            (Some(here), there) if name == unit || there.as_ref() != Some(&here) => {
                open.insert(name, format!("{name}={here}"));
            }
            (None, Some(_)) => gone.push(format!("-{name}")),
            _ => {}
        }
    }
    gone.sort();
    open.into_values().chain(gone).collect::<Vec<_>>().join(" ")
}

/// After each of these asks, whether it was broken off or not, no answer is of another state.
fn check(bench: &Bench, branches: &[Edits], asks: &[Ask]) -> Result<(), TestCaseError> {
    let views: Vec<_> = branches.iter().map(|it| view(bench, it)).collect();
    for Ask { branch, unit, patience } in asks {
        let (view, unit) = (&views[*branch], NAMES[*unit]);
        let cancel = Cancel::default();
        let outcome = thread::scope(|scope| {
            let _watch = patience.map(|it| {
                scope.spawn({
                    let cancel = cancel.clone();
                    move || {
                        thread::sleep(Duration::from_micros(it));
                        cancel.cancel();
                    }
                })
            });
            bench.ask_until(view, &[unit], far(), &cancel).remove(0)
        });
        if patience.is_none() || !matches!(outcome.completeness, Completeness::Pending(_)) {
            prop_assert_eq!(said(&outcome), want(bench, &**view, unit));
        }
    }
    prop_assert_eq!(bench.says(&[], "a.m"), "a.m=a0");
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn no_answer_is_of_another_state(
        branches in prop::collection::vec(edits(), 5),
        asks in prop::collection::vec(ask(), 1..24),
    ) {
        check(&Bench::model(), &branches, &asks)?;
    }

    #[test]
    fn nothing_that_is_published_is_of_another_state(
        branches in prop::collection::vec(edits(), 5),
        asks in prop::collection::vec(ask(), 1..24),
    ) {
        check(&Bench::publishing(), &branches, &asks)?;
    }
}
