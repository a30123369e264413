//! Conversion of a server's diagnostics for a document into findings.

use lint::{Diagnostic, Related, Severity, Span, Tag};
use lsp_client::{PositionEncoding, Positions, Range, uri::Uris};
use overlay::{View, WorkspacePath};
use serde::Deserialize;
use serde_json::Value;

use crate::Profile;

/// The answer to `textDocument/diagnostic`.
#[derive(Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(super) enum Report {
    /// gopls leaves the kind empty.
    #[serde(alias = "")]
    Full { items: Vec<Item> },
    /// Unchanged result, which no request asks for.
    Unchanged,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Item {
    range: Range,
    severity: Option<u8>,
    code: Option<Value>,
    code_description: Option<CodeDescription>,
    source: Option<String>,
    message: Message,
    tags: Option<Vec<u8>>,
    related_information: Option<Vec<RelatedItem>>,
}

#[derive(Debug, Deserialize)]
struct CodeDescription {
    href: String,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Message {
    Text(String),
    Markup { value: String },
}

#[derive(Debug, Deserialize)]
struct RelatedItem {
    location: Location,
    message: String,
}

#[derive(Debug, Deserialize)]
struct Location {
    uri: String,
    range: Range,
}

impl Report {
    /// Whether the report says that the server does not look at the file, and no more.
    pub(super) fn leaves_out(&self, profile: &Profile) -> bool {
        matches!(self, Self::Full { items } if !items.is_empty() && items.iter().all(|it| it.leaves_out(profile)))
    }

    /// Whether the report contains a finding after which the rest of the server's analyses do not run.
    pub(super) fn aborts(&self, profile: &Profile) -> bool {
        const ERROR: u8 = 1;
        let aborts = |it: &Item| {
            let source = it.source.as_ref().is_some_and(|it| profile.analyzes_after.contains(it));
            source && it.severity.unwrap_or(ERROR) == ERROR
        };
        matches!(self, Self::Full { items } if items.iter().any(aborts))
    }
}

impl Item {
    /// Whether the item is only for an editor to fade some text, or to strike it through: nothing is wrong.
    fn is_shade(&self) -> bool {
        const HINT: u8 = 4;
        self.severity == Some(HINT) && self.tags.as_ref().is_some_and(|it| !it.is_empty())
    }

    /// Whether it says that the server does not look at the file, which is no finding.
    fn leaves_out(&self, profile: &Profile) -> bool {
        profile.left_out_by.iter().any(|part| self.text().contains(part))
    }

    fn text(&self) -> &str {
        match &self.message {
            Message::Text(text) | Message::Markup { value: text } => text,
        }
    }

    /// Creates an item of only these fields.
    pub(super) fn plain(range: Range, severity: u8, code: String, message: String) -> Self {
        Self {
            range,
            severity: Some(severity),
            code: Some(Value::String(code)),
            code_description: None,
            source: None,
            message: Message::Text(message),
            tags: None,
            related_information: None,
        }
    }
}

/// Document whose findings are converted, with what their positions need.
pub(super) struct DocumentContext<'a> {
    pub(super) path: &'a WorkspacePath,
    /// Text with its byte order mark, if it has one.
    pub(super) text: &'a str,
    pub(super) encoding: PositionEncoding,
    pub(super) uris: &'a Uris,
    pub(super) view: &'a dyn View,
    pub(super) profile: &'a Profile,
}

pub(super) fn diagnostics(items: Vec<Item>, context: &DocumentContext<'_>) -> Vec<Diagnostic> {
    let positions = Positions::new(context.text, context.encoding);
    let is_finding = |it: &Item| !it.is_shade() && !it.leaves_out(context.profile);
    let findings = items.into_iter().filter(is_finding);
    let mut all: Vec<_> = findings.map(|it| diagnostic(it, &positions, context)).collect();
    all.sort_by_key(|it| it.span);
    all
}

fn diagnostic(it: Item, positions: &Positions<'_>, context: &DocumentContext<'_>) -> Diagnostic {
    let code = code(it.code, it.source.as_deref(), it.code_description.as_ref(), context.profile);
    let related = it.related_information.unwrap_or_default();
    Diagnostic {
        code,
        name: None,
        message: match it.message {
            Message::Text(text) | Message::Markup { value: text } => text,
        },
        severity: severity(it.severity),
        cell: None,
        span: positions.span(it.range),
        tags: it.tags.unwrap_or_default().into_iter().filter_map(tag).collect(),
        url: it.code_description.map(|it| it.href),
        shared_name: None,
        fixes: Vec::new(),
        related: related.into_iter().filter_map(|it| context.related(it, positions)).collect(),
    }
}

