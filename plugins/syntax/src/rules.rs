//! Rules: one for each language, and one more where its grammar alone is not to be trusted.

use broker_plugin_sdk::{Rule, Severity};

use crate::languages::{ALL, Language, Trust};

pub(crate) fn all() -> Vec<Rule> {
    ALL.iter().flat_map(of).collect()
}

/// Returns the rules of a language.
pub(crate) fn of(language: &'static Language) -> impl Iterator<Item = Rule> {
    let brackets = (language.trust == Trust::Brackets).then(|| brackets(language));
    [grammar(language)].into_iter().chain(brackets)
}

/// Returns the severity of a finding by the grammar alone.
pub(crate) fn severity(trust: Trust) -> Severity {
    match trust {
        Trust::Grammar => Severity::Error,
        Trust::Brackets | Trust::Nothing => Severity::Warning,
    }
}

fn grammar(language: &Language) -> Rule {
    let Language { name, title, trust, .. } = language;
    let is_trusted = *trust == Trust::Grammar;
    let advice = match trust {
        Trust::Grammar => "",
        Trust::Brackets => {
            " It is off for that reason; what the brackets show as well is told by another rule."
        }
        Trust::Nothing => " It is off for that reason.",
    };
    let explanation = format!(
        "The text does not fit the grammar of {title} that editors use (tree-sitter). The place is where it stops to \
         fit, or where something is missing; after that the rest may be understood wrongly, so there may be fewer \
         errors than findings.\n\n{}{advice}\n\nLeft alone are files that hold zero bytes and templates of \
         such files.",
        measured(language, language.by_grammar),
    );
    let summary = format!("The text is no {title}");
    Rule { name: format!("{name}-syntax"), explanation, default: is_trusted, ..Rule::new(*name, summary) }
}

fn brackets(language: &Language) -> Rule {
    let Language { title, brackets, .. } = language;
    let explanation = format!(
        "A bracket has no partner, and the text does not fit the grammar of {title}. Of a bracket that is never closed, \
         the indentation tells where it should have been.\n\n{}",
        measured(language, language.by_brackets),
    );
    Rule { explanation, ..Rule::new(*brackets, format!("Brackets do not match in {title}")) }
}

/// Returns a sentence on the rate of false findings of the rule.
fn measured(language: &Language, wrong: usize) -> String {
    let Language { files, note, .. } = language;
    format!("Of {files} files that are right, this finds fault with {wrong} ({note}).")
}
