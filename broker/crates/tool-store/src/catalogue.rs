//! The tools that there are, as data.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::LazyLock,
};

use serde::{Deserialize, Deserializer, Serialize, de::Error as _};

use crate::package::{Package, PackageFile, Platform, Registry, is_plain};

/// Name of the runtime for programs in JavaScript.
pub const NODE: &str = "node";

/// Catalogue of tools, written by hand.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Catalogue {
    #[serde(rename = "tool")]
    pub tools: Vec<Tool>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Tool {
    pub name: String,
    pub kind: Kind,
    pub licence: String,
    /// `None` for a tool that its own toolchain installs.
    #[serde(default)]
    pub package: Option<Package>,
    /// Programs by their names, each with its place in the package.
    pub programs: BTreeMap<String, String>,
    #[serde(default)]
    pub runtime: Option<Runtime>,
    #[serde(default)]
    pub executes: Executes,
    /// Files of a project that ask for it.
    #[serde(default)]
    pub markers: Vec<String>,
    /// Tools that replace this one where the project asks for them.
    #[serde(default)]
    pub unless: Vec<String>,
    /// Places in a project's files that name a version of it, the one that counts most first.
    #[serde(default)]
    pub versions_from: Vec<String>,
    /// Version of it that a plugin of Broker's is.
    #[serde(default)]
    pub carried: Option<String>,
    /// Command of its own toolchain.
    #[serde(default)]
    pub command: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    Server,
    Checker,
    Both,
    Runtime,
}

/// Interpreter of the scripts of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Runtime {
    Node,
    Python,
}

/// Code of a workspace that a tool runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Executes {
    #[default]
    Nothing,
    /// Configuration that is code, or names some.
    Configuration,
    BuildScripts,
}

/// A tool as `broker.lock` pins it: its files for every platform.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct LockedTool {
    #[serde(deserialize_with = "plain")]
    pub name: String,
    #[serde(deserialize_with = "plain")]
    pub version: String,
    /// Whether the user asked for just this version, so that an update of all tools passes it over.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub exact: bool,
    pub files: Vec<PackageFile>,
}

/// Reads a word that may be shown, and be a part of a path.
fn plain<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    let text = String::deserialize(from)?;
    match is_plain(&text) {
        true => Ok(text),
        false => Err(D::Error::custom(format!("`{}` is no name or version of a tool", text.escape_debug()))),
    }
}

type Packages = BTreeMap<Package, Vec<PackageFile>>;

static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(|| {
    toml::from_str(include_str!("catalogue.toml")).unwrap_or(Catalogue { tools: Vec::new() })
});

/// Parsed apart from the catalogue, since most commands need no files.
static PACKAGES: LazyLock<Packages> =
    LazyLock::new(|| toml::from_str(include_str!("packages.toml")).unwrap_or_default());

impl Catalogue {
    /// The built-in catalogue.
    pub fn own() -> &'static Self {
        &CATALOGUE
    }

    pub fn find(&self, name: &str) -> Option<&Tool> {
        self.tools.iter().find(|it| it.name == name)
    }

    /// The tool of an entry of `broker.lock`. Its main package must be the tool's; its dependencies are not judged.
    pub fn tool_of(&self, locked: &LockedTool) -> Result<&Tool, String> {
        let name = &locked.name;
        let tool =
            self.find(name).ok_or_else(|| format!("`{name}` in broker.lock is unknown to this Broker"))?;
        let package = tool.package.as_ref();
        let is_its_own = |file: &PackageFile| {
            package.is_some_and(|it| it.registry == file.package.registry && it.name == file.package.name)
                && file.package.version == locked.version
        };
        let is_of_registry =
            |file: &PackageFile| package.is_some_and(|it| it.registry == file.package.registry);
        match locked.files.iter().any(is_its_own) && locked.files.iter().all(is_of_registry) {
            true => Ok(tool),
            false => Err(format!("`{name}` in broker.lock is not the package of {name}")),
        }
    }
}

impl Tool {
    /// The tool at the version of the catalogue; `None` for one that its own toolchain installs.
    pub fn locked(&self) -> Option<LockedTool> {
        let package = self.package.as_ref()?;
        let files = PACKAGES.get(package)?.clone();
        Some(LockedTool { name: self.name.clone(), version: package.version.clone(), exact: false, files })
    }

    /// Names of the packages that it needs besides its own and, of npm, those that have its programs for one platform.
    pub(crate) fn other_packages(&self) -> BTreeSet<String> {
        let own = self.package.as_ref().map(|it| &it.name);
        let is_other = |it: &PackageFile| {
            let is_part = it.package.registry == Registry::Npm && it.platform.is_some();
            Some(&it.package.name) != own && !is_part
        };
        let files = self.locked().map(|it| it.files).unwrap_or_default();
        files.into_iter().filter(is_other).map(|it| it.package.name).collect()
    }

    /// Place of a program below the folder of the tool.
    pub(crate) fn place(&self, program: &str, platform: Platform) -> String {
        let place = program.replace("${platform}", platform.name());
        match self.package.as_ref().map(|it| it.registry) {
            Some(Registry::PyPi) => format!("{WHEELS}/{place}"),
            _ => place,
        }
    }
}

/// Folder in which wheels are laid out. Sandboxes show it beside `bin`.
pub(crate) const WHEELS: &str = "lib";

#[cfg(test)]
mod tests {
    //! The data that the program carries.

    use super::*;
    use crate::plan::{Plan, Target};

