//! Landlock, behind mounts and namespaces where the kernel has it: what these let through is refused all the same.
//!
//! A read-only mount does not keep a program from writing to a named pipe or connecting to a socket, and the system's network has
//! its abstract sockets. An older kernel does without what it does not know.

use std::{
    io,
    os::fd::AsFd,
    path::{Path, PathBuf},
};

use landlock::{
    ABI, Access as _, AccessFs, CompatLevel, Compatible as _, PathBeneath, Ruleset, RulesetAttr as _,
    RulesetCreatedAttr as _, Scope, path_beneath_rules,
};

use crate::Sandbox;

/// Since this version sockets are held by it, too; the last one that this module knows.
const LATEST: ABI = ABI::V9;

/// Written to besides what a sandbox names: folders in memory, devices and terminals of the folder's own, and what
/// a process may set of itself.
const WRITABLE: [&str; 7] = ["/tmp", "/var/tmp", "/run", "/home", "/root", "/dev", "/proc"];

/// For process 1 and all that it starts: signals and connections to abstract sockets stay among them. Programs of one folder
/// reach each other. `system` is the system's root, below which Broker's cache folder is.
pub(super) fn scope(system: impl AsFd) -> io::Result<()> {
    let rules = Ruleset::default().set_compatibility(CompatLevel::BestEffort);
    let rules = rules.scope(Scope::from_all(ABI::V6)).map_err(io::Error::other)?;
    let rules = rules.handle_access(AccessFs::Refer).and_then(Ruleset::create).map_err(io::Error::other)?;
    // Else this would keep files from being moved between folders where others allow it.
    let rules = rules.add_rules(path_beneath_rules(["/"], AccessFs::Refer)).map_err(io::Error::other)?;
    let rules = rules.add_rule(PathBeneath::new(system, AccessFs::Refer)).map_err(io::Error::other)?;
    rules.no_new_privs(false).restrict_self().map_err(io::Error::other)?;
    Ok(())
}

/// The places that programs may write to, with the workspace at `root` if it is one.
pub(super) fn writable(root: Option<&Path>, sandbox: &Sandbox) -> Vec<PathBuf> {
    let usual = WRITABLE.iter().map(PathBuf::from);
    let named = sandbox.home.iter().chain(&sandbox.read).chain(&sandbox.write).cloned();
    let mut all: Vec<PathBuf> = usual.chain(named).chain(root.map(Path::to_owned)).collect();
    all.sort();
    // A path within another one needs no rule, and follows it in this order.
    all.dedup_by(|inner, outer| inner.starts_with(outer));
    all
}

/// For this process and all that it starts: nothing is written, made or removed elsewhere, and no socket is connected to
/// there; but for the standard input, output and error, which can be opened anew.
pub(super) fn confine(writable: &[PathBuf]) -> io::Result<()> {
    let access = AccessFs::from_write(LATEST);
    let rules = Ruleset::default().set_compatibility(CompatLevel::BestEffort);
    let rules = rules.handle_access(access).and_then(Ruleset::create).map_err(io::Error::other)?;
    // Paths that are not there cannot be written to.
    let mut rules = rules.add_rules(path_beneath_rules(writable, access)).map_err(io::Error::other)?;
    let (input, output, errors) = (io::stdin(), io::stdout(), io::stderr());
    for file in [input.as_fd(), output.as_fd(), errors.as_fd()] {
        // A pipe has no place and needs no rule.
        let _ = (&mut rules).add_rule(PathBeneath::new(file, AccessFs::from_file(LATEST) & access));
    }
    rules.restrict_self().map_err(io::Error::other)?;
    Ok(())
}
