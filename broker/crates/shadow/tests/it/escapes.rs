//! Tests of what a program must not reach. Each is tried by a real program.

use std::{fs, net::TcpListener, os::unix::net::UnixListener, process::Command};

use shadow::{Entry, EntryKind, Exit, Layer, Limits, Network, Stopped};

use crate::fixture::{World, run_program, script, start};

#[test]
fn nothing_is_written_outside() {
    for world in World::each_isolated(&[]) {
        let outside = world.beside("outside");
        fs::write(&outside, "mine").unwrap();
        std::os::unix::fs::symlink(&outside, world.root().join("link")).unwrap();
        let ran = world.run(&format!(
        "echo x > {0}; echo x > link; echo x > /etc/broker-was-here; rm -f {0}; touch /usr/broker-was-here; true",
        outside.display()
    ));
        assert_eq!(fs::read_to_string(&outside).unwrap(), "mine", "{ran:?}");
        assert!(!fs::exists("/etc/broker-was-here").unwrap() && !fs::exists("/usr/broker-was-here").unwrap());
    }
}

#[test]
fn a_home_folder_is_empty_but_for_what_is_shown() {
    for mut world in World::each_isolated(&[]) {
        let home = world.home();
        fs::create_dir_all(home.join(".ssh")).unwrap();
        fs::write(home.join(".ssh/id_rsa"), "secret").unwrap();
        fs::create_dir_all(home.join("tools/cache")).unwrap();
        fs::write(home.join("tools/cache/a"), "cached").unwrap();
        world.sandbox.read = vec![home.join("tools"), home.join(".gitconfig")];
        let ran = world.run(&format!(
        "cd {}; ls -A; cat .ssh/id_rsa; cat tools/cache/a; echo b > tools/cache/a; cat tools/cache/a; echo o > own",
        home.display()
    ));
        assert_eq!(ran.output, "tools\ncachedb\n", "{ran:?}");
        assert_eq!(fs::read_to_string(home.join("tools/cache/a")).unwrap(), "cached");
        assert!(!home.join("own").exists());
    }
}

#[test]
fn of_the_system_only_what_programs_need_is_there() {
    for mut world in World::each_isolated(&[]) {
        let (outside, named) = (world.beside("outside"), world.beside("named"));
        fs::create_dir_all(outside.join("deep")).unwrap();
        fs::create_dir(&named).unwrap();
        fs::write(outside.join("secret"), "secret").unwrap();
        fs::write(named.join("tool"), "tool").unwrap();
        let link = world.beside("link");
        std::os::unix::fs::symlink(&named, &link).unwrap();
        world.sandbox.read = vec![named];
        world.sandbox.links = vec![link.clone()];
        let ran = world.run(&format!(
            "ls -d /boot /mnt /media /srv /var/log /var/spool /etc/shadow /etc/ssh /etc/ssl/private /etc/fstab; \
             cat {0}/secret; ls -d {0}; find /etc -type f ! -perm -004; touch /own /etc/own /opt/own; cat {1}/tool",
            outside.display(),
            link.display()
        ));
        assert_eq!(ran.output, "tool", "{ran:?}");
        let ran = world.run(
            "cat /etc/passwd /etc/ld.so.cache > /dev/null && test -d /usr/lib && pwd > /dev/null && echo all",
        );
        assert_eq!(ran.output, "all\n", "{ran:?}");
    }
}

#[test]
fn only_what_is_named_is_written_to() {
    for mut world in World::each_isolated(&[]) {
        let named = world.home().join("named");
        fs::create_dir(&named).unwrap();
        world.sandbox.write = vec![named.clone()];
        let ran = world.run(&format!("echo x > {0}/a; echo x > {0}/../b", named.display()));
        assert_eq!(fs::read_to_string(named.join("a")).unwrap(), "x\n", "{ran:?}");
        assert!(!world.home().join("b").exists());
    }
}

#[test]
fn there_is_no_network_but_its_own() {
    for mut world in World::each_isolated(&[]) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let connect = format!("exec 3<>/dev/tcp/127.0.0.1/{port} && echo connected");
        let command = |world: &World| {
            let mut program = script(&world.root(), "");
            program.command = ["bash", "-c", &connect].map(Into::into).into();
            run_program(&world.open(|_| ()), program)
        };
        assert_eq!(command(&world).output, "");
        world.sandbox.network = Network::Host;
        assert_eq!(command(&world).output, "connected\n");
    }
}

