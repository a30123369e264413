//! Asks questions about a folder whose answers are known, and prints how often they are found. `tests/bench/questions` makes both.
//!
//! usage: `questions FOLDER FILE`; a line of FILE has a path, a symbol and a question, with tabs between them

#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a bench reads folders that are no workspace, prints what it measures, and may fail"
)]

use std::time::{Duration, Instant};

use overlay::Disk;
use search::{CodeIndex, CodeRequest, IndexOptions, Options, walk_options};

const SHOWN: usize = 10;

fn main() {
    let [folder, file] = std::env::args().skip(1).collect::<Vec<_>>().try_into().unwrap();
    let view = Disk::new(folder.as_ref()).unwrap();
    let kept = tempfile::tempdir().unwrap();
    let index = CodeIndex::open(kept.path(), IndexOptions::default()).unwrap();
    let walk = walk_options(None);
    let options = Options { walk: &walk, threads: 2, cancel: &|| false };
    let start = Instant::now();
    let stats = index.update(&view, &options, &|_| ()).unwrap();
    println!("{} files, {} kB, {:.2} s", stats.documents, stats.bytes / 1000, start.elapsed().as_secs_f64());
    let (mut times, mut ranks) = (Vec::new(), Vec::new());
    for line in std::fs::read_to_string(file).unwrap().lines() {
        let [path, symbol, query] = line.splitn(3, '\t').collect::<Vec<_>>().try_into().unwrap();
        let start = Instant::now();
        let request = CodeRequest { query, limit: SHOWN, scorer: None };
        let answer = index.search(&view, &request, &options).unwrap();
        times.push(start.elapsed());
        let is_it = |it: &search::CodeMatch| {
            let names = it.symbol == symbol || symbol.starts_with(&format!("{}.", it.symbol));
            it.path.as_str() == path && names
        };
        ranks.push(answer.matches.iter().position(is_it));
    }
    report(&ranks, &mut times);
}

#[expect(clippy::cast_precision_loss, reason = "small numbers")]
fn report(ranks: &[Option<usize>], times: &mut [Duration]) {
    let share = |below: usize| {
        let found = ranks.iter().flatten().filter(|it| **it < below).count();
        100.0 * found as f64 / ranks.len() as f64
    };
    let mean = |score: fn(f64) -> f64| {
        let scores = ranks.iter().flatten().map(|it| score(*it as f64 + 1.0));
        scores.sum::<f64>() / ranks.len() as f64
    };
    times.sort();
    println!(
        "{} questions: first {:.0} %, first eight {:.0} %, MRR {:.3}, NDCG@10 {:.3}; p50 {:.1} ms, p99 {:.1} ms",
        ranks.len(),
        share(1),
        share(8),
        mean(|rank| 1.0 / rank),
        mean(|rank| 1.0 / (rank + 1.0).log2()),
        times[times.len() / 2].as_secs_f64() * 1000.0,
        times[(times.len() - 1) * 99 / 100].as_secs_f64() * 1000.0,
    );
}
