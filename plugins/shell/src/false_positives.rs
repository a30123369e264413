//! Findings of the rules that are on by default that are suppressed, where a script may be right: what another script, a
//! caller or another shell decides is not known here.

use std::cell::OnceCell;
use std::ops::Range;
use std::path::Path;

use shuck_ast::{Command, CompoundCommand, File, Redirect, RedirectKind, Stmt, WordPart, WordPartNode};
use shuck_linter::{Diagnostic, Rule, ShellDialect};

use crate::arrays::Arrays;
use crate::closed::{is_closed, is_fragment};
use crate::conditions::{ask_shell, loop_conditions};
use crate::guards::Guards;
use crate::lint::Check;
use crate::loops::is_never_empty;
use crate::outputs::{Outputs, is_of_output};
use crate::patterns::Patterns;
use crate::splats::{Functions, is_affixed};
use crate::tree::{Statements, command_name, range};
use crate::{busybox, defaults, finds};

/// Facts about one script by which its findings are suppressed.
pub(crate) struct FalsePositives<'a> {
    text: &'a str,
    shell: ShellDialect,
    /// None if the script is a part of a file.
    path: Option<&'a Path>,
    /// Folder above which no other file is looked for.
    root: &'a Path,
    /// Whether the script is run by itself, and runs no text but its own.
    is_closed: bool,
    /// Other scripts may read it, maybe within a function or a loop.
    is_fragment: bool,
    /// Whether the script asks which shell it runs in.
    asks_shell: OnceCell<bool>,
    /// Whether BusyBox runs it.
    is_of_busybox: OnceCell<bool>,
    file: &'a File,
    statements: OnceCell<Statements<'a>>,
    functions: OnceCell<Functions>,
    guards: OnceCell<Guards>,
    outputs: OnceCell<Outputs>,
    arrays: OnceCell<Arrays>,
    patterns: OnceCell<Patterns>,
    loop_conditions: OnceCell<Vec<Range<usize>>>,
}

impl<'a> FalsePositives<'a> {
    pub(crate) fn of(check: &Check<'a>, file: &'a File) -> Self {
        let text = check.text;
        Self {
            text,
            shell: check.shell,
            path: check.is_file.then_some(check.path),
            root: &check.config.root,
            is_closed: is_closed(text),
            is_fragment: check.is_file && is_fragment(text),
            asks_shell: OnceCell::new(),
            is_of_busybox: OnceCell::new(),
            file,
            statements: OnceCell::new(),
            functions: OnceCell::new(),
            guards: OnceCell::new(),
            outputs: OnceCell::new(),
            arrays: OnceCell::new(),
            patterns: OnceCell::new(),
            loop_conditions: OnceCell::new(),
        }
    }

    /// Whether all findings of a rule are suppressed.
    pub(crate) fn cover_all(&self, rule: Rule) -> bool {
        if self.shell == ShellDialect::Zsh && !defaults::holds_in_zsh(rule) {
            return true;
        }
        match rule {
            Rule::UnusedAssignment | Rule::UndefinedVariable => !self.is_closed,
            Rule::LocalTopLevel | Rule::LoopControlOutsideLoop => self.is_fragment,
            rule => rule.code().starts_with('X') && self.asks_shell(),
        }
    }

    pub(crate) fn cover(&self, found: &Diagnostic) -> bool {
        if self.cover_all(found.rule) {
            return true;
        }
        match found.rule {
            Rule::NonAbsoluteShebang => self.has_placeholder(),
            Rule::LoopControlOutsideLoop => self.is_in_condition(found),
            Rule::IfsSetToLiteralBackslashN => self.quotes_a_sign(found),
            Rule::StderrBeforeStdoutRedirect => self.leads_elsewhere(found),
            Rule::GreaterThanInTest => self.compares_versions(found),
            Rule::TildeInStringComparison => !self.is_file(found),
            Rule::UnquotedArrayExpansion => self.may_be_split(found),
            Rule::UnquotedVariableInTest => self.is_never_empty(found),
            Rule::PositionalArgsInString => self.may_be_joined(found),
            Rule::FindOrWithoutGrouping => self.may_prune(found),
            rule if busybox::does(rule) && self.is_of_busybox() => true,
            Rule::SourcedWithArgs => self.passes_its_own(found),
            rule => rule.code().starts_with('X') && self.is_guarded(rule, found),
        }
    }

