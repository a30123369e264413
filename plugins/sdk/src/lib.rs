//! Write a Broker plugin in Rust: implement [`Plugin`], then name the type and its manifest in [`plugin!`].
//!
//! ```ignore
//! use broker_plugin_sdk::*;
//!
//! struct NoTodo;
//!
//! impl Plugin for NoTodo {
//!     fn new() -> Self {
//!         Self
//!     }
//!
//!     fn rules(&self) -> Vec<Rule> {
//!         vec![Rule::new("todo", "A TODO comment is left in the code")]
//!     }
//!
//!     fn check(&mut self, file: &SourceFile) -> Result<Report, String> {
//!         let text = String::from_utf8_lossy(&file.content);
//!         let found = text.match_indices("TODO");
//!         Ok(found.map(|(at, it)| Diagnostic::new("todo", "resolve this TODO", at..at + it.len())).collect())
//!     }
//! }
//!
//! plugin!(NoTodo, "../broker-plugin.toml");
//! ```
//!
//! A plugin reads other files of the branch with `std::fs`, below [`Settings::root`], and its own configuration with
//! [`Settings::options`]. It cannot write, has no network, no clock that moves and no true random numbers.

#[doc(hidden)]
pub mod bindings;
pub mod config;
#[doc(hidden)]
pub mod guest;
pub mod minified;
pub mod offsets;
pub mod samples;
mod selection;
mod settings;
pub mod syntax;
pub mod template;
#[cfg(feature = "testing")]
pub mod testing;
pub mod vendored;

use std::{borrow::Cow, ops::Range, path::Path};

pub use bindings::broker::plugin::host::Level;
pub use bindings::broker::plugin::types::{
    Applicability, Completeness, Diagnostic, Edit, Fix, FixAvailability, Related, Report, Rule, Settings,
    SettingsError, Severity, SourceFile, Span, Tags,
};
pub use selection::{DEFAULT, Selection, Selectors};

/// A linter that looks at one file at a time.
///
/// Broker makes an instance for each batch of files of one branch, calls [`configure`] once and then [`check`] for each file. An
/// instance may be made some time before its first file; it is used only if everything that it has read is unchanged. What it
/// remembers from one file (a parsed configuration, say) may serve the next, as long as one file's own text never changes the
/// answer for another.
///
/// [`configure`]: Plugin::configure
/// [`check`]: Plugin::check
pub trait Plugin: Sized + 'static {
    /// Runs once, when the plugin is built or installed; every instance starts from a copy of its result.
    /// Do all expensive set-up here. Nothing of the host can be reached yet: no files, no log. Constructors of crates
    /// such as `ctor` and `inventory` ran before it, and do not run again.
    fn new() -> Self;

    /// Applies the user's settings. The default accepts all settings whose selectors name a rule of [`rules`](Plugin::rules);
    /// findings of rules that are not selected are dropped by the SDK.
    fn configure(&mut self, _settings: &Settings) -> Result<(), SettingsError> {
        Ok(())
    }

    /// Whether the plugin applies `select` and `ignore` itself, with selectors of its own. Most do not.
    const SELECTS_ITSELF: bool = false;

    /// Returns all rules, whether selected or not.
    fn rules(&self) -> Vec<Rule>;

    /// Checks one file. `Err` is for problems of the plugin or its configuration, in one sentence; problems of the file are
    /// diagnostics.
    fn check(&mut self, file: &SourceFile) -> Result<Report, String>;

    /// Returns the rules that are on for the file at `path`, which need not exist. To be implemented by a plugin that [selects
    /// itself](Plugin::SELECTS_ITSELF), and by one whose rules apply to some of its files each; for others, the default is right.
    /// The result does not change what [`check`](Plugin::check) returns.
    fn rules_on(&mut self, _path: &str) -> Result<RulesOn, String> {
        Ok(RulesOn::new(self.rules().into_iter().map(|it| it.code), None))
    }
}

