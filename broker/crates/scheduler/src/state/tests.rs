//! The rules one by one, each in a few submissions.

use std::time::{Duration, Instant};

use super::{Early, FlightId, Request, State, TicketId, Worker};
use crate::{
    BranchKey, Class,
    Class::{Agent, Background, Interactive},
    Options, Rejected, WorkKey,
};

const KEY: Option<WorkKey> = Some(WorkKey([7; 32]));

/// A state in which tasks are named by their author; 10 bytes may be claimed, 4 tickets of a branch wait.
struct Sut {
    state: State<&'static str, &'static str>,
    now: Instant,
}

fn sut() -> Sut {
    let (overdue, memory) = (Duration::from_secs(2), 10);
    let options = Options {
        interactive_workers: 1,
        queued: 8,
        queued_per_branch: 4,
        memory,
        overdue,
        ..Options::default()
    };
    Sut { state: State::new(options), now: Instant::now() }
}

fn task(name: &'static str, class: Class, branch: u64) -> Request<&'static str, &'static str> {
    let branch = BranchKey(branch);
    Request { class, branch, revision: 1, key: None, supersede: false, memory: 0, work: name, reply: name }
}

impl Sut {
    fn submit(
        &mut self,
        request: Request<&'static str, &'static str>,
    ) -> (TicketId, Vec<(&'static str, Early)>) {
        self.state.admit(std::slice::from_ref(&request)).unwrap();
        let (tickets, effects) = self.state.accept(vec![request], self.now);
        (tickets[0], effects.answers.iter().map(|(answer, why)| (answer.reply, *why)).collect())
    }

    fn submit_each(&mut self, tasks: &[(&'static str, Class, u64)]) {
        tasks.iter().for_each(|(name, class, branch)| drop(self.submit(task(name, *class, *branch))));
    }

    fn start(&mut self, worker: Worker) -> Option<(FlightId, &'static str)> {
        self.state.next(worker, self.now).map(|it| (it.id, it.work))
    }

    /// Returns the tasks that start on one thread that takes anything, in order.
    fn order(&mut self) -> Vec<&'static str> {
        let mut order = Vec::new();
        while let Some((id, work)) = self.start(Worker::Any) {
            order.push(work);
            self.state.finished(id, false, self.now);
        }
        order
    }
}

#[test]
fn agents_go_before_what_nobody_waits_for() {
    let mut sut = sut();
    sut.submit_each(&[("old", Background, 1)]);
    sut.now += Duration::from_secs(1);
    sut.submit_each(&[("agent", Agent, 2), ("young", Background, 3)]);
    sut.now += Duration::from_millis(999);
    assert!(sut.state.has_work_for(Worker::Any, sut.now));
    assert_eq!(sut.order(), ["agent", "old", "young"]);
}

#[test]
fn what_is_overdue_has_one_turn_in_eight() {
    let mut sut = sut();
    sut.submit_each(&[("one", Background, 1), ("two", Background, 1)]);
    sut.now += Duration::from_secs(3);
    let mut order = Vec::new();
    for _ in 0..16 {
        sut.submit_each(&[("agent", Agent, 2)]);
        let (id, work) = sut.start(Worker::Any).unwrap();
        sut.state.finished(id, false, sut.now);
        order.push(work);
    }
    let seven = ["agent"; 7];
    assert_eq!(order, [&seven[..], &["one"], &seven, &["two"]].concat());
}

#[test]
fn an_idle_interactive_worker_is_left_its_task() {
    let mut sut = sut();
    sut.submit_each(&[("agent", Agent, 1), ("first", Interactive, 1), ("second", Interactive, 2)]);
    assert_eq!(sut.start(Worker::Any).unwrap().1, "first");
    assert_eq!(sut.start(Worker::Any).unwrap().1, "agent");
    assert_eq!(sut.start(Worker::Any), None);
    assert_eq!(sut.start(Worker::Interactive).unwrap().1, "second");
    sut.submit_each(&[("third", Interactive, 1)]);
    assert_eq!(sut.start(Worker::Any).unwrap().1, "third");
}

#[test]
fn a_task_takes_the_highest_class_of_its_tickets() {
    let mut sut = sut();
    sut.submit_each(&[("other", Agent, 1)]);
    sut.submit(Request { key: KEY, ..task("work", Background, 2) });
    let (joined, _) = sut.submit(Request { key: KEY, ..task("urgent", Interactive, 3) });
    assert!(sut.state.has_work_for(Worker::Interactive, sut.now));
    let effects = sut.state.withdraw(joined);
    assert!(effects.discarded.is_empty());
    assert!(!sut.state.has_work_for(Worker::Interactive, sut.now));
    assert_eq!(sut.order(), ["other", "work"]);
}

#[test]
fn work_that_is_the_same_in_the_next_revision_goes_on() {
    let mut sut = sut();
    sut.submit(Request { key: KEY, ..task("first", Agent, 1) });
    let start = sut.state.next(Worker::Any, sut.now).unwrap();
    let next = Request { key: KEY, revision: 2, supersede: true, ..task("second", Agent, 1) };
    assert_eq!(sut.submit(next).1, [("first", Early::Superseded)]);
    assert!(!start.cancel.is_cancelled());
    let answers = sut.state.finished(start.id, false, sut.now);
    assert_eq!(answers.iter().map(|it| (it.reply, it.joined)).collect::<Vec<_>>(), [("second", true)]);
}

#[test]
fn what_another_branch_waits_for_goes_on() {
    let mut sut = sut();
    sut.submit(Request { key: KEY, ..task("ours", Agent, 1) });
    sut.submit(Request { key: KEY, ..task("theirs", Agent, 2) });
    let start = sut.state.next(Worker::Any, sut.now).unwrap();
    assert_eq!(sut.state.supersede(BranchKey(1), 2, sut.now).answers.len(), 1);
    assert!(!start.cancel.is_cancelled());
    assert_eq!(sut.state.cancel_branch(BranchKey(2), sut.now).answers.len(), 1);
    assert!(start.cancel.is_cancelled());
}

#[test]
fn a_run_that_was_told_to_stop_is_not_joined_and_holds_back_the_next() {
    let mut sut = sut();
    let (first, _) = sut.submit(Request { key: KEY, ..task("first", Agent, 1) });
    let (id, _) = sut.start(Worker::Any).unwrap();
    sut.state.withdraw(first);
    sut.submit(Request { key: KEY, ..task("again", Agent, 1) });
    assert_eq!(sut.start(Worker::Any), None);
    assert_eq!(sut.state.stats().agent.queued, 1);
    assert!(sut.state.finished(id, false, sut.now).is_empty());
    assert_eq!(sut.order(), ["again"]);
}

#[test]
fn a_branch_that_edits_all_the_time_keeps_its_turn() {
    let mut sut = sut();
    sut.submit_each(&[("old", Agent, 1), ("other 1", Agent, 2), ("other 2", Agent, 2)]);
    sut.submit(Request { revision: 2, supersede: true, ..task("new", Agent, 1) });
    assert_eq!(sut.order(), ["new", "other 1", "other 2"]);
}

#[test]
fn superseding_makes_room() {
    let mut sut = sut();
    sut.submit_each(&[("a", Agent, 1), ("b", Agent, 1), ("c", Agent, 1), ("d", Agent, 1)]);
    let full = sut.state.admit(&[task("e", Agent, 1)]);
    assert!(matches!(full, Err(Rejected::BranchQueueFull { branch: BranchKey(1), .. })));
    let (_, ended) = sut.submit(Request { revision: 2, supersede: true, ..task("e", Agent, 1) });
    assert_eq!(ended.len(), 4);
    assert_eq!(sut.order(), ["e"]);
}

#[test]
fn a_full_class_says_when_to_come_back() {
    let mut sut = sut();
    sut.submit_each(&[("slow", Agent, 0)]);
    let (id, _) = sut.start(Worker::Any).unwrap();
    sut.now += Duration::from_secs(1);
    sut.state.finished(id, false, sut.now);
    sut.state.options.workers = 2;
    (1..=8).for_each(|branch| drop(sut.submit(task("more", Agent, branch))));
    // Eight tasks of one second each, on two threads.
    let full = Rejected::QueueFull { class: Agent, retry_after: Duration::from_secs(4) };
    assert_eq!(sut.state.admit(&[task("ninth", Agent, 9)]), Err(full));
    assert_eq!(sut.state.admit(&[task("other class", Background, 9)]), Ok(()));
}

#[test]
fn a_batch_is_accepted_as_a_whole_or_not_at_all() {
    let mut sut = sut();
    sut.submit_each(&[("a", Agent, 1), ("b", Agent, 1), ("c", Agent, 1)]);
    let batch = [task("d", Agent, 1), task("e", Agent, 1)];
    assert!(sut.state.admit(&batch).is_err());
    assert_eq!(sut.state.stats().rejected, 2);
    assert_eq!(sut.order(), ["a", "b", "c"]);
}

#[test]
fn a_big_task_is_waited_for_and_then_runs_alone() {
    let mut sut = sut();
    sut.submit(Request { memory: 4, ..task("small", Agent, 1) });
    sut.submit(Request { memory: 100, ..task("big", Agent, 2) });
    sut.submit(Request { memory: 1, ..task("tiny", Agent, 3) });
    let (small, _) = sut.start(Worker::Any).unwrap();
    assert_eq!(sut.start(Worker::Any), None);
    sut.state.finished(small, false, sut.now);
    let (big, name) = sut.start(Worker::Any).unwrap();
    assert_eq!((name, sut.start(Worker::Any)), ("big", None));
    sut.state.finished(big, false, sut.now);
    assert_eq!(sut.order(), ["tiny"]);
}

#[test]
fn memory_is_kept_for_an_interactive_task_that_is_about_to_start() {
    let mut sut = sut();
    sut.submit(Request { memory: 6, ..task("person", Interactive, 1) });
    sut.submit(Request { memory: 6, ..task("agent", Agent, 2) });
    assert_eq!(sut.start(Worker::Any), None);
    let (person, _) = sut.start(Worker::Interactive).unwrap();
    assert_eq!(sut.start(Worker::Any), None);
    sut.state.finished(person, false, sut.now);
    assert_eq!(sut.order(), ["agent"]);
}

#[test]
fn two_hundred_who_claim_to_be_people_do_not_slow_one_who_asks_for_less() {
    const CLAIMED: u64 = 200;
    let options = Options { interactive_workers: 2, queued: 1000, ..Options::default() };
    let mut sut = Sut { state: State::new(options), now: Instant::now() };
    let claim = |sut: &mut Sut, branch| sut.submit_each(&[("claimed", Interactive, branch); 4]);
    (1..=CLAIMED).for_each(|branch| claim(&mut sut, branch));
    let mut waited = Vec::new();
    for round in 0..3 * CLAIMED {
        // Each has four tasks waiting all the time, and each task takes a tenth of a second.
        let (id, _) = sut.start(Worker::Any).unwrap();
        sut.now += Duration::from_millis(100);
        sut.state.finished(id, false, sut.now);
        if round >= CLAIMED && round % 20 == 0 {
            sut.submit_each(&[("person", Interactive, CLAIMED + 1)]);
            let before = (1..).find(|_| {
                let (id, work) = sut.start(Worker::Any).unwrap();
                sut.now += Duration::from_millis(if work == "person" { 5 } else { 100 });
                sut.state.finished(id, false, sut.now);
                work == "person"
            });
            waited.push(before.unwrap());
        }
        let waiting = sut.state.branches.iter().map(|(branch, it)| (branch.0, it.waiting));
        let idle: Vec<_> = waiting.filter(|it| it.0 <= CLAIMED && it.1 < 4).map(|it| it.0).collect();
        let gone: Vec<_> =
            (1..=CLAIMED).filter(|it| !sut.state.branches.contains_key(&BranchKey(*it))).collect();
        idle.into_iter().chain(gone).for_each(|it| sut.submit_each(&[("claimed", Interactive, it)]));
    }
    assert_eq!(waited.len(), 20);
    assert!(waited.iter().all(|it| *it == 1), "the person's is always the next to start: {waited:?}");
}
