//! Time until a program can run in a shadow folder, by backend: `setup FILES EDITS` makes a workspace of so many files and edits
//! so many of them in a branch.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "it measures, in its own folders"
)]

use std::{fs, os::fd::AsFd as _, path::Path, process::ExitCode, sync::Arc, time::Instant};

use overlay::{Branch, Disk, WorkspacePath};
use shadow::{Backend, Isolation, Launcher, Layer, Limits, Program, Sandbox, Shadow, Storage};

fn main() -> ExitCode {
    if let Some(code) = shadow::inside(std::env::args_os().skip(1)) {
        return code;
    }
    let numbers: Vec<usize> = std::env::args().skip(1).map(|it| it.parse().unwrap()).collect();
    let [files, edits] = numbers[..] else { return ExitCode::FAILURE };
    let folder = tempfile::tempdir().unwrap();
    let root = fs::canonicalize(folder.path()).unwrap().join("work");
    let path = |number: usize| format!("d{}/e{}/f{number}.txt", number % 50, number % 7);
    for number in 0..files {
        let file = root.join(path(number));
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, format!("{number}\n").repeat(200)).unwrap();
    }
    let mut branch = Branch::new(Arc::new(Disk::new(&root).unwrap()));
    for number in 0..edits {
        branch.write(&WorkspacePath::new(&path(number)).unwrap(), format!("edit {number}").into()).unwrap();
    }
    let layer = Layer::of(&branch.snapshot()).unwrap();
    let storage = Storage::new(folder.path().join("cache"));
    let launcher = Launcher::this_program().with_storage(storage);
    let cold = Sandbox { warm: false, ..Sandbox::default() };
    let off = Sandbox { isolation: Isolation::Off, ..Sandbox::default() };
    measure("overlayfs, cold", &launcher, &root, &layer, &cold);
    measure("overlayfs, warm", &launcher, &root, &layer, &Sandbox::default());
    keep_some(&launcher, &root);
    measure("overlayfs, kept", &launcher, &root, &layer, &Sandbox::default());
    measure("copy, isolated", &launcher.clone().with_copies_only(), &root, &layer, &Sandbox::default());
    if launcher.choose(&root, &off).unwrap().backend == Backend::Fuse {
        measure("fuse, sandbox off", &launcher, &root, &layer, &off);
    }
    measure("copy, sandbox off", &launcher.with_copies_only(), &root, &layer, &off);
    ExitCode::SUCCESS
}

/// Has a run leave something in a cache, with which those after it start.
fn keep_some(launcher: &Launcher, root: &Path) {
    let shadow = Shadow::open(launcher, root, &Layer::default(), &Sandbox::default()).unwrap();
    let program = Program {
        command: ["/bin/mkdir", ".ruff_cache"].map(Into::into).into(),
        environment: Vec::new(),
        folder: root.to_owned(),
        terminal: None,
        limits: Limits::default(),
    };
    let nothing = fs::File::options().read(true).write(true).open("/dev/null").unwrap();
    let files = [nothing.as_fd(), nothing.as_fd(), nothing.as_fd()];
    shadow.run(program, Some(files)).unwrap().wait();
    assert!(shadow.keep_caches().unwrap().is_some());
}

/// Times of the first folder and the median of the next nine, with a branch and the workspace itself in turn.
fn measure(name: &str, launcher: &Launcher, root: &Path, layer: &Layer, sandbox: &Sandbox) {
    let open = |layer: &Layer| {
        let start = Instant::now();
        let shadow = Shadow::open(launcher, root, layer, sandbox).unwrap();
        let time = start.elapsed();
        shadow.keep_caches().unwrap();
        time
    };
    let first = open(layer);
    let mut same: Vec<_> = (0..9).map(|_| open(layer)).collect();
    let empty = Layer::default();
    let mut other: Vec<_> = (0..9).map(|it| open(if it % 2 == 0 { &empty } else { layer })).collect();
    same.sort();
    other.sort();
    println!(
        "{name:18} first {first:>10.2?}  same branch {:>10.2?}  other branch {:>10.2?}",
        same[4], other[4]
    );
}
