//! Options of a check that most clients leave as they are.

use std::{path::PathBuf, sync::Arc, time::Duration};

use bytes::Bytes;
use check_engine::{Due, OnAnswer, Timings, baseline::Baseline};
use config::{Glob, folders};
use overlay::{Branch, View, WalkOptions, WorkspacePath};

use super::{DaemonError, fields, task::blocking};

/// The longest that one linter may take for one file, if nothing else is said.
const TIMEOUT: Duration = Duration::from_secs(30);

const MAX_TEXTS: usize = 1000;
const MAX_PLUGINS: usize = 100;
const MAX_PATTERNS: usize = 10_000;

/// Options of a check; the default is what the workspace's configuration says.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct CheckOptions {
    /// Texts in place of those of the target, for this check alone.
    pub texts: Vec<FileText>,
    /// Whether configuration files do not count.
    pub isolated: bool,
    /// The only configuration file that counts, in the format of a linter. One of `texts`, or a file of the target.
    pub config: Option<String>,
    /// Absolute paths of plugins, each in place of a plugin of the same name.
    pub plugins: Vec<PathBuf>,
    /// Patterns of files and folders that are left out, as in a `.gitignore` in the root.
    pub exclude: Vec<String>,
    /// Whether files that the configuration excludes are left out though they are named.
    pub force_exclude: bool,
    /// Whether `.gitignore` and similar files do not count.
    pub no_ignore_files: bool,
    /// Findings that are known, in place of the baseline that the configuration names.
    pub baseline: Option<FileText>,
    /// Limit on the parts of the work that run at once.
    pub jobs: Option<u16>,
    /// The longest that one linter may take for one file.
    pub timeout: Option<Duration>,
    /// Whether earlier answers are not reused, and new ones not kept.
    pub no_cache: bool,
    /// Whether the summary says how long each answer took.
    pub timing: bool,
    /// The longest that answers are waited for; the check ends then with what is known. For callers in the daemon's process.
    pub wait: Option<Duration>,
}

/// The files that are found if nothing else is said.
pub(super) fn walk_options() -> WalkOptions {
    WalkOptions { global_excludes: folders::global_excludes(), ..WalkOptions::default() }
}

/// A file with its content.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FileText {
    pub path: String,
    pub content: Bytes,
}

/// Options whose fields are checked.
#[derive(Clone)]
pub(super) struct ValidOptions {
    pub(super) texts: Vec<(WorkspacePath, Bytes)>,
    pub(super) isolated: bool,
    pub(super) config: Option<WorkspacePath>,
    pub(super) plugins: Vec<PathBuf>,
    pub(super) baseline: Option<Arc<Baseline>>,
    pub(super) jobs: Option<usize>,
    pub(super) timeout: Duration,
    pub(super) use_cache: bool,
    /// Takes the times of answers, if that was asked.
    pub(super) timings: Option<Arc<Timings>>,
    pub(super) due: Option<Due>,
}

impl CheckOptions {
    /// Options for finding files, over the usual ones.
    pub(super) fn walk(&self, usual: WalkOptions) -> Result<WalkOptions, DaemonError> {
        DaemonError::expect_at_most(MAX_PATTERNS, self.exclude.len(), "exclude")?;
        let pattern = |it: &String| Glob::try_from(it.clone()).map(|it| it.as_str().to_owned());
        let excludes = self.exclude.iter().map(pattern).collect::<Result<_, _>>();
        let excludes = excludes.map_err(|why: String| DaemonError::invalid("exclude", why))?;
        let usual = match self.no_ignore_files {
            true => WalkOptions { respect_ignore_files: false, ..WalkOptions::default() },
            false => usual,
        };
        Ok(WalkOptions { excludes, force_excludes: self.force_exclude, ..usual })
    }

    pub(super) fn valid(self) -> Result<ValidOptions, DaemonError> {
        DaemonError::expect_at_most(MAX_TEXTS, self.texts.len(), "texts")?;
        DaemonError::expect_at_most(MAX_PLUGINS, self.plugins.len(), "plugins")?;
        if self.isolated && self.config.is_some() {
            return Err(DaemonError::invalid("config", "it excludes `isolated`"));
        }
        if self.plugins.iter().any(|it| !it.is_absolute()) {
            return Err(DaemonError::invalid("plugins", "the path of a plugin must be absolute"));
        }
        if self.timeout.is_some_and(|it| it.is_zero()) {
            return Err(DaemonError::invalid("timeout", "no file can be checked in no time"));
        }
        let text = |it: FileText| Ok::<_, DaemonError>((fields::path("texts.path", &it.path)?, it.content));
        Ok(ValidOptions {
            texts: self.texts.into_iter().map(text).collect::<Result<_, _>>()?,
            isolated: self.isolated,
            config: self.config.map(|it| fields::path("config", &it)).transpose()?,
            plugins: self.plugins,
            baseline: self.baseline.as_ref().map(FileText::baseline).transpose()?,
            jobs: self.jobs.map(|it| usize::from(it).max(1)),
            timeout: self.timeout.unwrap_or(TIMEOUT),
            use_cache: !self.no_cache,
            timings: self.timing.then(Arc::default),
            due: self.wait.map(Due::within),
        })
    }
}

impl FileText {
    fn baseline(&self) -> Result<Arc<Baseline>, DaemonError> {
        let path = fields::path("baseline.path", &self.path)?;
        let parsed = Baseline::parse(&path, &self.content);
        parsed.map(Arc::new).map_err(|error| DaemonError::invalid("baseline", error))
    }
}

impl ValidOptions {
    /// Callback for each answer, which collects the timings if they were asked for.
    pub(super) fn answered(&self) -> OnAnswer {
        match &self.timings {
            Some(timings) => timings.collector(),
            None => Arc::new(|_| {}),
        }
    }

    /// View with the texts of the request in place of the files of `view`.
    pub(super) async fn shown(&self, view: Arc<dyn View>) -> Result<Arc<dyn View>, DaemonError> {
        if self.texts.is_empty() {
            return Ok(view);
        }
        let texts = self.texts.clone();
        blocking(move || {
            let mut branch = Branch::new(view);
            texts.into_iter().try_for_each(|(path, text)| branch.show(&path, text).map(drop))?;
            Ok(Arc::new(branch.snapshot()) as Arc<dyn View>)
        })
        .await
    }
}
