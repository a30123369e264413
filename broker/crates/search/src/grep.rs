//! Lines that match a regular expression.

mod first;
mod scan;

use std::{
    io,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

use first::First;
use grep_regex::RegexMatcher;
use overlay::{View, WorkspacePath};
use parking_lot::Mutex;
use scan::Scanner;
use thiserror::Error;

use crate::{Cancelled, GlobError, Index, Options, globs::Globs, parallel, plan::Plan, trigram::Needs};

/// Bytes of a file; what is larger is counted and not searched.
const LARGEST: u64 = 64 << 20;

/// Request of a search for lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrepRequest {
    /// A regular expression in Rust's syntax, which matches within a line.
    pub query: String,
    /// Whether it may match several lines, with a `.` that matches line ends.
    pub multiline: bool,
    /// Globs as in an ignore file. Empty: all files.
    pub include: Vec<String>,
    pub exclude: Vec<String>,
    /// Name of a type of files, as ripgrep has them.
    pub file_type: Option<String>,
    pub case_sensitive: bool,
    /// Limit of matching lines that are shown.
    pub limit: usize,
    /// Lines that are shown before and after each of these.
    pub context: [usize; 2],
    /// Whether the lines beyond the limit are counted, for which all files that may match are read.
    pub count_rest: bool,
}

impl GrepRequest {
    /// A search of all files, with upper and lower case told apart, that shows 50 lines and counts the rest.
    pub fn new(query: &str) -> Self {
        Self {
            query: query.to_owned(),
            multiline: false,
            include: Vec::new(),
            exclude: Vec::new(),
            file_type: None,
            case_sensitive: true,
            limit: 50,
            context: [0, 0],
            count_rest: true,
        }
    }
}

impl GrepRequest {
    fn globs(&self) -> Result<Globs, GlobError> {
        Globs::new(&self.include, &self.exclude)?.of_type(self.file_type.as_deref())
    }
}

/// A line that matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Match {
    pub path: WorkspacePath,
    /// Number of the line, from 1.
    pub line: u64,
    /// Column of the first match in the line, from 1, in bytes.
    pub column: u64,
    /// The line without its end, or several that match together. What is not UTF-8 is replaced; of a long text, a part around
    /// the match.
    pub text: String,
    /// Lines right above, as many as are asked for and do not belong to another match.
    pub before: Vec<String>,
    /// Lines right below.
    pub after: Vec<String>,
}

/// A file with matching lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileMatches {
    pub path: WorkspacePath,
    /// Number of matching lines.
    pub lines: u64,
}

/// Files with matching lines that are listed.
const MAX_FILES: usize = 1000;