/// Makes `$plugin`, a type that implements [`Plugin`], the component's plugin, and embeds its manifest
/// (a path relative to the source file).
#[macro_export]
macro_rules! plugin {
    ($plugin:ty, $manifest:literal) => {
        const _: () = {
            #[cfg(target_family = "wasm")]
            #[used]
            #[unsafe(link_section = "broker:plugin")]
            static MANIFEST: [u8; include_bytes!($manifest).len()] = *include_bytes!($manifest);

            std::thread_local! {
                static STATE: $crate::guest::State<$plugin> = $crate::guest::State::new();
            }

            struct Component;

            // No generated export: what libc learns in one would be part of the image that every instance starts with.
            #[cfg(target_family = "wasm")]
            #[unsafe(export_name = "initialize")]
            extern "C" fn initialize() {
                STATE.with(|it| it.initialize());
            }

            impl $crate::bindings::exports::broker::plugin::lint::Guest for Component {
                fn configure(settings: $crate::Settings) -> Result<(), $crate::SettingsError> {
                    STATE.with(|it| it.configure(settings))
                }

                fn rules() -> Vec<$crate::Rule> {
                    STATE.with(|it| it.rules())
                }

                fn check(file: $crate::SourceFile) -> Result<$crate::Report, String> {
                    STATE.with(|it| it.check(file))
                }
            }

            impl $crate::bindings::exports::broker::plugin::selection::Guest for Component {
                fn enabled_rules(path: String) -> Result<Vec<$crate::guest::EnabledRule>, String> {
                    STATE.with(|it| it.enabled_rules(&path))
                }
            }

            #[cfg(target_family = "wasm")]
    $crate::bindings::export_plugin!(Component with_types_in $crate::bindings);
        };
    };
}

/// Writes a line to Broker's log. Native tests, which have no host, read it with [`testing::logged`].
pub fn log(level: Level, message: &str) {
    #[cfg(target_family = "wasm")]
    bindings::broker::plugin::host::log(level, message);
    #[cfg(all(not(target_family = "wasm"), feature = "testing"))]
    testing::record(message);
    #[cfg(not(target_family = "wasm"))]
    let _ = (level, message);
}

/// Logs a warning: something is wrong, but not with the file itself.
pub fn warn(message: &str) {
    log(Level::Warn, message);
}

/// Logs information for the user.
pub fn inform(message: &str) {
    log(Level::Info, message);
}

/// Whether the host has cancelled the request. Long work may check this and stop early.
pub fn cancelled() -> bool {
    bindings::broker::plugin::host::cancelled()
}

/// Returns the table `[linters.NAME]` of this plugin in `broker.toml` as a JSON object, or `None` if there is no such table.
/// `options` of the manifest describes its form. Native tests, which have no host, set it with [`testing::set_linter_options`].
pub fn linter_options() -> Option<String> {
    #[cfg(target_family = "wasm")]
    return bindings::broker::plugin::host::linter_options();
    #[cfg(all(not(target_family = "wasm"), feature = "testing"))]
    return testing::linter_options();
    #[cfg(all(not(target_family = "wasm"), not(feature = "testing")))]
    None
}

/// The rules that are on for a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RulesOn {
    pub codes: Vec<String>,
    /// The plugin's own configuration file that applies to the file, relative to the workspace's root or absolute.
    pub config: Option<String>,
}

impl RulesOn {
    pub fn new(codes: impl IntoIterator<Item = impl Into<String>>, config: Option<&Path>) -> Self {
        let config = config.map(|it| it.to_string_lossy().into_owned());
        Self { codes: codes.into_iter().map(Into::into).collect(), config }
    }
}

impl SourceFile {
    /// Whether the user named this file itself, not a folder above it.
    pub fn is_explicit(&self) -> bool {
        self.named == self.path
    }

    /// Returns the text, in which each byte that is not UTF-8 is replaced with `x`, so that offsets stay as they are. For
    /// languages in which such bytes do no harm: in comments and strings.
    pub fn text(&self) -> Cow<'_, str> {
        if let Ok(text) = str::from_utf8(&self.content) {
            return Cow::Borrowed(text);
        }
        let mut text = String::with_capacity(self.content.len());
        for chunk in self.content.utf8_chunks() {
            text.push_str(chunk.valid());
            text.extend(chunk.invalid().iter().map(|_| 'x'));
        }
        Cow::Owned(text)
    }
}

