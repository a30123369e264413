//! Functions of the host. In tests a stand-in implements them, with grammars of its own.

#[cfg(test)]
pub(crate) use crate::tests::host::{language_of, names, tree};

#[cfg(not(test))]
pub(crate) use broker_plugin_sdk::syntax::{language_of, names};

#[cfg(not(test))]
pub(crate) fn tree(
    source: &broker_plugin_sdk::syntax::Source,
    language: &str,
) -> Result<broker_plugin_sdk::syntax::Tree, broker_plugin_sdk::syntax::Problem> {
    broker_plugin_sdk::syntax::Tree::new(source, language)
}
