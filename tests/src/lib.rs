//! Helpers that the tests share: paths of what was built, and a host with small limits.

#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "tests look at the disk themselves, and may fail"
)]

pub mod api;
pub mod daemon;
pub mod editor;
pub mod place;
pub mod trusted;

use std::{
    path::{Path, PathBuf},
    sync::{Arc, LazyLock},
    time::Duration,
};

use lint::{Cancel, Completeness, Job, Linter, Outcome, Unit};
use overlay::{Memory, View, WorkspacePath};
use plugin_host::{
    Bundled, Compiler, Configured, HostOptions, Limits, Plugin, PluginError, PluginHost, Settings,
};
use syntax::Trees;

/// The folder that the tests' own program was built into.
fn target_dir() -> PathBuf {
    let program = std::env::current_exe().expect("a test knows where it is");
    program.ancestors().nth(2).expect("tests are built into PROFILE/deps").to_owned()
}

/// A file that is built before the tests run.
fn built(file: PathBuf) -> PathBuf {
    assert!(file.exists(), "{} is missing: run the tests with ./dev test", file.display());
    file
}

/// The built `broker`.
pub fn broker() -> PathBuf {
    built(target_dir().join("broker"))
}

/// The component of a guest of the tests, by the name of its library.
pub fn guest(name: &str) -> PathBuf {
    let folder = std::env::var_os("BROKER_GUESTS").map(PathBuf::from);
    let folder = folder.unwrap_or_else(|| target_dir().with_file_name("guests"));
    built(folder.join(format!("{name}.wasm")))
}

/// The folder of the plugins that the program carries.
fn bundle_dir() -> PathBuf {
    let folder = std::env::var_os("BROKER_BUNDLE").map(PathBuf::from);
    folder.unwrap_or_else(|| target_dir().with_file_name("bundle"))
}

/// A plugin of the bundle, with its machine code.
fn in_bundle(name: &str) -> Bundled {
    let read = |extension: &str| {
        let file = built(bundle_dir().join(format!("{name}.{extension}")));
        let bytes = std::fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        &*Box::leak(bytes.into_boxed_slice())
    };
    let text = |extension| std::str::from_utf8(read(extension)).expect("text");
    let (manifest, digest) = (text("toml"), text("digest"));
    Bundled { manifest, digest, machine_code: read("cwasm.zst") }
}

/// A plugin that the program carries.
pub fn bundled(host: &PluginHost, name: &str) -> Plugin {
    host.bundled(Box::leak(Box::new(in_bundle(name)))).expect("a plugin of the bundle")
}

/// The same, as a quick build has it that leaves the plugin out.
pub fn not_built(host: &PluginHost, name: &str) -> Plugin {
    let left_out = Bundled { machine_code: &[], ..in_bundle(name) };
    host.bundled(Box::leak(Box::new(left_out))).expect("a plugin of the bundle")
}

/// All plugins that the program carries.
pub fn bundle() -> &'static [Bundled] {
    static BUNDLE: LazyLock<Vec<Bundled>> = LazyLock::new(|| {
        let files = std::fs::read_dir(built(bundle_dir())).expect("a folder");
        let names = files.map(|it| it.unwrap().file_name().into_string().unwrap());
        names.filter_map(|it| Some(in_bundle(it.strip_suffix(".cwasm.zst")?))).collect()
    });
    &BUNDLE
}

/// The names of the plugins in the repository, in their order.
pub fn plugins() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("plugins");
    let folders = std::fs::read_dir(folder).expect("the plugins are there").map(|it| it.unwrap().path());
    let is_plugin = |it: &PathBuf| it.join("broker-plugin.toml").exists();
    let name = |it: PathBuf| it.file_name().unwrap().to_str().unwrap().to_owned();
    let mut names: Vec<_> = folders.filter(is_plugin).map(name).collect();
    names.sort();
    names
}

