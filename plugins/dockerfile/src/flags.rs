//! The flags of instructions: which there are, and what BuildKit's own parser of flags refuses.

use std::collections::HashSet;

use crate::parse::{Flag, Instruction};
use crate::words::{unquote, variables};

/// Values of a flag.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Takes {
    /// Nothing, `true` or `false`.
    Bool,
    /// A value.
    One,
    /// A value, and the flag may be there again.
    Many,
}

use Takes::{Bool, Many, One};

type Table = &'static [(&'static str, Takes)];

/// `None`: there is no such instruction.
pub(crate) fn known(kind: &str) -> Option<Table> {
    Some(match kind {
        "ADD" => &[
            ("keep-git-dir", Bool),
            ("chown", One),
            ("chmod", One),
            ("link", Bool),
            ("checksum", One),
            ("unpack", Bool),
            ("exclude", Many),
        ],
        "COPY" => &[
            ("from", One),
            ("chown", One),
            ("chmod", One),
            ("link", Bool),
            ("parents", Bool),
            ("exclude", Many),
        ],
        "FROM" => &[("platform", One)],
        "HEALTHCHECK" => &[
            ("interval", One),
            ("timeout", One),
            ("start-period", One),
            ("start-interval", One),
            ("retries", One),
        ],
        "RUN" => &[("mount", Many), ("network", One), ("security", One), ("device", Many)],
        "ARG" | "CMD" | "ENTRYPOINT" | "ENV" | "EXPOSE" | "LABEL" | "MAINTAINER" | "ONBUILD" | "SHELL"
        | "STOPSIGNAL" | "USER" | "VOLUME" | "WORKDIR" => &[],
        _ => return None,
    })
}

/// First problem with the flags of an instruction.
pub(crate) fn refused(it: &Instruction, known: Table, escape: char) -> Option<String> {
    let mut seen = HashSet::new();
    it.flags.iter().find_map(|flag| {
        let name = &*flag.name;
        let Some((_, takes)) = known.iter().find(|it| it.0 == name) else {
            return Some(format!("{} has no flag `--{name}`", it.kind));
        };
        if !seen.insert(name) && *takes != Many {
            return Some(format!("`--{name}` may be there only once"));
        }
        wrong_value(flag, *takes, escape).or_else(|| if name == "from" { from(flag, escape) } else { None })
    })
}

fn wrong_value(flag: &Flag, takes: Takes, escape: char) -> Option<String> {
    let name = &flag.name;
    let value = flag.value.as_deref().map(|it| unquote(it, escape));
    match (takes, value.as_deref()) {
        (Bool, None) => None,
        (Bool, Some(it)) if matches!(&*it.to_lowercase(), "true" | "false") => None,
        (Bool, Some(it)) => Some(format!("`--{name}` is true or false, and not `{it}`")),
        (One | Many, None) => Some(format!("`--{name}` needs a value: `--{name}=…`")),
        (One | Many, Some(_)) => None,
    }
}

/// Which stage is meant must be known before there are values.
fn from(flag: &Flag, escape: char) -> Option<String> {
    let has_variable = !variables(flag.value.as_deref()?, escape).is_empty();
    let message = "`--from` takes no variables: a stage of its own (`FROM image:$VERSION AS name`) does";
    has_variable.then(|| message.to_owned())
}

/// First problem with the values of `HEALTHCHECK`'s flags.
pub(crate) fn healthcheck(it: &Instruction, escape: char) -> Option<String> {
    it.flags.iter().find_map(|flag| {
        let value = unquote(flag.value.as_deref()?, escape);
        let name = &flag.name;
        if value.is_empty() {
            return None;
        }
        if name == "retries" {
            let is_count = value.parse::<i32>().is_ok_and(|it| it >= 0);
            return (!is_count).then(|| format!("`--retries` needs a number, and `{value}` is none"));
        }
        match nanoseconds(&value) {
            None => Some(format!("`--{name}` needs a time as `1m30s`, and `{value}` is none")),
            Some(it) if it != 0.0 && it < 1e6 => {
                Some(format!("`--{name}` cannot be less than a millisecond, as `{value}` is"))
            }
            Some(_) => None,
        }
    })
}

/// Longer ones first.
const UNITS: [(&str, f64); 8] =
    [("ns", 1.0), ("us", 1e3), ("µs", 1e3), ("μs", 1e3), ("ms", 1e6), ("s", 1e9), ("m", 60e9), ("h", 3600e9)];

/// A time as Go writes it: `1h2m3.5s`.
fn nanoseconds(text: &str) -> Option<f64> {
    let (sign, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (-1.0, rest),
        None => (1.0, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest == "0" {
        return Some(0.0);
    }
    let mut all = 0.0;
    loop {
        let end = rest.find(|it: char| !(it.is_ascii_digit() || it == '.'))?;
        let number: f64 = rest[..end].parse().ok()?;
        let (unit, size) = UNITS.iter().find(|it| rest[end..].starts_with(it.0))?;
        all += number * size;
        rest = &rest[end + unit.len()..];
        if rest.is_empty() {
            return Some(sign * all);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        let known = ["0", "5s", "1m30s", "1.5h", ".5s", "1.s", "-1s", "100ms", "+3us"];
        assert!(known.iter().all(|it| nanoseconds(it).is_some()));
        let unknown = ["", "abc", "5", "s", "1d", "1m 30s", ".s", "1..5s", "$X", "--1s"];
        assert!(unknown.iter().all(|it| nanoseconds(it).is_none()));
        assert_eq!(nanoseconds("1m1.5s"), Some(61.5e9));
    }
}
