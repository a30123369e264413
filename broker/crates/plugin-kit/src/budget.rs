//! Cost of an answer. Measured, and only compared with limits that the fixtures set.

use crate::{Check, Report, answers::Bench, fixtures::Set};

/// Number of runs, of which the least counts: other work on the machine only ever adds.
const RUNS: usize = 5;
/// Bytes in a run.
const ENOUGH: usize = 64 << 10;

pub(crate) fn check(bench: &Bench<'_>, report: &mut Report) {
    let (mut bytes, mut microseconds, mut memory) = (0, 0, 0);
    for (_, set) in bench.fixtures.sets() {
        let (set_bytes, set_microseconds, set_memory) = measure(bench, set);
        bytes += set_bytes;
        microseconds += set_microseconds;
        memory = memory.max(set_memory);
    }
    if bytes == 0 {
        return;
    }
    let per_kilobyte = microseconds * 1_000 / bytes as u128;
    let mib = memory.div_ceil(1 << 20);
    let settings = &bench.fixtures.settings;
    if let Some(most) = settings.max_microseconds_per_kilobyte.filter(|it| per_kilobyte > u128::from(*it)) {
        let message = format!("{per_kilobyte} µs for 1,000 bytes, where `fixtures.toml` allows {most}");
        report.fail(Check::Budget, "", message);
    }
    if let Some(most) = settings.max_memory.filter(|it| mib > *it as usize) {
        let message = format!("{mib} MiB of memory, where `fixtures.toml` allows {most}");
        report.fail(Check::Budget, "", message);
    }
    report.pass(Check::Budget, format!("{per_kilobyte} µs for 1,000 bytes, {mib} MiB of memory"));
}

/// Bytes, microseconds and bytes of memory.
fn measure(bench: &Bench<'_>, set: &Set) -> (usize, u128, usize) {
    let files: Vec<_> = bench.wanted(&set.files).collect();
    let paths: Vec<_> = files.iter().map(|(path, _)| path.clone()).collect();
    let bytes: usize = files.iter().map(|(_, text)| text.len()).sum();
    // The cost of an instance by itself is shared by the files of a batch.
    let repeats = (ENOUGH / bytes.max(1)).clamp(1, 500);
    let (paths, bytes) = ([&paths[..]].repeat(repeats).concat(), bytes * repeats);
    let runs = (0..RUNS).map(|_| bench.measure(set.view(), &paths).1);
    let least = runs.min_by_key(|it| it.microseconds);
    least.map_or((0, 0, 0), |it| (bytes, it.microseconds, it.usage.memory))
}
