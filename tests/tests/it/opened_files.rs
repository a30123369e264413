//! Code that opens files by their paths, so that a named pipe, a device or an endless file in an untrusted folder stops no
//! thread.
//!
//! A workspace is read through `overlay::View`, and what else others may have put somewhere through `overlay::read_regular`: both
//! open without waiting, take regular files alone, and know a limit. All other code that opens a file to read it stands in a
//! list here, with what it opens. Files of the kernel, named by a literal path, are not looked for. Looks at lines, not at types.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

/// Sources below `broker` that open files by their paths, and the files that they open.
const OPENERS: &[(&str, &str)] = &[
    ("crates/agents/src/audit.rs", "the log in the state folder"),
    ("crates/client/src/endpoint.rs", "the socket's folder"),
    ("crates/code-cache/src/lib.rs", "the cache folder"),
    ("crates/config/src/folders.rs", "what a user names on the command line, which may be a pipe"),
    ("crates/lsp-client/src/descendants.rs", "files of the kernel"),
    ("crates/overlay/src/commit/journal.rs", "the journal in the state folder"),
    ("crates/overlay/src/commit/kept.rs", "a folder of the journal, to sync it"),
    ("crates/overlay/src/disk/portable.rs", "the workspace, once a look has found a regular file"),
    ("crates/overlay/src/regular.rs", "`read_regular` itself, where no flag keeps it from waiting"),
    ("crates/overlay/src/store/database.rs", "the store in the state folder"),
    ("crates/overlay/src/store/medium.rs", "the state folder, to sync it"),
    ("crates/plugin-host/src/bin/broker-bundle.rs", "sources, while the program is built"),
    ("crates/plugin-kit/src/golden.rs", "fixtures of the author who runs the command"),
    ("crates/scheduler/src/cache/folder.rs", "the cache folder, without waiting"),
    ("crates/search/src/store.rs", "segments of an index in the cache folder"),
    ("crates/shadow/src/copy/manifest.rs", "the notes of a copy in the state folder"),
    ("crates/shadow/src/copy/place.rs", "a regular file, to see whether it may be read"),
    ("crates/shadow/src/copy/sync.rs", "a handle that is open already"),
    ("crates/shadow/src/linux/fill.rs", "a regular file of a kept layer"),
    ("crates/shadow/src/linux/folder.rs", "a folder, to hold it"),
    ("crates/shadow/src/linux/fuse/files.rs", "without waiting, and files of its own"),
    ("crates/shadow/src/linux/group.rs", "files of the kernel"),
    ("crates/shadow/src/linux/held.rs", "files of the kernel"),
    ("crates/shadow/src/linux/keep.rs", "regular files and folders of a layer, once its commands have ended"),
    ("crates/shadow/src/linux/root.rs", "the system's root, to hold it"),
    ("crates/shadow/src/linux/root/places.rs", "a folder that it made"),
    ("crates/shadow/src/linux/root/settings.rs", "the system's configuration, and copies that it made"),
    ("crates/shadow/src/linux/root/shown.rs", "folders to mount, and a file that it wrote"),
    ("crates/shadow/src/linux/root/system.rs", "files of the kernel"),
    ("crates/shadow/src/linux/starter.rs", "files of the kernel"),
    ("crates/shadow/src/linux/usage.rs", "files of the kernel"),
    ("crates/shadow/src/storage/clean.rs", "its notes in the state folder"),
    ("crates/shadow/src/stores.rs", "its notes in the state folder"),
    ("crates/shadow/src/warm/state.rs", "its notes in the state folder"),
    ("crates/tool-store/src/store/contents.rs", "the files of a tool that it installed"),
    ("crates/tool-store/src/store.rs", "a folder that it made, to sync it"),
    ("src/cli/plugin/folder.rs", "a plugin of the author who runs the command"),
    ("src/cli/plugin/project.rs", "a folder, to lock it"),
];

/// Ways to open a file that wait for a pipe's other end and know no limit.
const WAYS: [&str; 7] = [
    "fs::read(",
    "fs::read_to_string(",
    "fs::copy(",
    "File::open(",
    ".read(true)",
    "fs::read)",
    "File::open)",
];

/// Folders of the kernel's own files.
const OF_KERNEL: [&str; 3] = ["\"/proc/", "\"/sys/", "\"/dev/"];

fn sources() -> Vec<PathBuf> {
    let broker = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("broker");
    let (mut found, mut folders) = (Vec::new(), vec![broker.clone()]);
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()) {
            let name = path.file_name().unwrap().to_str().unwrap();
            if path.is_dir() && !["tests", "testkit", "examples", "benches"].contains(&name) {
                folders.push(path);
            } else if name.ends_with(".rs") && !["tests.rs", "build.rs", "against_trees.rs"].contains(&name) {
                found.push(path.strip_prefix(&broker).unwrap().to_owned());
            }
        }
    }
    found.sort();
    found
}

/// The numbers of the lines that open a file by its path, but for the tests at the end of a source.
fn openings(text: &str) -> Vec<usize> {
    let code = text.split_once("mod tests {").map_or(text, |it| it.0);
    let opens = |line: &str| {
        let rest = WAYS.iter().find_map(|it| line.split_once(it)).map(|it| it.1);
        rest.is_some_and(|it| !OF_KERNEL.iter().any(|kernel| it.starts_with(kernel)))
    };
    let lines = code.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//"));
    lines.filter(|(_, line)| opens(line)).map(|(at, _)| at + 1).collect()
}

#[test]
fn files_are_opened_where_it_is_known_what_they_are() {
    let broker = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("broker");
    let mut listed: BTreeSet<_> = OPENERS.iter().map(|it| Path::new(it.0)).collect();
    let mut wrong = Vec::new();
    for file in sources() {
        let places = openings(&fs::read_to_string(broker.join(&file)).unwrap());
        if !places.is_empty() && !listed.remove(&*file) {
            wrong.extend(places.iter().map(|line| format!("broker/{}:{line}", file.display())));
        }
    }
    let remedy = "read through `overlay::View` or `overlay::read_regular`, or say in the list what is opened";
    assert!(wrong.is_empty(), "{remedy}:\n{}", wrong.join("\n"));
    assert!(listed.is_empty(), "in the list without need: {listed:?}");
}

#[test]
fn an_opening_is_found() {
    let text =
        "fn f() {\n    // fs::read(a)\n    fs::read(a);\n    std::fs::read_to_string(\"/proc/stat\");\n}\n";
    assert_eq!(openings(text), [3]);
    assert_eq!(openings("it.map(File::open)\n\nmod tests {\n    fs::read(a);\n"), [1]);
    assert_eq!(openings("view.read(a); read_regular(a, 9); OpenOptions::new().read(true)\n"), [1]);
    assert_eq!(openings("view.read(a); read_regular(a, 9); OpenOptions::new().write(true)\n"), [0; 0]);
}
