//! Comments for luacheck (`-- luacheck: ignore 211`), which say what is meant as it is.
//!
//! Leaves out all options but `ignore`, `no unused`, `push` and `pop`: they are about names and lengths, which are not told
//! without a configuration. A pattern that is more than a name or the beginning of a code is taken to fit.

use std::ops::Range;

use selene_lib::lints::Diagnostic;

const MARK: &str = "luacheck:";

/// Findings that a comment lets pass.
#[derive(Debug, PartialEq)]
pub(crate) struct Suppression<'a> {
    /// Range from the start of a line.
    at: Range<usize>,
    what: What<'a>,
}

#[derive(Debug, PartialEq)]
enum What<'a> {
    All,
    Unused,
    /// A warning's number or the beginning of one, a variable's name, or both (`212/self`).
    Pattern(&'a str),
}

/// Returns the suppressions by comments in a text. A comment beside code applies to its line, one by itself to the rest of the
/// function that it is in; `bodies` are those of all functions.
pub(crate) fn comments<'a>(text: &'a str, bodies: &[Range<usize>]) -> Vec<Suppression<'a>> {
    let (mut found, mut pushed) = (Vec::new(), Vec::new());
    let mut line_start = 0;
    for line in text.split_inclusive('\n') {
        let at = line_start..line_start + line.len();
        line_start = at.end;
        let Some((code, options)) = options(line) else { continue };
        let scope =
            if code.trim().is_empty() { at.start..end_of_function(at.start, bodies, text) } else { at };
        for option in words(options) {
            match option[..] {
                ["push"] => pushed.push(found.len()),
                ["pop"] => close(&mut found[pushed.pop().unwrap_or_default()..], scope.start),
                _ => found
                    .extend(meant(&option).into_iter().map(|what| Suppression { at: scope.clone(), what })),
            }
        }
    }
    found
}

/// Splits a line into the code before a comment for luacheck, and the options in the comment.
fn options(line: &str) -> Option<(&str, &str)> {
    let (before, options) = line.split_once(MARK)?;
    let before = before.trim_end();
    let code = before.strip_suffix("--[[").or_else(|| before.strip_suffix("--"))?;
    Some((code, options.split_once("]]").map_or(options, |it| it.0)))
}

/// The words of each option; what is in parentheses is a remark.
fn words(options: &str) -> Vec<Vec<&str>> {
    let (mut found, mut depth) = (vec![Vec::new()], 0_usize);
    for part in options.split_inclusive(['(', ')', ',']) {
        let (text, mark) = match part.chars().next_back() {
            Some(mark @ ('(' | ')' | ',')) => (&part[..part.len() - 1], mark),
            _ => (part, ' '),
        };
        if let (0, Some(option)) = (depth, found.last_mut()) {
            option.extend(text.split_whitespace());
        }
        match mark {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => found.push(Vec::new()),
            _ => {}
        }
    }
    found
}

fn end_of_function(at: usize, bodies: &[Range<usize>], text: &str) -> usize {
    let around = bodies.iter().filter(|it| it.contains(&at)).map(|it| it.end);
    around.min().unwrap_or(text.len())
}

fn close(suppressions: &mut [Suppression<'_>], at: usize) {
    for it in suppressions {
        it.at.end = it.at.end.min(at);
    }
}

fn meant<'a>(option: &[&'a str]) -> Vec<What<'a>> {
    match option {
        ["ignore"] => vec![What::All],
        ["ignore", patterns @ ..] => patterns.iter().copied().map(What::Pattern).collect(),
        ["no", "unused", ..] => vec![What::Unused],
        _ => Vec::new(),
    }
}

impl Suppression<'_> {
    pub(crate) fn suppresses(&self, found: &Diagnostic, text: &str) -> bool {
        let label = found.primary_label.range;
        let (start, end) = (label.0 as usize, label.1 as usize);
        let fits = match &self.what {
            What::All => true,
            What::Unused => found.code == "unused_variable",
            What::Pattern(pattern) => fits(pattern, found.code, text.get(start..end).unwrap_or_default()),
        };
        fits && self.at.contains(&start)
    }
}

/// Whether a pattern stands for a lint of selene, by the warnings that luacheck has in its place.
pub(crate) fn fits(pattern: &str, code: &str, name: &str) -> bool {
    let numbers: &[&str] = match code {
        "unused_variable" => &["211", "212", "213", "221", "231", "311"],
        "empty_if" => &["542"],
        "empty_loop" => &["541"],
        _ => return false,
    };
    let is_number = |it: &str| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit());
    let (number, variable) = match pattern.split_once('/') {
        Some((number, variable)) => (number, variable),
        None if is_number(pattern.trim_start_matches('W')) => (pattern, ""),
        None => ("", pattern),
    };
    let number = number.trim_start_matches('W');
    let is_plain = variable.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_');
    numbers.iter().any(|it| it.starts_with(number) || !is_number(number))
        && (variable.is_empty() || !is_plain || variable == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes() {
        assert_eq!(
            comments("-- luacheck: push ignore\n-- luacheck: globals a\n", &[]),
            [],
            "no such options"
        );
        let patterns = comments("a() -- luacheck: ignore 211/a b (why)\n", &[]);
        assert_eq!(patterns.len(), 2);
        assert_eq!(patterns[1], Suppression { at: 0..38, what: What::Pattern("b") });
        let text = "-- luacheck: push\n-- luacheck: ignore\nf()\n-- luacheck: pop\nf() -- luacheck: no unused args\n";
        let found = comments(text, &[]);
        assert_eq!(found[0], Suppression { at: 18..42, what: What::All });
        assert_eq!(found[1], Suppression { at: 59..91, what: What::Unused });
    }

    #[test]
    fn remarks() {
        let meant = |text: &str| -> Vec<String> {
            comments(text, &[]).iter().map(|it| format!("{:?}", it.what)).collect()
        };
        let both = ["Pattern(\"a\")", "Pattern(\"b\")"];
        assert_eq!(meant("f() -- luacheck: ignore a (why, so), ignore b (why (so))\n"), both);
        assert_eq!(meant("f() -- luacheck: ignore a (why) b\r\n"), both);
        assert_eq!(meant("f() --[[ luacheck: ignore a b ]] g()\n"), both);
        assert_eq!(meant("f('--x') -- luacheck: ignore a b\n"), both);
        assert_eq!(meant("-- luacheck: push (why)\n-- luacheck: ignore\n-- luacheck: pop\n"), ["All"]);
        assert_eq!(meant("f() -- see luacheck: ignore\n"), [""; 0]);
    }

    #[test]
    fn patterns() {
        for pattern in ["211", "2", "W211", "a", "211/a", "21./a", ".*", "2/a.*"] {
            assert!(fits(pattern, "unused_variable", "a"), "{pattern}");
        }
        for pattern in ["411", "b", "211/b", "5"] {
            assert!(!fits(pattern, "unused_variable", "a"), "{pattern}");
        }
        assert!(fits("542", "empty_if", "if") && !fits("542", "duplicate_keys", "a"));
    }
}
