//! Measures search against ripgrep on folders, side by side in one run, and prints tables. `tests/bench/search` runs it.
//!
//! usage: `against_ripgrep RG FOLDER...`; `QUERIES` and `COLD` in the environment are how many of each are asked

#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a bench reads folders that are no workspace, prints what it measures, and may fail"
)]

#[path = "../tests/it/queries.rs"]
mod queries;

use std::{
    fs::File,
    path::Path,
    process::Command,
    sync::Arc,
    time::{Duration, Instant},
};

use overlay::{Base, BaseOptions, Branch, View, WorkspacePath};
use queries::{Random, queries};
use rustix::fs::{Advice, fadvise};
use search::{
    CodeIndex, CodeRequest, GrepRequest, Index, IndexOptions, Options, find_files, grep, walk_options,
};

const THREADS: usize = 2;
const EDITS: usize = 100;

fn main() {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let [ripgrep, folders @ ..] = &arguments[..] else { panic!("usage: against_ripgrep RG FOLDER...") };
    for folder in folders {
        measure(ripgrep, Path::new(folder));
    }
}

fn number(name: &str, usual: usize) -> usize {
    std::env::var(name).ok().map_or(usual, |it| it.parse().unwrap())
}

fn measure(ripgrep: &str, root: &Path) {
    let [private, kept] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let base = Base::open(root, BaseOptions::default()).unwrap();
    let _watch = base.watch(private.path(), |_| ()).unwrap();
    let index = Index::open(kept.path(), IndexOptions::default()).unwrap();
    let files: Vec<_> = overlay::walk(&base, &[WorkspacePath::root()], &walk_options(None)).collect();
    let size: u64 = files.iter().filter_map(|it| base.metadata(it).ok()).map(|it| it.size).sum();
    println!("\n{}: {} files, {} MB", root.display(), files.len(), size / 1_000_000);
    let before = memory();
    let built = update(&index, &base);
    let stats = index.stats();
    println!(
        "index: {:.1} s, {} MB in {} segments, {} contents; {} MB more of anonymous memory",
        built.as_secs_f64(),
        stats.bytes / 1_000_000,
        stats.segments,
        stats.documents,
        (memory() - before) / 1000
    );
    println!("again without a change: {:.2} s", update(&index, &base).as_secs_f64());
    drop(index);
    let start = Instant::now();
    let index = Index::open(kept.path(), IndexOptions::default()).unwrap();
    println!("opened and checked: {:.2} s", start.elapsed().as_secs_f64());
    println!("up to date again: {:.2} s", update(&index, &base).as_secs_f64());

    let mut random = Random(1);
    let queries = queries(&base, &files, number("QUERIES", 200), &mut random);
    let branch = branch(&base, &files, &mut random);
    warm(ripgrep, root, &base, &branch.snapshot(), &index, &queries);
    cold(ripgrep, root, &files, &index, &queries);
    by_name(&base, &files, &mut random);
    by_meaning(&base, &branch.snapshot(), &files, &mut random);
}

/// Parts of paths, with letters left out.
fn by_name(base: &dyn View, files: &[WorkspacePath], random: &mut Random) {
    let (mut times, walk) = (Times::default(), walk_options(None));
    let options = Options { walk: &walk, threads: THREADS, cancel: &|| false };
    for _ in 0..number("QUERIES", 200) {
        let name = random.choice(files).file_name().unwrap();
        let query: String = name.chars().filter(|_| random.below(4) > 0).collect();
        times.add(|| find_files(base, &query, 50, &options).unwrap());
    }
    println!("\n| files by name, ms | p50 | p99 | most | mean processor time |\n|---|---:|---:|---:|---:|");
    times.show("the folder");
}