/// Completeness of the totals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counted {
    All,
    /// The search ended when it had enough to show: there are at least so many.
    AtLeast,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrepAnswer {
    /// The first matching lines, by path and line.
    pub matches: Vec<Match>,
    /// Matching lines.
    pub total_matches: u64,
    pub files_with_matches: u64,
    /// The first of them, by path.
    pub files: Vec<FileMatches>,
    pub counted: Counted,
    /// Whether there are more matching lines than are shown.
    pub truncated: bool,
    /// Files that were read.
    pub scanned: u64,
    /// Files that were not read, since the index says that they do not match.
    pub from_index: u64,
    /// Files that could not be read, or are too large to be searched.
    pub unsearched: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum GrepError {
    #[error("`{query}` is no regular expression: {reason}")]
    Query { query: String, reason: String },
    #[error(transparent)]
    Glob(#[from] GlobError),
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

/// The lines of a view that match. The index says which files cannot match; the answer is the same without it.
pub fn grep(
    view: &dyn View,
    index: Option<&Index>,
    request: &GrepRequest,
    options: &Options<'_>,
) -> Result<GrepAnswer, GrepError> {
    let globs = request.globs()?;
    let matcher = scan::matcher(request)?;
    let plan = match index {
        // The index knows what a line needs.
        Some(index) if !request.multiline => {
            index.plan(view, &Needs::of(&request.query, request.case_sensitive), options)?
        }
        _ => Plan::everything(view, options)?,
    };
    Ok(Search { view, globs, matcher, request, options }.run(&plan)?)
}

/// Number of the files that a request is about, whether they match or not.
pub fn count_files(
    view: &dyn View,
    request: &GrepRequest,
    options: &Options<'_>,
) -> Result<usize, GrepError> {
    let globs = request.globs()?;
    Ok(Plan::everything(view, options)?.files.iter().filter(|it| globs.want(it)).count())
}

struct Search<'a> {
    view: &'a dyn View,
    globs: Globs,
    matcher: RegexMatcher,
    request: &'a GrepRequest,
    options: &'a Options<'a>,
}

/// Counts of one search, by all its threads.
#[derive(Default)]
struct Counts {
    matches: AtomicU64,
    /// Numbers of the files with matching lines, and how many lines.
    files: Mutex<Vec<(usize, u64)>>,
    scanned: AtomicU64,
    unsearched: AtomicU64,
    /// Files that were passed over since there was enough to show.
    passed_over: AtomicU64,
}

impl Search<'_> {
    fn run(&self, plan: &Plan) -> Result<GrepAnswer, Cancelled> {
        let files = &plan.files;
        let first = First::new(self.request.limit);
        let counts = Counts::default();
        let scan = |scanner: &mut Scanner, index: usize, path: &WorkspacePath| {
            self.scan(scanner, index, path, &first, &counts);
        };
        parallel::for_each(files, self.options, || Scanner::new(&self.matcher, self.request), scan)?;
        let line = |(index, it): (usize, scan::Line)| {
            let path = files[index].clone();
            let scan::Line { number: line, column, text, before, after } = it;
            Match { path, line, column, text, before, after }
        };
        let matches: Vec<_> = first.into_lines().map(line).collect();
        let total_matches = counts.matches.into_inner();
        let mut by_file = counts.files.into_inner();
        by_file.sort_unstable();
        let listed = by_file.iter().take(MAX_FILES);
        let is_partial = counts.passed_over.into_inner() > 0;
        Ok(GrepAnswer {
            truncated: is_partial || total_matches > matches.len() as u64,
            matches,
            total_matches,
            files_with_matches: by_file.len() as u64,
            files: listed
                .map(|(at, lines)| FileMatches { path: files[*at].clone(), lines: *lines })
                .collect(),
            counted: if is_partial { Counted::AtLeast } else { Counted::All },
            scanned: counts.scanned.into_inner(),
            from_index: plan.ruled_out as u64,
            unsearched: counts.unsearched.into_inner(),
        })
    }

    fn scan(
        &self,
        scanner: &mut Scanner,
        index: usize,
        path: &WorkspacePath,
        first: &First,
        counts: &Counts,
    ) {
        if !self.globs.want(path) {
            return;
        }
        let is_shown = first.wants(index);
        if !is_shown && !self.request.count_rest {
            counts.passed_over.fetch_add(1, Relaxed);
            return;
        }
        if self.view.metadata(path).is_ok_and(|it| it.size > LARGEST) {
            counts.unsearched.fetch_add(1, Relaxed);
            return;
        }
        let bytes = match self.view.read(path) {
            Ok(bytes) => bytes,
            // A link, which ripgrep does not follow either, or a file that is gone since it was listed.
            Err(error) if matches!(error.kind(), io::ErrorKind::NotADirectory | io::ErrorKind::NotFound) => {
                return;
            }
            Err(_) => {
                counts.unsearched.fetch_add(1, Relaxed);
                return;
            }
        };
        counts.scanned.fetch_add(1, Relaxed);
        let mut lines = Vec::new();
        let found = scanner.scan(&bytes, if is_shown { self.request.limit } else { 0 }, &mut lines);
        if found > 0 {
            counts.files.lock().push((index, found));
            counts.matches.fetch_add(found, Relaxed);
            first.add(index, lines);
        }
    }
}

#[cfg(test)]
mod tests;
