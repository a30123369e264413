//! Arguments of `edit_file`, and the edits that they name.

use agent_tools::edit::{DefinitionEdit, DefinitionPlace, Targeted, TextReplacement};
use schemars::JsonSchema;
use serde::Deserialize;

use super::plan::{Step, StepEdit};
use crate::reply::ToolError;

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct EditFile {
    target_file: Option<String>,
    code_edit: Option<String>,
    /// Exact text, in the file once
    old_string: Option<String>,
    new_string: Option<String>,
    #[serde(default)]
    replace_all: bool,
    /// Definition that code_edit replaces: `Class.method`
    symbol: Option<String>,
    /// Or its body, or put code_edit beside
    place: Option<Place>,
    /// Several, each checked
    #[serde(default)]
    edits: Vec<OneOf>,
    /// Default true
    pub(super) check: Option<bool>,
    /// Only if nothing new is found
    #[serde(default)]
    pub(super) if_clean: bool,
    /// Only at this one
    pub(super) if_revision: Option<u64>,
    /// Seconds
    pub(super) wait: Option<u64>,
    pub(super) branch: Option<String>,
}

// Edit of a chain.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OneOf {
    target_file: Option<String>,
    code_edit: Option<String>,
    old_string: Option<String>,
    new_string: Option<String>,
    #[serde(default)]
    replace_all: bool,
}

// Place of the code at a definition.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Place {
    Definition,
    Body,
    Before,
    After,
}

impl EditFile {
    pub(super) fn steps(&mut self) -> Result<Vec<Step>, ToolError> {
        let (symbol, place) = (self.symbol.take(), self.place);
        let own = OneOf {
            target_file: self.target_file.take(),
            code_edit: self.code_edit.take(),
            old_string: self.old_string.take(),
            new_string: self.new_string.take(),
            replace_all: self.replace_all,
        };
        match (symbol, std::mem::take(&mut self.edits)) {
            (Some(symbol), all) if all.is_empty() => Ok(vec![own.of_definition(symbol, place)?]),
            (None, all) if all.is_empty() => Ok(vec![own.step(None)?]),
            (None, all) if own.is_target() => {
                let named = |at: usize, error: ToolError| ToolError {
                    message: format!("arguments of `edit_file`: `edits[{at}]`: {}", error.message),
                    ..error
                };
                let step = |(at, it): (usize, OneOf)| {
                    it.step(own.target_file.as_deref()).map_err(|error| named(at, error))
                };
                all.into_iter().enumerate().map(step).collect()
            }
            _ => Err(ToolError::new("an edit has either `edits`, or one of `code_edit` and `old_string`")),
        }
    }
}

impl OneOf {
    /// Whether it says no more than the file of others.
    fn is_target(&self) -> bool {
        self.code_edit.is_none()
            && self.old_string.is_none()
            && self.new_string.as_deref().is_none_or(str::is_empty)
    }

    fn step(self, file: Option<&str>) -> Result<Step, ToolError> {
        let target_file = self.target_file.or_else(|| file.map(str::to_owned)).unwrap_or_default();
        // Clients fill in what they leave out.
        let new = self.new_string.filter(|it| self.old_string.is_some() || !it.is_empty());
        let edit = match (self.code_edit, self.old_string, new) {
            (Some(edit), None, None) => StepEdit::Code(edit),
            (None, None, None) => {
                return Err(ToolError::new("the edit is missing")
                    .hint("send `old_string` and `new_string`, or `code_edit`"));
            }
            (Some(_), ..) => {
                return Err(ToolError::new(
                    "an edit has either `code_edit` or `old_string` and `new_string`",
                ));
            }
            (None, Some(_), None) => {
                return Err(ToolError::new("`new_string` is missing")
                    .hint("an empty one deletes the text of `old_string`"));
            }
            (None, old, Some(new)) => StepEdit::Targeted(Targeted::Text(TextReplacement {
                old: old.unwrap_or_default(),
                new,
                all: self.replace_all,
            })),
        };
        Ok(Step { target_file, edit })
    }

    fn of_definition(self, name: String, place: Option<Place>) -> Result<Step, ToolError> {
        let place = match place {
            None | Some(Place::Definition) => DefinitionPlace::Whole,
            Some(Place::Body) => DefinitionPlace::Body,
            Some(Place::Before) => DefinitionPlace::Before,
            Some(Place::After) => DefinitionPlace::After,
        };
        let code = self.code_edit.ok_or_else(|| {
            ToolError::new("`code_edit` is missing").hint("`symbol` says where it goes; `query` renames")
        })?;
        let edit = StepEdit::Targeted(Targeted::Definition(DefinitionEdit { name, place, code }));
        Ok(Step { target_file: self.target_file.unwrap_or_default(), edit })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn steps(arguments: Value) -> String {
        let mut edit: EditFile = serde_json::from_value(arguments).unwrap();
        match edit.steps() {
            Ok(all) => {
                let shown = |it: &Step| match &it.edit {
                    StepEdit::Code(code) => format!("{}: {code}", it.target_file),
                    StepEdit::Targeted(Targeted::Text(text)) => {
                        format!("{}: {} -> {} ({})", it.target_file, text.old, text.new, text.all)
                    }
                    StepEdit::Targeted(Targeted::Definition(at)) => {
                        format!("{}: {:?} of {}: {}", it.target_file, at.place, at.name, at.code)
                    }
                };
                all.iter().map(shown).collect::<Vec<_>>().join("; ")
            }
            Err(error) => error.message,
        }
    }

    #[test]
    fn an_edit_is_of_one_form() {
        let edit = |more: Value| {
            let mut all = json!({ "target_file": "a" });
            all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            steps(all)
        };
        assert_eq!(edit(json!({ "code_edit": "x" })), "a: x");
        assert_eq!(edit(json!({ "old_string": "x", "new_string": "y" })), "a: x -> y (false)");
        assert_eq!(edit(json!({ "old_string": "x" })), "`new_string` is missing");
        assert_eq!(edit(json!({ "symbol": "A.f", "code_edit": "x", "place": "body" })), "a: Body of A.f: x");
        assert_eq!(edit(json!({ "symbol": "A.f" })), "`code_edit` is missing");
        assert_eq!(edit(json!({})), "the edit is missing");
        let both = json!({ "code_edit": "x", "old_string": "y" });
        assert_eq!(edit(both), "an edit has either `code_edit` or `old_string` and `new_string`");
        let edits = json!({ "edits": [
            { "old_string": "x", "new_string": "y", "replace_all": true },
            { "target_file": "b", "code_edit": "z" },
        ] });
        assert_eq!(edit(edits.clone()), "a: x -> y (true); b: z");
        let more = json!({ "edits": edits["edits"], "code_edit": "x" });
        assert!(edit(more).starts_with("an edit has either `edits`, or"));
        let none = "arguments of `edit_file`: `edits[0]`: the edit is missing";
        assert_eq!(edit(json!({ "edits": [{}] })), none);
    }
}