/// Three words of a line, as a question.
fn by_meaning(base: &dyn View, branch: &dyn View, files: &[WorkspacePath], random: &mut Random) {
    let (kept, walk, before) = (tempfile::tempdir().unwrap(), walk_options(None), memory());
    let options = Options { walk: &walk, threads: THREADS, cancel: &|| false };
    let index = CodeIndex::open(kept.path(), IndexOptions::default()).unwrap();
    let start = Instant::now();
    let stats = index.update(base, &options, &|_| ()).unwrap();
    println!(
        "\ncode index: {:.1} s, {} MB in {} segments; {} MB more of anonymous memory",
        start.elapsed().as_secs_f64(),
        stats.bytes / 1_000_000,
        stats.segments,
        memory().saturating_sub(before) / 1000
    );
    let [mut own, mut edited] = [(); 2].map(|()| Times::default());
    while own.0.len() < number("QUERIES", 200) {
        let Ok(text) = base.read(random.choice(files)) else { continue };
        let Ok(text) = std::str::from_utf8(&text) else { continue };
        let words: Vec<_> =
            text.split(|it: char| !it.is_alphanumeric()).filter(|it| it.len() > 3).take(5000).collect();
        if words.len() < 3 {
            continue;
        }
        let at = random.below(words.len() - 2);
        let query = words[at..at + 3].join(" ");
        let request = CodeRequest { query: &query, limit: 10, scorer: None };
        own.add(|| index.search(base, &request, &options).unwrap());
        edited.add(|| index.search(branch, &request, &options).unwrap());
    }
    println!("\n| code by meaning, ms | p50 | p99 | most | mean processor time |\n|---|---:|---:|---:|---:|");
    own.show("the folder");
    edited.show(&format!("a branch with {EDITS} edits"));
}

/// Anonymous memory in kB.
fn memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|it| it.strip_prefix("RssAnon:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

fn update(index: &Index, view: &dyn View) -> Duration {
    let (start, walk) = (Instant::now(), walk_options(None));
    index.update(view, &Options { walk: &walk, threads: THREADS, cancel: &|| false }, &|_| ()).unwrap();
    start.elapsed()
}

/// A branch with edits, deletions and renames.
fn branch(base: &Base, files: &[WorkspacePath], random: &mut Random) -> Branch {
    let mut branch = Branch::new(Arc::new(base.clone()));
    for number in 0..EDITS {
        let path = random.choice(files);
        let Ok(text) = branch.snapshot().read(path) else { continue };
        let _ = match number % 4 {
            0 => branch.remove(path),
            1 => branch.rename(path, &path.parent().unwrap().child(&format!("moved{number}"))),
            _ => branch.write(path, [&text[..], b"\nstruct Edited;\n"].concat().into()),
        };
    }
    branch
}

/// Duration of each query, and the processor time of all together.
#[derive(Default)]
struct Times(Vec<Duration>, u64);

/// Processor time of this process and of the children that ended, in milliseconds.
fn processor_time() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields = stat.rsplit_once(") ").unwrap().1.split(' ');
    // utime, stime, cutime and cstime, in ticks of 10 ms.
    fields.skip(11).take(4).map(|it| it.parse::<u64>().unwrap() * 10).sum()
}

impl Times {
    fn add<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let (start, processor) = (Instant::now(), processor_time());
        let value = work();
        self.0.push(start.elapsed());
        self.1 += processor_time() - processor;
        value
    }

    fn show(mut self, name: &str) {
        if self.0.is_empty() {
            return;
        }
        self.0.sort();
        let at =
            |share: usize| self.0[(self.0.len() * share / 100).min(self.0.len() - 1)].as_secs_f64() * 1000.0;
        let mean = self.1 / self.0.len() as u64;
        println!("| {name} | {:.1} | {:.1} | {:.1} | {mean} |", at(50), at(99), at(100));
    }
}

fn ask(view: &dyn View, index: &Index, request: &GrepRequest) -> search::GrepAnswer {
    let walk = walk_options(None);
    grep(view, Some(index), request, &Options { walk: &walk, threads: THREADS, cancel: &|| false }).unwrap()
}

