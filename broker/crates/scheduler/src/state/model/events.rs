//! Events that the model draws, and their weights.

use std::time::Duration;

use proptest::prelude::*;

use super::reference::Spec;
use crate::{BranchKey, Class, WorkKey, state::Worker};

pub(super) const CLASSES: [Class; 3] = [Class::Background, Class::Agent, Class::Interactive];
pub(super) const BRANCHES: u64 = 4;

#[derive(Debug, Clone)]
pub(super) enum Event {
    Submit(Vec<Spec>),
    Next(Worker),
    /// Index among the running flights, and whether the task panicked.
    Finish(prop::sample::Index, bool),
    Withdraw(prop::sample::Index),
    CancelBranch(BranchKey),
    Supersede(BranchKey, u64),
    Pass(Duration),
}

fn branch() -> impl Strategy<Value = BranchKey> {
    (0..BRANCHES).prop_map(BranchKey)
}

fn spec() -> impl Strategy<Value = Spec> {
    let key = prop::option::of((0..4u8).prop_map(|it| WorkKey([it; 32])));
    let memory = prop_oneof![8 => 0..4u64, 2 => 5..9u64, 1 => 11..15u64];
    let class = prop::sample::select(&CLASSES);
    (class, branch(), 0..5u64, key, prop::bool::weighted(0.2), memory).prop_map(
        |(class, branch, revision, key, supersede, memory)| Spec {
            class,
            branch,
            revision,
            key,
            supersede,
            memory,
        },
    )
}

pub(super) fn event() -> impl Strategy<Value = Event> {
    let worker = prop_oneof![3 => Just(Worker::Any), 1 => Just(Worker::Interactive)];
    prop_oneof![
        12 => prop::collection::vec(spec(), 1..4).prop_map(Event::Submit),
        14 => worker.prop_map(Event::Next),
        10 => (any::<prop::sample::Index>(), any::<bool>()).prop_map(|(at, it)| Event::Finish(at, it)),
        3 => any::<prop::sample::Index>().prop_map(Event::Withdraw),
        1 => branch().prop_map(Event::CancelBranch),
        1 => (branch(), 0..5u64).prop_map(|(branch, revision)| Event::Supersede(branch, revision)),
        4 => (1..60u64).prop_map(|it| Event::Pass(Duration::from_millis(it))),
    ]
}
