//! Questions as clients ask them: flat, of one shape for all kinds.

use std::time::Duration;

use language_servers::{ActionChoice, At, Goto, Hierarchy, Part, Question, Style};
use lint::LineColumn;
use overlay::WorkspacePath;
use scheduler::Class;

use super::{DaemonError, TargetId, fields};

/// Bytes of a name, a title or the parameters of a method.
const MAX_TEXT: usize = 1 << 20;

/// A question about a file of the base or a branch.
#[derive(Debug, Clone)]
pub struct QueryRequest {
    pub target: TargetId,
    pub kind: QueryKind,
    /// Any file of the project, for a question that is about none.
    pub path: String,
    pub position: Option<LineColumn>,
    /// The end of a part that begins at `position`.
    pub end: Option<LineColumn>,
    /// A new name, a label, a title, or what symbols are called.
    pub text: String,
    /// Kinds of code actions; all if there are none.
    pub only: Vec<String>,
    /// Ask just this server.
    pub server: Option<String>,
    /// Whether the changes of the answer are applied to the branch, if they are complete.
    pub apply: bool,
    /// An interactive one overtakes all others that wait for the server.
    pub class: Class,
    pub deadline: Option<Duration>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueryKind {
    Definition,
    Declaration,
    TypeDefinition,
    Implementation,
    References,
    Highlights,
    Hover,
    Completions,
    Completion,
    Signatures,
    Symbols,
    WorkspaceSymbols,
    PrepareRename,
    Rename,
    CodeActions,
    CodeAction,
    Format,
    CallHierarchy,
    IncomingCalls,
    OutgoingCalls,
    TypeHierarchy,
    Supertypes,
    Subtypes,
    SemanticTokens,
    InlayHints,
    FoldingRanges,
}

impl QueryRequest {
    pub fn of(target: TargetId, kind: QueryKind, path: impl Into<String>) -> Self {
        Self {
            target,
            kind,
            path: path.into(),
            position: None,
            end: None,
            text: String::new(),
            only: Vec::new(),
            server: None,
            apply: false,
            class: Class::Interactive,
            deadline: None,
        }
    }

    pub(super) fn checked_path(&self) -> Result<WorkspacePath, DaemonError> {
        expect_short("text", &self.text)?;
        fields::path("path", &self.path)
    }

    /// The question, every field checked that it has.
    pub(super) fn question(&self, path: &WorkspacePath) -> Result<Question, DaemonError> {
        let path = path.clone();
        let at = || position("position", self.position);
        let text = || self.text.clone();
        let goto = |to| Ok(Question::Goto { to, path: path.clone(), at: at()? });
        let hierarchy = |step| Ok(Question::Hierarchy { step, path: path.clone(), at: at()? });
        let only = || self.only.clone();
        Ok(match self.kind {
            QueryKind::Definition => return goto(Goto::Definition),
            QueryKind::Declaration => return goto(Goto::Declaration),
            QueryKind::TypeDefinition => return goto(Goto::TypeDefinition),
            QueryKind::Implementation => return goto(Goto::Implementation),
            QueryKind::References => Question::References { at: at()?, path, with_declaration: true },
            QueryKind::Highlights => Question::Highlights { at: at()?, path },
            QueryKind::Hover => Question::Hover { at: at()?, path },
            QueryKind::Completions => Question::Completions { at: at()?, path },
            QueryKind::Completion => Question::Completion { at: at()?, path, label: text() },
            QueryKind::Signatures => Question::Signatures { at: at()?, path },
            QueryKind::Symbols => Question::Symbols { path },
            QueryKind::WorkspaceSymbols => Question::FindSymbols { query: text(), near: Some(path) },
            QueryKind::PrepareRename => Question::PrepareRename { at: at()?, path },
            QueryKind::Rename if self.text.trim().is_empty() || self.text.contains(char::is_control) => {
                return Err(DaemonError::invalid("text", "it must be the new name"));
            }
            QueryKind::Rename => Question::Rename { at: at()?, path, new_name: text() },
            QueryKind::CodeActions => Question::Actions { part: self.part()?, path, only: only() },
            QueryKind::CodeAction => {
                let chosen = ActionChoice { title: text(), kind: None };
                Question::Action { part: self.part()?, path, only: only(), chosen }
            }
            QueryKind::Format => {
                Question::Format { part: self.part_if_any()?, path, style: Style::default() }
            }
            QueryKind::CallHierarchy => return hierarchy(Hierarchy::Calls),
            QueryKind::IncomingCalls => return hierarchy(Hierarchy::IncomingCalls),
            QueryKind::OutgoingCalls => return hierarchy(Hierarchy::OutgoingCalls),
            QueryKind::TypeHierarchy => return hierarchy(Hierarchy::Types),
            QueryKind::Supertypes => return hierarchy(Hierarchy::Supertypes),
            QueryKind::Subtypes => return hierarchy(Hierarchy::Subtypes),
            QueryKind::SemanticTokens => Question::Tokens { part: self.part_if_any()?, path },
            QueryKind::InlayHints => Question::Hints { part: self.part_if_any()?, path },
            QueryKind::FoldingRanges => Question::Folds { path },
        })
    }

    /// Positions that must be in the file, each by its field.
    pub(super) fn places(&self) -> Vec<(&'static str, LineColumn)> {
        let named = [("position", self.position), ("end", self.end)];
        named.into_iter().filter_map(|(field, at)| Some((field, at?))).collect()
    }

    /// From `position` to `end`, which is the same place if it is left out.
    fn part(&self) -> Result<Part, DaemonError> {
        let start = position("position", self.position)?;
        let end = self.end.map_or(Ok(start), |it| position("end", Some(it)))?;
        Ok(start..end)
    }

    /// The whole file if no part is named.
    fn part_if_any(&self) -> Result<Option<Part>, DaemonError> {
        if self.position.is_none() && self.end.is_none() {
            return Ok(None);
        }
        self.part().map(Some)
    }
}

pub(super) fn expect_short(field: &'static str, text: &str) -> Result<(), DaemonError> {
    DaemonError::expect_at_most(MAX_TEXT, text.len(), field)
}

fn position(field: &'static str, at: Option<LineColumn>) -> Result<At, DaemonError> {
    let at = at.ok_or_else(|| DaemonError::invalid(field, "it is missing"))?;
    if at.line == 0 || at.column == 0 {
        return Err(DaemonError::invalid(field, "lines and columns count from 1"));
    }
    Ok(At::LineColumn(at))
}
