//! Features of the plugins' dependencies: each plugin that may be built later than others must leave them as they are.

use std::collections::BTreeSet;

use crate::{
    run::{Failed, fail},
    step::Invocation,
};

/// Prints each dependency of the plugins with its features on a line, without those of the excluded plugins.
pub(crate) fn tree(excluded: &[&str]) -> Invocation {
    let excluded = excluded.iter().flat_map(|it| ["--exclude".to_owned(), format!("broker-plugin-{it}")]);
    Invocation::of("cargo tree --locked --workspace")
        .args(excluded)
        .args([
            "--target",
            "wasm32-wasip2",
            "--edges",
            "normal,build",
            "--prefix",
            "none",
            "--format",
            "{p}|{f}",
        ])
        .folder("plugins")
}

/// Fails where a build with one of the plugins alone, or with none of them, has features that one with all does not have.
pub(crate) fn expect_same(
    later: &[String],
    print: impl Fn(&[&str]) -> Result<String, Failed>,
) -> Result<(), Failed> {
    let printed = print(&[])?;
    let all = lines(&printed);
    for alone in later.iter().map(Some).chain([None]) {
        let excluded: Vec<_> = later.iter().filter(|it| Some(*it) != alone).map(String::as_str).collect();
        let printed = print(&excluded)?;
        let other: Vec<_> = lines(&printed).difference(&all).copied().collect();
        if !other.is_empty() {
            let alone = alone.map_or("none", String::as_str);
            return Err(differ(alone, &other.join("\n")));
        }
    }
    Ok(())
}

fn differ(alone: &str, other: &str) -> Failed {
    let message = format!(
        "with `{alone}` alone of the plugins that can be left out, these have other features: {other}"
    );
    fail(&message, Some("name what other plugins turn on in plugins/features/Cargo.toml"))
}

fn lines(printed: &str) -> BTreeSet<&str> {
    printed.lines().map(|it| it.trim_end_matches(" (*)")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_features_are_found() {
        let later = ["css".to_owned(), "python".to_owned()];
        let serde = |features: &'static str| {
            move |excluded: &[&str]| match excluded {
                [] => Ok("serde v1|derive,std (*)\nlog v1|".to_owned()),
                ["css"] => Ok(format!("serde v1|{features}")),
                _ => Ok("log v1|".to_owned()),
            }
        };
        assert!(expect_same(&later, serde("derive,std")).is_ok());
        let message = expect_same(&later, serde("std")).unwrap_err().message.unwrap();
        assert!(message.starts_with("with `python` alone"), "{message}");
        assert!(message.ends_with("other features: serde v1|std"), "{message}");
    }
}
