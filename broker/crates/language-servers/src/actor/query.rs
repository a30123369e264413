//! Questions of all other kinds: the server is brought into the view's state as for findings, and only what
//! it was asked after that is an answer.

use std::{
    str,
    sync::{Arc, mpsc::channel},
    time::Instant,
};

use bytes::Bytes;
use lint::{Cancel, Completeness};
use lsp_client::RequestError;
use overlay::{ContentHash, View, WalkOptions, WorkspacePath, walk};

use super::{Actor, Priority, Request, SLACK, Server, Task, process::AskError, target::TargetState};
use crate::{
    NoAnswer, QueryAnswer, Question, ServerReply,
    profile::{Searches, Symbols},
    query::{At, documents, offset_of},
};

/// Maximum number of files that are opened for a server that searches only open files for a name.
const OPENED: usize = 64;

impl Server {
    /// Asks this of the view. Documents that the question names are opened; nothing is changed, neither in
    /// the view nor on the disk. After the deadline the answer is pending.
    pub fn query(
        &self,
        view: Arc<dyn View>,
        question: Question,
        priority: Priority,
        deadline: Instant,
        cancel: &Cancel,
    ) -> ServerReply {
        if cancel.is_cancelled() {
            return ServerReply::without(NoAnswer::Pending(RequestError::Cancelled.to_string()));
        }
        let _line = self.status.in_line();
        let (reply, receiver) = channel();
        let given_up = self.put(view, Task::Query { question, priority, reply }, deadline, cancel);
        let replied = self.receive(&receiver, deadline + SLACK, cancel);
        given_up.cancel();
        replied.unwrap_or_else(|| ServerReply::without(self.why_not().into()))
    }
}

/// The documents that are opened for a question, its own ones first.
struct Named {
    documents: Vec<WorkspacePath>,
    /// Reason for which these may not be all that matter.
    partial: Option<String>,
}

impl Actor {
    pub(super) fn reply(&mut self, request: &Request, question: &Question) -> ServerReply {
        let profile = &Arc::clone(&self.setup).profile;
        let (name, document) = (&profile.tool.name, question.path());
        if let Some(path) = document.filter(|it| !profile.covers(it)) {
            return ServerReply::without(NoAnswer::Unsupported(format!(
                "{name} knows nothing of files like `{path}`"
            )));
        }
        let named = self.named(&*request.view, question);
        let target = self.target(request, &named.documents);
        let key = target.key(&named.documents);
        let key = ContentHash::of(format!("{key:?} {question:?}").as_bytes());
        let answer = self.attempt(request, key, |it| {
            let target = it.with_the_turn_s(request, &named.documents, target.clone());
            it.find(request, question, &target, &named)
        });
        ServerReply { content: document.and_then(|it| target.documents.get(it).copied()), answer }
    }

    fn find(
        &mut self,
        request: &Request,
        question: &Question,
        target: &TargetState,
        named: &Named,
    ) -> Result<QueryAnswer, NoAnswer> {
        let Request { view, deadline, cancel, .. } = request;
        let profile = &Arc::clone(&self.setup).profile;
        let unreadable = self.process.switch(target, &**view)?;
        if let Some(path) = question.path() {
            if let Some(reason) = unreadable.get(path) {
                return Err(NoAnswer::Failed(reason.clone()));
            }
            if !self.process.is_open(path) || target.gone.contains(path) {
                return Err(NoAnswer::Failed("there is no such file".to_owned()));
            }
        }
        let (result, settled) = self.process.put(question, &named.documents, view, *deadline, cancel)?;
        let others = unreadable.first_key_value().map(|(path, why)| format!("`{path}`: {why}"));
        let root = WorkspacePath::root();
        let unseen = || target.unseen_by(profile, question.path().unwrap_or(&root));
        let partial = settled.reason().or_else(|| named.partial.clone()).or(others).or_else(unseen);
        Ok(QueryAnswer { result: result?, partial })
    }

