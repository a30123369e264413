//! Definitions of servers, those that Broker has and those of a configuration.

use std::sync::LazyLock;

use external_tools::Definitions;
use toml::Table;

use super::Profile;

/// Keys that the definition of a server must have which Broker does not know.
const REQUIRED: &[(&str, &str)] = &[
    ("command", "the program, a name in `PATH` or a path, and its arguments"),
    ("globs", "the files it checks: names, or `*` and how a name ends"),
    ("barrier", BARRIERS),
];

const BARRIERS: &str = "what proves that an answer is for the present state. It is one of
  \"pull\": it is asked for the diagnostics of each file (`textDocument/diagnostic`)
  \"pull-when-quiescent\": the same, once it says that it has finished loading (`experimental/serverStatus`)
  \"version\": it publishes diagnostics with the version of the document, once for each version
  \"next-publish\": it publishes them without, once for each change, and looks at each file by itself
  \"reopen\": it publishes them with the version, more than once; the last of a document opened anew counts
  \"tsserver\": it hands commands on to TypeScript's `tsserver`, which is asked";

/// Keys that are of no use with another command.
const OF_COMMAND: &[&str] = &["find", "native"];

static DEFINITIONS: LazyLock<Definitions> = LazyLock::new(|| {
    let definitions =
        Definitions::new(include_str!("../servers.toml"), "server", REQUIRED, unknown(), OF_COMMAND);
    definitions.unwrap_or_else(|error| unreachable!("the tests read it, too: {error}"))
});

/// Returns the built-in profiles.
pub fn profiles() -> &'static [Profile] {
    static ALL: LazyLock<Vec<Profile>> = LazyLock::new(|| {
        DEFINITIONS.known().unwrap_or_else(|error| unreachable!("the tests read it, too: {error}"))
    });
    &ALL
}

impl Profile {
    /// The server of this name with its definition in a configuration. For a name that is not built in, what is not defined is
    /// cautious.
    pub fn defined(name: &str, definition: Table) -> Result<Self, String> {
        let mut profile: Self = DEFINITIONS.defined(name, definition)?;
        profile.tool.check()?;
        if profile.tool.languages.is_empty() {
            profile.tool.languages = vec![name.to_owned()];
        }
        Ok(profile)
    }
}

/// Defaults for an untested server.
fn unknown() -> Table {
    toml::toml! {
        checks = "lints"
        language-ids = {}
        sees = { edited-files = false, new-files = false, deletes = "ignored", unopened-dependents = false }
        memory = "hundreds"
    }
}

#[cfg(test)]
mod tests {
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
        assert_eq!(zls.tool.command, ["/opt/zls", "-x"]);
        assert_eq!((&*zls.tool.languages, zls.language_id(&path("a.zig"))), (&["zls".to_owned()][..], "zls"));
        assert!(!zls.sees.new_files && zls.covers(&path("a.zig")));
        assert!(zls.tool.outside.is_none() && zls.longest_reuse().is_some());
        let said = "command = ['zls']\nglobs = ['*.zig']\nbarrier = 'pull'\noutside = ['~/.zig']";
        let zls = defined("zls", said).unwrap();
        assert_eq!(zls.tool.outside.as_deref(), Some(&["~/.zig".to_owned()][..]));
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
    fn another_command_is_looked_for_in_path_alone() {
        use external_tools::Find;
        let typescript =
            Profile::defined("typescript", toml::from_str("command = ['own']").unwrap()).unwrap();
        assert!(typescript.native.is_none() && typescript.tool.find == [Find::Path]);
        let ty = Profile::defined("ty", toml::from_str("command = ['own']").unwrap()).unwrap();
        assert_eq!(ty.tool.find, [Find::Path]);
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
