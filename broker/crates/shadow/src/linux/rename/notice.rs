//! Notifications of system calls: the kernel's interface (`seccomp_unotify(2)`).

use std::{
    io,
    os::fd::{FromRawFd as _, OwnedFd, RawFd},
    sync::Arc,
};

use rustix::{
    io::Errno,
    ioctl::{IntegerSetter, Opcode, Updater, ioctl},
};

/// The system calls that are notified of.
const CALLS: &[libc::c_long] = &[
    #[cfg(target_arch = "x86_64")]
    libc::SYS_rename,
    libc::SYS_renameat,
    libc::SYS_renameat2,
];

/// Has the supervisor and the program run on one processor, one after the other; since Linux 6.6.
const SYNC_WAKE_UP: usize = 1;

const RECEIVE: Opcode = libc::SECCOMP_IOCTL_NOTIF_RECV as Opcode;
const SEND: Opcode = libc::SECCOMP_IOCTL_NOTIF_SEND as Opcode;
const IS_VALID: Opcode = libc::SECCOMP_IOCTL_NOTIF_ID_VALID as Opcode;
const SET_FLAGS: Opcode = libc::SECCOMP_IOCTL_NOTIF_SET_FLAGS as Opcode;

/// Notifications of a filter.
pub(super) struct Listener(OwnedFd);

/// A call that waits to be answered, and goes on when this is dropped.
pub(super) struct Notice {
    listener: Arc<Listener>,
    id: u64,
    /// The thread that calls.
    pub(super) thread: u32,
    pub(super) number: libc::c_long,
    pub(super) arguments: [u64; 6],
    is_answered: bool,
}

/// Installs the filter for this thread and all that it starts. A call that is taken up is interrupted by nothing but the
/// program's end: that flag is known since Linux 5.19, so that calls can also be let go on.
pub(super) fn install() -> io::Result<OwnedFd> {
    let mut steps = filter();
    let length = u16::try_from(steps.len()).map_err(io::Error::other)?;
    let program = libc::sock_fprog { len: length, filter: steps.as_mut_ptr() };
    let flags = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER | libc::SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
    // SAFETY: the kernel copies the steps, which live as long as the call.
    #[expect(unsafe_code, reason = "see above")]
    let result =
        unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, &raw const program) };
    match RawFd::try_from(result) {
        // SAFETY: the kernel has just opened it for this process.
        #[expect(unsafe_code, reason = "see above")]
        Ok(listener @ 0..) => Ok(unsafe { OwnedFd::from_raw_fd(listener) }),
        _ => Err(io::Error::last_os_error()),
    }
}

/// The filter that stands before it refuses other architectures.
fn filter() -> Vec<libc::sock_filter> {
    let step = |code: u32, jt, jf, k| libc::sock_filter { code: code as u16, jt, jf, k };
    let answer = |it| step(libc::BPF_RET | libc::BPF_K, 0, 0, it);
    // The number is the first field of what a filter is given.
    let mut steps = vec![step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0)];
    for call in CALLS {
        steps.push(step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 0, 1, *call as u32));
        steps.push(answer(libc::SECCOMP_RET_USER_NOTIF));
    }
    steps.push(answer(libc::SECCOMP_RET_ALLOW));
    steps
}

impl Listener {
    pub(super) fn new(file: OwnedFd) -> Self {
        let listener = Self(file);
        // SAFETY: the request takes a number.
        #[expect(unsafe_code, reason = "see above")]
        let set = unsafe { ioctl(&listener.0, IntegerSetter::<SET_FLAGS>::new_usize(SYNC_WAKE_UP)) };
        // Without it, calls take longer.
        let _ = set;
        listener
    }

    /// The next call.
    pub(super) fn receive(this: &Arc<Self>) -> rustix::io::Result<Notice> {
        loop {
            let mut received = NOTHING;
            match this.ask::<RECEIVE, _>(&mut received) {
                Ok(()) => return Ok(Notice::new(Arc::clone(this), &received)),
                // The second: the program has ended meanwhile.
                Err(Errno::INTR | Errno::NOENT) => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn ask<const REQUEST: Opcode, T>(&self, argument: &mut T) -> rustix::io::Result<()> {
        // SAFETY: each request of this module is made with the argument that belongs to it.
        #[expect(unsafe_code, reason = "see above")]
        unsafe {
            ioctl(&self.0, Updater::<REQUEST, T>::new(argument))
        }
    }
}

impl Notice {
    fn new(listener: Arc<Listener>, it: &libc::seccomp_notif) -> Self {
        let (number, arguments) = (libc::c_long::from(it.data.nr), it.data.args);
        Self { listener, id: it.id, thread: it.pid, number, arguments, is_answered: false }
    }

    /// Whether the thread still waits, so that what was read of it was its own.
    pub(super) fn is_valid(&self) -> bool {
        self.listener.ask::<IS_VALID, _>(&mut self.id.clone()).is_ok()
    }

    /// Answers in the place of the kernel.
    pub(super) fn answer(mut self, result: rustix::io::Result<()>) {
        self.is_answered = true;
        self.send(result.map_or_else(|it| -it.raw_os_error(), |()| 0), 0);
    }

    /// An error says that the program has ended.
    fn send(&self, error: i32, flags: u32) {
        let mut response = libc::seccomp_notif_resp { id: self.id, val: 0, error, flags };
        let _ = self.listener.ask::<SEND, _>(&mut response);
    }
}

impl Drop for Notice {
    fn drop(&mut self) {
        if !self.is_answered {
            self.send(0, libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32);
        }
    }
}

const NOTHING: libc::seccomp_notif = libc::seccomp_notif {
    id: 0,
    pid: 0,
    flags: 0,
    data: libc::seccomp_data { nr: 0, arch: 0, instruction_pointer: 0, args: [0; 6] },
};