/// The code; where there is none that says anything, the last part of the address of its description, or the source.
fn code(
    code: Option<Value>,
    source: Option<&str>,
    description: Option<&CodeDescription>,
    profile: &Profile,
) -> String {
    let said = match code {
        Some(Value::String(text)) => Some(text),
        Some(Value::Number(number)) => Some(number.to_string()),
        _ => None,
    };
    let vague = |it: &String| it.is_empty() || profile.vague_codes.contains(it);
    let source = source.filter(|it| !it.is_empty());
    match said {
        Some(code) if !vague(&code) => code,
        Some(code) => source.map_or(code, str::to_owned),
        None => {
            let described = description.and_then(|it| it.href.rsplit(['#', '/']).next());
            described.filter(|it| !it.is_empty()).or(source).unwrap_or_default().to_owned()
        }
    }
}

fn severity(number: Option<u8>) -> Severity {
    match number {
        Some(2) => Severity::Warning,
        Some(3) => Severity::Info,
        Some(4) => Severity::Hint,
        _ => Severity::Error,
    }
}

fn tag(number: u8) -> Option<Tag> {
    match number {
        1 => Some(Tag::Unnecessary),
        2 => Some(Tag::Deprecated),
        _ => None,
    }
}

impl DocumentContext<'_> {
    /// `None` for what lies outside of the workspace, or cannot be read.
    fn related(&self, it: RelatedItem, positions: &Positions<'_>) -> Option<Related> {
        let path = self.uris.path(&it.location.uri)?;
        if path == *self.path {
            return Some(Related {
                path: None,
                span: positions.span(it.location.range),
                message: it.message,
            });
        }
        let span = self.span_in(&path, it.location.range)?;
        Some(Related { path: Some(path), span, message: it.message })
    }

    fn span_in(&self, path: &WorkspacePath, range: Range) -> Option<Span> {
        let bytes = self.view.open(path).ok()?;
        let text = std::str::from_utf8(&bytes).ok()?;
        Some(Positions::new(text, self.encoding).span(range))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use overlay::Memory;
    use serde_json::json;

    use super::*;

    fn convert(text: &str, items: Value) -> Vec<Diagnostic> {
        let view = Memory::from_files([("b.py", "\u{feff}x = 1\n")]).unwrap();
        let path = WorkspacePath::new("a.py").unwrap();
        let uris = Uris::new(Path::new("/w"));
        let encoding = PositionEncoding::Utf16;
        let profile = Profile::named("gopls").unwrap();
        let context = DocumentContext { path: &path, text, encoding, uris: &uris, view: &view, profile };
        let report: Report = serde_json::from_value(json!({ "kind": "full", "items": items })).unwrap();
        let Report::Full { items } = report else { unreachable!() };
        diagnostics(items, &context)
    }

    fn range(line: u32, start: u32, end: u32) -> Value {
        json!({ "start": { "line": line, "character": start }, "end": { "line": line, "character": end } })
    }

    #[test]
    fn all_that_is_said() {
        let related = json!([
            { "location": { "uri": "file:///w/b.py", "range": range(0, 0, 1) }, "message": "there" },
            { "location": { "uri": "file:///w/a.py", "range": range(1, 0, 1) }, "message": "here" },
            { "location": { "uri": "file:///else/b.py", "range": range(0, 0, 1) }, "message": "outside" },
        ]);
        let item = json!({
            "range": range(0, 4, 5), "severity": 2, "code": 7, "codeDescription": { "href": "https://x" },
            "source": "s", "message": "m", "tags": [1, 2, 9], "relatedInformation": related,
        });
        let plain = json!({ "range": range(0, 0, 0), "message": { "kind": "markdown", "value": "v" } });
        let found = convert("\u{feff}'𐐀'x\ny\n", json!([item, plain]));
        let [first, second] = &found[..] else { panic!("{found:?}") };
        assert_eq!((&*first.code, &*first.message, first.severity), ("", "v", Severity::Error));
        assert_eq!(first.span, Span::new(3, 3));
        assert_eq!((&*second.code, second.severity, second.span), ("7", Severity::Warning, Span::new(9, 10)));
        assert_eq!(second.tags, [Tag::Unnecessary, Tag::Deprecated]);
        assert_eq!(second.url.as_deref(), Some("https://x"));
        let places: Vec<_> = second.related.iter().map(|it| (it.path.clone(), it.span)).collect();
        let b = WorkspacePath::new("b.py").ok();
        assert_eq!(places, [(b, Span::new(3, 4)), (None, Span::new(11, 12))]);
    }

    #[test]
    fn a_code_that_says_nothing_is_not_told() {
        let item = |more: Value| {
            let mut item = json!({ "range": range(0, 0, 0), "message": "m" });
            item.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            convert("x", json!([item]))[0].code.clone()
        };
        assert_eq!(item(json!({ "code": "default", "source": "modernize" })), "modernize");
        assert_eq!(item(json!({ "code": "UnusedVar", "source": "compiler" })), "UnusedVar");
        assert_eq!(item(json!({ "code": "default" })), "default");
        assert_eq!(item(json!({ "source": "Pyright" })), "Pyright");
        let described = json!({ "source": "Pyright", "codeDescription": { "href": "https://x/y#strict" } });
        assert_eq!(item(described), "strict");
    }
}
