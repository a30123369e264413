//! Versions of tools that the files of a project name.

use overlay::{View, WorkspacePath};
use pep440_rs::{Operator, Version, VersionSpecifiers};

use crate::{catalogue::Tool, package::is_plain};

/// A version of a tool, and the file that names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Demand {
    pub version: String,
    pub file: String,
}

/// The version of a tool that the files of a folder name; `None` for the one that a plugin carries. Where they give a range, it is the first
/// that is in it of those that others name, the carried one, that of the catalogue, and the oldest.
pub fn demanded(tool: &Tool, view: &dyn View, folder: &WorkspacePath) -> Option<Demand> {
    let (mut named, mut range) = (Vec::new(), None);
    for source in &tool.versions_from {
        let Some((file, place)) = source.split_once('#') else { continue };
        let Some(text) = text(view, folder, file) else { continue };
        if file.ends_with(".toml") {
            range = range.or_else(|| Some((required(&text, place)?, file)));
        } else {
            named.extend(version_in(file, place, &text).map(|it| (it, file)));
        }
    }
    let (version, file) = match range {
        None => named.into_iter().next()?,
        Some((range, file)) => {
            let known = tool.package.as_ref().map(|it| it.version.clone());
            let others = [tool.carried.clone(), known, oldest(&range)].into_iter().flatten();
            let mut all = named.into_iter().chain(others.map(|it| (it, file)));
            all.find(|(it, _)| it.parse::<Version>().is_ok_and(|it| range.contains(&it)))?
        }
    };
    (tool.carried.as_ref() != Some(&version)).then(|| Demand { version, file: file.to_owned() })
}

fn text(view: &dyn View, folder: &WorkspacePath, file: &str) -> Option<String> {
    String::from_utf8(view.open(&folder.join(file).ok()?).ok()?.to_vec()).ok()
}

/// The requirement at a key of TOML. A version alone requires just that.
fn required(text: &str, key: &str) -> Option<VersionSpecifiers> {
    let table = text.parse::<toml::Table>().ok()?;
    let (tables, last) = key.rsplit_once('.').unwrap_or(("", key));
    let mut tables = tables.split('.').filter(|it| !it.is_empty());
    let required = tables.try_fold(&table, |table, name| table.get(name)?.as_table())?.get(last)?.as_str()?;
    required.parse().or_else(|_| format!("=={required}").parse()).ok()
}

/// The oldest release that a range may begin with, in three numbers, as releases are named.
fn oldest(range: &VersionSpecifiers) -> Option<String> {
    let begins = |it: Operator| {
        matches!(
            it,
            Operator::Equal | Operator::EqualStar | Operator::TildeEqual | Operator::GreaterThanEqual
        )
    };
    let release = range.iter().find(|it| begins(*it.operator()))?.version().release().to_vec();
    let numbers = release.into_iter().chain(std::iter::repeat(0)).take(3).map(|it| it.to_string());
    Some(numbers.collect::<Vec<_>>().join("."))
}

/// The version that a file names: as the revision of a repository of hooks, or of a package in a lock file.
fn version_in(file: &str, place: &str, text: &str) -> Option<String> {
    let version = match file {
        ".pre-commit-config.yaml" => of_hooks(text, place),
        "package-lock.json" => of_npm(text, place),
        "pnpm-lock.yaml" => of_pnpm(text, place),
        _ => of_python(text, place),
    };
    let is_version =
        |it: &&str| is_plain(it) && it.contains('.') && it.starts_with(|it: char| it.is_ascii_digit());
    version.filter(is_version).map(str::to_owned)
}

/// A revision that is frozen has its tag in a comment.
fn of_hooks<'t>(text: &'t str, repository: &str) -> Option<&'t str> {
    let is_repository =
        |it: &&str| it.contains("repo:") && it.trim_end_matches(['"', '\'', ' ']).ends_with(repository);
    let mut lines = text.lines().skip_while(|it| !is_repository(it)).skip(1);
    let is_inside = |it: &&str| !it.contains("repo:");
    let revision = lines.by_ref().take_while(is_inside).find_map(|it| it.trim().strip_prefix("rev:"))?;
    let tag =
        revision.split_once("# frozen:").map_or_else(|| revision.split('#').next(), |(_, tag)| Some(tag))?;
    let tag = tag.trim().trim_matches(['"', '\'']);
    Some(tag.strip_prefix('v').unwrap_or(tag))
}

