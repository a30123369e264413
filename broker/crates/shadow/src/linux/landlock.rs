//! Landlock, behind mounts and namespaces where the kernel has it: what these let through is refused all the same.
//!
//! A read-only mount does not keep a program from writing to a named pipe or connecting to a socket, and the system's network has
//! its abstract sockets. An older kernel does without what it does not know.

use std::{
    fs, io,
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

/// The places that programs may write to, with the workspace at `root` if `is_written`, and else without it.
pub(super) fn writable(root: &Path, is_written: bool, sandbox: &Sandbox) -> Vec<PathBuf> {
    let usual = WRITABLE.iter().map(PathBuf::from);
    let named = sandbox.home.iter().chain(&sandbox.read).chain(&sandbox.write).cloned();
    let own = is_written.then(|| root.to_owned());
    let mut all: Vec<PathBuf> = usual.chain(named).chain(own).collect();
    all.sort();
    // A path within another one needs no rule, and follows it in this order.
    all.dedup_by(|inner, outer| inner.starts_with(outer));
    if is_written { all } else { all.into_iter().flat_map(|it| beside(it, root)).collect() }
}

/// A folder without the one at `root`: a rule is for all that is below, so that one around that gives way to what is there beside it.
#[expect(clippy::disallowed_methods, reason = "folders in memory, and what is shown in them")]
fn beside(folder: PathBuf, root: &Path) -> Vec<PathBuf> {
    if !root.starts_with(&folder) {
        return vec![folder];
    }
    let way: Vec<_> = root.ancestors().take_while(|it| it.starts_with(&folder)).collect();
    let around = way.iter().skip(1).filter_map(|it| fs::read_dir(it).ok()).flatten().flatten();
    around.map(|it| it.path()).filter(|it| !way.contains(&&**it)).collect()
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