    /// Whether the script asks for the command that `sh` need not have, or lets it fail: `type shopt && shopt -s nullglob`,
    /// `shopt -s nullglob 2>/dev/null || true`. What `sh` cannot parse is no better for that.
    fn is_guarded(&self, rule: Rule, found: &Diagnostic) -> bool {
        let at = found.span.start.offset();
        let name = self.text[at..].split(|it: char| it.is_whitespace() || ";&|<>()".contains(it)).next();
        match rule {
            Rule::LetCommand | Rule::DeclareCommand | Rule::SourceBuiltinInSh => {
                self.guards().ask_for(name.unwrap_or_default(), at)
            }
            Rule::TrapErr | Rule::PrintfQFormatInSh => self.guards().let_fail(at),
            _ => false,
        }
    }

    fn statement_at(&self, at: usize) -> Option<&'a Stmt> {
        self.statements.get_or_init(|| Statements::of(&self.file.body)).at(at)
    }

    fn asks_shell(&self) -> bool {
        *self.asks_shell.get_or_init(|| ask_shell(self.file, self.text))
    }

    fn may_prune(&self, found: &Diagnostic) -> bool {
        let at = found.span.start.offset();
        self.statement_at(at).is_some_and(|it| finds::may_prune(it, at, self.text))
    }

    fn is_of_busybox(&self) -> bool {
        *self.is_of_busybox.get_or_init(|| busybox::runs(self.text, self.path, self.root))
    }

    fn guards(&self) -> &Guards {
        self.guards.get_or_init(|| Guards::of(self.file, self.text))
    }

    /// Whether errors are meant to go where the output went before: `x=$(f)` of a function, `{ … } | grep`, a terminal, a
    /// command of its own.
    fn leads_elsewhere(&self, found: &Diagnostic) -> bool {
        let at = found.span.start.offset();
        let is_elsewhere = |it: &Redirect| {
            let target = it.word_target().filter(|_| is_of_output(it));
            let is_command = |it: &WordPartNode| matches!(it.kind, WordPart::ProcessSubstitution { .. });
            target.is_some_and(|it| {
                it.parts.iter().any(is_command)
                    || it.try_static_text(self.text).as_deref() == Some("/dev/tty")
            })
        };
        let around = self.statement_at(at);
        around.is_some_and(|it| it.redirects.iter().any(is_elsewhere))
            || self.outputs.get_or_init(|| Outputs::of(self.file, self.text)).is_taken(at)
    }

    /// Whether a version stands before the sign: `"$BASH_VERSION" < 4`. `-lt` is wrong there, too.
    fn compares_versions(&self, found: &Diagnostic) -> bool {
        let before = self.text[..found.span.start.offset()].trim_end();
        let word = before.rsplit(char::is_whitespace).next().unwrap_or_default();
        word.to_ascii_lowercase().contains("version")
    }

    /// Whether the text in quotes is the name of a file, and not a text to show, to compare or to expand later.
    fn is_file(&self, found: &Diagnostic) -> bool {
        let at = found.span.start.offset();
        let Some(around) = self.statement_at(at) else { return false };
        let targets = around.redirects.iter().filter(|it| it.kind != RedirectKind::HereString);
        if targets.filter_map(Redirect::word_target).any(|it| range(it.span).contains(&at)) {
            return true;
        }
        let before = self.text[range(around.span).start..at].trim_end_matches(['"', '\'']);
        let is_asked_for = before.split_whitespace().next_back().is_some_and(|it| FILE_TESTS.contains(&it));
        match &around.command {
            Command::Compound(CompoundCommand::Conditional(_)) => is_asked_for,
            _ => match command_name(around, self.text).as_deref() {
                Some("[" | "test") => is_asked_for,
                name => name.is_some_and(|it| OF_FILES.contains(&it)),
            },
        }
    }

    /// Whether an expansion is split on purpose, or has nothing to split.
    fn may_be_split(&self, found: &Diagnostic) -> bool {
        let expansion = &self.text[range(found.span)];
        let before = self.text[..found.span.start.offset()].trim_end();
        let around = self.statement_at(found.span.start.offset());
        let is_set = around.and_then(|it| command_name(it, self.text)).as_deref() == Some("set");
        let arrays = self.arrays();
        is_set
            || before.ends_with("<<<")
            || arrays.sets_ifs
            || !arrays.may_come_apart(expansion)
            || !expansion.contains('[') && self.patterns().reach(found.span.start.offset())
    }

    fn arrays(&self) -> &Arrays {
        self.arrays.get_or_init(|| Arrays::of(self.file, self.text))
    }

    fn patterns(&self) -> &Patterns {
        self.patterns.get_or_init(|| Patterns::of(self.file, self.text))
    }

    /// Whether a variable in a test is that of a loop over words that are never empty.
    fn is_never_empty(&self, found: &Diagnostic) -> bool {
        let place = range(found.span);
        let written = self.text.get(place.clone()).unwrap_or_default();
        let written = written.trim_start_matches("${").trim_start_matches('$');
        let name = written.strip_suffix('}').unwrap_or(written);
        !self.arrays().sets_ifs && is_never_empty(name, place.start, self.file, self.text)
    }

    /// Whether an expansion is one word after all (`${a[@]+x}`), goes to a command that shows all it is given, or only has a
    /// prefix or a suffix.
    fn may_be_joined(&self, found: &Diagnostic) -> bool {
        let place = range(found.span);
        let is_one = ["[@]+", "[@]:+", "{@+", "{@:+"].iter().any(|it| self.text[place.clone()].contains(it));
        let functions = self.functions.get_or_init(|| Functions::of(self.file, self.text));
        let shows = |it| functions.shows(it, place.start, self.text);
        is_one || is_affixed(&place, self.text) || self.statement_at(place.start).is_some_and(shows)
    }

    /// Whether two findings are of the same command.
    pub(crate) fn are_together(&self, one: &Diagnostic, other: &Diagnostic) -> bool {
        let statement = |it: &Diagnostic| self.statement_at(it.span.start.offset()).map(|it| range(it.span));
        statement(one).is_some_and(|it| statement(other) == Some(it))
    }

    /// Whether a sourced script is given what it has anyhow: `. ./lib.sh "$@"`.
    fn passes_its_own(&self, found: &Diagnostic) -> bool {
        let arguments = &self.text[range(found.span)];
        matches!(arguments, "\"$@\"" | "\"${@}\"" | "$@" | "${1+\"$@\"}")
    }

    /// Whether a finding is in the condition of a loop that shuck does not take for a part of the loop:
    /// `while case $# in 0) break ;; esac do`.
    fn is_in_condition(&self, found: &Diagnostic) -> bool {
        let conditions = self.loop_conditions.get_or_init(|| loop_conditions(self.file));
        conditions.iter().any(|it| it.contains(&found.span.start.offset()))
    }

    /// `IFS=\;`: outside of quotes, the backslash before a sign is removed. One before a letter is a mistake.
    fn quotes_a_sign(&self, found: &Diagnostic) -> bool {
        let mut value = self.text[found.span.start.offset()..].trim_start_matches("IFS=").chars();
        value.next() == Some('\\') && value.next().is_some_and(|it| !it.is_alphanumeric())
    }

    /// Whether something is put in place of the interpreter's path before the script is run: `#!@PREFIX@/bin/sh`.
    fn has_placeholder(&self) -> bool {
        let path = self.text.trim_start_matches("#!").trim_start();
        path.starts_with(['@', '%', '{', '$', '<', '[', '_'])
    }
}

/// Commands whose operands are files of the machine they run on.
const OF_FILES: [&str; 20] = [
    "cat", "cd", "chmod", "chown", "cp", "du", "head", "less", "ls", "mkdir", "more", "mv", "pushd", "rm",
    "rmdir", "source", "stat", "tail", "touch", ".",
];

const FILE_TESTS: [&str; 10] = ["-d", "-e", "-f", "-h", "-L", "-r", "-s", "-w", "-x", "-S"];

/// Names, and what looks like one, with their places.
pub(crate) fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_part = |it: char| it.is_ascii_alphanumeric() || it == '_';
    let words = text.split(move |it| !is_part(it)).filter(|it| !it.is_empty());
    words.map(move |it| (it.as_ptr() as usize - text.as_ptr() as usize, it))
}
