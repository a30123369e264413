//! The queue of one class: branches take turns, and each branch's tasks go in order of age.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::flight::FlightId;
use crate::BranchKey;

/// Flights of one class that may start.
#[derive(Default)]
pub(super) struct Lane {
    branches: HashMap<BranchKey, Line>,
    /// Whose turn it is: the lowest is next.
    turns: BTreeMap<u64, BranchKey>,
    last_turn: u64,
    ages: BTreeSet<FlightId>,
    /// Bytes that the flights here may need. Wide, so that it comes back to zero whatever they claim.
    memory: u128,
}

/// One branch's flights; never empty.
struct Line {
    turn: u64,
    flights: BTreeSet<FlightId>,
}

impl Lane {
    pub(super) fn len(&self) -> usize {
        self.ages.len()
    }

    pub(super) fn memory(&self) -> u128 {
        self.memory
    }

    /// What starts next.
    pub(super) fn first(&self) -> Option<FlightId> {
        let (_, branch) = self.turns.first_key_value()?;
        self.branches.get(branch)?.flights.first().copied()
    }

    pub(super) fn oldest(&self) -> Option<FlightId> {
        self.ages.first().copied()
    }

    pub(super) fn insert(&mut self, flight: FlightId, branch: BranchKey, memory: u64) {
        self.ages.insert(flight);
        self.memory += u128::from(memory);
        if let Some(line) = self.branches.get_mut(&branch) {
            line.flights.insert(flight);
            return;
        }
        let turn = self.new_turn(branch);
        self.branches.insert(branch, Line { turn, flights: BTreeSet::from([flight]) });
    }

    pub(super) fn remove(&mut self, flight: FlightId, branch: BranchKey, memory: u64) {
        self.ages.remove(&flight);
        self.memory -= u128::from(memory);
        let Some(line) = self.branches.get_mut(&branch) else { return };
        line.flights.remove(&flight);
        if line.flights.is_empty() {
            self.turns.remove(&line.turn);
            self.branches.remove(&branch);
        }
    }

    /// Removes a flight that starts, which was its branch's turn.
    pub(super) fn start(&mut self, flight: FlightId, branch: BranchKey, memory: u64) {
        self.remove(flight, branch, memory);
        if let Some(old) = self.branches.get(&branch).map(|line| line.turn) {
            self.turns.remove(&old);
            let turn = self.new_turn(branch);
            self.branches.entry(branch).and_modify(|line| line.turn = turn);
        }
    }

    fn new_turn(&mut self, branch: BranchKey) -> u64 {
        self.last_turn += 1;
        self.turns.insert(self.last_turn, branch);
        self.last_turn
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: BranchKey = BranchKey(1);
    const B: BranchKey = BranchKey(2);

    fn started(lane: &mut Lane, branches: &[(u64, BranchKey)]) -> Vec<u64> {
        let mut order = Vec::new();
        while let Some(first) = lane.first() {
            let (_, branch) = branches.iter().find(|(id, _)| FlightId(*id) == first).unwrap();
            lane.start(first, *branch, 0);
            order.push(first.0);
        }
        order
    }

    #[test]
    fn branches_take_turns_whatever_they_have_queued() {
        let flights = [(1, A), (2, A), (3, A), (4, B), (5, B)];
        let mut lane = Lane::default();
        flights.iter().for_each(|(id, branch)| lane.insert(FlightId(*id), *branch, 0));
        assert_eq!(started(&mut lane, &flights), [1, 4, 2, 5, 3]);
    }

    #[test]
    fn what_is_put_back_keeps_its_age() {
        let flights = [(1, A), (2, A)];
        let mut lane = Lane::default();
        lane.insert(FlightId(2), A, 0);
        lane.insert(FlightId(1), A, 0);
        assert_eq!(lane.oldest(), Some(FlightId(1)));
        assert_eq!(started(&mut lane, &flights), [1, 2]);
    }

    #[test]
    fn a_branch_that_left_has_no_turn() {
        let mut lane = Lane::default();
        lane.insert(FlightId(1), A, 7);
        lane.insert(FlightId(2), B, 8);
        lane.remove(FlightId(1), A, 7);
        assert_eq!((lane.first(), lane.len(), lane.memory()), (Some(FlightId(2)), 1, 8));
        assert_eq!(lane.turns.len(), 1);
    }
}