    #[test]
    fn the_data_is_whole() {
        let catalogue: Catalogue = toml::from_str(include_str!("catalogue.toml")).unwrap();
        let packages: Packages = toml::from_str(include_str!("packages.toml")).unwrap();
        let names: BTreeSet<_> = catalogue.tools.iter().map(|it| &it.name).collect();
        assert_eq!(names.len(), catalogue.tools.len());
        let used: BTreeSet<_> = catalogue.tools.iter().filter_map(|it| it.package.as_ref()).collect();
        assert_eq!(used, packages.keys().collect(), "`refresh` makes packages.toml of catalogue.toml");
        for tool in &catalogue.tools {
            assert_ne!(tool.package.is_some(), tool.command.is_some(), "{}", tool.name);
            assert!(tool.unless.iter().all(|it| names.contains(it)), "{}", tool.name);
            assert!(!tool.programs.is_empty() && !tool.licence.is_empty(), "{}", tool.name);
        }
    }

    #[test]
    fn what_is_carried_is_what_the_plugin_says() {
        let manifest = include_str!("../../../../plugins/python/broker-plugin.toml");
        let carried = Catalogue::own().find("ruff").unwrap().carried.as_ref().unwrap();
        assert!(manifest.contains(&format!("description = \"Ruff {carried}: ")), "carried: {carried}");
    }

    /// On every platform but those that a registry has no file for.
    #[test]
    fn each_tool_is_there_for_each_platform() {
        let mut missing = Vec::new();
        for tool in &Catalogue::own().tools {
            let Some(locked) = tool.locked() else { continue };
            assert_eq!(Catalogue::own().tool_of(&locked).map(|it| &it.name), Ok(&tool.name));
            let pythons =
                (tool.runtime == Some(Runtime::Python)).then_some(["3.10", "3.11", "3.12", "3.13", "3.14"]);
            let pythons = pythons.map_or(vec![None], |it| it.map(|it| Some(it.to_owned())).to_vec());
            for (platform, python) in
                Platform::ALL.iter().flat_map(|it| pythons.iter().map(|python| (*it, python.clone())))
            {
                let plan = Plan::new(tool, &locked, &Target { platform, python });
                missing.extend(plan.err().map(|error| error.to_string()));
            }
        }
        assert_eq!(missing, ["shellcheck 0.11.0.1 is not available for linux-arm64"]);
    }

    /// A dependency that there is for some versions of Python alone is not left out for others.
    #[test]
    fn a_tool_is_there_for_the_versions_of_python_of_its_packages() {
        let error = |name: &str, python: Option<&str>| {
            let target = Target { platform: Platform::LinuxX64, python: python.map(str::to_owned) };
            let locked = Catalogue::own().find(name).unwrap().locked().unwrap();
            Plan::of_pinned(&locked, &target).map(|it| it.name)
        };
        let not = |text: &str| Err(text.to_owned());
        assert_eq!(error("sqlfluff", Some("3.12")), Ok("sqlfluff".to_owned()));
        assert_eq!(error("ty", None), Ok("ty".to_owned()));
        let version = Catalogue::own().find("sqlfluff").unwrap().locked().unwrap().version;
        for python in ["3.9", "3.15"] {
            let want = format!("sqlfluff {version} is not available for linux-x64 and Python {python}");
            assert_eq!(error("sqlfluff", Some(python)), not(&want));
        }
        let want = format!("sqlfluff {version} is not available for linux-x64: no `python3` is in PATH");
        assert_eq!(error("sqlfluff", None), not(&want));
    }

    #[test]
    fn names_and_versions_can_be_shown() {
        let error =
            toml::from_str::<LockedTool>("name = 'ty'\nversion = \"1\\u001b[2J\"\nfiles = []").unwrap_err();
        assert_eq!(error.message(), r"`1\u{1b}[2J` is no name or version of a tool");
    }

    #[test]
    fn two_versions_of_a_package_are_not_mixed() {
        let mut pyright = Catalogue::own().find("pyright").unwrap().locked().unwrap();
        let own = pyright.files.iter().find(|it| it.package.name == "pyright").unwrap();
        let other = own.to_string().replace(&format!("@{} ", pyright.version), "@0.0.1 ");
        pyright.files.push(other.parse().unwrap());
        let target = Target { platform: Platform::LinuxX64, python: None };
        assert_eq!(
            Plan::of_pinned(&pyright, &target).map(|it| it.name),
            Err("`pyright` in broker.lock has two versions of npm:pyright@0.0.1".to_owned())
        );
    }

    #[test]
    fn another_package_is_no_version_of_a_tool() {
        let ty = Catalogue::own().find("ty").unwrap().locked().unwrap();
        let with = |from: &str, to: &str| {
            let files = ty.files.iter().map(|it| it.to_string().replace(from, to).parse().unwrap()).collect();
            Catalogue::own().tool_of(&LockedTool { files, ..ty.clone() }).map(|it| it.name.clone())
        };
        assert_eq!(with("", ""), Ok("ty".to_owned()));
        assert_eq!(
            with("pypi:ty@", "pypi:evil@"),
            Err("`ty` in broker.lock is not the package of ty".to_owned())
        );
        assert!(with("ty@0", "ty@9").is_err());
        let unknown = LockedTool { name: "none".to_owned(), ..ty.clone() };
        assert_eq!(
            Catalogue::own().tool_of(&unknown).unwrap_err(),
            "`none` in broker.lock is unknown to this Broker"
        );
    }
}
