//! Files that a run looked at, where its tool can be asked.

use std::{collections::BTreeSet, ffi::OsString};

use overlay::WorkspacePath;

use super::{command::Call, packages::Packages};
use crate::{
    findings::{Ground, RunFindings},
    output,
    run::Ran,
};

/// Prints the dep-info of a build: files, and all in folders.
const PRINT: &str = "set -e; for it do if [ -d \"$it\" ]; then cat \"$it\"/*.d; else cat \"$it\"; fi; done";

/// Files that a run looked at.
#[derive(Default)]
pub(super) struct Listing {
    /// `None` if that is not known.
    pub(super) files: Option<BTreeSet<WorkspacePath>>,
    /// Empty if the tool does not say.
    pub(super) packages: Packages,
}

/// Asks for the files that are looked at, in the folder of the run. Fails if a command does not come to its end.
pub(super) fn ask(
    call: &Call<'_>,
    found: &RunFindings,
    ground: &Ground<'_>,
    run: &dyn Fn(Vec<OsString>) -> Result<Ran, String>,
) -> Result<Listing, String> {
    let dep_info = found.packages.as_ref().map(|it| &it.dep_info).filter(|it| !it.is_empty());
    let (command, read): (_, fn(&str) -> Vec<String>) = match dep_info {
        Some(files) => {
            let words = ["/bin/sh", "-c", PRINT, "sh"].map(OsString::from);
            let files = files.iter().map(|it| ground.root.join(it.as_str()).into_os_string());
            (words.into_iter().chain(files).collect(), output::read_dep_info)
        }
        None if !call.checker.list_with.is_empty() => {
            (call.with(call.checker.list_with.iter()), |text| text.lines().map(str::to_owned).collect())
        }
        None => return Ok(Listing::default()),
    };
    let ran = run(command)?;
    if ran.code(call.checker)? != 0 || ran.is_cut {
        return Ok(Listing::default());
    }
    let lines = read(&String::from_utf8_lossy(&ran.stdout));
    let packages = Packages::read(&lines, ground);
    let files = ground.files_of(&lines.into_iter().filter(|it| !it.contains('\t')).collect::<Vec<_>>());
    let files = files.into_iter().chain(packages.files().cloned()).collect();
    Ok(Listing { files: Some(files), packages })
}
