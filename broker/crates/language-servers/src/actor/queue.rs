//! Queue of the requests to a server, and their order: all that are about one state go together, in a *turn*, and the
//! next state is the one that is nearest to the present one. Independent of servers and of time.
//!
//! Requests of persons go before all else, unless others are [to go first](First), and questions before checks. No
//! other request starves: a turn has an end even if ever more is asked about its state; and a state that was overtaken
//! by `OVERTAKEN` turns of younger ones, persons' aside, has the next.

use std::{cmp::Reverse, collections::VecDeque};

use overlay::ContentHash;

/// Kind of requester that waits for an answer; the most urgent last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Priority {
    /// None, or one that reads the answer at any time later: as a check.
    Background,
    /// A machine.
    Agent,
    /// A person.
    Interactive,
}

/// Maximum number of answers in a turn, if others wait.
pub(super) const LONGEST_TURN: u32 = 32;

/// Requesters that have the next turn if both kinds wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum First {
    Persons,
    Others,
}

/// Maximum number of turns of younger states that overtake a state, besides persons' and those of states that have
/// waited as long.
pub(super) const OVERTAKEN: u32 = 8;

pub(super) struct Queue<T> {
    groups: Vec<Group<T>>,
    turn: Option<Turn>,
    last_number: u64,
}

/// Requests that wait for one state, the oldest first.
struct Group<T> {
    state: ContentHash,
    members: VecDeque<Member<T>>,
    /// Number of turns of younger states for which no person waited, since this state last had a turn.
    overtaken: u32,
}

struct Member<T> {
    number: u64,
    priority: Priority,
    item: T,
}

struct Turn {
    state: ContentHash,
    left: u32,
    /// Whether the turn began for a person: then it ends when no person's request is left.
    for_person: bool,
}

/// A state that can have the next turn.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    /// The priority of what would go next.
    priority: Priority,
    /// The number of its oldest member.
    oldest: u64,
    overtaken: u32,
    /// Distance from the present state.
    distance: usize,
}

/// Item taken from a queue.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Taken<T> {
    pub(super) item: T,
    /// Whether a turn begins with the item.
    pub(super) is_first: bool,
}

impl<T> Queue<T> {
    pub(super) fn new() -> Self {
        Self { groups: Vec::new(), turn: None, last_number: 0 }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// Whether a person waits.
    pub(super) fn has_person(&self) -> bool {
        self.groups.iter().any(|it| it.priority() == Priority::Interactive)
    }

    /// Whether a request waits that is not a person's.
    pub(super) fn has_others(&self) -> bool {
        let mut members = self.groups.iter().flat_map(|it| &it.members);
        members.any(|it| it.priority != Priority::Interactive)
    }

    pub(super) fn push(&mut self, state: ContentHash, priority: Priority, item: T) {
        self.last_number += 1;
        let member = Member { number: self.last_number, priority, item };
        match self.groups.iter_mut().find(|it| it.state == state) {
            Some(group) => group.members.push_back(member),
            None => self.groups.push(Group { state, members: [member].into(), overtaken: 0 }),
        }
    }

    /// Leaves only what is still wanted.
    pub(super) fn retain(&mut self, is_wanted: impl Fn(&T) -> bool) {
        for group in &mut self.groups {
            group.members.retain(|it| is_wanted(&it.item));
        }
        self.groups.retain(|it| !it.members.is_empty());
    }

    /// Requests that wait for the state of the current turn.
    pub(super) fn of_this_turn(&self) -> impl Iterator<Item = &T> {
        let state = self.turn.as_ref().map(|it| it.state);
        let group = self.groups.iter().filter(move |it| Some(it.state) == state);
        group.flat_map(|it| it.members.iter().map(|it| &it.item))
    }

    /// `distance` is how far the present state is from that of an item.
    pub(super) fn next(&mut self, first: First, distance: impl Fn(&T) -> usize) -> Option<Taken<T>> {
        let goes_on = if first == First::Persons { self.going_on() } else { None };
        let (at, is_first) = match goes_on {
            Some(at) => (at, false),
            None => (self.begin(first, distance)?, true),
        };
        let group = &mut self.groups[at];
        let item = group.take(first)?;
        if group.members.is_empty() {
            self.groups.swap_remove(at);
        }
        Some(Taken { item, is_first })
    }

    /// The group whose turn it still is.
    fn going_on(&mut self) -> Option<usize> {
        let others_urgency =
            |state| self.groups.iter().filter(move |it| it.state != state).map(Group::priority);
        let turn = self.turn.as_ref().filter(|it| it.left > 0)?;
        let at = self.groups.iter().position(|it| it.state == turn.state)?;
        let priority = self.groups[at].priority();
        let is_over = turn.for_person && priority != Priority::Interactive;
        if is_over || others_urgency(turn.state).max() > Some(priority) {
            return None;
        }
        self.turn.as_mut()?.left -= 1;
        Some(at)
    }

    fn begin(&mut self, first: First, distance: impl Fn(&T) -> usize) -> Option<usize> {
        let candidates: Vec<_> = self.groups.iter().map(|it| it.candidate(first, &distance)).collect();
        let at = choose(&candidates, first)?;
        let for_person = candidates[at].priority == Priority::Interactive;
        if !for_person {
            for (group, candidate) in self.groups.iter_mut().zip(&candidates) {
                group.overtaken += u32::from(candidate.oldest < candidates[at].oldest);
            }
            self.groups[at].overtaken = 0;
        }
        self.turn = Some(Turn { state: self.groups[at].state, left: LONGEST_TURN - 1, for_person });
        Some(at)
    }
}

impl<T> Group<T> {
    fn priority(&self) -> Priority {
        self.members.iter().map(|it| it.priority).max().unwrap_or(Priority::Background)
    }

