//! Costs of loading each bundled plugin, and of a query that a plugin asks the host for.
//!
//! `./dev bench plugins [FOLDER]`, with Python files in the folder; the standard library's if none is named. Each figure
//! is the least of several runs, and what is compared is run in turns.

#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a bench tells its figures, and stops at what is unexpected"
)]

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
    time::{Duration, Instant},
};

use bytes::Bytes;
use lint::{Cancel, Completeness, Job, Unit};
use overlay::{ContentHash, Memory, View, WorkspacePath};
use plugin_host::Settings;
use syntax::{Language, Query, Trees};
use tests::{bundled, guest, host, no_files, path, run};

const RUNS: usize = 7;

/// Files of the folder.
const ENOUGH: usize = 1_500;

/// Files that are asked about at once.
const BATCH: usize = 16;

fn main() {
    loads();
    // Arguments before it are cargo's own.
    let folder = std::env::args().skip(1).find(|it| !it.starts_with("--"));
    queries(&folder.map_or_else(standard_library, PathBuf::from));
}

fn timed<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let start = Instant::now();
    let done = work();
    (start.elapsed(), done)
}

fn milliseconds(it: Duration) -> f64 {
    it.as_secs_f64() * 1e3
}

/// From nothing in memory to an instance that knows its settings, with machine code that was kept, and then once more.
fn loads() {
    let cache = tempfile::tempdir().unwrap();
    println!("{:12} {:>10} {:>14} {:>16}", "plugin", "load, ms", "instance, ms", "machine code, MB");
    let mut sum = Duration::ZERO;
    for name in bundle() {
        let configure = |host: &plugin_host::PluginHost| {
            let linter = bundled(host, &name).configured(Settings::default());
            let ask = || linter.unknown_selectors(&no_files()).unwrap();
            let (first, _) = timed(ask);
            (first, timed(ask).0)
        };
        configure(&host(Some(cache.path()))); // unpacks the machine code
        let hosts: Vec<_> = (0..RUNS).map(|_| configure(&host(Some(cache.path())))).collect();
        let first = hosts.iter().map(|it| it.0).min().unwrap();
        let second = hosts.iter().map(|it| it.1).min().unwrap();
        sum += first - second.min(first);
        let size = size_of_machine_code(cache.path());
        fs::remove_dir_all(cache.path().join("machine-code")).unwrap();
        println!(
            "{name:12} {:>10.2} {:>14.2} {:>16.1}",
            milliseconds(first - second.min(first)),
            milliseconds(second),
            size as f64 / 1e6
        );
    }
    println!("{:12} {:>10.2}", "all", milliseconds(sum));
}

fn bundle() -> Vec<String> {
    let folder = std::env::var_os("BROKER_BUNDLE").expect("./dev bench plugins says where the bundle is");
    let files = fs::read_dir(folder).unwrap().map(|it| it.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = files.filter_map(|it| it.strip_suffix(".toml").map(str::to_owned)).collect();
    names.sort();
    names
}

fn size_of_machine_code(cache: &Path) -> u64 {
    let files = fs::read_dir(cache.join("machine-code")).unwrap();
    files.map(|it| it.unwrap().metadata().unwrap().len()).max().unwrap_or_default()
}

fn standard_library() -> PathBuf {
    let print = "import sysconfig; print(sysconfig.get_path('stdlib'))";
    let output =
        Command::new("python3").args(["-c", print]).output().expect("python3 says where its library is");
    PathBuf::from(String::from_utf8(output.stdout).unwrap().trim())
}

/// The query of the plugin that `broker plugin new` makes.
const QUERY: &str = r#"(comparison_operator operators: ["==" "!="] @operator . (none))"#;

/// The same query over the same files: from a guest, and in this program. Nothing is known beforehand in either case.
fn queries(folder: &Path) {
    let mut view = Memory::default();
    let mut files = Vec::new();
    gather(folder, &mut files);
    files.sort();
    files.truncate(ENOUGH);
    let texts: Vec<(WorkspacePath, Bytes)> = files
        .iter()
        .enumerate()
        .map(|(index, file)| (path(&format!("{index}.py")), Bytes::from(fs::read(file).unwrap())))
        .collect();
    texts.iter().for_each(|(path, text)| view.insert_file(path, text.clone(), false));
    let view: Arc<dyn View> = Arc::new(view);
    let units: Vec<_> = texts.iter().map(|(it, _)| Unit { path: it.clone(), named: path("") }).collect();
    let cache = tempfile::tempdir().unwrap();

    let from_a_guest = || {
        let plugin = host(Some(cache.path())).open(&guest("none_comparison")).unwrap();
        let linter = plugin.configured(Settings::default());
        linter.unknown_selectors(&no_files()).unwrap();
        let batch = |units: &[Unit]| {
            let (view, units) = (Arc::clone(&view), units.to_vec());
            let timeout = Duration::from_secs(60);
            let done =
                run(&linter, &Job { view, units, cancel: Cancel::default(), timeout, is_awaited: false });
            assert!(done.iter().all(|it| it.completeness == Completeness::Complete));
            done.iter().map(|it| it.diagnostics.len()).sum::<usize>()
        };
        timed(|| units.chunks(BATCH).map(batch).sum::<usize>())
    };
    let natively = || {
        let (trees, language) = (Trees::new(16 << 20), Language::named("python").unwrap());
        let query = Query::new(language, QUERY).unwrap();
        let one = |(_, text): &(WorkspacePath, Bytes)| {
            let content = ContentHash::of(text);
            let tree = trees.tree(language, text.clone(), content, &|| false).unwrap();
            query.run(&tree, &|| false).unwrap().table.len() / 5
        };
        timed(|| texts.iter().map(one).sum::<usize>())
    };
    let (mut guest, mut native, mut found) = (Duration::MAX, Duration::MAX, [0, 0]);
    for _ in 0..RUNS {
        let (took, count) = from_a_guest();
        (guest, found[0]) = (guest.min(took), count);
        let (took, count) = natively();
        (native, found[1]) = (native.min(took), count);
    }
    let bytes: usize = texts.iter().map(|(_, text)| text.len()).sum();
    let per_file = |it: Duration| it.as_secs_f64() * 1e6 / texts.len() as f64;
    println!(
        "\n{} files, {:.1} MB, {} findings from the guest, {} natively",
        texts.len(),
        bytes as f64 / 1e6,
        found[0],
        found[1]
    );
    println!(
        "query from a plugin: {:.0} µs a file; natively: {:.0} µs; ratio {:.2}",
        per_file(guest),
        per_file(native),
        guest.as_secs_f64() / native.as_secs_f64()
    );
}

fn gather(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            gather(&path, files);
        } else if path.extension().is_some_and(|it| it == "py")
            && fs::read(&path).is_ok_and(|it| str::from_utf8(&it).is_ok())
        {
            files.push(path);
        }
    }
}
