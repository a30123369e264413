//! Signers that a command names, and those that the configuration has for a source.

use std::collections::BTreeMap;

use config::{PluginSettings, Source};
use signatures::{Signer, Signers};

use crate::CliError;

/// The signers that the arguments name; `None` if there is no argument. The error does not repeat the text, which may be a secret
/// key: for this reason no parser of the command line makes signers of it.
pub(super) fn signers_of_arguments(texts: &[String]) -> Result<Option<Signers>, CliError> {
    let parsed: Result<Vec<Signer>, _> = texts.iter().map(|it| it.parse()).collect();
    let signers =
        parsed.map_err(|error| CliError::usage(format!("invalid value of `--signed-by`: {error}")))?;
    Ok(Signers::try_from(signers).ok())
}

/// The plugin that has this source and must be signed, and its signers.
pub(super) fn signers_of_source<'a>(
    declared: &'a BTreeMap<String, PluginSettings>,
    source: &Source,
) -> Option<(&'a str, &'a Signers)> {
    let mut of_source = declared.iter().filter(|(_, it)| it.source.as_ref() == Some(source));
    of_source.find_map(|(name, it)| Some((name.as_str(), it.signed_by.as_ref()?)))
}

/// Refuses another plugin in the place of one that must be signed: under its new name it would have no signers.
pub(super) fn expect_same_name(source: &Source, name: &str, found: &str) -> Result<(), CliError> {
    if name == found {
        return Ok(());
    }
    let error = CliError::plugin(format!(
        "the plugin from {source} calls itself `{found}`, and broker.toml has `{name}` from there, with `signed-by`"
    ));
    Err(error.hint(format!(
        "if it was renamed, `broker plugin remove {name}`, and add it again with `--signed-by`"
    )))
}

#[cfg(test)]
mod tests {
    use config::Configs;

    use super::*;

    #[test]
    fn a_secret_key_is_not_repeated() {
        const SECRET: &str =
            "-----BEGIN EC PRIVATE KEY-----\nMHcCAQEEIHVzZWxlc3M=\n-----END EC PRIVATE KEY-----";
        for (text, reason) in [
            (SECRET, "it is a secret key: write the public one, all of `cosign.pub`"),
            ("hunter2", "no public key of minisign: write the line of `minisign.pub` that begins with `RW`"),
        ] {
            let error = signers_of_arguments(&[text.to_owned()]).unwrap_err();
            assert_eq!(error.to_string(), format!("invalid value of `--signed-by`: {reason}"));
        }
        assert!(signers_of_arguments(&[]).unwrap().is_none());
    }

    #[test]
    fn a_source_keeps_the_name_under_which_it_must_be_signed() {
        let text = "[plugins.a]\nsource = 'a.wasm'\nsigned-by = [{ identity = 'a@example.org', issuer = 'https://b.example' }]\n\
                    [plugins.b]\nsource = 'b.wasm'\n[plugins.c]\nsource = 'a.wasm'\n";
        let view = overlay::Memory::from_files([("broker.toml", text)]).unwrap();
        let declared = Configs::new(&view).workspace().unwrap().plugins();
        let name = |source: &str| Some(signers_of_source(&declared, &source.parse().unwrap())?.0);
        assert_eq!([name("a.wasm"), name("b.wasm"), name("c.wasm")], [Some("a"), None, None]);
        let source = "a.wasm".parse().unwrap();
        assert!(expect_same_name(&source, "a", "a").is_ok());
        let error = expect_same_name(&source, "a", "evil").unwrap_err();
        insta::assert_snapshot!(error, @"the plugin from a.wasm calls itself `evil`, and broker.toml has `a` from there, with `signed-by`");
    }
}