    fn candidate(&self, first: First, distance: &impl Fn(&T) -> usize) -> Candidate {
        let oldest = self.members.front();
        Candidate {
            priority: self.priority_of_next(first),
            oldest: oldest.map_or(u64::MAX, |it| it.number),
            overtaken: self.overtaken,
            distance: oldest.map_or(usize::MAX, |it| distance(&it.item)),
        }
    }

    /// The priority of the most urgent, or of the most urgent others if they go first and there are any.
    fn priority_of_next(&self, first: First) -> Priority {
        let others = self.members.iter().map(|it| it.priority).filter(|it| *it != Priority::Interactive);
        others.max().filter(|_| first == First::Others).unwrap_or_else(|| self.priority())
    }

    /// The oldest of those.
    fn take(&mut self, first: First) -> Option<T> {
        let priority = self.priority_of_next(first);
        let at = self.members.iter().position(|it| it.priority == priority)?;
        self.members.remove(at).map(|it| it.item)
    }
}

/// Chooses a person's request, if those go first. Otherwise one that was overtaken too often, the most often first;
/// otherwise by urgency, then distance, then age.
fn choose(candidates: &[Candidate], first: First) -> Option<usize> {
    let is_persons = |it: &Candidate| it.priority == Priority::Interactive;
    let others_go = first == First::Others && !candidates.iter().all(is_persons);
    let can_go = || candidates.iter().enumerate().filter(|(_, it)| !(others_go && is_persons(it)));
    let is_awaited = can_go().any(|(_, it)| is_persons(it));
    let overdue = can_go().filter(|(_, it)| it.overtaken >= OVERTAKEN && !is_awaited);
    let overdue = overdue.min_by_key(|(_, it)| (Reverse(it.overtaken), it.oldest));
    let best = || can_go().min_by_key(|(_, it)| (Reverse(it.priority), it.distance, it.oldest));
    overdue.or_else(best).map(|(at, _)| at)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    const STATES: u8 = 12;

    #[derive(Debug, Clone)]
    enum Step {
        Ask { state: u8, priority: Priority },
        Forget { state: u8 },
        Answer(First),
    }

    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    struct Item {
        number: usize,
        state: u8,
        priority: Priority,
    }

    fn hash(state: u8) -> ContentHash {
        ContentHash::of(&[state])
    }

    fn priority() -> impl Strategy<Value = Priority> {
        prop_oneof![
            4 => Just(Priority::Background),
            2 => Just(Priority::Agent),
            1 => Just(Priority::Interactive),
        ]
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            10 => (0..STATES, priority()).prop_map(|(state, priority)| Step::Ask { state, priority }),
            1 => (0..STATES).prop_map(|state| Step::Forget { state }),
            8 => Just(Step::Answer(First::Persons)),
            1 => Just(Step::Answer(First::Others)),
        ]
    }

