//! The system calls that programs may make, by a list of those that are allowed.
//!
//! Programs are limited by their lack of rights and by what is mounted; this list stands behind both, as container runtimes have
//! it: a fault of the kernel in any other call is out of reach. What is not on the list is as on a kernel that does not have it,
//! so that libraries go on with what there was before; what needs rights is refused as to a program without any.

mod calls;

use std::{collections::BTreeMap, io};

use rustix::process::geteuid;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, apply_filter,
};

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

/// Families of sockets that programs may make; others are as on a kernel without them.
const FAMILIES: [libc::c_int; 4] = [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];

/// Netlink's family for addresses and routes, the only one of its families that programs may use.
const NETLINK: libc::c_int = libc::NETLINK_ROUTE;

/// Personalities that a process may not ask for: memory at address 0, and execution of all memory that it can read.
const PERSONALITIES: [libc::c_int; 2] = [libc::MMAP_PAGE_ZERO, libc::READ_IMPLIES_EXEC];

/// Asks for the personality that there is.
const SAME_PERSONALITY: u64 = 0xffff_ffff;

/// To write into a terminal as if someone typed it.
const TYPING: [u64; 2] = [libc::TIOCSTI, libc::TIOCLINUX];

/// The number of the process that starts programs and ends them.
const FIRST_PROCESS: u64 = 1;

/// Kinds of what a priority is set of: all processes of a user (`setpriority(2)`, `ioprio_set(2)`).
const PRIO_USER: u64 = libc::PRIO_USER as u64;
const IOPRIO_WHO_USER: u64 = 3;

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// For this process, which has given up gaining rights, and all that it starts. Of two filters that give an error the later one counts.
pub(super) fn install(named_sockets: bool) -> io::Result<()> {
    let otherwise = |rules, errno| program(rules, SeccompAction::Allow, error(errno));
    let mut programs = vec![
        program(allowed(), error(libc::ENOSYS), SeccompAction::Allow)?,
        otherwise(refused()?, libc::EPERM)?,
        otherwise(families()?, libc::EAFNOSUPPORT)?,
        otherwise(protocols()?, libc::EPROTONOSUPPORT)?,
        // The call seems to succeed.
        otherwise(limits_of_dumps()?, 0)?,
    ];
    if !named_sockets {
        programs.push(otherwise(names()?, libc::EACCES)?);
    }
    if geteuid().is_root() {
        // Root without rights could give a file to no other user, and unpacks archives as if it could.
        programs.push(otherwise(always(calls::OWNERS), 0)?);
    }
    programs.iter().try_for_each(|it| apply_filter(it).map_err(io::Error::other))?;
    #[cfg(target_arch = "x86_64")]
    apply_filter(&other_numbers()).map_err(io::Error::other)?;
    Ok(())
}

fn always(calls: impl IntoIterator<Item = &'static libc::c_long>) -> Rules {
    calls.into_iter().map(|it| (*it, Vec::new())).collect()
}

fn allowed() -> Rules {
    // With what is refused: that error is another filter's.
    let refused = calls::REFUSED.iter().chain(calls::REFUSED_HERE);
    always(calls::ALLOWED.iter().chain(calls::ALLOWED_HERE).chain(calls::ALLOWED_LATER).chain(refused))
}

/// A socket of a family that is not on the list.
fn families() -> io::Result<Rules> {
    let other = FAMILIES.iter().map(|it| argument(0, SeccompCmpOp::Ne, u64::from(it.unsigned_abs())));
    let rule = all_of(other)?;
    Ok(BTreeMap::from([(libc::SYS_socket, vec![rule.clone()]), (libc::SYS_socketpair, vec![rule])]))
}

/// A socket of the system that could have a name, or reach one that has: of pairs, those of datagrams are sent anywhere.
fn names() -> io::Result<Rules> {
    /// Bits of a socket's type that are no flags.
    const TYPE: u64 = 0xf;
    let family = || argument(0, SeccompCmpOp::Eq, u64::from(libc::AF_UNIX.unsigned_abs()));
    // A raw one is one of datagrams.
    let datagrams = [libc::SOCK_DGRAM, libc::SOCK_RAW].map(|it| u64::from(it.unsigned_abs()));
    let pairs = datagrams.map(|it| all_of([family(), argument(1, SeccompCmpOp::MaskedEq(TYPE), it)]));
    let pairs = pairs.into_iter().collect::<io::Result<_>>()?;
    Ok(BTreeMap::from([(libc::SYS_socket, vec![all_of([family()])?]), (libc::SYS_socketpair, pairs)]))
}

