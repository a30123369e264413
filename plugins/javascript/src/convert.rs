//! deno_lint's findings in the plugin's words. Leaves out rendering: line and column are the host's to count.

use broker_plugin_sdk::{self as plugin, Severity, Tags};
use deno_ast::{ParseDiagnostic, SourceRange, StartSourcePos, diagnostics::Diagnostic as _};
use deno_lint::diagnostic::{LintDiagnostic, LintFix};

use crate::repairs::{self, Repairs};
use crate::rules::SYNTAX_ERROR;
use crate::second;
use crate::shifts::Split;

/// A file's text, as the crate read it.
pub(crate) struct Place<'a> {
    /// Text that the crate read, without the blanks that were put in.
    pub(crate) text: &'a str,
    /// Offsets of the blanks in the text that the crate read.
    pub(crate) blanks: Vec<usize>,
    /// Whether the text that the crate read has the same characters, but for blanks.
    pub(crate) may_fix: bool,
    /// Whether the file is a module.
    pub(crate) may_import: bool,
}

impl Place<'_> {
    pub(crate) fn syntax_error(&self, error: &ParseDiagnostic) -> plugin::Diagnostic {
        plugin::Diagnostic::error(SYNTAX_ERROR, error.message(), self.bytes(error.range()))
    }

    /// An error that the crate's parser passes over.
    pub(crate) fn early_error(&self, error: &second::Error) -> plugin::Diagnostic {
        let inside = |it: usize| it.min(self.text.len());
        let bytes = inside(error.bytes.start)..inside(error.bytes.end);
        plugin::Diagnostic::error(SYNTAX_ERROR, error.message.clone(), bytes)
    }

    pub(crate) fn finding(&self, finding: &LintDiagnostic, repairs: &Repairs) -> plugin::Diagnostic {
        let details = &finding.details;
        let own =
            finding.range.as_ref().and_then(|it| repairs.get(&(repairs::named(&details.code)?, it.range)));
        // Places in another text are not those of this one.
        let own = own.filter(|_| self.may_fix && self.blanks.is_empty()).cloned();
        // A finding without a range is about the whole file.
        let bytes = finding.range.as_ref().map_or(0..0, |it| self.bytes(it.range));
        plugin::Diagnostic {
            tags: tags(&details.code),
            url: finding.docs_url().map(|it| it.into_owned()),
            fixes: details.fixes.iter().filter_map(|it| self.fix(it, &details.code)).chain(own).collect(),
            severity: if THROWS.contains(&&*details.code) { Severity::Error } else { Severity::Warning },
            ..plugin::Diagnostic::new(details.code.clone(), self.message(finding, &bytes), bytes)
        }
    }

    fn message(&self, finding: &LintDiagnostic, bytes: &std::ops::Range<usize>) -> String {
        if finding.details.code != "jsx-void-dom-elements-no-children" {
            return message(finding);
        }
        let element = self.text.get(bytes.start..).unwrap_or_default().trim_start_matches('<');
        let name = element.split(|it: char| !it.is_ascii_alphanumeric()).next().unwrap_or_default();
        format!("`<{name}>` can have no children")
    }

    fn fix(&self, fix: &LintFix, code: &str) -> Option<plugin::Fix> {
        let edit = |it: &deno_lint::diagnostic::LintFixChange| plugin::Edit {
            span: self.bytes(it.range).into(),
            replacement: it.new_text.to_string(),
        };
        let mut edits: Vec<plugin::Edit> = fix.changes.iter().map(edit).collect();
        edits.sort_by_key(|it| (it.span.start, it.span.end));
        let apart = edits.array_windows().all(|[a, b]| a.span.end <= b.span.start);
        let is_allowed = self.may_fix && (self.may_import || !edits.iter().any(is_import));
        let is_sound = is_allowed && apart && edits.iter().all(|it| self.is_sound(it, code));
        is_sound.then(|| plugin::Fix {
            message: Some(fix.description.to_string()),
            applicability: applicability(code),
            edits,
        })
    }

    /// Two rules write fixes that do not always fit.
    fn is_sound(&self, edit: &plugin::Edit, code: &str) -> bool {
        let old = self.text.get(edit.span.start as usize..edit.span.end as usize).unwrap_or_default();
        match code {
            // Takes it that there is a space before the brace, and none behind it.
            "jsx-props-no-spread-multi" => {
                let spread = old.strip_prefix(|it: char| it.is_ascii_whitespace());
                spread.is_some_and(|it| it.starts_with("{...") && it.ends_with('}'))
            }
            // Writes a string's value as it is, where quotes, entities and line breaks mean something else.
            "jsx-curly-braces" if !edit.replacement.starts_with('{') => {
                let inner = edit.replacement.strip_prefix('"').and_then(|it| it.strip_suffix('"'));
                let inner = inner.unwrap_or(&edit.replacement);
                !inner.contains(['"', '\\', '&', '\n', '\r']) && inner.trim() == inner
            }
            _ => true,
        }
    }

    fn bytes(&self, range: SourceRange) -> std::ops::Range<usize> {
        let range = range.as_byte_range(StartSourcePos::START_SOURCE_POS);
        let inside = |it: usize| Split::original(&self.blanks, it).min(self.text.len());
        inside(range.start)..inside(range.end.max(range.start))
    }
}

/// Rules about code that throws when it runs.
const THROWS: [&str; 9] = [
    "constructor-super",
    "no-await-in-sync-fn",
    "no-const-assign",
    "no-delete-var",
    "no-import-assign",
    "no-invalid-regexp",
    "no-new-symbol",
    "no-obj-calls",
    "no-this-before-super",
];

/// Whether a rule's fixes add imports.
pub(crate) fn imports(code: &str) -> bool {
    matches!(code, "no-node-globals" | "no-process-global")
}

fn is_import(edit: &plugin::Edit) -> bool {
    edit.replacement.trim_start().starts_with("import ")
}

/// The message with the hint that deno prints below it.
fn message(finding: &LintDiagnostic) -> String {
    let message = finding.details.message.trim_end_matches('.');
    match &finding.details.hint {
        Some(hint) => format!("{message}: {hint}"),
        None => finding.details.message.clone(),
    }
}

fn applicability(code: &str) -> plugin::Applicability {
    match code {
        "jsx-boolean-value"
        | "jsx-curly-braces"
        | "jsx-no-unescaped-entities"
        | "jsx-props-no-spread-multi" => plugin::Applicability::Safe,
        // The fixes of the other rules add or remove imports, or replace `window` by another object.
        _ => plugin::Applicability::Unsafe,
    }
}

fn tags(code: &str) -> Tags {
    match code {
        "ban-unused-ignore" | "no-unreachable" | "no-unused-labels" | "no-unused-vars" => Tags::UNNECESSARY,
        "no-deprecated-deno-api" | "no-import-assertions" => Tags::DEPRECATED,
        _ => Tags::empty(),
    }
}
