//! Options of plugins in `[linters.NAME]` of `broker.toml`, held against what their manifests declare.

use std::collections::BTreeMap;

use config::{LinterOptions, Placed, SetupFailure, closest, unknown_linter};
use plugin_host::{BadOption, OptionSchemas};
use serde_json::{Map, Value};

use super::Plugins;

/// The options of each plugin, as a JSON object.
pub(super) fn checked(
    plugins: &Plugins,
    declared: BTreeMap<String, LinterOptions>,
) -> Result<BTreeMap<String, String>, SetupFailure> {
    let mut checked = BTreeMap::new();
    for (name, table) in declared {
        let Some(plugin) = plugins.find(&name) else {
            // The check reports a plugin that cannot be loaded. Its options are not known.
            if plugins.broken.iter().any(|it| it.linter.as_deref() == Some(&*name)) {
                continue;
            }
            let unknown = unknown_linter(&name, &plugins.names(), &[]);
            return Err(SetupFailure {
                message: format!("{}: {}", place(&name, &table), unknown.message),
                ..unknown
            });
        };
        let schemas = &plugin.manifest().options;
        for (option, it) in &table.value {
            schemas.check(option, &it.value).map_err(|bad| wrong(&name, schemas, it, &bad))?;
        }
        let options: Map<_, _> = table.value.into_iter().map(|(option, it)| (option, it.value)).collect();
        checked.insert(name, Value::Object(options).to_string());
    }
    Ok(checked)
}

fn wrong(name: &str, schemas: &OptionSchemas, option: &Placed<Value>, bad: &BadOption) -> SetupFailure {
    let hint = match closest(&bad.given, bad.known.iter().map(String::as_str)) {
        Some(close) => format!("did you mean `{close}`?"),
        None if schemas.is_empty() => format!("the plugin `{name}` has no options"),
        None => format!("`broker plugin inspect {name}` lists its options"),
    };
    SetupFailure::new(format!("{} `{}`: {}", place(name, option), bad.path, bad.message)).hint(hint)
}

fn place<T>(linter: &str, Placed { file, at, .. }: &Placed<T>) -> String {
    format!("{file}:{}:{}: [linters.{linter}]", at.line, at.column)
}
