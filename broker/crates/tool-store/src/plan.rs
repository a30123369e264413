//! A tool on one machine: which of its files are unpacked, what starts its programs, and the digest of all that.

use std::collections::BTreeSet;

use sha2::{Digest as _, Sha256};

use crate::{
    Error, UserSettings,
    catalogue::{Catalogue, LockedTool, Runtime, Tool, WHEELS},
    package::{Origin, PackageFile, Platform},
};

/// Version of the way in which packages are laid out.
const LAYOUT: u32 = 1;

/// A machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    pub platform: Platform,
    /// Version of its Python, such as `3.12`.
    pub python: Option<String>,
}

/// A tool that can be installed.
#[derive(Debug, Clone)]
pub struct Plan {
    pub name: String,
    pub version: String,
    /// Name of its folder.
    pub digest: String,
    pub(crate) files: Vec<PackageFile>,
    pub(crate) starters: Vec<Starter>,
}

/// A file in the folder `bin` of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Starter {
    pub(crate) name: String,
    /// Path of the program or script that it starts, below the tool's folder.
    pub(crate) place: String,
    pub(crate) kind: StarterKind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum StarterKind {
    /// A link to a program.
    Link,
    /// A shell script that starts a script.
    Script(String),
}

impl Target {
    /// This machine; `None` if no tools are there for it.
    pub fn here(settings: &UserSettings) -> Option<Self> {
        const VERSION: &str = "import sys; print('%d.%d' % sys.version_info[:2])";
        let python = settings.printed("python3", &["-I", "-c", VERSION]);
        Some(Self { platform: Platform::here()?, python })
    }
}

impl Plan {
    pub fn new(tool: &Tool, locked: &LockedTool, target: &Target) -> Result<Self, Error> {
        let python = python_for(locked, target)?;
        let fits = |it: &&PackageFile| {
            it.platform.is_none_or(|it| it == target.platform)
                && it.python.as_ref().is_none_or(|it| Some(it) == python)
        };
        let files: Vec<_> = locked.files.iter().filter(fits).cloned().collect();
        if !is_whole(tool, &files, target.platform) {
            return Err(not_for(locked, target.platform.name().to_owned()));
        }
        expect_one_of_each(tool, &files)?;
        let starters: Vec<_> =
            tool.programs.iter().map(|it| Starter::new(tool, it, target, python)).collect();
        let (name, version) = (locked.name.clone(), locked.version.clone());
        Ok(Self { name, version, digest: digest(&files, &starters), files, starters })
    }

    /// The plan of a tool that a workspace pins.
    pub fn of_pinned(locked: &LockedTool, target: &Target) -> Result<Self, String> {
        let tool = Catalogue::own().tool_of(locked)?;
        Self::new(tool, locked, target).map_err(|error| error.to_string())
    }

    /// Bytes of all files.
    pub fn size(&self) -> u64 {
        self.files.iter().map(|it| it.size).sum()
    }
}

/// Version of Python that files are chosen by; `None` if all of them are for any version.
fn python_for<'t>(locked: &LockedTool, target: &'t Target) -> Result<Option<&'t String>, Error> {
    let versions: BTreeSet<_> = locked.files.iter().filter_map(|it| it.python.as_ref()).collect();
    let platform = target.platform.name();
    match &target.python {
        _ if versions.is_empty() => Ok(None),
        Some(it) if versions.contains(it) => Ok(Some(it)),
        Some(it) => Err(not_for(locked, format!("{platform} and Python {it}"))),
        None => Err(not_for(locked, format!("{platform}: no `python3` is in PATH"))),
    }
}

fn not_for(locked: &LockedTool, target: String) -> Error {
    Error::NotForThis { tool: locked.name.clone(), version: locked.version.clone(), target }
}

/// Whether the tool's own package is among the files, and so is the one with each program: of npm, it may be one for each platform.
fn is_whole(tool: &Tool, files: &[PackageFile], platform: Platform) -> bool {
    let has_program = |program: &String| {
        let place = tool.place(program, platform);
        files.iter().any(|it| match &it.origin {
            Origin::Tarball { at } => place.starts_with(&format!("{at}/")),
            Origin::Wheel { .. } => true,
        })
    };
    let has_own = files.iter().any(|it| Some(&it.package.name) == tool.package.as_ref().map(|it| &it.name));
    has_own && (tool.runtime.is_some() || tool.programs.values().all(has_program))
}

/// Two versions of a package at one place would be mixed.
fn expect_one_of_each(tool: &Tool, files: &[PackageFile]) -> Result<(), Error> {
    let mut places = BTreeSet::new();
    match files.iter().find(|it| !places.insert(place_of(it))) {
        None => Ok(()),
        Some(it) => Err(Error::Twice { tool: tool.name.clone(), package: it.package.clone() }),
    }
}

fn place_of(file: &PackageFile) -> &str {
    match &file.origin {
        Origin::Tarball { at } => at,
        Origin::Wheel { .. } => &file.package.name,
    }
}

impl Starter {
    fn new(
        tool: &Tool,
        (name, program): (&String, &String),
        target: &Target,
        python: Option<&String>,
    ) -> Self {
        let place = tool.place(program, target.platform);
        let kind = match tool.runtime {
            None => StarterKind::Link,
            Some(Runtime::Node) => StarterKind::Script(node_script(&place)),
            Some(Runtime::Python) => StarterKind::Script(python_script(program, python.map_or("3", |it| it))),
        };
        Self { name: name.clone(), place, kind }
    }
}

/// Start of each script. Tools compare paths of their own files, so that it is one without links and `..`.
const HERE: &str = "#!/bin/sh\nhere=$(cd \"${0%/*}/..\" && pwd -P)\n";

/// Starter of a Node script. The store's Node is before others in the `PATH` of linters, so that its digest is no part of this one's.
fn node_script(place: &str) -> String {
    format!("{HERE}exec node \"$here/{place}\" \"$@\"\n")
}

/// Starter of a Python module in isolated mode: neither the current folder nor `PYTHONPATH` adds modules.
fn python_script(module: &str, version: &str) -> String {
    let run = format!(
        "import runpy, sys; sys.path.insert(0, sys.argv.pop(1)); runpy.run_module('{module}', run_name='__main__', alter_sys=True)"
    );
    format!(
        "{HERE}python=python{version}\ncommand -v \"$python\" > /dev/null || python=python3\n\
         exec \"$python\" -I -c \"{run}\" \"$here/{WHEELS}\" \"$@\"\n"
    )
}

fn digest(files: &[PackageFile], starters: &[Starter]) -> String {
    let mut hash = Sha256::new();
    hash.update(format!("layout {LAYOUT}\n"));
    for file in files {
        hash.update(format!("{file}\n"));
    }
    for Starter { name, place, kind } in starters {
        let kind = match kind {
            StarterKind::Link => "link",
            StarterKind::Script(text) => text,
        };
        hash.update(format!("{name} {place} {kind}\n"));
    }
    hash.finalize().iter().map(|it| format!("{it:02x}")).collect()
}