/// Small enough that a fault shows at once, large enough for honest work.
pub const LIMITS: Limits = Limits {
    memory: 512 << 20,
    setup_time: Duration::from_secs(20),
    diagnostics: 250_000,
    details: 200_000,
    output: 128 << 20,
};

/// A host that keeps its machine code in `cache`.
pub fn host(cache: Option<&Path>) -> PluginHost {
    PluginHost::new(options(cache)).expect("a host")
}

/// Returns the options of such a host.
pub fn options(cache: Option<&Path>) -> HostOptions {
    HostOptions {
        cache_dir: cache.map(Path::to_owned),
        build: "tests",
        compiler: Compiler::Here,
        instances: 2,
        trees: Trees::new(16 << 20),
        limits: LIMITS,
        notify: Arc::new(|_| {}),
    }
}

/// The plugin in `path` with default settings.
pub fn plugin(host: &PluginHost, path: &Path) -> Result<Configured, PluginError> {
    Ok(host.open(path)?.configured(Settings::default()))
}

/// A view of nothing.
pub fn no_files() -> Arc<dyn View> {
    Arc::new(Memory::default())
}

pub fn path(path: &str) -> WorkspacePath {
    WorkspacePath::new(path).expect("a path of a test")
}

/// Returns the outcomes of `linter` for `paths`, in order.
pub fn check(linter: &dyn Linter, view: Arc<dyn View>, paths: &[&str]) -> Vec<Outcome> {
    check_for(linter, view, paths, Duration::from_secs(60))
}

pub fn check_for(
    linter: &dyn Linter,
    view: Arc<dyn View>,
    paths: &[&str],
    timeout: Duration,
) -> Vec<Outcome> {
    let units = paths.iter().map(|it| Unit { path: path(it), named: path("") }).collect();
    let job = Job { view, units, cancel: Cancel::default(), timeout, is_awaited: false };
    run(linter, &job)
}

/// The outcomes of a job; that each unit is answered exactly once is part of every test.
pub fn run(linter: &dyn Linter, job: &Job) -> Vec<Outcome> {
    let mut outcomes: Vec<Option<Outcome>> = job.units.iter().map(|_| None).collect();
    linter.check(job, &mut |index, outcome| {
        assert!(outcomes[index].replace(outcome).is_none(), "unit {index} was answered twice");
    });
    outcomes.into_iter().map(|it| it.expect("every unit is answered")).collect()
}

/// `text` without the line and column of a panic in the guest `misbehaves`.
pub fn without_line(text: &str) -> String {
    const FILE: &str = "misbehaves/src/lib.rs:";
    let Some((before, after)) = text.split_once(FILE) else { return text.to_owned() };
    let after = after.trim_start_matches(|it: char| it.is_ascii_digit() || it == ':');
    format!("{before}{FILE}[line]:{after}")
}

/// An outcome in one line.
pub fn told(outcome: &Outcome) -> String {
    let messages: Vec<_> = outcome.diagnostics.iter().map(|it| it.message.as_str()).collect();
    match &outcome.completeness {
        Completeness::Complete => format!("complete: {}", messages.join("; ")),
        Completeness::Excluded => "excluded".to_owned(),
        Completeness::Partial(why) => format!("partial ({why}): {}", messages.join("; ")),
        Completeness::Pending(why) => format!("pending: {why}"),
        Completeness::Failed(why) => without_line(&format!("failed: {why}")),
    }
}

/// `wasm` with a custom section `broker:plugin` that holds `manifest`.
pub fn with_manifest(wasm: &[u8], manifest: &str) -> Vec<u8> {
    const NAME: &str = "broker:plugin";
    let mut body = leb128(NAME.len());
    body.extend(NAME.bytes());
    body.extend(manifest.bytes());
    [wasm, &[0], &leb128(body.len()), &body].concat()
}

fn leb128(mut value: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    loop {
        let low = (value & 0x7f) as u8;
        value >>= 7;
        if value == 0 {
            bytes.push(low);
            return bytes;
        }
        bytes.push(low | 0x80);
    }
}