    fn named(&self, view: &dyn View, question: &Question) -> Named {
        let mut named = Named { documents: question.path().cloned().into_iter().collect(), partial: None };
        if let Question::Raw { params, .. } = question {
            named.documents.extend(documents(params, &self.uris));
        }
        if let (Searches::OpenFiles, Some((path, at))) = (self.setup.profile.searches, question.searched())
            && let Some(word) = view.open(path).ok().and_then(|it| word_at(&it, at))
        {
            self.open_those_with(view, &word, contains_word, &mut named);
        }
        if let Question::FindSymbols { query, .. } = question {
            self.open_for_symbols(view, query, &mut named);
        }
        named
    }

    /// Opens documents for a server that does not find the symbols of all files by itself.
    fn open_for_symbols(&self, view: &dyn View, query: &str, named: &mut Named) {
        let profile = &self.setup.profile;
        match profile.symbols {
            Symbols::Workspace => {}
            Symbols::Loaded if !named.documents.is_empty() => {}
            Symbols::Loaded => {
                let mut all = walk(view, &[WorkspacePath::root()], &WalkOptions::default());
                named.documents.extend(all.find(|it| profile.covers(it)));
            }
            Symbols::OpenFiles => {
                self.open_those_with(view, query, contains, named);
                let reason = || {
                    format!(
                        "{} finds symbols only in files that have all of `{query}` in them",
                        profile.tool.name
                    )
                };
                named.partial.get_or_insert_with(reason);
            }
        }
    }

    /// A name is used only in files that have it.
    fn open_those_with(
        &self,
        view: &dyn View,
        word: &str,
        contains: fn(&Bytes, &str) -> bool,
        named: &mut Named,
    ) {
        let profile = &self.setup.profile;
        let open: Vec<_> = named.documents.clone();
        let all = walk(view, &[WorkspacePath::root()], &WalkOptions::default());
        let has_it = |it: &WorkspacePath| view.open(it).is_ok_and(|it| contains(&it, word));
        let mut others = all.filter(|it| !open.contains(it) && profile.covers(it) && has_it(it));
        named.documents.extend(others.by_ref().take(OPENED));
        if others.next().is_some() {
            let name = &profile.tool.name;
            let reason =
                format!("more than {OPENED} files have `{word}`, and {name} looks only into open ones");
            named.partial = Some(reason);
        }
    }
}

fn word_at(bytes: &Bytes, at: At) -> Option<String> {
    let text = str::from_utf8(bytes).ok()?;
    let (before, after) = text.split_at(offset_of(text, at)? as usize);
    let start = before
        .rfind(|it| !is_of_word(it))
        .map_or(0, |it| it + before[it..].chars().next().map_or(0, char::len_utf8));
    let end = after.find(|it| !is_of_word(it)).unwrap_or(after.len());
    let word = format!("{}{}", &before[start..], &after[..end]);
    (!word.is_empty()).then_some(word)
}

fn contains_word(bytes: &Bytes, word: &str) -> bool {
    let Ok(text) = str::from_utf8(bytes) else { return false };
    text.match_indices(word)
        .any(|(at, it)| !text[..at].ends_with(is_of_word) && !text[at + it.len()..].starts_with(is_of_word))
}

/// Whatever its case, as symbols are searched.
fn contains(bytes: &Bytes, part: &str) -> bool {
    str::from_utf8(bytes).is_ok_and(|it| it.to_lowercase().contains(&part.to_lowercase()))
}

fn is_of_word(it: char) -> bool {
    it.is_alphanumeric() || it == '_' || it == '$'
}

impl From<AskError> for NoAnswer {
    fn from(it: AskError) -> Self {
        it.completeness().into()
    }
}

impl From<Completeness> for NoAnswer {
    fn from(it: Completeness) -> Self {
        match it {
            Completeness::Pending(reason) => Self::Pending(reason),
            Completeness::Failed(reason) => Self::Failed(reason),
            other => Self::Failed(format!("{other:?}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_from_within_and_at_their_ends() {
        let text = Bytes::from_static("é = fo_o(1)".as_bytes());
        let word = |at| word_at(&text, At::Offset(at));
        for at in 5..=9 {
            assert_eq!(word(at).as_deref(), Some("fo_o"), "{at}");
        }
        assert_eq!((word(0).as_deref(), word(4)), (Some("é"), None));
        let has = |word| contains_word(&text, word);
        assert!(has("fo_o") && has("é") && !has("fo") && !has("o"));
    }
}
