//! System calls that no program inside has a use for and that reach what namespaces do not hold.
//!
//! What a program may do is decided by its lack of rights and by what is mounted; this stands behind both, as
//! container runtimes have it: a fault of the kernel in these calls is out of reach.

use std::{collections::BTreeMap, io};

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, apply_filter,
};

/// Refused as to a program without rights.
const REFUSED: &[libc::c_long] = &[
    libc::SYS_acct,
    libc::SYS_add_key,
    libc::SYS_bpf,
    libc::SYS_clock_settime,
    libc::SYS_delete_module,
    libc::SYS_finit_module,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fsopen,
    libc::SYS_fspick,
    libc::SYS_init_module,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_io_uring_setup,
    libc::SYS_kexec_file_load,
    libc::SYS_kexec_load,
    libc::SYS_keyctl,
    libc::SYS_mount,
    libc::SYS_mount_setattr,
    libc::SYS_move_mount,
    libc::SYS_open_by_handle_at,
    libc::SYS_open_tree,
    libc::SYS_perf_event_open,
    libc::SYS_pivot_root,
    libc::SYS_quotactl,
    libc::SYS_reboot,
    libc::SYS_request_key,
    libc::SYS_setns,
    libc::SYS_settimeofday,
    libc::SYS_swapoff,
    libc::SYS_swapon,
    libc::SYS_syslog,
    libc::SYS_umount2,
    libc::SYS_unshare,
    libc::SYS_userfaultfd,
    libc::SYS_vhangup,
];

/// Namespaces that `clone` would make.
const NEW_SPACES: [libc::c_int; 8] = [
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWNET,
    libc::CLONE_NEWNS,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWUTS,
    0x80, // CLONE_NEWTIME
];

/// Sockets that no namespace of networks holds.
const FAMILIES: [libc::c_int; 3] = [libc::AF_VSOCK, libc::AF_BLUETOOTH, libc::AF_TIPC];

/// To write into a terminal as if someone typed it.
const TYPING: [u64; 2] = [libc::TIOCSTI, libc::TIOCLINUX];

/// For this process, which has given up gaining rights, and all that it starts.
pub(super) fn install() -> io::Result<()> {
    for program in [refused()?, unknown()?] {
        apply_filter(&program).map_err(io::Error::other)?;
    }
    #[cfg(target_arch = "x86_64")]
    apply_filter(&other_numbers()).map_err(io::Error::other)?;
    Ok(())
}

/// Refuses the calls of the x32 interface: the same calls under other numbers, which the other filters let pass.
#[cfg(target_arch = "x86_64")]
fn other_numbers() -> BpfProgram {
    /// Set in each of their numbers.
    const X32: u32 = 0x4000_0000;
    let step = |code: u32, jt, k| libc::sock_filter { code: code as u16, jt, jf: 0, k };
    vec![
        // The number is the first field of what a filter is given.
        step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0),
        step(libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K, 1, X32),
        step(libc::BPF_RET | libc::BPF_K, 0, libc::SECCOMP_RET_ALLOW),
        step(libc::BPF_RET | libc::BPF_K, 0, libc::SECCOMP_RET_ERRNO | libc::EPERM.unsigned_abs()),
    ]
    .into_iter()
    .map(|it| seccompiler::sock_filter { code: it.code, jt: it.jt, jf: it.jf, k: it.k })
    .collect()
}

fn refused() -> io::Result<BpfProgram> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = REFUSED.iter().map(|it| (*it, Vec::new())).collect();
    let space = |flag: &libc::c_int| {
        let flag = u64::from(flag.unsigned_abs());
        SeccompCondition::new(0, SeccompCmpArgLen::Qword, SeccompCmpOp::MaskedEq(flag), flag)
    };
    rules.insert(libc::SYS_clone, any_of(NEW_SPACES.iter().map(space))?);
    let typing =
        |request: &u64| SeccompCondition::new(1, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, *request);
    rules.insert(libc::SYS_ioctl, any_of(TYPING.iter().map(typing))?);
    let family = |it: &libc::c_int| {
        SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, u64::from(it.unsigned_abs()))
    };
    rules.insert(libc::SYS_socket, any_of(FAMILIES.iter().map(family))?);
    program(rules, libc::EPERM)
}

/// A call whose arguments cannot be looked at. Programs go on with `clone` where there is no `clone3`.
fn unknown() -> io::Result<BpfProgram> {
    program(BTreeMap::from([(libc::SYS_clone3, Vec::new())]), libc::ENOSYS)
}

fn any_of(
    conditions: impl Iterator<Item = Result<SeccompCondition, seccompiler::BackendError>>,
) -> io::Result<Vec<SeccompRule>> {
    conditions
        .map(|it| SeccompRule::new(vec![it.map_err(io::Error::other)?]).map_err(io::Error::other))
        .collect()
}

fn program(rules: BTreeMap<i64, Vec<SeccompRule>>, error: libc::c_int) -> io::Result<BpfProgram> {
    let arch = TargetArch::try_from(std::env::consts::ARCH).map_err(io::Error::other)?;
    let refuse = SeccompAction::Errno(error.unsigned_abs());
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refuse, arch).map_err(io::Error::other)?;
    filter.try_into().map_err(io::Error::other)
}