/// A socket of the kernel's own for something else.
fn protocols() -> io::Result<Rules> {
    let family = argument(0, SeccompCmpOp::Eq, u64::from(libc::AF_NETLINK.unsigned_abs()));
    let protocol = argument(2, SeccompCmpOp::Ne, u64::from(NETLINK.unsigned_abs()));
    Ok(BTreeMap::from([(libc::SYS_socket, vec![all_of([family, protocol])?])]))
}

/// A new limit of dumps. With that of one byte, which was set before, the kernel starts no program that takes a dump; with 0 it would.
fn limits_of_dumps() -> io::Result<Rules> {
    let dumps = u64::from(libc::RLIMIT_CORE);
    let is_set = [argument(1, SeccompCmpOp::Eq, dumps), address(2, SeccompCmpOp::Ne, 0)];
    let older = [argument(0, SeccompCmpOp::Eq, dumps)];
    Ok(BTreeMap::from([(libc::SYS_prlimit64, vec![all_of(is_set)?]), (SETRLIMIT, vec![all_of(older)?])]))
}

/// Not in every version of the library for every processor.
#[cfg(target_arch = "aarch64")]
const SETRLIMIT: libc::c_long = 164;
#[cfg(not(target_arch = "aarch64"))]
const SETRLIMIT: libc::c_long = libc::SYS_setrlimit;

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

fn refused() -> io::Result<Rules> {
    let mut rules = always(calls::REFUSED.iter().chain(calls::REFUSED_HERE));
    let one = |it: Condition| all_of([it]);
    let space = |flag: &libc::c_int| {
        let flag = u64::from(flag.unsigned_abs());
        one(address(0, SeccompCmpOp::MaskedEq(flag), flag))
    };
    rules.insert(libc::SYS_clone, NEW_SPACES.iter().map(space).collect::<io::Result<_>>()?);
    let typing = |request: &u64| one(argument(1, SeccompCmpOp::Eq, *request));
    rules.insert(libc::SYS_ioctl, TYPING.iter().map(typing).collect::<io::Result<_>>()?);
    let personality = |flag: &libc::c_int| {
        let flag = u64::from(flag.unsigned_abs());
        all_of([
            argument(0, SeccompCmpOp::MaskedEq(flag), flag),
            argument(0, SeccompCmpOp::Ne, SAME_PERSONALITY),
        ])
    };
    rules.insert(libc::SYS_personality, PERSONALITIES.iter().map(personality).collect::<io::Result<_>>()?);
    rules.extend(of_first_process()?);
    Ok(rules)
}

/// Limits, priorities and signals of process 1, which counts and ends programs and has the same user.
fn of_first_process() -> io::Result<Rules> {
    let first = |place| argument(place, SeccompCmpOp::Eq, FIRST_PROCESS);
    let named = |call: &libc::c_long| Ok((*call, vec![all_of([first(0)])?]));
    let mut rules = calls::OF_FIRST_PROCESS.iter().map(named).collect::<io::Result<Rules>>()?;
    rules.insert(libc::SYS_prlimit64, vec![all_of([first(0), address(2, SeccompCmpOp::Ne, 0)])?]);
    // Priorities of all processes of a user are also those of process 1.
    for (call, of_user) in [(libc::SYS_setpriority, PRIO_USER), (libc::SYS_ioprio_set, IOPRIO_WHO_USER)] {
        let of_user = all_of([argument(0, SeccompCmpOp::Eq, of_user)])?;
        rules.insert(call, vec![all_of([first(1)])?, of_user]);
    }
    Ok(rules)
}

type Condition = Result<SeccompCondition, seccompiler::BackendError>;

/// Compares an argument that is a number.
fn argument(place: u8, how: SeccompCmpOp, value: u64) -> Condition {
    SeccompCondition::new(place, SeccompCmpArgLen::Dword, how, value)
}

/// Compares one that is an address, or as long as one.
fn address(place: u8, how: SeccompCmpOp, value: u64) -> Condition {
    SeccompCondition::new(place, SeccompCmpArgLen::Qword, how, value)
}

fn all_of(conditions: impl IntoIterator<Item = Condition>) -> io::Result<SeccompRule> {
    let conditions = conditions.into_iter().collect::<Result<_, _>>().map_err(io::Error::other)?;
    SeccompRule::new(conditions).map_err(io::Error::other)
}

fn error(number: libc::c_int) -> SeccompAction {
    SeccompAction::Errno(number.unsigned_abs())
}

fn program(rules: Rules, otherwise: SeccompAction, matched: SeccompAction) -> io::Result<BpfProgram> {
    let arch = TargetArch::try_from(std::env::consts::ARCH).map_err(io::Error::other)?;
    let filter = SeccompFilter::new(rules, otherwise, matched, arch).map_err(io::Error::other)?;
    filter.try_into().map_err(io::Error::other)
}
