//! Tests of folders merged by FUSE: nothing is left of them, and they behave as folders do.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    path::PathBuf,
    process::{Command, Stdio},
};

use overlay::WorkspacePath;
use shadow::EntryKind;

use crate::{
    ends::{child_of, processes_with, wait_until},
    fixture::{MERGED, World, run, testkit},
};

fn path(it: &str) -> WorkspacePath {
    WorkspacePath::new(it).unwrap()
}

/// Places of merged folders of a workspace, and mounts in them.
fn left(world: &World) -> (usize, usize) {
    let place = world.beside("cache/merged");
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
    let mounts = mounts.lines().filter(|it| it.contains(place.to_str().unwrap())).count();
    (fs::read_dir(place).map_or(0, Iterator::count), mounts)
}

#[test]
fn nothing_is_left_of_a_folder_that_is_closed() {
    let Some(world) = World::merged(&[("a.txt", "a")]) else { return };
    let shadow = world.open(|_| ());
    run(&shadow, &world.root(), "echo more >> a.txt; echo t > $TMPDIR/t; mkdir d; chmod 0 d");
    assert_eq!(left(&world).1, 1);
    drop(shadow);
    assert_eq!(left(&world), (0, 0));
}

#[test]
fn nothing_is_left_whatever_is_killed() {
    // The program that opened the folder, the process that serves it, the one that unmounts it.
    for victim in 0..3 {
        let Some(world) = World::merged(&[("a.txt", "a")]) else { return };
        // Seconds that no other program sleeps, nor the same test of another user.
        let mark = format!("9{}{victim}", std::process::id());
        let mut parent = Command::new(testkit())
            .arg(world.root())
            .args(["/bin/sh", "-c", &format!("echo more >> a.txt; echo ready; sleep {mark}; true")])
            .env(MERGED, world.beside("cache"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(parent.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "ready\n");
        wait_until(|| processes_with(&format!("sleep\0{mark}")) > 0);
        assert_eq!(left(&world).1, 1);
        let server = child_of(parent.id()).unwrap();
        let watcher = child_of(server).unwrap();
        let kill = |pid: u32| {
            let _ = Command::new("kill").args(["-9", &pid.to_string()]).status().unwrap();
        };
        kill([parent.id(), server, watcher][victim]);
        if victim == 1 {
            // Without the process between them, nothing looks after the program.
            let _ = Command::new("pkill").args(["-9", "-f", &format!("^sleep {mark}")]).status().unwrap();
        }
        if victim == 2 {
            kill(parent.id());
        }
        wait_until(|| processes_with(&format!("sleep\0{mark}")) == 0);
        wait_until(|| parent.try_wait().unwrap().is_some());
        wait_until(|| [server, watcher].iter().all(|it| !PathBuf::from(format!("/proc/{it}")).exists()));
        // The lock stays until the next folder is opened.
        assert!(matches!(left(&world), (0 | 1, 0)), "{victim}: {:?}", left(&world));
        drop(world.open(|_| ()));
        assert_eq!(left(&world), (0, 0), "{victim}");
    }
}

#[test]
fn a_folder_of_the_workspace_is_renamed_in_one_step() {
    let files = [("d/a.txt", "a"), ("d/e/b.txt", "b"), ("d/c.txt", "c")];
    let Some(world) = World::merged(&files) else { return };
    let shadow = world.open(|it| _ = it.write(&path("d/c.txt"), "branch".into()).unwrap());
    let script = "python3 -c 'import os; os.rename(\"d\", \"moved\")'; rm moved/a.txt; cat moved/e/b.txt moved/c.txt; ls d";
    assert_eq!(run(&shadow, &world.root(), script).output, "bbranch");
    let told: Vec<_> =
        shadow.harvest().unwrap().into_iter().map(|it| (it.path.to_string(), it.kind)).collect();
    let file = |bytes: &'static str| EntryKind::File { bytes: bytes.into(), executable: false };
    let want = [
        ("d", EntryKind::Removed),
        ("moved", EntryKind::Directory),
        ("moved/c.txt", file("branch")),
        ("moved/e", EntryKind::Directory),
        ("moved/e/b.txt", file("b")),
    ];
    assert_eq!(told, want.map(|(path, kind)| (path.to_owned(), kind)));
}

#[test]
fn what_the_branch_has_is_told_only_where_it_was_changed() {
    let Some(world) = World::merged(&[("a.txt", "a"), ("b.txt", "b"), ("d/c.txt", "c")]) else { return };
    let shadow = world.open(|branch| {
        branch.write(&path("a.txt"), "branch".into()).unwrap();
        branch.write(&path("new.txt"), "new".into()).unwrap();
        branch.write(&path("n/e/w.txt"), "new".into()).unwrap();
        branch.remove(&path("b.txt")).unwrap();
    });
    let told = || {
        let told = shadow.harvest().unwrap().into_iter();
        told.map(|it| format!("{} {}", it.path, matches!(it.kind, EntryKind::Removed))).collect::<Vec<_>>()
    };
    run(&shadow, &world.root(), "cat a.txt new.txt; ls -R; echo > b.txt; rm b.txt; echo > x; rm x");
    assert_eq!(told(), [""; 0]);
    run(&shadow, &world.root(), "rm new.txt; echo x >> n/e/w.txt; echo y > d/y; rm -r d; echo d > d");
    assert_eq!(told(), ["d false", "n/e/w.txt false", "new.txt true"]);
}

#[test]
fn what_is_written_has_a_limit() {
    let Some(mut world) = World::merged(&[("a.txt", "a")]) else { return };
    world.sandbox.space = 1 << 20;
    let shadow = world.open(|_| ());
    let ran = run(
        &shadow,
        &world.root(),
        // The kernel tells of the last close of a file after the program that closed it has gone on.
        "head -c 3000000 /dev/zero > big; stat -c %s big; rm big
         used() { df -k --output=used . | tail -1 | tr -d ' '; }
         until [ \"$(used)\" = 0 ]; do :; done
         df -k --output=size,used . | tail -1; echo small > s && cat s",
    );
    assert!(ran.errors.contains("No space left"), "{ran:?}");
    let lines: Vec<_> = ran.output.lines().collect();
    assert!(lines[0].parse::<u64>().unwrap() <= 1 << 20, "{ran:?}");
    assert_eq!(lines[1].split_whitespace().collect::<Vec<_>>(), ["1024", "0"], "{ran:?}");
    assert_eq!(lines[2], "small");
}

#[test]
fn files_that_are_open_stay_and_are_seen_as_they_become() {
    let Some(world) = World::merged(&[("a.txt", "aaaa"), ("b.txt", "bbbb")]) else { return };
    let script = r#"
import mmap, os
reader = open("a.txt")
with open("a.txt", "r+") as it: it.write("new!")
print(reader.read())
gone = open("b.txt", "r+")
os.unlink("b.txt")
gone.write("gone"); gone.flush(); gone.seek(0)
print(gone.read(), os.fstat(gone.fileno()).st_nlink, os.path.exists("b.txt"))
with open("m", "w+b") as it:
    it.truncate(8192)
    shared = mmap.mmap(it.fileno(), 8192)
    shared[4096:4100] = b"page"
    shared.flush()
print(open("m", "rb").read()[4096:4100])
os.posix_fallocate(os.open("f", os.O_CREAT | os.O_WRONLY), 0, 5000)
print(os.stat("f").st_size)
os.setxattr("a.txt", "user.x", b"1")
print(os.getxattr("a.txt", "user.x"), os.listxattr("a.txt"))
os.link("a.txt", "l"); os.rename("l", "a.txt"); print(sorted(os.listdir(".")))
"#;
    fs::write(world.root().join("t.py"), script).unwrap();
    let ran = run(&world.open(|_| ()), &world.root(), "python3 t.py");
    let want = "new!\ngone 0 False\nb'page'\n5000\nb'1' ['user.x']\n['a.txt', 'f', 'l', 'm', 't.py']\n";
    assert_eq!(ran.output, want, "{ran:?}");
}

#[test]
fn what_changes_on_the_disk_shows() {
    let Some(world) = World::merged(&[("a.txt", "old"), ("d/b.txt", "b")]) else { return };
    let shadow = world.open(|_| ());
    assert_eq!(run(&shadow, &world.root(), "cat a.txt d/b.txt").output, "oldb");
    let replaced = world.beside("replaced");
    fs::write(&replaced, "longer than before").unwrap();
    fs::rename(replaced, world.root().join("a.txt")).unwrap();
    fs::remove_file(world.root().join("d/b.txt")).unwrap();
    wait_until(|| run(&shadow, &world.root(), "cat a.txt; ls d").output == "longer than before");
}