fn by_ripgrep(program: &str, root: &Path, request: &GrepRequest) -> usize {
    let mut command = Command::new(program);
    command.args([
        "--no-config",
        "--no-ignore-global",
        "--no-ignore-parent",
        "--no-messages",
        "--color=never",
    ]);
    command.args(["--no-heading", "--line-number", "--column", "--with-filename", "--threads=2"]);
    command.args(if request.case_sensitive { &["--case-sensitive"][..] } else { &["--ignore-case"] });
    let output = command.args(["-e", &request.query, "./"]).current_dir(root).output().unwrap();
    output.stdout.len()
}

fn warm(
    ripgrep: &str,
    root: &Path,
    base: &dyn View,
    branch: &dyn View,
    index: &Index,
    queries: &[GrepRequest],
) {
    let [mut own, mut first, mut edited, mut theirs] = [(); 4].map(|()| Times::default());
    let [mut rare, mut rare_edited, mut rare_theirs] = [(); 3].map(|()| Times::default());
    let mut common = 0;
    // Fills the caches that the system and Broker keep of the files.
    ask(base, index, &GrepRequest::new("."));
    for request in queries {
        let request = GrepRequest { limit: 50, ..request.clone() };
        let partial = GrepRequest { count_rest: false, ..request.clone() };
        let is_rare = ask(base, index, &request).scanned <= 1000;
        common += usize::from(!is_rare);
        let [own, edited, theirs] = if is_rare {
            [&mut rare, &mut rare_edited, &mut rare_theirs]
        } else {
            [&mut own, &mut edited, &mut theirs]
        };
        own.add(|| ask(base, index, &request));
        edited.add(|| ask(branch, index, &request));
        theirs.add(|| by_ripgrep(ripgrep, root, &request));
        if !is_rare {
            first.add(|| ask(base, index, &partial));
        }
    }
    println!("\n| warm, ms | p50 | p99 | most | mean processor time |\n|---|---:|---:|---:|---:|");
    for (times, name) in [
        (rare, "at most 1,000 files read: the folder".to_owned()),
        (rare_edited, format!("a branch with {EDITS} edits")),
        (rare_theirs, "ripgrep".to_owned()),
        (own, "more files read, all counted: the folder".to_owned()),
        (edited, format!("a branch with {EDITS} edits")),
        (first, "the folder, the first 50 alone".to_owned()),
        (theirs, "ripgrep".to_owned()),
    ] {
        times.show(&name);
    }
    println!("{common} of {} queries read more than 1,000 files", queries.len());
}

/// Files that the system has not in memory, nor Broker any text.
fn cold(ripgrep: &str, root: &Path, files: &[WorkspacePath], index: &Index, queries: &[GrepRequest]) {
    let private = tempfile::tempdir().unwrap();
    let base = Base::open(root, BaseOptions { text_budget: 0 }).unwrap();
    let _watch = base.watch(private.path(), |_| ()).unwrap();
    update(index, &base);
    let [mut own, mut theirs] = [(); 2].map(|()| Times::default());
    for request in queries.iter().take(number("COLD", 10)) {
        let request = GrepRequest { limit: 50, ..request.clone() };
        evict(root, files);
        own.add(|| ask(&base, index, &request));
        evict(root, files);
        theirs.add(|| by_ripgrep(ripgrep, root, &request));
    }
    println!(
        "\n| files not in memory, ms | p50 | p99 | most | mean processor time |\n|---|---:|---:|---:|---:|"
    );
    own.show("the folder, all counted");
    theirs.show("ripgrep");
}

fn evict(root: &Path, files: &[WorkspacePath]) {
    for path in files {
        if let Ok(file) = File::open(root.join(path.as_str())) {
            let _ = fadvise(&file, 0, None, Advice::DontNeed);
        }
    }
}
