//! Folders that show the disk itself, to programs that stay.

use std::{
    fs::{File, OpenOptions},
    os::{
        fd::AsFd as _,
        unix::net::{UnixDatagram, UnixListener},
    },
};

use rustix::fs::{CWD, FileType, Mode, mknodat};
use shadow::{Exit, ReadOnly, Sandbox, landlock_version};

use crate::fixture::{World, script, text_of};

/// Output of a program in Python in the workspace of this sandbox.
fn python(world: &World, sandbox: &Sandbox, text: &str) -> String {
    let folder = ReadOnly::open(&world.launcher(), &world.root(), sandbox).unwrap();
    let mut program = script(&world.root(), "");
    program.command = ["python3", "-c", text].map(Into::into).into();
    program.environment.push(("HOME".into(), world.home().into()));
    let (nothing, mut output, errors) =
        (File::open("/dev/null").unwrap(), tempfile::tempfile().unwrap(), tempfile::tempfile().unwrap());
    let ended = folder.run(program, [nothing.as_fd(), output.as_fd(), errors.as_fd()]).unwrap().wait();
    let mut errors = errors;
    assert_eq!(ended.exit, Exit::Code(0), "{}", text_of(&mut errors));
    text_of(&mut output)
}

const TRIED: &str = "
import os, pathlib, socket, tempfile
def tried(what):
    try:
        what()
        print('done')
    except OSError as error:
        print(error.strerror)
";

#[test]
fn no_socket_with_a_name_is_made_or_reached() {
    const REACH: &str = "
tried(lambda: socket.socket(socket.AF_UNIX).connect('listens'))
tried(lambda: socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b'x', 'hears'))
tried(lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0].sendto(b'x', 'hears'))
tried(lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_RAW)[0].sendto(b'x', 'hears'))
one, other = socket.socketpair()
one.send(b'of a pair')
print(other.recv(99).decode())
";
    let world = World::new(&[]);
    let _listens = UnixListener::bind(world.root().join("listens")).unwrap();
    let hears = UnixDatagram::bind(world.root().join("hears")).unwrap();
    hears.set_nonblocking(true).unwrap();
    let pairs_alone = Sandbox { named_sockets: false, ..world.sandbox.clone() };
    let refused = "Permission denied\n".repeat(4);
    assert_eq!(python(&world, &pairs_alone, &format!("{TRIED}{REACH}")), format!("{refused}of a pair\n"));
    assert!(hears.recv(&mut [0]).is_err());
    let own = "tried(lambda: socket.socket(socket.AF_UNIX).bind(tempfile.mkdtemp() + '/own'))";
    assert_eq!(python(&world, &world.sandbox, &format!("{TRIED}{own}")), "done\n");
}

#[test]
fn no_pipe_of_the_workspace_is_written_to_and_own_folders_are() {
    const WRITE: &str = "
home = pathlib.Path.home()
tried(lambda: os.open('pipe', os.O_WRONLY | os.O_NONBLOCK))
tried(lambda: open('file', 'w'))
tried(lambda: tempfile.mkdtemp())
for name in ['.cache', '.config', '.local']:
    tried(lambda: (home / name / 'own').mkdir())
";
    // In a folder for temporary files, and in the home folder.
    let (world, mut at_home) = (World::new(&[]), World::new(&[]));
    at_home.sandbox.home = at_home.root().parent().map(Into::into);
    for world in [world, at_home] {
        let pipe = world.root().join("pipe");
        mknodat(CWD, &pipe, FileType::Fifo, Mode::from_raw_mode(0o666), 0).unwrap();
        // Without one that reads, none is opened to write.
        let _reads = OpenOptions::new().read(true).write(true).open(&pipe).unwrap();
        let written = python(&world, &world.sandbox, &format!("{TRIED}{WRITE}"));
        let to_pipe = if landlock_version() < 1 { "done" } else { "Permission denied" };
        let file = "Read-only file system";
        let is_home_around = world.root().starts_with(world.home());
        let own = if is_home_around { "done\n".repeat(3) } else { "No such file or directory\n".repeat(3) };
        assert_eq!(written, format!("{to_pipe}\n{file}\ndone\n{own}"));
    }
}
