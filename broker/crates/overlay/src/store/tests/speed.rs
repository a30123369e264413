//! Measures durable saves a second: `cargo test --release -p overlay --lib speed -- --ignored --nocapture`.

use std::time::{Duration, Instant};

use super::*;

#[test]
#[ignore = "measures"]
fn saves_per_second() {
    for threads in [1, 8, 32] {
        let folder = TempDir::new().unwrap();
        let store = Store::open(folder.path()).unwrap();
        let start = Instant::now();
        let mut times: Vec<_> = std::thread::scope(|scope| {
            let store = &store;
            let workers: Vec<_> =
                (0..threads).map(|n| scope.spawn(move || save_for_a_while(store, n))).collect();
            workers.into_iter().flat_map(|it| it.join().unwrap()).collect()
        });
        let elapsed = start.elapsed();
        times.sort_unstable();
        let (median, late) = (times[times.len() / 2], times[times.len() * 99 / 100]);
        let rate = times.len() as f64 / elapsed.as_secs_f64();
        println!("{threads} threads: {rate:.0} saves/s, median {median:?}, p99 {late:?}");
        drop(store);
        let start = Instant::now();
        let store = Store::open(folder.path()).unwrap();
        let open = start.elapsed();
        let steps: usize = all(&store).iter().map(|it| it.steps.len()).sum();
        println!(
            "  reopen {open:?}, load of {steps} steps {:?}, {:?}",
            start.elapsed() - open,
            store.stats()
        );
    }
}

fn save_for_a_while(store: &Store, thread: u64) -> Vec<Duration> {
    let (id, start) = (format!("b{thread}"), Instant::now());
    store.save(&id, Some(record("x")), vec![]).unwrap();
    let mut times = Vec::new();
    while start.elapsed() < Duration::from_secs(4) {
        let before = Instant::now();
        let n = times.len() as u64;
        store.save(&id, None, vec![step(n, &format!("{thread} {n} some text of a line"))]).unwrap();
        times.push(before.elapsed());
    }
    times
}
