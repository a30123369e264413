//! Answers of language servers, with the text of each place.

use std::collections::HashMap;

use language_servers::{EditStep, Edits, File, Location, QueryResult, Symbol};
use overlay::{View, WorkspacePath};
use schemars::JsonSchema;
use serde::Serialize;
use workspaces::QueryReply;

use super::symbol::Place;
use crate::{
    context::CallView,
    limits::{self, count},
    reply::Answer,
};

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Answered {
    branch: Option<String>,
    revision: u64,
    server: String,
    /// `file:line:column`, with what stands there as far as it is known.
    places: Vec<String>,
    left_out: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// Whether the branch was edited.
    applied: bool,
    /// Why there may be more to say.
    #[serde(skip_serializing_if = "Option::is_none")]
    partial: Option<String>,
}

/// Lines of the files that an answer is about.
struct Lines<'a> {
    view: &'a dyn View,
    known: HashMap<WorkspacePath, Option<String>>,
}

/// Characters of a line that are shown.
const LINE: usize = 160;

/// Lines of one file that a rename lists.
const LISTED: usize = 20;

impl Lines<'_> {
    fn text(&mut self, path: &WorkspacePath) -> Option<&str> {
        let view = self.view;
        let read = || String::from_utf8(view.read(path).ok()?.to_vec()).ok();
        self.known.entry(path.clone()).or_insert_with(read).as_deref()
    }

    /// `file:line:column text`
    fn place(&mut self, location: &Location) -> String {
        let place = place(location);
        let (File::Workspace(path), Some(range)) = (&location.file, &location.range) else { return place };
        let line = self.text(path).and_then(|it| it.lines().nth(range.start.line.saturating_sub(1) as usize));
        let line: String = line.unwrap_or_default().trim().chars().take(LINE).collect();
        format!("{place} {line}").trim_end().to_owned()
    }

    fn edited(&mut self, edits: &Edits) -> Vec<String> {
        let mut steps: Vec<_> = edits.steps.iter().map(|it| self.step(it)).collect();
        steps.extend(edits.notes.iter().cloned());
        steps
    }

    fn step(&mut self, it: &EditStep) -> String {
        match it {
            EditStep::Text { path, edits, .. } => {
                let text = self.text(path).unwrap_or_default();
                let line = |it: &overlay::TextEdit| {
                    text.get(..it.start as usize).map(|it| it.matches('\n').count() + 1)
                };
                let lines: Vec<_> =
                    edits.iter().filter_map(line).take(LISTED).map(|it| it.to_string()).collect();
                let more = if edits.len() > LISTED { ", …" } else { "" };
                let places = count(edits.len(), "place", "places");
                format!("{path}: {places}, at lines {}{more}", lines.join(", "))
            }
            EditStep::Create { path, .. } => format!("creates {path}"),
            EditStep::Rename { from, to, .. } => format!("moves {from} to {to}"),
            EditStep::Remove { path, .. } => format!("deletes {path}"),
        }
    }

    /// Places, and what is said besides.
    fn told(&mut self, result: &QueryResult) -> (Vec<String>, Option<String>) {
        match result {
            QueryResult::Links(links) => (links.iter().map(|it| self.place(&it.target)).collect(), None),
            QueryResult::References(places) => (places.iter().map(|it| self.place(it)).collect(), None),
            QueryResult::Hover(hover) => (Vec::new(), hover.as_ref().map(|it| it.text.text.clone())),
            QueryResult::Symbols(symbols) => {
                let mut places = Vec::new();
                symbols.iter().for_each(|it| symbol(it, 0, &mut places));
                (places, None)
            }
            QueryResult::FoundSymbols(found) => {
                (found.iter().map(|it| format!("{} {}", place(&it.location), it.name)).collect(), None)
            }
            QueryResult::Hierarchy(linked) => {
                let line = |it: &language_servers::Linked| {
                    // A call says more than the definition that it is in.
                    let calls: Vec<_> = it.calls.iter().map(|it| format!("\n  {}", self.place(it))).collect();
                    format!("{} {}{}", place(&it.item.location), it.item.name, calls.concat())
                };
                (linked.iter().map(line).collect(), None)
            }
            QueryResult::Edits(edits) => (self.edited(edits), None),
            _ => (Vec::new(), None),
        }
    }
}

impl Answered {
    pub(super) fn of(seen: &CallView, reply: QueryReply) -> Self {
        let mut lines = Lines { view: &*seen.view, known: HashMap::new() };
        let (mut places, text) = lines.told(&reply.result);
        let left_out = places.len().saturating_sub(limits::PLACES);
        places.truncate(limits::PLACES);
        Self {
            branch: seen.branch.clone(),
            revision: reply.applied.unwrap_or(reply.revision).0,
            server: reply.server,
            places,
            left_out,
            text,
            applied: reply.applied.is_some(),
            partial: reply.partial,
        }
    }

    /// The answer by the table of definitions, without a server.
    pub(super) fn of_definition(seen: &CallView, at: &Place) -> Self {
        let mut lines = Lines { view: &*seen.view, known: HashMap::new() };
        let text = at.at.and_then(|it| lines.text(&at.path)?.lines().nth(it.line.saturating_sub(1) as usize));
        let text = text.unwrap_or_default().trim();
        let place = at.at.map(|it| format!("{}:{}:{} {text}", at.path, it.line, it.column));
        Self {
            branch: seen.branch.clone(),
            revision: seen.revision.0,
            server: "syntax".to_owned(),
            places: place.into_iter().collect(),
            left_out: 0,
            text: None,
            applied: false,
            partial: Some("no language server was asked".to_owned()),
        }
    }
}

fn symbol(it: &Symbol, depth: usize, places: &mut Vec<String>) {
    let indent = "  ".repeat(depth);
    places.push(format!("{indent}{} {}", it.name_range.start.line, it.name));
    it.children.iter().for_each(|it| symbol(it, depth + 1, places));
}

fn place(location: &Location) -> String {
    let file = match &location.file {
        File::Workspace(path) => path.to_string(),
        File::Outside(path) => path.display().to_string(),
        File::Other(uri) => uri.clone(),
    };
    match &location.range {
        Some(range) => format!("{file}:{}:{}", range.start.line, range.start.column),
        None => file,
    }
}

impl Answer for Answered {
    fn text(&self) -> String {
        let mut text = match (&self.text, self.places.as_slice(), self.applied) {
            (Some(text), ..) => text.clone(),
            (None, [], _) => format!("{} has nothing to say of it", self.server),
            (None, places, true) => format!("edited, revision {}\n{}", self.revision, places.join("\n")),
            (None, places, false) => places.join("\n"),
        };
        if self.left_out > 0 {
            text.push_str(&format!("\n… {} more", self.left_out));
        }
        if let Some(partial) = &self.partial {
            text.push_str(&format!("\nthere may be more: {partial}"));
        }
        text
    }
}
