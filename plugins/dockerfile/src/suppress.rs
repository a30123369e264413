//! Comments that switch rules off: BuildKit's directive `# check=` for a file, the same comment for the instruction that
//! follows it, and hadolint's `# hadolint ignore=`.
//!
//! There is one difference: of `MultipleInstructionsDisallowed`, BuildKit looks for the comment before the later instruction, and
//! here it is before the one that is reported.

use std::ops::Range;

use crate::parse::{Dockerfile, directive};
use crate::rules;

/// `# check=skip=A,B;error=true;experimental=C`.
#[derive(Debug, Default)]
pub(crate) struct Check {
    skip: Vec<String>,
    skips_all: bool,
    pub(crate) is_error: bool,
    experimental: Vec<String>,
}

impl Check {
    /// Reads a file's directive. The error is the problem with it.
    pub(crate) fn of(file: &Dockerfile) -> Result<Self, String> {
        let directive = file.directives.iter().find(|it| it.name == "check");
        directive.map_or_else(|| Ok(Self::default()), |it| Self::parse(&it.value))
    }

    /// Reads the comments before an instruction: the first counts, and none if it has an error.
    fn among(comments: &[String]) -> Option<Self> {
        let (_, value) = comments.iter().filter_map(|it| directive(it)).find(|it| it.0 == "check")?;
        Self::parse(&value).ok()
    }

    fn parse(text: &str) -> Result<Self, String> {
        let mut check = Self::default();
        for part in text.splitn(3, ';') {
            let (key, value) =
                part.split_once('=').ok_or_else(|| format!("`{part}` is no option of `check`"))?;
            let names = || value.split(',').map(|it| it.trim().to_owned()).collect::<Vec<_>>();
            match (key.trim(), value.trim()) {
                ("skip", "all") => check.skips_all = true,
                ("skip", _) => check.skip = names(),
                ("experimental", _) => check.experimental = names(),
                ("error", it) => {
                    check.is_error = is_true(it).ok_or_else(|| format!("`{it}` is neither true nor false"))?
                }
                (key, _) => return Err(format!("`check` has no option `{key}`")),
            }
        }
        Ok(check)
    }

    fn turns_on(&self, code: &str) -> bool {
        self.experimental.iter().any(|it| it == "all" || it == code)
    }

    fn drops(&self, code: &str) -> bool {
        (self.skips_all && !self.turns_on(code)) || self.skip.iter().any(|it| it == code)
    }
}

fn is_true(text: &str) -> Option<bool> {
    match text {
        "1" | "t" | "T" | "true" | "True" | "TRUE" => Some(true),
        "0" | "f" | "F" | "false" | "False" | "FALSE" => Some(false),
        _ => None,
    }
}

/// Rules of BuildKit's for the file as a whole, which comments before an instruction do not affect.
const OF_THE_FILE: [&str; 5] = [
    "ConsistentInstructionCasing",
    "DuplicateStageName",
    "InvalidDefaultArgInFrom",
    "NoEmptyContinuation",
    "ReservedStageName",
];

/// All comments of a file that switch rules off or on.
#[derive(Debug, Default)]
pub(crate) struct Comments {
    check: Check,
    everywhere: Vec<&'static str>,
    /// In the order of the file.
    here: Vec<Here>,
}

/// The comments of one instruction.
#[derive(Debug)]
struct Here {
    span: Range<usize>,
    check: Check,
    ignored: Vec<&'static str>,
}

impl Comments {
    pub(crate) fn of(file: &Dockerfile, check: Check) -> Self {
        let pragmas: Vec<(usize, Pragma)> =
            file.comments.iter().filter_map(|it| Some((it.row, Pragma::parse(&it.text)?))).collect();
        let global = pragmas.iter().filter(|it| it.1.is_global);
        let mut comments =
            Self { check, everywhere: global.flat_map(|it| it.1.codes.clone()).collect(), here: Vec::new() };
        for it in &file.instructions {
            let check = Check::among(&it.described);
            // hadolint's comment is right before what it is about.
            let above = pragmas.binary_search_by_key(&it.row, |it| it.0 + 1).ok().map(|at| &pragmas[at].1);
            let above = above.filter(|it| !it.is_global);
            if check.is_some() || above.is_some() {
                let ignored = above.map_or_else(Vec::new, |it| it.codes.clone());
                comments.here.push(Here { span: it.span.clone(), check: check.unwrap_or_default(), ignored });
            }
        }
        comments
    }

    fn here(&self, at: usize) -> Option<&Here> {
        let next = self.here.partition_point(|it| it.span.start <= at);
        self.here[..next].last().filter(|it| at <= it.span.end)
    }

    /// Whether `# check=` skips a rule.
    pub(crate) fn skip(&self, code: &str, at: usize) -> bool {
        let is_local = !OF_THE_FILE.contains(&code);
        self.check.drops(code) || is_local && self.here(at).is_some_and(|it| it.check.drops(code))
    }

    /// Whether `# check=experimental=` turns a rule on.
    pub(crate) fn turn_on(&self, code: &str, at: usize) -> bool {
        self.check.turns_on(code) || self.here(at).is_some_and(|it| it.check.turns_on(code))
    }

    /// Whether `# check=error=true` makes errors of the findings.
    pub(crate) fn are_errors(&self) -> bool {
        self.check.is_error
    }

    /// Whether `# hadolint ignore=` names a rule.
    pub(crate) fn ignore(&self, code: &str, at: usize) -> bool {
        self.everywhere.contains(&code) || self.here(at).is_some_and(|it| it.ignored.contains(&code))
    }
}

/// `hadolint ignore=DL3000,SC2046 # why`.
#[derive(Debug)]
struct Pragma {
    is_global: bool,
    codes: Vec<&'static str>,
}

impl Pragma {
    /// `None`: hadolint does not take it for one, for which anything else in the comment is enough.
    fn parse(comment: &str) -> Option<Self> {
        let rest = comment.strip_prefix("hadolint")?.strip_prefix([' ', '\t'])?.trim_start();
        let global = rest.strip_prefix("global").and_then(|it| it.strip_prefix([' ', '\t']));
        let list = global.unwrap_or(rest).trim_start().strip_prefix("ignore")?;
        let list = list.trim_start().strip_prefix('=')?;
        let list = list.split('#').next().unwrap_or_default();
        let codes: Vec<&str> = list.split(',').map(str::trim).collect();
        let codes = codes.iter().all(|it| is_code(it)).then(|| codes.iter().flat_map(|it| rules::named(it)));
        Some(Self { is_global: global.is_some(), codes: codes?.collect() })
    }
}

fn is_code(text: &str) -> bool {
    let is_sign = |it: char| it.is_ascii_digit() || matches!(it, 'D' | 'L' | 'S' | 'C');
    !text.is_empty() && text.chars().all(is_sign)
}
