//! Table of each server's costs: `BROKER_TEST_TABLE=1 cargo test -p language-servers table -- --nocapture`. Asserts
//! nothing of time.

use std::{
    fs,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use language_servers::{Server, profiles};
use overlay::View;

use crate::{
    isolation::{Run, is_whole, percentile, switch},
    languages::{Language, is_right, language, program},
};

const EDITS: usize = 20;

#[test]
fn table_of_all_servers() {
    if std::env::var_os("BROKER_TEST_TABLE").is_none() {
        println!("skipped: BROKER_TEST_TABLE is not set");
        return;
    }
    let mut rows = Vec::new();
    for profile in profiles() {
        if let Some(program) = program(&profile.tool.name) {
            rows.push(row(&profile.tool.name, program));
        }
    }
    println!("| server | start ms | edit p50 ms | switch p50/p99 ms | RSS MB | wrong |");
    println!("|---|---|---|---|---|---|");
    rows.iter().for_each(|it| println!("{it}"));
}

fn row(name: &str, program: std::ffi::OsString) -> String {
    let (folder, language) = (tempfile::tempdir().unwrap(), language(name));
    let root = folder.path().canonicalize().unwrap();
    let setup = language.setup(name, program, &root);
    let (disk, is_whole) = (Arc::clone(&setup.disk), is_whole(&setup));
    let start = Instant::now();
    let server = Server::new(setup);
    let first = language.view(&disk, |it| language.edit(it, "a", language.text("a", 1)));
    let outcomes = language.ask(&server, &first, &["a"]);
    let (start, before) = (start.elapsed(), memory(&root));
    let mut wrong = usize::from(!is_right(&outcomes, 1, true));
    let mut edits = edit(language, &server, &disk, is_whole, &mut wrong);
    let Run { mut switches, wrong: others } = switch(name, &server, &disk, language, is_whole);
    let after = memory(&root);
    let (edit, p50) = (ms(percentile(&mut edits, 0.5)), ms(percentile(&mut switches, 0.5)));
    let (p99, wrong) = (ms(percentile(&mut switches, 0.99)), wrong + others);
    let row = format!("| {name} | {} | {edit} | {p50} / {p99} | {before} → {after} | {wrong} |", ms(start));
    println!("{row}");
    row
}

/// Measures one branch that is edited again and again.
fn edit(
    language: Language,
    server: &Server,
    disk: &Arc<dyn View>,
    is_whole: bool,
    wrong: &mut usize,
) -> Vec<Duration> {
    let mut times = Vec::new();
    for marker in (0..EDITS).map(|it| 1000 + 2 * it) {
        let view = language.view(disk, |it| language.mark(it, marker));
        let start = Instant::now();
        let outcomes = language.ask(server, &view, &["a", "b"]);
        times.push(start.elapsed());
        *wrong += usize::from(!is_right(&outcomes, marker, is_whole));
    }
    times
}

fn ms(time: Duration) -> String {
    let ms = time.as_secs_f64() * 1000.0;
    if ms < 10.0 { format!("{ms:.1}") } else { format!("{ms:.0}") }
}

/// Megabytes of all processes that run in the folder, or were started by one that does.
fn memory(root: &Path) -> u64 {
    let mut processes: Vec<_> =
        fs::read_dir("/proc").unwrap().flatten().filter_map(|it| Process::of(&it.path())).collect();
    let mut family: Vec<u32> = Vec::new();
    let mut kilobytes = 0;
    loop {
        let is_family = |it: &mut Process| it.is_in(root) || family.contains(&it.parent);
        let found: Vec<_> = processes.extract_if(.., is_family).collect();
        if found.is_empty() {
            return kilobytes / 1024;
        }
        kilobytes += found.iter().map(|it| it.kilobytes).sum::<u64>();
        family.extend(found.iter().map(|it| it.id));
    }
}

struct Process {
    id: u32,
    parent: u32,
    kilobytes: u64,
    folder: Option<std::path::PathBuf>,
}

impl Process {
    /// `None` for what is none, or has ended meanwhile.
    fn of(path: &Path) -> Option<Self> {
        let id = path.file_name()?.to_str()?.parse().ok()?;
        let status = fs::read_to_string(path.join("status")).ok()?;
        let number = |key: &str| {
            let line = status.lines().find_map(|it| it.strip_prefix(key))?;
            line.split_whitespace().next()?.parse::<u64>().ok()
        };
        let parent = u32::try_from(number("PPid:")?).ok()?;
        let kilobytes = number("VmRSS:").unwrap_or(0);
        Some(Self { id, parent, kilobytes, folder: fs::read_link(path.join("cwd")).ok() })
    }

    fn is_in(&self, root: &Path) -> bool {
        self.folder.as_deref().is_some_and(|it| it.starts_with(root))
    }
}

const SHARED: usize = 100;
const FRESH: usize = 5;

/// Prints the costs of many branches in one process, beside a process for each, of which a few are measured.
#[test]
fn table_of_one_server_for_many_branches() {
    if std::env::var_os("BROKER_TEST_TABLE").is_none() {
        println!("skipped: BROKER_TEST_TABLE is not set");
        return;
    }
    println!("| server | {SHARED} branches on one: s, MB | on one each: s, MB ({FRESH} measured) | wrong |");
    println!("|---|---|---|---|");
    for name in ["ty", "pyright", "typescript", "rust-analyzer"] {
        if let Some(program) = program(name) {
            println!("{}", crowd(name, &program));
        }
    }
}

fn crowd(name: &str, program: &std::ffi::OsStr) -> String {
    let (folder, language) = (tempfile::tempdir().unwrap(), language(name));
    let root = folder.path().canonicalize().unwrap();
    let setup = language.setup(name, program.to_owned(), &root);
    let (disk, is_whole) = (Arc::clone(&setup.disk), is_whole(&setup));
    let mut wrong = 0;
    let mut ask = |server: &Server, marker: usize| {
        let view = language.view(&disk, |it| language.mark(it, marker));
        let outcomes = language.ask(server, &view, &["a", "b"]);
        wrong += usize::from(!is_right(&outcomes, marker, is_whole));
    };
    let start = Instant::now();
    let server = Server::new(setup.clone());
    (0..SHARED).for_each(|it| ask(&server, 2 * it));
    let (time, shared) = (start.elapsed(), memory(&root));
    drop(server);
    let start = Instant::now();
    let servers: Vec<_> = (0..FRESH).map(|_| Server::new(setup.clone())).collect();
    servers.iter().enumerate().for_each(|(it, server)| ask(server, 2 * it));
    let (each, fresh) = (start.elapsed() / u32::try_from(FRESH).unwrap(), memory(&root) / FRESH as u64);
    let seconds = |it: Duration| format!("{:.1}", it.as_secs_f64());
    let (time, all) = (seconds(time), seconds(each * u32::try_from(SHARED).unwrap()));
    format!("| {name} | {time}, {shared} | {all}, {} | {wrong} |", fresh * SHARED as u64)
}