    /// Model of the queue's guarantees, whatever it chooses.
    #[derive(Default)]
    struct Model {
        waiting: Vec<Item>,
        /// Turns of younger states that were no person's, since a state last had one, or had nothing that waits.
        passed: BTreeMap<u8, u32>,
        in_turn: u32,
    }

    impl Model {
        fn oldest(&self, state: u8) -> Option<usize> {
            self.waiting.iter().filter(|it| it.state == state).map(|it| it.number).min()
        }

        fn check_answer(&mut self, first: First, taken: &Taken<Item>) {
            let Taken { item, is_first } = taken;
            assert!(self.waiting.contains(item), "{item:?} was answered twice, or never asked");
            let is_older =
                |it: &Item| it.state == item.state && it.priority == item.priority && it.number < item.number;
            assert!(!self.waiting.iter().any(is_older), "{item:?} before what was asked earlier");
            self.in_turn = if *is_first { 1 } else { self.in_turn + 1 };
            assert!(self.in_turn <= LONGEST_TURN);
            if *is_first {
                self.check_turn(first, item);
            } else {
                assert!(self.most_urgent() <= Some(item.priority), "{item:?} goes on before what is urgent");
            }
            self.waiting.retain(|it| it != item);
            let waiting = &self.waiting;
            self.passed.retain(|state, _| waiting.iter().any(|it| it.state == *state));
        }

        fn most_urgent(&self) -> Option<Priority> {
            self.waiting.iter().map(|it| it.priority).max()
        }

        fn check_turn(&mut self, first: First, item: &Item) {
            let is_persons = |it: &Item| it.priority == Priority::Interactive;
            let has = |persons: bool| self.waiting.iter().any(|it| is_persons(it) == persons);
            match first {
                First::Persons => assert!(is_persons(item) || !has(true), "{item:?} makes a person wait"),
                First::Others => assert!(!is_persons(item) || !has(false), "{item:?} makes others wait"),
            }
            if is_persons(item) {
                return;
            }
            let mine = self.oldest(item.state);
            let is_overdue = self.passed.get(&item.state).is_some_and(|it| *it >= OVERTAKEN);
            for state in (0..STATES).filter(|it| *it != item.state) {
                let Some(oldest) = self.oldest(state) else { continue };
                if Some(oldest) < mine {
                    let passed = self.passed.entry(state).or_default();
                    *passed += 1;
                    assert!(*passed <= OVERTAKEN + u32::from(STATES), "{state} starves");
                }
            }
            self.passed.insert(item.state, 0);
            let others = self.waiting.iter().filter(|it| !is_persons(it)).map(|it| it.priority);
            assert!(others.max() <= Some(item.priority) || is_overdue, "{item:?} before what is urgent");
        }
    }

    proptest! {
        #[test]
        fn each_is_answered_once_and_none_starves(steps in prop::collection::vec(step(), 0..600)) {
            let (mut queue, mut model, mut present) = (Queue::new(), Model::default(), 0);
            let rest = std::iter::repeat_n(Step::Answer(First::Persons), 600);
            for (number, step) in steps.into_iter().chain(rest).enumerate() {
                match step {
                    Step::Ask { state, priority } => {
                        let item = Item { number, state, priority };
                        model.waiting.push(item);
                        queue.push(hash(state), priority, item);
                    }
                    Step::Forget { state } => {
                        queue.retain(|it: &Item| it.state != state);
                        model.waiting.retain(|it| it.state != state);
                        model.passed.remove(&state);
                    }
                    Step::Answer(first) => {
                        let taken = queue.next(first, |it| usize::from(it.state.abs_diff(present)));
                        prop_assert_eq!(taken.is_none(), model.waiting.is_empty());
                        if let Some(taken) = taken {
                            present = taken.item.state;
                            model.check_answer(first, &taken);
                        }
                    }
                }
            }
            prop_assert!(model.waiting.is_empty() && queue.is_empty());
        }
    }

