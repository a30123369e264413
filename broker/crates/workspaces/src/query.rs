//! Questions to language servers: which server answers, and an answer's edits as an edit of the branch.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use config::{Configs, SetupFailure};
use language_servers::{Answer, Edits, LanguageServer, NoAnswer, Profile, Question, Reply};
use lint::{Cancel, LineColumn, LineTable, SetupError};
use linters::servers::{self, Site};
use overlay::{Revision, View, WorkspacePath};

use super::{Daemon, DaemonError, Target};

/// A question about the base or a branch.
pub struct Query {
    pub target: Target,
    /// Any file of the project, for a question that is about none.
    pub path: WorkspacePath,
    pub question: Question,
    /// What of the request must be a place in the file: each by its field.
    pub places: Vec<(&'static str, LineColumn)>,
    /// Ask just this server.
    pub server: Option<String>,
    pub deadline: Option<Duration>,
}

pub struct Replied {
    pub server: String,
    pub revision: Revision,
    pub reply: Reply,
}

/// The longest that is waited for an answer.
const TIMEOUT: Duration = Duration::from_secs(60);

impl Daemon {
    /// Asks the servers for this file, one after the other, until one of them has such answers. Given up when
    /// this future is dropped.
    pub async fn query(self: &Arc<Self>, query: Query) -> Result<Replied, DaemonError> {
        let sight = query.target.sight(None).await?;
        let cancel = Cancel::default();
        let _given_up = CancelOnDrop(cancel.clone());
        let (daemon, revision) = (Arc::clone(self), sight.revision);
        let asked =
            tokio::task::spawn_blocking(move || daemon.ask_servers(&query, &sight.view, &cancel)).await;
        let broken = |error| Err(DaemonError::Bug(format!("a question broke off: {error}")));
        asked.unwrap_or_else(broken).map(|(server, reply)| Replied { server, revision, reply })
    }

    fn ask_servers(
        &self,
        query: &Query,
        view: &Arc<dyn View>,
        cancel: &Cancel,
    ) -> Result<(String, Reply), DaemonError> {
        let deadline = Instant::now() + query.deadline.unwrap_or(TIMEOUT).min(TIMEOUT);
        query.expect_file(&**view)?;
        let servers = self.servers_of(query)?;
        let (mut last, mut missing) = (None, None);
        for (profile, server) in servers {
            let server = match server {
                Ok(server) => server,
                Err(error) => {
                    missing.get_or_insert(error);
                    continue;
                }
            };
            let reply = server.query(view, query.question.clone(), deadline, cancel);
            match reply.found {
                Err(NoAnswer::Unsupported(_)) => last = Some((profile.name, reply)),
                Ok(_) | Err(_) => return Ok((profile.name, reply)),
            }
        }
        // Who is not there might have known.
        if let Some(error) = missing {
            let hint = error.hint.unwrap_or_default();
            let server = Some(error.linter);
            return Err(DaemonError::NoServer { server, message: error.message, hint });
        }
        last.ok_or_else(|| DaemonError::NoServer {
            server: None,
            message: format!("no language server is there for `{}`", query.path),
            hint: "`broker doctor` tells which there could be".to_owned(),
        })
    }

    /// The servers that may know something of the file: those for types first.
    fn servers_of(&self, query: &Query) -> Result<Vec<(Profile, Found)>, DaemonError> {
        let served = query.target.served();
        if !self.servers.are_trusted_in(served.root()) {
            return Err(DaemonError::NoServer {
                server: None,
                message: format!(
                    "language servers do not run in {}, which is not trusted",
                    served.root().display()
                ),
                hint: "`broker trust` says that they may".to_owned(),
            });
        }
        let disk = served.base.without_buffers();
        let environment = served.environment_of_servers();
        let site = Site { root: served.root(), disk: &disk, environment: &environment };
        let mut profiles = profiles(&site, query.server.as_deref())?;
        profiles.retain(|it| query.server.is_some() || it.covers(&query.path));
        profiles.sort_by_key(|it| it.checks != language_servers::Checks::Types);
        let found = |it: Profile| (self.servers.server(&site, &it), it);
        Ok(profiles.into_iter().map(found).map(|(found, profile)| (profile, found)).collect())
    }
}

impl Query {
    /// What a server says of a file that is not there, or of a place beyond the text, helps nobody.
    fn expect_file(&self, view: &dyn View) -> Result<(), DaemonError> {
        let Some(path) = self.question.path() else { return Ok(()) };
        let text = view.open(path).map_err(|error| DaemonError::file(path, error))?;
        let lines = LineTable::new(&text);
        for (field, at) in &self.places {
            let nowhere = nowhere(&lines, *at).map(|why| format!("`{path}` {why}"));
            nowhere.map_or(Ok(()), |why| Err(DaemonError::invalid(field, why)))?;
        }
        Ok(())
    }
}

/// Why there is no such place in the text.
fn nowhere(lines: &LineTable<'_>, at: LineColumn) -> Option<String> {
    let LineColumn { line, column } = at;
    let end_of = |line| lines.line_span(line).map(|it| lines.scalar(it.end).column);
    match end_of(line) {
        Some(end) if column <= end => None,
        Some(end) => Some(format!("has no column {column} in line {line}, which ends at column {end}")),
        None => {
            let last = lines.line_count();
            Some(format!("has no line {line}; it ends at {last}:{}", end_of(last).unwrap_or(1)))
        }
    }
}

/// A server, or why it is not there.
type Found = Result<LanguageServer, SetupError>;

/// Those that the workspace is checked by, or the one that is named.
fn profiles(site: &Site<'_>, named: Option<&str>) -> Result<Vec<Profile>, DaemonError> {
    let settings = Configs::new(&**site.disk).workspace().map_err(SetupFailure::from)?.servers();
    let known = servers::known(&settings)?;
    let Some(named) = named else {
        let wanted = servers::wanted(&known, site, &settings)?;
        return Ok(wanted.into_iter().map(|it| it.profile.clone()).collect());
    };
    let found = known.into_iter().find(|it| it.name == named);
    found.map(|it| vec![it]).ok_or_else(|| DaemonError::NotFound { what: "server", id: named.to_owned() })
}

/// What an answer would change; none for one that changes nothing.
pub fn edits(answer: &Answer) -> Option<&Edits> {
    match answer {
        Answer::Edits(edits) => Some(edits),
        _ => None,
    }
}

struct CancelOnDrop(Cancel);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_beyond_the_text_are_told() {
        let lines = LineTable::new("é = 1\n".as_bytes());
        let of = |line, column| nowhere(&lines, LineColumn { line, column });
        assert_eq!([of(1, 1), of(1, 6), of(2, 1)], [None, None, None]);
        assert_eq!(of(1, 7).as_deref(), Some("has no column 7 in line 1, which ends at column 6"));
        assert_eq!(of(3, 1).as_deref(), Some("has no line 3; it ends at 2:1"));
    }
}
