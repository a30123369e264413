//! Renames of folders of the workspace have the results that they have on a disk.

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path};

use shadow::{EntryKind, Exit, Shadow};

use crate::fixture::{World, run, run_program, script};

const FILES: [(&str, &str); 5] = [
    ("old/a.txt", "a\n"),
    ("old/sub/deep/b.txt", "b\n"),
    ("old/run.sh", "echo ran\n"),
    ("other/c.txt", "c\n"),
    ("file", "f\n"),
];

/// Runs a script of Python's in which `code` is the name of an error or `ok`.
fn python(world: &World, shadow: &Shadow, text: &str) -> String {
    const BEFORE: &str = "\
import ctypes, errno, os, sys
libc = ctypes.CDLL(None, use_errno=True)
def code(call, *arguments, **named):
    try: call(*arguments, **named)
    except OSError as error: return errno.errorcode[error.errno]
    return 'ok'
def rename2(old, new, flags):
    done = libc.renameat2(-100, old.encode(), -100, new.encode(), flags)
    return 'ok' if done == 0 else errno.errorcode[ctypes.get_errno()]
def tree(top):
    return sorted(os.path.join(at, it) for at, folders, files in os.walk(top) for it in folders + files)
";
    let mut program = script(&world.root(), "");
    program.command = ["python3", "-c", &format!("{BEFORE}{text}")].map(Into::into).into();
    let ran = run_program(shadow, program);
    assert_eq!((&*ran.errors, &ran.ended.exit), ("", &Exit::Code(0)), "{ran:?}");
    ran.output
}

fn ran_in_each(text: &str, expected: &str) {
    for world in World::each(&FILES) {
        let shadow = world.open(|_| ());
        assert_eq!(python(&world, &shadow, text), expected, "{:?}", shadow.choice());
        assert!(world.root().join("old/sub/deep/b.txt").is_file(), "the disk is as it was");
    }
}

/// Returns what was written: paths, each with what is there.
fn written(shadow: &Shadow) -> Vec<String> {
    let all = shadow.harvest().unwrap().into_iter().map(|it| {
        let what = match it.kind {
            EntryKind::Removed => "removed".to_owned(),
            EntryKind::Directory => "directory".to_owned(),
            EntryKind::Link(to) => format!("-> {to}"),
            EntryKind::File { bytes, executable } => {
                format!("{:?} {executable}", String::from_utf8_lossy(&bytes))
            }
        };
        format!("{} {what}", it.path)
    });
    all.collect()
}

#[test]
fn git_moves_a_folder() {
    const SCRIPT: &str = "export HOME=/tmp GIT_CONFIG_SYSTEM=/dev/null; git -c init.defaultBranch=m init -q . && git add -A && \
        git -c user.name=a -c user.email=a@example.com commit -qm one && git mv old new/ && git status --short && cat new/sub/deep/b.txt";
    let moved = "R  old/a.txt -> new/a.txt\nR  old/run.sh -> new/run.sh\nR  old/sub/deep/b.txt -> new/sub/deep/b.txt\nb\n";
    for world in World::each(&FILES) {
        let ran = world.run(SCRIPT);
        assert_eq!((&*ran.output, &*ran.errors), (moved, ""), "{ran:?}");
    }
}

