//! A tool on one machine: which of its files are unpacked, what starts its programs, and the digest of all that.

use sha2::{Digest as _, Sha256};

use crate::{
    Error, Surroundings,
    catalogue::{Catalogue, LockedTool, NODE, Runtime, Tool, WHEELS},
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
    pub fn here(surroundings: &Surroundings) -> Option<Self> {
        const VERSION: &str = "import sys; print('%d.%d' % sys.version_info[:2])";
        let python = surroundings.printed("python3", &["-I", "-c", VERSION]);
        Some(Self { platform: Platform::here()?, python })
    }
}

impl Plan {
    /// `node` is the runtime that scripts fall back to where no other is installed.
    pub fn new(
        tool: &Tool,
        locked: &LockedTool,
        target: &Target,
        node: Option<&Self>,
    ) -> Result<Self, Error> {
        let is_script = tool.runtime == Some(Runtime::Python);
        let python = target.python.as_ref().filter(|_| is_script);
        let fits = |it: &&PackageFile| {
            it.platform.is_none_or(|it| it == target.platform)
                && it.python.as_ref().is_none_or(|it| Some(it) == python)
        };
        let files: Vec<_> = locked.files.iter().filter(fits).cloned().collect();
        let is_whole =
            files.iter().any(|it| Some(&it.package.name) == tool.package.as_ref().map(|it| &it.name))
                && (tool.runtime.is_some()
                    || tool.programs.values().all(|it| has_file(tool, it, target.platform, &files)));
        if !is_whole {
            let version = target.python.as_ref().filter(|_| is_script);
            let python = version.map(|it| format!(" and Python {it}")).unwrap_or_default();
            return Err(Error::NotForThis {
                tool: locked.name.clone(),
                version: locked.version.clone(),
                target: target.platform.name().to_owned() + &python,
            });
        }
        let starter = |(name, program): (&String, &String)| {
            let place = tool.place(program, target.platform);
            let kind = match tool.runtime {
                None => StarterKind::Link,
                Some(Runtime::Node) => StarterKind::Script(node_script(&place, node)),
                Some(Runtime::Python) => {
                    StarterKind::Script(python_script(program, python.map_or("3", |it| it)))
                }
            };
            Starter { name: name.clone(), place, kind }
        };
        let starters: Vec<_> = tool.programs.iter().map(starter).collect();
        let (name, version) = (locked.name.clone(), locked.version.clone());
        Ok(Self { name, version, digest: digest(&files, &starters), files, starters })
    }

    /// Bytes of all files.
    pub fn size(&self) -> u64 {
        self.files.iter().map(|it| it.size).sum()
    }
}

/// Whether the package with a program is among the files: of npm, it may be one for each platform.
fn has_file(tool: &Tool, program: &str, platform: Platform, files: &[PackageFile]) -> bool {
    let place = tool.place(program, platform);
    files.iter().any(|it| match &it.origin {
        Origin::Tarball { at } => place.starts_with(&format!("{at}/")),
        Origin::Wheel { .. } => true,
    })
}

/// Start of each script. Tools compare paths of their own files, so that it is one without links and `..`.
const HERE: &str = "#!/bin/sh\nhere=$(cd \"${0%/*}/..\" && pwd -P)\n";

/// One that is installed in the store counts first: it is there where the one in `PATH` is none, or too old.
fn node_script(place: &str, node: Option<&Plan>) -> String {
    let own = node.and_then(|it| Some(format!("${{here%/*}}/{}/{}", it.digest, it.starters.first()?.place)));
    let fallback = own.map(|it| format!("own=\"{it}\"\n[ -x \"$own\" ] && node=$own\n")).unwrap_or_default();
    format!("{HERE}node=node\n{fallback}exec \"$node\" \"$here/{place}\" \"$@\"\n")
}

/// Isolated: neither the folder in which it is run nor a variable may bring a module.
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
        hash.update(format!("{name} {place} {kind:?}\n"));
    }
    hash.finalize().iter().map(|it| format!("{it:02x}")).collect()
}

/// The plans of all tools that a workspace pins, for one machine.
pub fn choose(locked: &[LockedTool], target: &Target) -> Vec<Result<Plan, String>> {
    let catalogue = Catalogue::own();
    let plan = |it: &LockedTool, node: Option<&Plan>| {
        let tool = catalogue.tool_of(it)?;
        Plan::new(tool, it, target, node).map_err(|error| error.to_string())
    };
    let node = locked.iter().find(|it| it.name == NODE).and_then(|it| plan(it, None).ok());
    locked.iter().map(|it| plan(it, node.as_ref())).collect()
}
