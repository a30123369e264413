//! Servers that a configuration defines: unknown ones, or known ones with other settings.

use super::Profile;

/// Each, and whom it is for.
const BARRIERS: [(&str, &str); 6] = [
    ("pull", "it is asked for the diagnostics of each file (`textDocument/diagnostic`)"),
    (
        "pull-when-quiescent",
        "the same, once it says that it has finished loading (`experimental/serverStatus`)",
    ),
    ("version", "it publishes diagnostics with the version of the document, once for each version"),
    ("next-publish", "it publishes them without, once for each change, and looks at each file by itself"),
    (
        "reopen",
        "it publishes them with the version, more than once; the last of a document opened anew counts",
    ),
    ("tsserver", "it hands commands on to TypeScript's `tsserver`, which is asked"),
];

/// Fields that the definition of a server that is not built in must have.
const NEEDED: [(&str, &str); 2] = [
    ("command", "the program, a name in `PATH` or a path, and its arguments"),
    ("globs", "the files it checks: names, or `*` and how a name ends"),
];

impl Profile {
    /// The one of this name with its definition; for a name that is not built in, what is not defined is
    /// cautious. `command` stands for a program and its arguments.
    pub fn defined(name: &str, said: toml::Table) -> Result<Self, String> {
        let known = table_of(name);
        if known.is_none() {
            check_complete(&said)?;
        }
        let mut table = known.unwrap_or_else(|| unknown(name));
        for (key, value) in said {
            let (key, value) = match key.as_str() {
                "command" => ("launch".to_owned(), launch(value)?),
                "outside" => (key, outside(value)?),
                _ => (key, value),
            };
            table.insert(key, value);
        }
        if !table.contains_key("languages") {
            table.insert("languages".to_owned(), vec![name].into());
        }
        table.try_into().map_err(|error: toml::de::Error| error.message().to_owned())
    }
}

fn table_of(name: &str) -> Option<toml::Table> {
    let all: toml::Table = toml::from_str(include_str!("../profiles.toml")).ok()?;
    let mut tables = all.get("profile")?.as_array()?.iter().filter_map(toml::Value::as_table);
    tables.find(|it| it.get("name").and_then(toml::Value::as_str) == Some(name)).cloned()
}

fn check_complete(said: &toml::Table) -> Result<(), String> {
    if let Some((key, what)) = NEEDED.iter().find(|(key, _)| !said.contains_key(*key)) {
        return Err(format!("`{key}` is missing: {what}"));
    } else if !said.contains_key("barrier") {
        let values = BARRIERS.map(|(name, what)| format!("\n  {name:?}: {what}"));
        let what = "what proves that an answer is for the present state";
        return Err(format!("`barrier` is missing: {what}. It is one of{}", values.concat()));
    }
    Ok(())
}

/// Defaults for an untested server.
fn unknown(name: &str) -> toml::Table {
    toml::toml! {
        name = name
        checks = "lints"
        language-ids = {}
        sees = { edited-files = false, new-files = false, deletes = "ignored", unopened-dependents = false }
        memory = "hundreds"
        install = "see its own documentation"
    }
}

/// Paths, as they stand in the built-in profiles.
fn outside(paths: toml::Value) -> Result<toml::Value, String> {
    let paths = paths.try_into::<Vec<String>>().map_err(|error| error.message().to_owned())?;
    let table = |path: String| toml::Table::from_iter([("path".to_owned(), path.into())]);
    Ok(paths.into_iter().map(|it| toml::Value::Table(table(it))).collect::<Vec<_>>().into())
}

