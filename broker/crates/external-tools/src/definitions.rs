//! Definitions of one kind of tool: those that Broker has, and those of a configuration, which are unknown ones or known ones with
//! other settings.

use serde::de::DeserializeOwned;
use toml::{Table, Value};

use crate::tool;

/// Definitions of one kind, as tables. The keys of a [`Tool`](crate::Tool) become a table `tool` of their own.
pub struct Definitions {
    known: Vec<Table>,
    /// Keys that a tool needs which is not known, with their meaning.
    required: &'static [(&'static str, &'static str)],
    /// Values for what the definition of a tool which is not known leaves out.
    defaults: Table,
    /// Keys that are of no use with another command than they are for.
    of_command: &'static [&'static str],
}

impl Definitions {
    /// Reads the definitions of this kind from a file's text.
    pub fn new(
        text: &str,
        kind: &str,
        required: &'static [(&'static str, &'static str)],
        defaults: Table,
        of_command: &'static [&'static str],
    ) -> Result<Self, String> {
        let mut file: Table = toml::from_str(text).map_err(|error| error.to_string())?;
        let Some(Value::Array(tables)) = file.remove(kind) else {
            return Err(format!("there is no `{kind}`"));
        };
        let known = tables.into_iter().filter_map(|it| it.try_into().ok()).collect();
        Ok(Self { known, required, defaults, of_command })
    }

    /// The definitions that Broker has.
    pub fn known<T: DeserializeOwned>(&self) -> Result<Vec<T>, String> {
        self.known.iter().cloned().map(read).collect()
    }

    /// The tool of this name with its definition in a configuration.
    pub fn defined<T: DeserializeOwned>(&self, name: &str, definition: Table) -> Result<T, String> {
        let known = self.known.iter().find(|it| it.get("name").and_then(Value::as_str) == Some(name));
        let mut table = match known {
            Some(known) => known.clone(),
            None => self.unknown(name, &definition)?,
        };
        if definition.contains_key("command") {
            self.of_command.iter().for_each(|it| drop(table.remove(*it)));
        }
        table.extend(definition);
        read(table)
    }

    fn unknown(&self, name: &str, definition: &Table) -> Result<Table, String> {
        if let Some((key, meaning)) = self.required.iter().find(|(key, _)| !definition.contains_key(*key)) {
            return Err(format!("`{key}` is missing: {meaning}"));
        }
        let mut table = self.defaults.clone();
        table.insert("name".to_owned(), name.into());
        Ok(table)
    }
}

fn read<T: DeserializeOwned>(table: Table) -> Result<T, String> {
    let is_common = |key: &str| tool::KEYS.contains(&key);
    let (common, mut own): (Table, Table) = table.into_iter().partition(|(key, _)| is_common(key));
    own.insert("tool".to_owned(), Value::Table(common));
    own.try_into().map_err(|error: toml::de::Error| error.message().to_owned())
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;
    use crate::Tool;

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "kebab-case", deny_unknown_fields)]
    struct Kind {
        tool: Tool,
        level: u32,
        #[serde(default)]
        list_with: Vec<String>,
    }

    const TEXT: &str =
        "[[kind]]\nname = 'known'\nglobs = ['*.x']\ncommand = ['a']\nlevel = 1\nlist-with = ['-l']\n";

    fn definitions() -> Definitions {
        let required = &[("command", "the program"), ("globs", "the files")];
        Definitions::new(TEXT, "kind", required, toml::toml! { level = 7 }, &["list-with"]).unwrap()
    }

    fn defined(name: &str, definition: &str) -> Result<Kind, String> {
        definitions().defined(name, toml::from_str(definition).unwrap())
    }

    #[test]
    fn known_tools_and_others() {
        let [known] = &definitions().known::<Kind>().unwrap()[..] else { panic!() };
        assert_eq!((known.tool.name.as_str(), known.level, known.list_with.len()), ("known", 1, 1));
        let known = defined("known", "level = 2").unwrap();
        assert_eq!((&*known.tool.command, known.level, known.list_with.len()), (&["a".to_owned()][..], 2, 1));
        let known = defined("known", "command = ['b']").unwrap();
        assert_eq!(
            (known.tool.command.len(), known.list_with.len()),
            (1, 0),
            "of the command that it is for"
        );
        let own = defined("own", "command = ['b']\nglobs = ['*.y']").unwrap();
        assert_eq!((own.tool.name.as_str(), own.level), ("own", 7));
        assert_eq!(own.tool.install, "see its own documentation");
    }

    #[test]
    fn wrong_definitions() {
        for (name, definition, why) in [
            ("own", "globs = []", "`command` is missing: the program"),
            ("own", "command = ['b']", "`globs` is missing: the files"),
            ("known", "levl = 2", "unknown field `levl`"),
            ("known", "find = ['guess']", "unknown variant `guess`"),
        ] {
            assert!(defined(name, definition).unwrap_err().contains(why), "{definition}");
        }
        assert!(Definitions::new(TEXT, "other", &[], Table::new(), &[]).is_err());
    }

    /// Each key of a tool is read as one.
    #[test]
    fn keys_of_a_tool() {
        let error = toml::from_str::<Tool>("none = 1").unwrap_err().to_string();
        let listed: Vec<_> = error.split('`').skip(3).step_by(2).collect();
        assert_eq!(listed, tool::KEYS);
    }
}
