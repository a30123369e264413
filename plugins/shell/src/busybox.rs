//! Scripts that BusyBox's `sh` runs: those that Dockerfiles copy into images made from Alpine, and those that call Alpine's or
//! OpenWrt's package manager. That shell, `ash`, has some of what other shells for `sh` lack.
//!
//! Left out: images whose base is a variable, and contexts of builds that are not the Dockerfile's folder.

use std::fs;
use std::path::{Path, PathBuf};

use broker_plugin_sdk::config::text_of;
use globset::Glob;
use shuck_linter::Rule;

/// Package managers of systems whose `sh` is BusyBox's.
const MANAGERS: [&str; 2] = ["apk", "opkg"];

/// Parts of names and tags of images that are made from such systems.
const SYSTEMS: [&str; 3] = ["alpine", "busybox", "openwrt"];

/// Whether `ash`, compiled for compatibility with bash as Alpine has it, does what a rule reports. Found by running it.
pub(crate) fn does(rule: Rule) -> bool {
    matches!(
        rule,
        Rule::DoubleBracketInSh
            | Rule::TestEqualityOperator
            | Rule::IfElifBashTest
            | Rule::RegexMatchInSh
            | Rule::FunctionKeyword
            | Rule::FunctionKeywordInSh
            | Rule::ProcessSubstitution
            | Rule::AnsiCQuoting
            | Rule::AmpersandRedirection
            | Rule::LetCommand
            | Rule::TrapErr
            | Rule::SubstringExpansion
            | Rule::ReplacementExpansion
            | Rule::SourceBuiltinInSh
            | Rule::SourcedWithArgs
            | Rule::BasePrefixInArithmetic
    )
}

/// Whether BusyBox runs the script, as far as it says, and, for a file, the Dockerfiles beside and above it, up to the folder
/// `root`.
pub(crate) fn runs(text: &str, path: Option<&Path>, root: &Path) -> bool {
    text.lines().any(calls_manager) || path.is_some_and(|it| is_copied(it, root))
}

/// `apk add --no-cache curl`.
fn calls_manager(line: &str) -> bool {
    line.split([';', '&', '|', '(', '`']).any(|command| {
        let mut words =
            command.split_whitespace().skip_while(|it| matches!(*it, "then" | "do" | "else" | "if" | "!"));
        words.next().is_some_and(|it| MANAGERS.contains(&it))
            && words.any(|it| matches!(it, "add" | "del" | "update" | "install" | "upgrade"))
    })
}

/// Whether all Dockerfiles that copy the script make their image from such a system, and there is one.
fn is_copied(path: &Path, root: &Path) -> bool {
    let folders = path.ancestors().skip(1).take_while(|it| it.starts_with(root));
    let copies = |folder: &Path| {
        let script = path.strip_prefix(folder).unwrap_or(path);
        let files = dockerfiles(folder).into_iter().filter_map(|it| text_of(&it).ok());
        files.flat_map(|it| images_with(&it, script)).collect::<Vec<_>>()
    };
    let images = folders.map(copies).find(|it| !it.is_empty()).unwrap_or_default();
    !images.is_empty() && images.iter().all(|it| is_of_system(it))
}

/// `Dockerfile`, `Dockerfile.dev`, `dev.Dockerfile` and the like, in a folder.
#[expect(clippy::disallowed_methods, reason = "a plugin has no overlay: its file system is the branch")]
fn dockerfiles(folder: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(folder).into_iter().flatten().flatten().map(|it| it.path());
    let is_one = |it: &PathBuf| {
        let name = it.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        name.split('.').any(|it| matches!(it, "dockerfile" | "containerfile"))
    };
    files.filter(is_one).collect()
}

/// Base images of the stages of a Dockerfile into which a script, named from the Dockerfile's folder, is copied.
fn images_with(dockerfile: &str, script: &Path) -> Vec<String> {
    let mut stages: Vec<(String, String)> = Vec::new();
    let mut found = Vec::new();
    for line in dockerfile.replace("\\\n", " ").lines() {
        let mut words = line.split_whitespace().filter(|it| !it.starts_with("--"));
        match words.next().unwrap_or_default().to_ascii_uppercase().as_str() {
            "FROM" => {
                let image = words.next().unwrap_or_default().to_lowercase();
                let name = words.nth(1).unwrap_or_default().to_lowercase();
                let base = stages.iter().rfind(|it| it.0 == image).map_or(image, |it| it.1.clone());
                stages.push((name, base));
            }
            "COPY" | "ADD" if !line.contains("--from=") && is_source(&mut words, script) => {
                found.extend(stages.last().map(|it| it.1.clone()));
            }
            _ => {}
        }
    }
    found
}

/// Whether one of the words of `COPY` but the last is a script, or a folder around it.
fn is_source<'a>(words: impl Iterator<Item = &'a str>, script: &Path) -> bool {
    let words: Vec<_> =
        words.map(|it| it.trim_matches(['[', ']', '"', ','])).filter(|it| !it.is_empty()).collect();
    let Some((_, sources)) = words.split_last() else { return false };
    sources.iter().any(|it| {
        let source = it.trim_start_matches("./").trim_start_matches('/');
        let is_pattern = || Glob::new(source).is_ok_and(|it| it.compile_matcher().is_match(script));
        matches!(source, "" | ".") || script.starts_with(source) || is_pattern()
    })
}

/// Whether the last part of an image's name, or its tag, names such a system: `alpine:3`, `python:3-alpine`.
fn is_of_system(image: &str) -> bool {
    let name = image.rsplit('/').next().unwrap_or_default();
    SYSTEMS.iter().any(|it| name.contains(it))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_calls_a_package_manager() {
        for line in [
            "apk add --no-cache curl",
            "  if ! apk update; then",
            "a && apk --no-cache add b",
            "opkg install b",
        ] {
            assert!(calls_manager(line), "{line}");
        }
        for line in ["echo apk add", "adb install a.apk", "zip apk add", "apk"] {
            assert!(!calls_manager(line), "{line}");
        }
    }

    #[test]
    fn images_into_which_a_script_is_copied() {
        let images = |copy: &str| {
            let file =
                format!("FROM golang AS b\nCOPY . .\nFROM python:3-alpine AS base\nFROM base\n{copy}\n");
            images_with(&file, Path::new("root/run.sh")).last().cloned().unwrap_or_default()
        };
        for copy in [
            "COPY root/run.sh /",
            "COPY --chmod=755 ./root/ /",
            "copy a \\\n  root/*.sh /",
            "ADD [\"root\", \"/\"]",
            "COPY . /",
        ] {
            assert_eq!(images(copy), "python:3-alpine", "{copy}");
        }
        for copy in ["COPY --from=b . /", "COPY run.sh /", "COPY other /root/run.sh", "RUN cp root/run.sh /"]
        {
            assert_eq!(images(copy), "golang", "{copy}");
        }
        assert!(
            is_of_system("ghcr.io/a/baseimage-alpine:3.20")
                && !is_of_system("alpine/git-debian".split('/').nth(1).unwrap())
        );
        assert!(!is_of_system("busybox.org/debian:12"));
    }
}
