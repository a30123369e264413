//! The queue of one class: branches of the lowest rank take turns, and each branch's tasks go in order of age.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::flight::FlightId;
use crate::BranchKey;

/// Flights of one class that may start.
#[derive(Default)]
pub(super) struct Lane {
    branches: HashMap<BranchKey, Line>,
    /// Whose turn it is: the lowest is next.
    turns: BTreeMap<Turn, BranchKey>,
    last_turn: u64,
    ages: BTreeSet<FlightId>,
    /// Bytes that the flights here may need. Wide, so that it comes back to zero whatever they claim.
    memory: u128,
}

/// The branch's rank, and when its turn comes among those of the same rank.
type Turn = (i64, u64);

/// Flights of one branch; never empty.
struct Line {
    turn: Turn,
    flights: BTreeSet<FlightId>,
}

impl Lane {
    pub(super) fn len(&self) -> usize {
        self.ages.len()
    }

    pub(super) fn memory(&self) -> u128 {
        self.memory
    }

    /// Returns the flight that starts next.
    pub(super) fn first(&self) -> Option<FlightId> {
        let (_, branch) = self.turns.first_key_value()?;
        self.branches.get(branch)?.flights.first().copied()
    }

    pub(super) fn oldest(&self) -> Option<FlightId> {
        self.ages.first().copied()
    }

    pub(super) fn insert(&mut self, flight: FlightId, branch: BranchKey, memory: u64, rank: i64) {
        self.ages.insert(flight);
        self.memory += u128::from(memory);
        if let Some(line) = self.branches.get_mut(&branch) {
            line.flights.insert(flight);
            return;
        }
        let turn = self.new_turn(branch, rank);
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
    pub(super) fn start(&mut self, flight: FlightId, branch: BranchKey, memory: u64, rank: i64) {
        self.remove(flight, branch, memory);
        if let Some(old) = self.branches.get(&branch).map(|line| line.turn) {
            self.turns.remove(&old);
            let turn = self.new_turn(branch, rank);
            self.branches.entry(branch).and_modify(|line| line.turn = turn);
        }
    }

    /// The branch keeps its turn among those of its new rank.
    pub(super) fn set_rank(&mut self, branch: BranchKey, rank: i64) {
        let Some(line) = self.branches.get_mut(&branch).filter(|it| it.turn.0 != rank) else { return };
        self.turns.remove(&line.turn);
        line.turn.0 = rank;
        self.turns.insert(line.turn, branch);
    }

    fn new_turn(&mut self, branch: BranchKey, rank: i64) -> Turn {
        self.last_turn += 1;
        let turn = (rank, self.last_turn);
        self.turns.insert(turn, branch);
        turn
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
            lane.start(first, *branch, 0, 0);
            order.push(first.0);
        }
        order
    }

    #[test]
    fn branches_take_turns_whatever_they_have_queued() {
        let flights = [(1, A), (2, A), (3, A), (4, B), (5, B)];
        let mut lane = Lane::default();
        flights.iter().for_each(|(id, branch)| lane.insert(FlightId(*id), *branch, 0, 0));
        assert_eq!(started(&mut lane, &flights), [1, 4, 2, 5, 3]);
    }

    #[test]
    fn a_lower_rank_goes_first() {
        let flights = [(1, A), (2, A), (3, B), (4, B)];
        let mut lane = Lane::default();
        flights.iter().for_each(|(id, branch)| lane.insert(FlightId(*id), *branch, 0, 0));
        lane.set_rank(A, 1);
        assert_eq!(lane.first(), Some(FlightId(3)));
        lane.start(FlightId(3), B, 0, 2);
        assert_eq!(lane.first(), Some(FlightId(1)));
        lane.set_rank(B, i64::MIN);
        assert_eq!(lane.first(), Some(FlightId(4)));
    }

    #[test]
    fn what_is_put_back_keeps_its_age() {
        let flights = [(1, A), (2, A)];
        let mut lane = Lane::default();
        lane.insert(FlightId(2), A, 0, 0);
        lane.insert(FlightId(1), A, 0, 0);
        assert_eq!(lane.oldest(), Some(FlightId(1)));
        assert_eq!(started(&mut lane, &flights), [1, 2]);
    }

    #[test]
    fn a_branch_that_left_has_no_turn() {
        let mut lane = Lane::default();
        lane.insert(FlightId(1), A, 7, 0);
        lane.insert(FlightId(2), B, 8, 0);
        lane.remove(FlightId(1), A, 7);
        assert_eq!((lane.first(), lane.len(), lane.memory()), (Some(FlightId(2)), 1, 8));
        assert_eq!(lane.turns.len(), 1);
    }
}