impl Diagnostic {
    /// Makes a warning at `range` (bytes) without a fix. Set the public fields for anything else.
    pub fn new(code: impl Into<String>, message: impl Into<String>, range: Range<usize>) -> Self {
        Self {
            code: code.into(),
            name: None,
            message: message.into(),
            severity: Severity::Warning,
            cell: None,
            span: range.into(),
            tags: Tags::empty(),
            url: None,
            fixes: Vec::new(),
            related: Vec::new(),
        }
    }

    /// Makes an error at `range` (bytes) without a fix.
    pub fn error(code: impl Into<String>, message: impl Into<String>, range: Range<usize>) -> Self {
        Self { severity: Severity::Error, ..Self::new(code, message, range) }
    }

    /// Adds a fix.
    pub fn with_fix(mut self, fix: Fix) -> Self {
        self.fixes.push(fix);
        self
    }
}

impl Fix {
    /// Makes a safe fix of one edit, which keeps the meaning of the program.
    pub fn safe(message: impl Into<String>, range: Range<usize>, replacement: impl Into<String>) -> Self {
        let edit = Edit { span: range.into(), replacement: replacement.into() };
        Self { message: Some(message.into()), applicability: Applicability::Safe, edits: vec![edit] }
    }
}

impl Rule {
    /// Makes a rule that is on by default and has no fix. Set the public fields for anything else.
    pub fn new(code: impl Into<String>, summary: impl Into<String>) -> Self {
        let code = code.into();
        Self {
            name: code.clone(),
            code,
            summary: summary.into(),
            explanation: String::new(),
            url: None,
            fix: FixAvailability::None,
            default: true,
        }
    }
}

impl Report {
    /// Makes a complete report.
    pub fn new(diagnostics: Vec<Diagnostic>) -> Self {
        Self { diagnostics, cells: Vec::new(), completeness: Completeness::Complete }
    }

    /// Makes a complete report in the order of the text, without duplicates.
    pub fn sorted(mut diagnostics: Vec<Diagnostic>) -> Self {
        let place = |it: &Diagnostic| (it.span.start, it.span.end);
        diagnostics.sort_by(|a, b| (place(a), &a.code, &a.message).cmp(&(place(b), &b.code, &b.message)));
        diagnostics.dedup_by(|a, b| place(a) == place(b) && a.code == b.code && a.message == b.message);
        Self::new(diagnostics)
    }

    /// Makes an empty report on a file that was not checked as a whole.
    pub fn partial(why: impl Into<String>) -> Self {
        Self { completeness: Completeness::Partial(why.into()), ..Self::new(Vec::new()) }
    }

    /// Removes all fixes, for a text of which not every byte is known.
    #[must_use]
    pub fn without_fixes(mut self) -> Self {
        self.diagnostics.iter_mut().for_each(|it| it.fixes.clear());
        self
    }

    /// Makes a report that the configuration excludes the file.
    pub fn excluded() -> Self {
        Self { completeness: Completeness::Excluded, ..Self::new(Vec::new()) }
    }

    /// Makes a report that the file is excluded for a reason in the file itself, such as that it is a template, and logs the
    /// reason.
    pub fn left_out(path: &str, why: &str) -> Self {
        log(Level::Info, &format!("{path} is left out: {why}"));
        Self::excluded()
    }

    /// Logs that a part of the file is not read, for a reason that is in the file and that no change of the file could remove.
    #[must_use]
    pub fn in_part(self, path: &str, why: &str) -> Self {
        log(Level::Info, &format!("{path} is read in part: {why}"));
        self
    }
}

impl FromIterator<Diagnostic> for Report {
    fn from_iter<T: IntoIterator<Item = Diagnostic>>(diagnostics: T) -> Self {
        Self::new(diagnostics.into_iter().collect())
    }
}

/// Converts a range of bytes. Offsets past 4 GiB, which no file here has, become `u32::MAX`.
impl From<Range<usize>> for Span {
    fn from(range: Range<usize>) -> Self {
        let offset = |it: usize| u32::try_from(it).unwrap_or(u32::MAX);
        Self { start: offset(range.start), end: offset(range.end) }
    }
}