#[test]
fn sockets_of_the_system_are_out_of_reach() {
    for mut world in World::each_isolated(&[]) {
        let folder = world.beside("runtime");
        fs::create_dir(&folder).unwrap();
        let _listens = UnixListener::bind(folder.join("daemon.sock")).unwrap();
        world.sandbox.hidden = vec![folder.clone()];
        let connect =
            "import socket,sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1]); print('connected')";
        let mut program = script(&world.root(), "");
        let socket = folder.join("daemon.sock").display().to_string();
        program.command = ["python3", "-c", connect, &socket].map(Into::into).into();
        let ran = run_program(&world.open(|_| ()), program);
        assert_eq!(ran.output, "");
        assert!(ran.errors.contains("FileNotFoundError"), "{ran:?}");
    }
}

#[test]
fn other_processes_are_neither_seen_nor_reached() {
    for world in World::each_isolated(&[]) {
        let mut other = Command::new("sleep").arg("1000").spawn().unwrap();
        let ran = world.run(&format!(
        "kill -9 {}; kill -9 1; ls /proc | grep -c '^[0-9]'; cat /proc/1/root/etc/hostname; ls /proc/1/fd; \
         readlink /proc/1/exe; grep -l sleep /proc/[0-9]*/comm",
        other.id()
    ));
        assert!(other.try_wait().unwrap().is_none(), "{ran:?}");
        let _ = other.kill();
        let _ = other.wait();
        let unreached = ran.errors.matches("Permission denied").count();
        assert!(unreached >= 1 && !ran.output.contains("comm"), "{ran:?}");
    }
}

#[test]
fn processes_that_are_not_its_own_are_neither_traced_nor_entered() {
    // PTRACE_ATTACH to process 1 and to the leader, by which rights would be gained.
    const TRACE: &str = "import ctypes, os; c = ctypes.CDLL(None, use_errno=True); \
        [print(c.ptrace(16, pid, 0, 0), ctypes.get_errno()) for pid in (1, os.getppid())]";
    for world in World::each_isolated(&[]) {
        let mut program = script(&world.root(), "");
        program.command = ["python3", "-c", TRACE].map(Into::into).into();
        let ran = run_program(&world.open(|_| ()), program);
        assert_eq!(ran.output, "-1 1\n-1 1\n", "{ran:?}");
        let ran = world.run("for pid in 1 $PPID; do for it in root/ cwd/ fd/0 exe; do ls /proc/$pid/$it; done; done; cat /proc/1/environ /proc/1/mem");
        assert_eq!(ran.output, "", "{ran:?}");
        assert!(ran.errors.matches("ermission denied").count() >= 8, "{ran:?}");
    }
}

#[test]
fn the_first_process_keeps_its_limits_and_its_priority() {
    const CHANGES: &str = "import os, resource as r
def tried(call):
    try: call(); print('done')
    except OSError as error: print(error.errno)
files = r.RLIMIT_NOFILE
for pid in (1, 0, os.getpid()): tried(lambda: r.prlimit(pid, files, (64, 64)))
print(r.prlimit(1, files)[0] > 0)
tried(lambda: os.sched_setaffinity(1, os.sched_getaffinity(0)))
tried(lambda: os.setpriority(os.PRIO_PROCESS, 1, 19))
tried(lambda: os.setpriority(os.PRIO_USER, 0, 19))
tried(lambda: os.setpriority(os.PRIO_PROCESS, 0, 19))
tried(lambda: os.kill(1, 11))
tried(lambda: open('/proc/1/oom_score_adj', 'w').write('1000'))";
    for world in World::each_isolated(&[]) {
        let mut program = script(&world.root(), "");
        program.command = ["python3", "-c", CHANGES].map(Into::into).into();
        let ran = run_program(&world.open(|_| ()), program);
        let shown: Vec<_> = ran.output.lines().collect();
        assert_eq!(shown[..9], ["1", "done", "done", "True", "1", "1", "1", "done", "1"], "{ran:?}");
        assert_ne!(shown[9], "done", "{ran:?}");
    }
}

#[test]
fn a_program_that_tries_to_blind_the_first_process_is_counted() {
    const BLIND: &str = "import resource, os
for pid in [1, os.getppid()]:
    try: resource.prlimit(pid, resource.RLIMIT_NOFILE, (1, 1))
    except OSError: pass
for _ in range(150):
    if os.fork() == 0: os.execvp('sleep', ['sleep', '1000'])
os.wait()";
    let world = World::new(&[]);
    let mut program = script(&world.root(), "");
    program.command = ["python3", "-c", BLIND].map(Into::into).into();
    program.limits = Limits { processes: Some(100), ..Limits::default() };
    let ended = run_program(&world.open(|_| ()), program).ended;
    assert_eq!(ended.stopped, Some(Stopped::Processes(100)), "{ended:?}");
}

