//! Measures the cost of a base: `cargo run --release -p overlay --example base_figures`.
//!
//! Prints the nanoseconds of a cached look at one of 1,000 files, four directories deep, and what it takes
//! to hash 50,000 files of 4 KiB (or as many as the first argument says) beside merely reading them.

#![allow(clippy::disallowed_methods, reason = "a test makes its own files")]
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "an example that prints figures")]

use std::{
    fs,
    hint::black_box,
    io,
    num::NonZero,
    path::Path,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::{Duration, Instant},
};

use overlay::{Base, BaseOptions, Disk, View, WalkOptions, WorkspacePath, tree_hash, walk};

fn main() {
    let folder = tempfile::tempdir().unwrap();
    let files = std::env::args().nth(1).map_or(50_000, |it| it.parse().unwrap());
    fill(folder.path(), files);
    // Later than any tick, so that the base may believe what it reads.
    thread::sleep(Duration::from_millis(100));
    trees(folder.path());
    looks(folder.path());
}

fn fill(root: &Path, files: usize) {
    for index in 0..files {
        let folder = root.join(format!("src/{}/{}", index / 1000, index / 50));
        if index % 50 == 0 {
            fs::create_dir_all(&folder).unwrap();
        }
        let text = format!("line {index} of a file that is like others\n");
        fs::write(folder.join(format!("{index}.py")), text.repeat(4096 / text.len())).unwrap();
    }
}

/// Time by the clock, and what all threads together used, which a busy machine does not distort as much.
fn timed<T>(what: &str, run: impl FnOnce() -> T) -> T {
    let (start, used) = (Instant::now(), used_millis());
    let value = run();
    let wall = start.elapsed().as_millis();
    println!("{what:44} {wall:>8} ms, {:>6} ms of processors", used_millis() - used);
    value
}

/// Linux only, and in ticks of 10 ms; 0 elsewhere.
#[expect(clippy::disallowed_methods, reason = "this is no workspace file")]
fn used_millis() -> u64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace().skip(11).take(2);
    fields.map(|it| it.parse::<u64>().unwrap_or_default() * 10).sum()
}

/// Times reading, walking and hashing the tree. The first pass warms the page cache for all later ones.
fn trees(root: &Path) {
    let options = WalkOptions::default();
    let disk = Disk::new(root).unwrap();
    let base = Base::open(root, BaseOptions::default()).unwrap();
    let paths: Vec<_> = walk(&disk, &[WorkspacePath::root()], &options).collect();
    timed("reading once, to warm the system", || read_all(&disk, &paths, 1));
    timed("walking and reading, one thread", || {
        walk(&disk, &[WorkspacePath::root()], &options)
            .for_each(|it| drop(black_box(disk.read(&it).unwrap())));
    });
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    timed(&format!("reading only, {threads} threads"), || read_all(&disk, &paths, threads));
    let tree = timed("tree hash, nothing known", || tree_hash(&base, &options).unwrap());
    timed("tree hash, all known", || tree_hash(&base, &options).unwrap());
    let changed = &paths[paths.len() / 2];
    fs::write(root.join(changed.as_str()), "changed").unwrap();
    let updated = timed("update, one file changed", || tree.update(&base, std::slice::from_ref(changed)));
    assert!(updated.unwrap().root() != tree.root());
}

fn read_all(disk: &Disk, paths: &[WorkspacePath], threads: usize) {
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(path) = paths.get(next.fetch_add(1, Ordering::Relaxed)) {
            black_box(disk.read(path).unwrap());
        }
    };
    thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
}

fn looks(root: &Path) {
    let disk = Disk::new(root).unwrap();
    let base = Base::open(root, BaseOptions::default()).unwrap();
    let paths: Vec<_> = walk(&disk, &[WorkspacePath::root()], &WalkOptions::default()).take(1000).collect();
    let parents: Vec<_> = paths.iter().filter_map(WorkspacePath::parent).collect();
    all("hash", &paths, |it| base.hash(it));
    all("read", &paths, |it| base.read(it));
    all("metadata", &paths, |it| base.metadata(it));
    all("list, 50 entries", &parents, |it| base.list(it));
    all("metadata, by the disk", &paths, |it| disk.metadata(it));
    all("hash, by the disk", &paths, |it| disk.hash(it));
    all("list, by the disk", &parents, |it| disk.list(it));
    base.set_buffer(&WorkspacePath::new("src/new.py").unwrap(), "unsaved".into()).unwrap();
    all("hash, with a buffer elsewhere", &paths, |it| base.hash(it));
}

fn all<T>(what: &str, paths: &[WorkspacePath], look: impl Fn(&WorkspacePath) -> io::Result<T>) {
    let look_at_all = || paths.iter().for_each(|it| drop(black_box(look(it).unwrap())));
    look_at_all();
    let best = (0..20).map(|_| {
        let start = Instant::now();
        look_at_all();
        start.elapsed().as_nanos() / paths.len() as u128
    });
    println!("{what:44} {:>10} ns", best.min().unwrap());
}
