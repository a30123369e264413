//! Comments that switch rules off: BuildKit's directive `# check=`, and hadolint's `# hadolint ignore=`.

use crate::parse::Dockerfile;
use crate::rules;

/// `# check=skip=A,B;error=true;experimental=C`.
#[derive(Debug, Default)]
pub(crate) struct Check {
    pub(crate) skip: Vec<String>,
    pub(crate) skips_all: bool,
    pub(crate) is_error: bool,
    pub(crate) experimental: Vec<String>,
}

impl Check {
    /// Of a file's directive. The error is what is wrong with it.
    pub(crate) fn of(file: &Dockerfile) -> Result<Self, String> {
        let mut check = Self::default();
        let directive = file.directives.iter().find(|it| it.name == "check");
        for part in directive.iter().flat_map(|it| it.value.split(';')) {
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

    pub(crate) fn is_experiment(&self, code: &str) -> bool {
        self.experimental.iter().any(|it| it == "all" || it == code)
    }

    pub(crate) fn drops(&self, code: &str) -> bool {
        (self.skips_all && !self.is_experiment(code)) || self.skip.iter().any(|it| it == code)
    }
}

fn is_true(text: &str) -> Option<bool> {
    match text {
        "1" | "t" | "T" | "true" | "True" | "TRUE" => Some(true),
        "0" | "f" | "F" | "false" | "False" | "FALSE" => Some(false),
        _ => None,
    }
}

/// Codes that hadolint's comments switch off.
#[derive(Debug, Default)]
pub(crate) struct Pragmas {
    everywhere: Vec<&'static str>,
    /// For what begins in such a span.
    here: Vec<(std::ops::Range<usize>, Vec<&'static str>)>,
}

impl Pragmas {
    pub(crate) fn of(file: &Dockerfile) -> Self {
        let mut pragmas = Self::default();
        for comment in &file.comments {
            let Some(rest) = comment.text.strip_prefix("hadolint ") else { continue };
            let rest = rest.trim_start();
            let (is_global, rest) =
                rest.strip_prefix("global ").map_or((false, rest), |it| (true, it.trim_start()));
            let Some(list) = rest.strip_prefix("ignore") else { continue };
            let Some(list) = list.trim_start().strip_prefix('=') else { continue };
            // A reason may follow.
            let codes = list.split(['#', ';']).next().unwrap_or_default().split(',');
            let codes: Vec<_> =
                codes.flat_map(|it| rules::named(it.split_whitespace().next().unwrap_or_default())).collect();
            if is_global {
                pragmas.everywhere.extend(codes);
                continue;
            }
            // The comment may be between the lines of an instruction, too.
            let next = file.instructions.iter().find(|it| it.span.end > comment.start);
            pragmas.here.extend(next.map(|it| (it.span.clone(), codes)));
        }
        pragmas
    }

    pub(crate) fn drop(&self, code: &str, at: usize) -> bool {
        self.everywhere.contains(&code)
            || self
                .here
                .iter()
                .any(|(span, codes)| (span.start..=span.end).contains(&at) && codes.contains(&code))
    }
}