    /// Compares the states in the order of their answers, if all wait from the beginning and the present state is `z`.
    #[track_caller]
    fn check(asked: &[(char, Priority)], want: &str) {
        let mut queue = Queue::new();
        for (state, priority) in asked {
            queue.push(ContentHash::of(&[*state as u8]), *priority, *state);
        }
        let mut present = 'z';
        let mut out = String::new();
        while let Some(taken) =
            queue.next(First::Persons, |it| present.max(*it) as usize - present.min(*it) as usize)
        {
            present = taken.item;
            out.push_str(if taken.is_first { " " } else { "" });
            out.push(taken.item);
        }
        assert_eq!(out.trim(), want);
    }

    #[test]
    fn what_is_of_one_state_goes_together_and_the_nearest_goes_next() {
        let ask = |it: &str| it.chars().map(|it| (it, Priority::Background)).collect::<Vec<_>>();
        check(&ask("axbxaxy"), "y xxx b aa");
        let mut urgent = ask("axbx");
        urgent.push(('b', Priority::Agent));
        check(&urgent, "bb a xx");
    }

    #[test]
    fn a_person_goes_before_questions_and_those_before_checks() {
        let (check_of, machine, person) = (Priority::Background, Priority::Agent, Priority::Interactive);
        check(&[('x', check_of), ('y', machine), ('a', person)], "a y x");
        check(&[('y', machine), ('y', check_of), ('a', machine), ('b', person), ('y', person)], "y b a yy");
        let mut queue = Queue::new();
        (0..3).for_each(|_| queue.push(hash(1), check_of, "check"));
        let next = |queue: &mut Queue<_>| queue.next(First::Persons, |_| 0).unwrap().item;
        assert_eq!(next(&mut queue), "check");
        queue.push(hash(2), machine, "machine");
        queue.push(hash(3), person, "person");
        let rest: Vec<_> = (0..4).map(|_| next(&mut queue)).collect();
        assert_eq!(rest, ["person", "machine", "check", "check"], "in the middle of a turn, too");
    }

    #[test]
    fn a_person_goes_before_what_is_overdue_unless_others_go_first() {
        const MANY: u8 = 20;
        let mut queue = Queue::new();
        let next = |queue: &mut Queue<_>, first| queue.next(first, |_| 0).unwrap().item;
        (0..MANY).for_each(|it| queue.push(hash(it), Priority::Background, it));
        for state in (MANY..).take(OVERTAKEN as usize) {
            queue.push(hash(state), Priority::Agent, state);
            assert_eq!(next(&mut queue, First::Persons), state);
        }
        // Each key that is typed makes another state.
        for key in 0..MANY {
            let typed = u8::MAX - key;
            queue.push(hash(typed), Priority::Interactive, typed);
            assert!(queue.has_person() && queue.has_others());
            assert_eq!(next(&mut queue, First::Persons), typed);
            queue.push(hash(typed), Priority::Interactive, typed);
            assert_eq!([First::Others, First::Persons].map(|it| next(&mut queue, it)), [key, typed]);
        }
        assert!(queue.is_empty());
    }

    #[test]
    fn what_is_far_away_has_its_turn() {
        let ask: Vec<_> = "abcdefghijklmnopqrstuvwxy".chars().map(|it| (it, Priority::Background)).collect();
        check(&ask, "y x w v u t s r a b c d e f g h i j k l m n o p q");
    }

    #[test]
    fn a_turn_has_an_end() {
        let mut queue = Queue::new();
        queue.push(hash(1), Priority::Background, 1);
        assert_eq!(queue.next(First::Persons, |_| 0).map(|it| it.item), Some(1));
        queue.push(hash(2), Priority::Background, 2);
        let mut answers = 1;
        loop {
            queue.push(hash(1), Priority::Background, 1);
            match queue.next(First::Persons, |it| usize::from(*it != 1)).map(|it| it.item) {
                Some(1) => answers += 1,
                _ => break,
            }
        }
        assert_eq!(answers, LONGEST_TURN * (OVERTAKEN + 1));
    }
}
