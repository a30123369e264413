//! Tests of what services of the system offer, and programs of the same folder to each other.

use std::{
    fs::{self, OpenOptions, Permissions},
    os::{
        linux::net::SocketAddrExt as _,
        unix::{
            fs::PermissionsExt as _,
            net::{SocketAddr, UnixListener},
        },
    },
};

use rustix::fs::{CWD, FileType, Mode, makedev, mknodat};
use shadow::{Exit, Network, Program, Shadow, landlock_version};
use tempfile::TempDir;

use crate::fixture::{Ran, World, run, run_program, script, start};

/// A folder that programs inside see as well, where this user may make one.
fn place() -> Option<TempDir> {
    let place = ["/srv", "/opt", "/var/lib"].iter().find_map(|it| tempfile::tempdir_in(it).ok())?;
    fs::set_permissions(place.path(), Permissions::from_mode(0o755)).unwrap();
    Some(place)
}

fn python(world: &World, text: &str, argument: &str) -> Program {
    let mut program = script(&world.root(), "");
    program.command = ["python3", "-c", text, argument].map(Into::into).into();
    program
}

const CONNECT: &str = "import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1].replace('@', '\\0')); print('connected')";

fn connect(world: &World, shadow: &Shadow, to: &str) -> Ran {
    run_program(shadow, python(world, CONNECT, to))
}

#[test]
fn sockets_in_places_that_are_shown_are_out_of_reach() {
    let Some(place) = place() else { return };
    let socket = place.path().join("socket");
    let _listens = UnixListener::bind(&socket).unwrap();
    fs::set_permissions(&socket, Permissions::from_mode(0o777)).unwrap();
    for mut world in World::each_isolated(&[]) {
        for network in [Network::None, Network::Host] {
            world.sandbox.network = network;
            let ran = connect(&world, &world.open(|_| ()), socket.to_str().unwrap());
            assert_eq!(ran.output, "", "{ran:?}");
        }
        world.sandbox.write = vec![place.path().to_owned()];
        let ran = connect(&world, &world.open(|_| ()), socket.to_str().unwrap());
        assert_eq!(ran.output, "connected\n", "{ran:?}");
    }
}

#[test]
fn sockets_of_the_workspace_are_out_of_reach() {
    for world in World::each_isolated(&[]) {
        let _listens = UnixListener::bind(world.root().join("socket")).unwrap();
        let ran = connect(&world, &world.open(|_| ()), "socket");
        assert_eq!(ran.output, "", "{ran:?}");
    }
}

#[test]
fn abstract_sockets_of_the_system_are_out_of_reach() {
    for mut world in World::each_isolated(&[]) {
        let name = world.root().display().to_string();
        let address = SocketAddr::from_abstract_name(&name).unwrap();
        let _listens = UnixListener::bind_addr(&address).unwrap();
        for network in [Network::None, Network::Host] {
            // Only landlock holds them in the system's network.
            if network == Network::Host && landlock_version() < 6 {
                continue;
            }
            world.sandbox.network = network;
            let ran = connect(&world, &world.open(|_| ()), &format!("@{name}"));
            assert_eq!(ran.output, "", "{network:?} {ran:?}");
        }
    }
}

#[test]
fn pipes_and_devices_in_places_that_are_shown_are_not_written_to() {
    let Some(place) = place() else { return };
    let (pipe, device) = (place.path().join("pipe"), place.path().join("device"));
    mknodat(CWD, &pipe, FileType::Fifo, Mode::from_raw_mode(0o666), 0).unwrap();
    fs::set_permissions(&pipe, Permissions::from_mode(0o666)).unwrap();
    // Without one, to open it would wait.
    let _reads = OpenOptions::new().read(true).write(true).open(&pipe).unwrap();
    // The null device.
    let number = makedev(1, 3);
    let has_device =
        mknodat(CWD, &device, FileType::CharacterDevice, Mode::from_raw_mode(0o666), number).is_ok();
    for world in World::each_isolated(&[]) {
        let writes = |to: &std::path::Path| {
            world.run(&format!("echo x > {}", to.display())).ended.exit == Exit::Code(0)
        };
        assert!(!has_device || !writes(&device));
        assert!(landlock_version() < 1 || !writes(&pipe));
    }
}

#[test]
fn programs_of_one_folder_reach_each_other() {
    const LISTEN: &str = "import os, socket, sys; s = socket.socket(socket.AF_UNIX); \
        s.bind(sys.argv[1].replace('@', '\\0')); s.listen(); open('ready', 'w').write(str(os.getpid())); \
        s.accept(); import signal; signal.pause()";
    const REACH: &str = "import os, socket, sys; pid = int(open('ready').read()); \
        socket.socket(socket.AF_UNIX).connect(sys.argv[1].replace('@', '\\0')); os.kill(pid, 9); print('reached')";
    for world in World::each_isolated(&[]) {
        let shadow = world.open(|_| ());
        for name in ["socket", "/tmp/socket", "@abstract"] {
            assert_eq!(run(&shadow, &world.root(), "rm -f ready; mkfifo ready").ended.exit, Exit::Code(0));
            let output = fs::File::create(world.beside("output")).unwrap();
            let mut listens = start(&shadow, python(&world, LISTEN, name), &output, &output);
            let ran = run_program(&shadow, python(&world, REACH, name));
            assert_eq!(ran.output, "reached\n", "{name}: {ran:?}");
            assert_eq!(listens.wait().exit, Exit::Signal(9));
        }
    }
}

#[test]
fn outputs_can_be_opened_by_name() {
    for world in World::each(&[]) {
        let ran = world.run("echo out > /dev/stdout; echo error > /dev/stderr; echo none > /dev/null");
        assert_eq!((&*ran.output, &*ran.errors), ("out\n", "error\n"));
    }
}
