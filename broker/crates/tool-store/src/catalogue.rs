//! The tools that there are, as data.

use std::{collections::BTreeMap, sync::LazyLock};

use serde::{Deserialize, Serialize};

use crate::package::{Package, PackageFile, Platform, Registry};

/// Name of the runtime for programs in JavaScript.
pub const NODE: &str = "node";

/// All tools, by hand.
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
    /// Tools of which one that is asked for takes its place.
    #[serde(default)]
    pub unless: Vec<String>,
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
    pub name: String,
    pub version: String,
    pub files: Vec<PackageFile>,
}

type Packages = BTreeMap<Package, Vec<PackageFile>>;

static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(|| {
    toml::from_str(include_str!("catalogue.toml")).unwrap_or(Catalogue { tools: Vec::new() })
});

/// Its own, since most commands need no file of it.
static PACKAGES: LazyLock<Packages> =
    LazyLock::new(|| toml::from_str(include_str!("packages.toml")).unwrap_or_default());

impl Catalogue {
    /// The one that the program carries.
    pub fn own() -> &'static Self {
        &CATALOGUE
    }

    pub fn find(&self, name: &str) -> Option<&Tool> {
        self.tools.iter().find(|it| it.name == name)
    }

    /// The tool of an entry of `broker.lock`, which may be of another version, but is no other package.
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
        Some(LockedTool { name: self.name.clone(), version: package.version.clone(), files })
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

    use std::collections::BTreeSet;

    use super::*;
    use crate::{
        package::Origin,
        plan::{Plan, Target},
    };

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
                match Plan::new(tool, &locked, &Target { platform, python }, None) {
                    Ok(plan) => expect_one_of_each(&plan),
                    Err(error) => missing.push(error.to_string()),
                }
            }
        }
        assert_eq!(
            missing,
            ["shellcheck 0.11.0.1 is not there for linux-arm64", "taplo 0.9.3 is not there for linux-arm64"]
        );
    }

    /// Two wheels of a package would be two versions in one folder.
    fn expect_one_of_each(plan: &Plan) {
        let places: BTreeSet<_> = plan
            .files
            .iter()
            .map(|it| match &it.origin {
                Origin::Tarball { at } => at,
                Origin::Wheel { .. } => &it.package.name,
            })
            .collect();
        assert_eq!(places.len(), plan.files.len(), "{}", plan.name);
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
