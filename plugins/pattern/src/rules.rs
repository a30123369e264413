//! The table of rules: those of the workspace, and those about them.

use ast_grep_config::{NO_SUPPRESS_ALL_ID, UNUSED_SUPPRESSION_ID};
use broker_plugin_sdk::{self as plugin, FixAvailability};

use crate::{problem::INVALID_RULE, rule_file::Rule, verify::RULE_TEST, workspace::Workspace};

/// Rules about comments that suppress findings. Their own findings are known only when all rules have run.
pub(crate) const ABOUT_SUPPRESSIONS: [&str; 2] = [UNUSED_SUPPRESSION_ID, NO_SUPPRESS_ALL_ID];

/// The key in a rule's metadata that says how sure its fix is.
pub(crate) const APPLICABILITY: &str = "applicability";

/// Code, summary, explanation.
const OWN: [(&str, &str, &str); 4] = [
    (
        INVALID_RULE,
        "A rule of the workspace cannot be used",
        "The file with the rule says what is wrong with it. Until then it finds nothing, and what is said of other \
         files is incomplete.",
    ),
    (
        RULE_TEST,
        "A rule of the workspace does not do what its test says",
        "What stands under `valid` must not be found by the rule, and what stands under `invalid` must. An entry \
         `{code: …, fixed: …}` under `invalid` says what the code is when the rule's fix was applied wherever the \
         rule finds something.",
    ),
    (
        UNUSED_SUPPRESSION_ID,
        "A comment `ast-grep-ignore` suppresses nothing",
        "No rule finds anything in the line that the comment is for.",
    ),
    (
        NO_SUPPRESS_ALL_ID,
        "A comment `ast-grep-ignore` does not say what it suppresses",
        "Write `ast-grep-ignore: rule-id`, so that what other rules find is still shown.",
    ),
];

/// Whether a rule of the workspace must not have this id, which the plugin uses itself.
pub(crate) fn is_taken(id: &str) -> bool {
    OWN.iter().any(|(code, ..)| *code == id)
}

/// None, where the workspace has none.
pub(crate) fn all(workspace: &Workspace) -> Vec<plugin::Rule> {
    if workspace.is_empty() {
        return Vec::new();
    }
    let own = OWN.iter().map(|(code, summary, explanation)| plugin::Rule {
        explanation: (*explanation).to_owned(),
        default: *code != NO_SUPPRESS_ALL_ID,
        fix: if *code == UNUSED_SUPPRESSION_ID { FixAvailability::Always } else { FixAvailability::None },
        ..plugin::Rule::new(*code, *summary)
    });
    workspace.rules.iter().filter_map(rule).chain(own).collect()
}

fn rule(rule: &Rule) -> Option<plugin::Rule> {
    let config = rule.config()?;
    let summary = config.message.lines().map(str::trim).find(|it| !it.is_empty()).unwrap_or(&rule.id);
    Some(plugin::Rule {
        explanation: explanation(rule, config.note.as_deref()),
        url: config.url.clone(),
        fix: if config.fix.is_some() { FixAvailability::Always } else { FixAvailability::None },
        default: !rule.is_off,
        ..plugin::Rule::new(rule.id.clone(), summary)
    })
}

/// The note, where the rule stands, and what else it says of itself.
fn explanation(rule: &Rule, note: Option<&str>) -> String {
    let note = note.map(str::trim).filter(|it| !it.is_empty());
    let place = format!("A rule for {}, in `{}`.", rule.lang().name(), rule.path);
    let shown = rule.metadata.as_ref().filter(|it| !it.is_empty());
    let metadata = shown.and_then(|it| serde_saphyr::to_string(it).ok());
    let metadata = metadata.map(|it| format!("```yaml\n{}\n```", it.trim_end()));
    note.map(str::to_owned).into_iter().chain([place]).chain(metadata).collect::<Vec<_>>().join("\n\n")
}