#[test]
fn links_that_are_put_in_the_way_lead_nowhere_outside() {
    const RACE: &str = "while :; do rm -rf d; mkdir d; echo mine > d/f; rm -rf d; ln -s $OUTSIDE d; done";
    for world in World::each_isolated(&[]) {
        let outside = world.beside("outside");
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("f"), "secret").unwrap();
        let shadow = world.open(|_| ());
        let mut program = script(&world.root(), RACE);
        program.environment.push(("OUTSIDE".into(), outside.clone().into()));
        let output = fs::File::create(world.beside("output")).unwrap();
        let _running = start(&shadow, program, &output, &output);
        let path = overlay::WorkspacePath::new("d/f").unwrap();
        for number in 0..300 {
            let bytes = format!("edit {number}").into();
            let kind = EntryKind::File { bytes, executable: false };
            // Another entry in the way may keep the file from being shown.
            let _ = shadow.apply(&Layer { entries: vec![Entry { path: path.clone(), kind }] });
            let secret = |it: &Entry| matches!(&it.kind, EntryKind::File { bytes, .. } if bytes == "secret");
            assert!(!shadow.harvest().unwrap_or_default().iter().any(secret));
        }
        assert_eq!(fs::read_to_string(outside.join("f")).unwrap(), "secret");
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
    }
}

#[test]
fn no_rights_are_gained() {
    for world in World::each_isolated(&[]) {
        let ran = world.run(
        "mount -t tmpfs none /mnt && echo mounted; umount /tmp && echo unmounted; unshare -U true && echo unshared; \
         cp /bin/sh s && chmod u+s s && ./s -p -c 'grep CapEff /proc/self/status'; su -c true && echo su; \
         echo 1 > /proc/sys/kernel/panic && echo set; chroot / true && echo chroot; mknod d b 8 0 && echo device; true",
    );
        assert_eq!(ran.output, "CapEff:\t0000000000000000\n", "{ran:?}");
    }
}

#[test]
fn files_that_were_open_outside_are_not_open_inside() {
    for world in World::each_isolated(&[]) {
        let leaked = fs::File::open("/etc/hostname").unwrap();
        rustix::io::fcntl_setfd(&leaked, rustix::io::FdFlags::empty()).unwrap();
        let ran = world.run("ls -l /proc/self/fd");
        assert!(!ran.output.contains("hostname"), "{ran:?}");
    }
}

#[test]
fn a_fork_bomb_ends() {
    let mut world = World::new(&[]);
    world.sandbox.processes = 200;
    let ends = |text: &str, limits| {
        let mut program = script(&world.root(), text);
        program.limits = limits;
        run_program(&world.open(|_| ()), program).ended
    };
    let processes = Limits { processes: Some(100), ..Limits::default() };
    let many = ends("for i in $(seq 150); do sleep 1000 & done; wait", processes);
    assert_eq!(many.stopped, Some(Stopped::Processes(100)));
    // A program that forks and ends at once may be below the limit whenever it is looked at, and may die out.
    let time = std::time::Duration::from_secs(1);
    let limits = Limits { time: Some(time), ..processes };
    let bomb = ends("bomb() { bomb | bomb & }; bomb; sleep 1000", limits);
    let is_ended = matches!(bomb.stopped, Some(Stopped::Processes(100) | Stopped::Time(_)));
    // A shell that is refused a process ends.
    assert!(is_ended || bomb.exit != Exit::Code(0), "{bomb:?}");
}

#[test]
fn what_takes_too_much_is_ended_and_told() {
    for world in World::each(&[]) {
        let ends = |script_text: &str, limits| {
            let mut program = script(&world.root(), script_text);
            program.limits = limits;
            run_program(&world.open(|_| ()), program).ended
        };
        let memory = 100 << 20;
        let ended = ends(
            "exec python3 -c 'x = bytearray(1 << 29); input()' < /dev/zero",
            Limits { memory: Some(memory), ..Limits::default() },
        );
        assert_eq!(ended.stopped, Some(Stopped::Memory(memory)), "{ended:?}");
        let time = std::time::Duration::from_millis(100);
        let ended = ends("sleep 1000", Limits { time: Some(time), ..Limits::default() });
        assert_eq!(ended.stopped, Some(Stopped::Time(time)));
        let ended =
            ends("head -c 3000000 /dev/zero > f", Limits { file_size: Some(1 << 20), ..Limits::default() });
        assert_ne!(ended.exit, Exit::Code(0));
    }
}

#[test]
fn memory_that_no_process_has_mapped_counts() {
    let world = World::new(&[]);
    let memory = 100 << 20;
    let text = "exec python3 -c 'import os; f = os.memfd_create(\"a\"); [os.write(f, bytes(1 << 20)) for _ in range(200)]; input()' < /dev/zero";
    let mut program = script(&world.root(), text);
    program.limits = Limits { memory: Some(memory), ..Limits::default() };
    let ended = run_program(&world.open(|_| ()), program).ended;
    assert_eq!(ended.stopped, Some(Stopped::Memory(memory)), "{ended:?}");
}

