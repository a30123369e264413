//! Navigation: where a name is defined and used.

use lsp_client::Range;
use serde::Deserialize;
use serde_json::json;

use super::{At, Location, NoAnswer, TextRange, asker::Asker, location::text_range, wire::LspLocation};

/// Target of a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// The name there.
    pub target: Location,
    /// Range of the whole definition: a function with its body. As far as the server returns it.
    pub whole: Option<TextRange>,
    /// Range of the name that was asked about, if the server returns it.
    pub origin: Option<TextRange>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Highlight {
    pub range: TextRange,
    pub access: Access,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Any kind, or none given.
    Any,
    Read,
    Write,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Targets {
    One(LspLocation),
    Many(Vec<Target>),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Target {
    #[serde(rename_all = "camelCase")]
    Link {
        origin_selection_range: Option<Range>,
        target_uri: String,
        target_range: Range,
        target_selection_range: Range,
    },
    Location(LspLocation),
}

#[derive(Deserialize)]
struct Mark {
    range: Range,
    kind: Option<u8>,
}

pub(super) fn goto(asker: &Asker<'_>, method: &str, at: At) -> Result<Vec<Link>, NoAnswer> {
    let targets = match asker.request::<Option<Targets>>(method, &asker.at(at)?)? {
        None => Vec::new(),
        Some(Targets::One(it)) => vec![Target::Location(it)],
        Some(Targets::Many(all)) => all,
    };
    let own = asker.positions()?;
    let texts = asker.texts();
    let link = |it| match it {
        Target::Location(it) => {
            Some(Link { target: texts.location(it.uri, Some(it.range))?, whole: None, origin: None })
        }
        Target::Link { origin_selection_range, target_uri, target_range, target_selection_range } => {
            let both = [target_selection_range, target_range].map(|it| (target_uri.clone(), Some(it)));
            let mut locations = texts.locations(both).into_iter();
            let (target, whole) = (locations.next()?, locations.next()?.range);
            Some(Link { target, whole, origin: origin_selection_range.map(|it| text_range(&own, it)) })
        }
    };
    Ok(targets.into_iter().filter_map(link).collect())
}

pub(super) fn references(
    asker: &Asker<'_>,
    at: At,
    with_declaration: bool,
) -> Result<Vec<Location>, NoAnswer> {
    let mut params = asker.at(at)?;
    params["context"] = json!({ "includeDeclaration": with_declaration });
    let found: Option<Vec<LspLocation>> = asker.request("textDocument/references", &params)?;
    Ok(asker.texts().locations(found.unwrap_or_default().into_iter().map(Into::into)))
}

pub(super) fn highlights(asker: &Asker<'_>, at: At) -> Result<Vec<Highlight>, NoAnswer> {
    let found: Option<Vec<Mark>> = asker.request("textDocument/documentHighlight", &asker.at(at)?)?;
    let positions = asker.positions()?;
    let highlight = |it: Mark| Highlight {
        range: text_range(&positions, it.range),
        access: match it.kind {
            Some(2) => Access::Read,
            Some(3) => Access::Write,
            _ => Access::Any,
        },
    };
    Ok(found.unwrap_or_default().into_iter().map(highlight).collect())
}
