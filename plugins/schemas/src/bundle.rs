//! The schemas that are carried along. Where they come from stands in `../README.md`.

use serde_json::Value;

/// Name and deflated text, sorted by name; made by the build script.
const BUNDLE: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/bundle.rs"));

/// The bundled schema of this name.
pub(crate) fn schema(name: &str) -> Option<Value> {
    let at = BUNDLE.binary_search_by_key(&name, |it| it.0).ok()?;
    let text = miniz_oxide::inflate::decompress_to_vec(BUNDLE[at].1).ok()?;
    serde_json::from_slice(&text).ok()
}

/// The name as the bundle has it.
pub(crate) fn known(name: &str) -> Option<&'static str> {
    let at = BUNDLE.binary_search_by_key(&name, |it| it.0).ok()?;
    Some(BUNDLE[at].0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_schema_compiles() {
        for (name, _) in BUNDLE {
            let schema = schema(name).unwrap_or_else(|| panic!("{name} does not unpack"));
            if let Err(why) = crate::compile::bundled(&schema) {
                panic!("{name}: {why}");
            }
        }
    }
}