/// A path is seen from the workspace's root, as a shell there would; a name alone is looked up.
fn launch(command: toml::Value) -> Result<toml::Value, String> {
    let words = command.try_into::<Vec<String>>().map_err(|error| error.message().to_owned())?;
    let (program, args) = words.split_first().ok_or("`command` names no program")?;
    let find = if program.contains('/') { "workspace" } else { "path" };
    let program = program.trim_start_matches("./");
    let with = [("find", find.into()), ("program", program.into()), ("args", args.to_vec().into())];
    let launch: toml::Table = with.map(|(key, it)| (key.to_owned(), it)).into_iter().collect();
    Ok(vec![toml::Value::Table(launch)].into())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "a test makes its own files")]

    use overlay::WorkspacePath;

    use super::*;
    use crate::{Barrier, MemoryClass};

    fn path(text: &str) -> WorkspacePath {
        WorkspacePath::new(text).unwrap()
    }

    #[test]
    fn somebody_s_own_definitions() {
        let defined = |name: &str, said: &str| Profile::defined(name, toml::from_str(said).unwrap());
        let zls =
            defined("zls", "command = ['/opt/zls', '-x']\nglobs = ['*.zig']\nbarrier = 'pull'\n").unwrap();
        assert_eq!(
            (zls.launch[0].program.as_str(), &*zls.launch[0].args),
            ("/opt/zls", &["-x".to_owned()][..])
        );
        assert_eq!((&*zls.languages, zls.language_id(&path("a.zig"))), (&["zls".to_owned()][..], "zls"));
        assert!(!zls.sees.new_files && zls.covers(&path("a.zig")));
        assert!(zls.outside.is_none() && zls.longest_reuse().is_some());
        let said = "command = ['zls']\nglobs = ['*.zig']\nbarrier = 'pull'\noutside = ['~/.zig']";
        let zls = defined("zls", said).unwrap();
        assert!(matches!(&zls.outside.as_deref(), Some([crate::Outside::Path(it)]) if it == "~/.zig"));
        assert_eq!(zls.longest_reuse(), None);
        let ty = defined("ty", "settings = { ty = { diagnosticMode = 'off' } }").unwrap();
        assert_eq!(
            (ty.settings["ty"]["diagnosticMode"].as_str(), ty.memory),
            (Some("off"), MemoryClass::Tens)
        );
        let wrong = [
            ("zls", "globs = ['*.zig']\nbarrier = 'pull'", "`command` is missing"),
            ("zls", "command = ['zls']\nbarrier = 'pull'", "`globs` is missing"),
            ("zls", "command = []\nglobs = []\nbarrier = 'pull'", "`command` names no program"),
            ("ty", "barrier = 'guess'", "unknown variant `guess`"),
        ];
        for (name, said, why) in wrong {
            assert!(defined(name, said).unwrap_err().contains(why), "{said}");
        }
    }

    #[test]
    fn a_command_that_is_a_path_is_seen_from_the_root() {
        let root = tempfile::tempdir().unwrap();
        let found = |program: &str| {
            let said = format!("command = ['{program}']\nglobs = ['*.x']\nbarrier = 'pull'");
            let profile = Profile::defined("own", toml::from_str(&said).unwrap()).unwrap();
            profile.find(root.path(), &crate::Environment::of_shell()).map(|it| it.0)
        };
        for program in ["tools/own", "node_modules/.bin/own"] {
            assert_eq!(found(program), None);
            let file = root.path().join(program);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(&file, "").unwrap();
            assert_eq!(found(program), Some(file.clone()));
            assert_eq!(found(&format!("./{program}")), Some(file.clone()));
            assert_eq!(found(file.to_str().unwrap()), Some(file));
        }
        assert_eq!(found("own"), None, "a name is looked up");
        assert!(found("sh").is_some_and(|it| !it.starts_with(root.path())));
    }

    #[test]
    fn each_barrier_is_told_to_who_says_none() {
        let said = toml::from_str("command = ['own']\nglobs = ['*.x']").unwrap();
        let why = Profile::defined("own", said).unwrap_err();
        assert!(why.starts_with("`barrier` is missing: what proves"), "{why}");
        let mut seen = std::collections::BTreeSet::new();
        for line in why.lines().skip(1) {
            let (name, what) = line.trim().split_once(": ").unwrap();
            let barrier: Barrier = toml::Value::from(name.trim_matches('"')).try_into().unwrap();
            assert!(!what.is_empty() && seen.insert(format!("{barrier:?}")), "{line}");
        }
        // The message for a wrong one names all that there are.
        let said = toml::from_str("barrier = 'guess'").unwrap();
        let all = Profile::defined("ty", said).unwrap_err();
        assert_eq!(all.matches('`').count(), 2 * (seen.len() + 1), "{all}");
    }
}