#[test]
fn a_folder_is_the_same_under_its_new_name() {
    for world in World::each(&FILES) {
        let at = |path: &str| world.root().join(path);
        fs::set_permissions(at("old/run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
        std::os::unix::fs::symlink("sub/deep/b.txt", at("old/link")).unwrap();
        std::os::unix::fs::symlink("nowhere", at("old/sub/broken")).unwrap();
        fs::create_dir(at("old/closed")).unwrap();
        let modes = [("old/sub", 0o555), ("old/closed", 0), ("old/a.txt", 0o640)];
        let set = |path, mode| fs::set_permissions(at(path), fs::Permissions::from_mode(mode)).unwrap();
        modes.iter().for_each(|(path, mode)| set(path, *mode));
        let state = "\
def state(top):
    all = []
    for path in [top] + tree(top):
        it = os.lstat(path)
        time = 0 if os.path.islink(path) else it.st_mtime_ns
        link = os.readlink(path) if os.path.islink(path) else ''
        all.append((path[len(top):], oct(it.st_mode), it.st_uid, it.st_gid, time, link))
    return all
";
        let text = format!(
            "{state}before = state('old'); kept = open('old/a.txt', 'a'); os.rename('old', 'new')
kept.write('more\\n'); kept.close(); os.utime('new/a.txt', ns=(0, before[1][4]))
print(before == state('new') or (before, state('new')), os.path.lexists('old'), sorted(os.listdir('.')))
print(open('new/a.txt').read(), os.popen('new/run.sh').read(), sep='', end='')"
        );
        let shadow = world.open(|_| ());
        let expected = "True False ['file', 'new', 'other']\na\nmore\nran\n";
        assert_eq!(python(&world, &shadow, &text), expected, "{:?}", shadow.choice());
        ["old/sub", "old/closed"].iter().for_each(|it| set(it, 0o755));
        let files = [
            "new/a.txt \"a\\nmore\\n\" false",
            "new/link -> sub/deep/b.txt",
            "new/run.sh \"echo ran\\n\" true",
            "new/sub/broken -> nowhere",
            "new/sub/deep/b.txt \"b\\n\" false",
        ];
        let found = written(&shadow);
        let new: Vec<_> =
            found.iter().filter(|it| it.starts_with("new") && !it.ends_with(" directory")).collect();
        assert_eq!(new, files, "{:?}", shadow.choice());
        let others: Vec<_> = found.iter().filter(|it| !it.starts_with("new")).collect();
        assert!(others.iter().all(|it| it.starts_with("old") && it.ends_with(" removed")), "{others:?}");
        assert!(!others.is_empty());
    }
}

#[test]
fn what_has_the_new_name_decides() {
    ran_in_each(
        "\
os.mkdir('empty'); print(code(os.rename, 'old', 'empty'), tree('empty'))
print(code(os.rename, 'empty', 'other'), tree('other'), code(os.rename, 'empty', 'file'))
os.mkdir('x'); print(code(os.rename, 'empty', 'x/y/z'), code(os.rename, 'none', 'x'))",
        "ok ['empty/a.txt', 'empty/run.sh', 'empty/sub', 'empty/sub/deep', 'empty/sub/deep/b.txt']\n\
         ENOTEMPTY ['other/c.txt'] ENOTDIR\nENOENT ENOENT\n",
    );
}

#[test]
fn a_folder_of_the_disk_is_put_on_an_empty_and_not_on_a_full_one() {
    for world in World::each(&FILES) {
        fs::create_dir(world.root().join("empty")).unwrap();
        let text = "print(code(os.rename, 'old', 'other'), code(os.rename, 'old', 'file'), code(os.rename, 'file', 'old'))
print(code(os.rename, 'old', 'empty'), os.listdir('.').count('old'), tree('empty/sub'))";
        let shadow = world.open(|_| ());
        let expected = "ENOTEMPTY ENOTDIR EISDIR\nok 0 ['empty/sub/deep', 'empty/sub/deep/b.txt']\n";
        assert_eq!(python(&world, &shadow, text), expected, "{:?}", shadow.choice());
    }
}

#[test]
fn a_folder_does_not_go_into_itself() {
    ran_in_each(
        "print(code(os.rename, 'old', 'old/sub/new'), code(os.rename, 'old/sub', 'old'), code(os.rename, 'old/.', 'new'))
print(code(os.rename, 'old', 'old'), tree('old'))",
        "EINVAL ENOTEMPTY EBUSY\n\
         ok ['old/a.txt', 'old/run.sh', 'old/sub', 'old/sub/deep', 'old/sub/deep/b.txt']\n",
    );
}

#[test]
fn flags_have_their_meaning() {
    ran_in_each(
        "\
print(rename2('old', 'other', 1), rename2('old', 'new', 1), tree('new')[0])
print(rename2('new', 'other', 2), tree('new'), tree('other')[0])
print(rename2('file', 'new', 2), open('new').read().strip(), tree('file'), rename2('file', 'none', 2))",
        "EEXIST ok new/a.txt\nok ['new/c.txt'] other/a.txt\nok f ['file/c.txt'] ENOENT\n",
    );
}

#[test]
fn paths_begin_at_handles_and_at_the_folder_that_is_renamed() {
    ran_in_each(
        "\
old, top = os.open('old', 0), os.open('.', 0)
print(code(os.rename, 'sub', 'moved', src_dir_fd=old, dst_dir_fd=top), tree('moved'))
print(code(os.rename, 'old/', 'next/', dst_dir_fd=top), code(os.rename, os.path.abspath('next'), 'old'))
os.chdir('old'); print(code(os.rename, '../old', '../new'), sorted(os.listdir('..')))
os.chdir('../moved/deep'); print(code(os.rename, '../../moved', '../../away')); os.chdir(sys.argv[0] and '/')",
        "ok ['moved/deep', 'moved/deep/b.txt']\nok ok\nok ['file', 'moved', 'new', 'other']\nok\n",
    );
}

#[test]
fn a_folder_is_renamed_again_and_moved_into_others() {
    ran_in_each(
        "\
os.mkdir('x'); os.mkdir('x/y'); print(code(os.rename, 'old', 'x/y/z'), code(os.rename, 'x', 'other/x'))
print(tree('other')); print(code(os.rename, 'other', 'old'), tree('old')[:2])",
        "ok ok\n['other/c.txt', 'other/x', 'other/x/y', 'other/x/y/z', 'other/x/y/z/a.txt', 'other/x/y/z/run.sh', \
         'other/x/y/z/sub', 'other/x/y/z/sub/deep', 'other/x/y/z/sub/deep/b.txt']\nok ['old/c.txt', 'old/x']\n",
    );
}

#[test]
fn many_programs_rename_at_one_time() {
    ran_in_each(
        "\
import threading
def work(number):
    for round in range(50):
        os.mkdir(f'd{number}'); open(f'd{number}/f', 'w').close()
        os.rename(f'd{number}', f'e{number}'); os.rename(f'e{number}/f', f'f{number}'); os.rmdir(f'e{number}')
    if number == 0: os.rename('old', 'new')
all = [threading.Thread(target=work, args=[it]) for it in range(4)]
[it.start() for it in all]; [it.join() for it in all]
print(sorted(os.listdir('.')), tree('new')[-1])",
        "['f0', 'f1', 'f2', 'f3', 'file', 'new', 'other'] new/sub/deep/b.txt\n",
    );
}

/// Without isolation there is no supervisor to be ended.
#[test]
fn nothing_is_lost_when_the_supervisor_is_killed() {
    let many: Vec<_> = (0..2000).map(|it| (format!("old/d{}/{it}", it % 50), it.to_string())).collect();
    let many: Vec<_> = many.iter().map(|(path, text)| (&**path, &**text)).collect();
    for world in World::each_isolated(&many) {
        let shadow = world.open(|_| ());
        let count =
            |folder: &Path| run(&shadow, folder, "cat old/*/* new/*/* 2>/dev/null | wc -c; ls -A").output;
        let before = count(&world.root());
        // Another run keeps the folder; this one ends its own leader as soon as it sees that something happens.
        let text = "leader=$PPID; (python3 -c 'import os; os.rename(\"old\", \"new\")' &); \
                    until ls -A | grep -q -e broker -e new; do :; done; kill -9 $leader; sleep 1000";
        let ended = run(&shadow, &world.root(), text).ended;
        assert_ne!(ended.exit, Exit::Code(0));
        let after = count(&world.root());
        let is_whole = after == before || after == before.replace("old", "new");
        assert!(is_whole, "{before} {after}");
        let found = written(&shadow);
        assert!(!found.iter().any(|it| it.contains(".broker")), "{found:?}");
    }
}

#[test]
fn with_too_little_space_all_stays_as_it_is() {
    let large = "x".repeat(1 << 20);
    let many: Vec<_> = (0..16).map(|it| format!("old/d{}/{it}", it % 4)).collect();
    let many: Vec<_> = many.iter().map(|it| (&**it, &*large)).collect();
    let mut world = World::new(&many);
    world.sandbox.space = 8 << 20;
    let shadow = world.open(|_| ());
    let text = "\
def state(): return [(it, os.lstat(it).st_mode, os.lstat(it).st_mtime_ns) for it in tree('old')]
before = state(); print(code(os.rename, 'old', 'new'), before == state(), len(before), os.listdir('.'))
print({os.path.getsize(it) for it in tree('old') if os.path.isfile(it)})";
    let expected = "EXDEV True 20 ['old']\n{1048576}\n";
    assert_eq!(python(&world, &shadow, text), expected);
}

#[test]
fn what_a_program_forbids_itself_stays_forbidden() {
    // SECCOMP_SET_MODE_FILTER: EACCES for rename and renameat2; the numbers are those of x86-64.
    const FORBID: &str = "\
import struct
steps = [(0x20, 0, 0, 0), (0x15, 2, 0, 82), (0x15, 1, 0, 316), (6, 0, 0, 0x7fff0000), (6, 0, 0, 0x5000d)]
steps = ctypes.create_string_buffer(b''.join(struct.pack('HBBI', *it) for it in steps))
program = ctypes.create_string_buffer(struct.pack('HxxxxxxQ', 5, ctypes.addressof(steps)))
print(libc.syscall(317, 1, 0, program), code(os.rename, 'old', 'new'), os.listdir('.').count('old'))";
    if cfg!(target_arch = "x86_64") {
        for world in World::each_isolated(&FILES) {
            assert_eq!(python(&world, &world.open(|_| ()), FORBID), "0 EACCES 1\n");
        }
    }
}

#[test]
fn a_new_folder_is_renamed_without_a_sign_of_it() {
    const WATCHED: &str = "\
os.mkdir('mine'); os.mkdir('mine/in'); open('mine/in/f', 'w').close()
watch = libc.inotify_init1(0o4000); libc.inotify_add_watch(watch, b'.', 0x100); libc.inotify_add_watch(watch, b'mine', 0x100)
os.rename('mine', 'next'); os.rename('next/in', 'next/out'); os.mkdir('last')
print(b'last' in (seen := os.read(watch, 65536)), b'broker' in seen, tree('next'))";
    for world in World::each_isolated(&FILES) {
        let shadow = world.open(|_| ());
        assert_eq!(python(&world, &shadow, WATCHED), "True False ['next/out', 'next/out/f']\n");
    }
}

#[test]
fn a_deep_folder_is_renamed_or_refused_as_a_whole() {
    for (depth, expected) in [(900, "ok 900\n"), (1200, "EXDEV 1200\n")] {
        let world = World::new(&FILES);
        let deep = world.root().join("old").join("d/".repeat(depth));
        fs::create_dir_all(&deep).unwrap();
        fs::write(deep.join("f"), "").unwrap();
        let shadow = world.open(|_| ());
        let text = "done = code(os.rename, 'old', 'new'); top = 'new' if done == 'ok' else 'old'
print(done, next(at for at, _, files in os.walk(top) if 'f' in files).count('/d'))";
        assert_eq!(python(&world, &shadow, &format!("sys.setrecursionlimit(9000)\n{text}")), expected);
    }
}

#[test]
fn names_of_broken_renames_do_not_hold_up_the_end_of_a_run_or_another_one() {
    const CRAFTED: &str = "\
import signal
leader = os.getppid()
tops = ['a', f'.broker-renamed-{leader}-0-a']
paths = [top + '/x' * depth for top in tops for depth in range(1, 40)]
[os.makedirs(it) for it in paths if not os.path.isdir(it)]
for number in range(4):
    if os.fork() == 0:
        os.setsid()
        for count in range(1 << 40):
            for path in paths: code(os.close, os.open(f'{path}/{number}-{count % 50}', os.O_CREAT)) if os.path.isdir(path) else 0
os.kill(leader, signal.SIGKILL); signal.pause()";
    let world = World::new(&[("a/x/f", "")]);
    let shadow = world.open(|_| ());
    let output = fs::File::create(world.beside("output")).unwrap();
    let text =
        format!("import os\ndef code(call, *it):\n    try: call(*it)\n    except OSError: pass\n{CRAFTED}");
    let mut program = script(&world.root(), "");
    program.command = ["python3", "-c", &text].map(Into::into).into();
    let mut crafted = crate::fixture::start(&shadow, program, &output, &output);
    assert_eq!(run(&shadow, &world.root(), "echo other").output, "other\n");
    let start = std::time::Instant::now();
    assert_ne!(crafted.wait().exit, Exit::Code(0));
    assert!(start.elapsed() < std::time::Duration::from_secs(20));
    assert_eq!(run(&shadow, &world.root(), "echo next").output, "next\n");
}