fn of_python<'t>(text: &'t str, package: &str) -> Option<&'t str> {
    let name = format!("name = \"{package}\"");
    let mut lines = text.lines().skip_while(|it| *it != name).skip(1);
    lines.next()?.strip_prefix("version = \"")?.strip_suffix('"')
}

fn of_npm<'t>(text: &'t str, package: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(&format!("\"node_modules/{package}\": {{"))?;
    rest.split('}').next()?.split_once("\"version\": \"")?.1.split('"').next()
}

fn of_pnpm<'t>(text: &'t str, package: &str) -> Option<&'t str> {
    let name = format!("{package}@");
    let version = |line: &'t str| line.trim().trim_start_matches(['\'', '"', '/']).strip_prefix(&*name);
    text.lines().find_map(version)?.split(['\'', '"', ':', '(']).next()
}

#[cfg(test)]
mod tests {
    //! Files that name versions.

    use overlay::Memory;

    use super::*;
    use crate::catalogue::Catalogue;

    fn of(tool: &str, files: &[(&str, &str)]) -> String {
        let view = Memory::from_files(files.iter().copied()).unwrap();
        let demand = demanded(Catalogue::own().find(tool).unwrap(), &view, &WorkspacePath::root());
        demand.map(|it| format!("{} ({})", it.version, it.file)).unwrap_or_default()
    }

    #[test]
    fn hooks_and_lock_files_name_versions() {
        let hooks = |rev: &str| {
            let text = format!(
                "repos:\n- repo: https://github.com/psf/black\n  rev: 1.0.0\n- repo: 'https://github.com/astral-sh/ruff-pre-commit'\n  {rev}\n  hooks: []\n- repo: local\n  rev: 2.0.0\n"
            );
            of("ruff", &[(".pre-commit-config.yaml", &text)])
        };
        for rev in ["rev: v0.15.9", "rev: \"0.15.9\" # a", "rev: c60c980e  # frozen: v0.15.9"] {
            assert_eq!(hooks(rev), "0.15.9 (.pre-commit-config.yaml)");
        }
        assert_eq!([hooks("rev: c60c980e"), hooks("")], ["", ""]);
        let lock = "[[package]]\nname = \"ruff-lsp\"\nversion = \"1.0.0\"\n[[package]]\nname = \"ruff\"\nversion = \"0.15.9\"\n";
        assert_eq!(of("ruff", &[("uv.lock", lock)]), "0.15.9 (uv.lock)");
        let npm = r#"{"packages": {"": {"devDependencies": {"@biomejs/biome": "^2.0.0"}}, "node_modules/@biomejs/biome": {"dev": true, "version": "2.1.0"}}}"#;
        assert_eq!(of("biome", &[("package-lock.json", npm)]), "2.1.0 (package-lock.json)");
        for line in ["'@biomejs/biome@2.1.0':", "/@biomejs/biome@2.1.0(x@1.0.0):"] {
            assert_eq!(
                of("biome", &[("pnpm-lock.yaml", &format!("packages:\n\n  {line}\n"))]),
                "2.1.0 (pnpm-lock.yaml)"
            );
        }
        assert_eq!(of("biome", &[("pnpm-lock.yaml", "packages:\n  '@biomejs/biome@file:../x':\n")]), "");
    }

    #[test]
    fn a_range_is_of_the_versions_that_are_known() {
        let with = |range: &str, locked: &str| {
            let lock = format!("name = \"ruff\"\nversion = \"{locked}\"\n");
            of("ruff", &[("ruff.toml", &format!("required-version = '{range}'")), ("uv.lock", &lock)])
        };
        assert_eq!(with("==0.15.2", "0.15.9"), "0.15.2 (ruff.toml)");
        assert_eq!(with("0.15.2", "0.15.9"), "0.15.2 (ruff.toml)");
        assert_eq!(with(">=0.15", "0.15.9"), "0.15.9 (uv.lock)");
        let known = &Catalogue::own().find("ruff").unwrap().package.as_ref().unwrap().version;
        assert_eq!(with(">=0.17", "0.15.9"), format!("{known} (ruff.toml)"));
        assert_eq!(with(">=0.4", ""), "", "the plugin does");
        assert_eq!(with("~=0.15.1", ""), "0.15.1 (ruff.toml)");
        assert_eq!(with(">=99,<100", ""), "99.0.0 (ruff.toml)");
        assert_eq!(with("<0.1", "0.15.9"), "");
        assert_eq!(with("nonsense", "0.15.9"), "0.15.9 (uv.lock)");
    }
}