#[test]
fn memory_that_waits_between_processes_counts() {
    const SEGMENTS: &str = "import ctypes; c = ctypes.CDLL(None); c.shmat.restype = ctypes.c_void_p; c.shmdt.argtypes = [ctypes.c_void_p]
for _ in range(25):
    p = c.shmat(c.shmget(0, 8 << 20, 0o1600), None, 0); ctypes.memset(ctypes.c_void_p(p), 1, 8 << 20); c.shmdt(p)
input()";
    const SOCKETS: &str = "import socket; held = 0; all = []
while held < 200 << 20:
    a, b = socket.socketpair(); a.setblocking(False); all += [a, b]
    try:
        while True: held += a.send(bytes(65536))
    except BlockingIOError: pass
input()";
    // All that the kernel lets a user's pipes hold at their usual size.
    const PIPES: &str = "import os
for _ in range(1000):
    _, w = os.pipe(); os.set_blocking(w, False)
    try:
        while True: os.write(w, bytes(65536))
    except BlockingIOError: pass
input()";
    let memory = 40 << 20;
    for world in World::each(&[]) {
        for text in [SEGMENTS, SOCKETS, PIPES] {
            let mut program = script(&world.root(), "ulimit -n 4096; exec python3 -c \"$0\" < /dev/zero");
            program.command.push(text.into());
            program.limits = Limits { memory: Some(memory), ..Limits::default() };
            let ran = run_program(&world.open(|_| ()), program);
            assert_eq!(ran.ended.stopped, Some(Stopped::Memory(memory)), "{ran:?}");
        }
    }
}

#[test]
fn only_calls_of_a_list_are_made() {
    // The kernel's error, or that of a kernel without the call: chroot, kcmp, a call that no kernel has, clone3.
    const CALLS: &str = "import ctypes, socket, resource, os; c = ctypes.CDLL(None, use_errno=True)
for number in [CHROOT, 100000, 435]: print(c.syscall(number, 0, 0), ctypes.get_errno())
for it in [(socket.AF_UNIX, 1, 0), (socket.AF_INET6, 1, 0), (16, 3, 0), (16, 3, 16), (38, 5, 0), (40, 1, 0)]:
    try: socket.socket(*it); print('made')
    except OSError as error: print(error.errno)
print(c.personality(0x40000) >= 0, c.personality(0x400000), len(socket.if_nameindex()))
resource.setrlimit(resource.RLIMIT_CORE, (0, 0)); print(resource.getrlimit(resource.RLIMIT_CORE))";
    for world in World::each_isolated(&[]) {
        let mut program = script(&world.root(), "");
        let calls = CALLS.replace("CHROOT", &libc::SYS_chroot.to_string());
        program.command = ["python3", "-c", &calls].map(Into::into).into();
        let ran = run_program(&world.open(|_| ()), program);
        let told = "-1 1\n-1 38\n-1 38\nmade\nmade\nmade\n93\n97\n97\nTrue -1 1\n(1, 1)\n";
        assert_eq!(ran.output, told, "{ran:?}");
    }
}

#[test]
fn the_other_numbers_of_system_calls_are_refused() {
    if !cfg!(target_arch = "x86_64") {
        return;
    }
    // getpid; EPERM is the filter's, ENOSYS would be the kernel's.
    let text = "python3 -c 'import ctypes; c = ctypes.CDLL(None, use_errno=True); print(c.syscall(0x40000000 + 39), ctypes.get_errno())'";
    assert_eq!(World::new(&[]).run(text).output, "-1 1\n");
}

#[test]
fn the_disk_is_not_filled() {
    let world = World::new(&[]);
    let ran = world.run("head -c 100000000 /dev/zero > a; head -c 100000000 /dev/zero > /tmp/a; head -c 9000000 /dev/zero > /dev/shm/a");
    assert!(ran.errors.matches("No space left").count() == 3, "{ran:?}");
}

#[test]
fn devices_keep_their_mode_and_times() {
    use std::os::unix::fs::MetadataExt as _;
    let look =
        || fs::metadata("/dev/full").map(|it| (it.mode(), it.mtime(), it.ctime(), it.ctime_nsec())).unwrap();
    for world in World::each_isolated(&[]) {
        let before = look();
        let ran = world.run("chmod 0600 /dev/full; touch /dev/full; echo x > /dev/null && echo written");
        assert_eq!((ran.output.as_str(), look()), ("written\n", before), "{ran:?}");
    }
}
