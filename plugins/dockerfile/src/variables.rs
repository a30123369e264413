//! Variables that nothing defines.
//!
//! BuildKit knows what the base image defines, which is not known here. So an unknown variable is reported only where the
//! file itself shows that it is wrong: where there is no base image, where the name is that of an argument from
//! before the first stage or of a later definition, and where it differs by a letter from one that is known.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use broker_plugin_sdk::Diagnostic;

use crate::buildkit::names;
use crate::parse::Instruction;
use crate::stages::{Build, Stage};
use crate::words::{Values, Variable, expand, unquote, variables};

/// Variables that every build has before its first stage.
const PLATFORM: [&str; 8] = [
    "BUILDPLATFORM",
    "BUILDOS",
    "BUILDARCH",
    "BUILDVARIANT",
    "TARGETPLATFORM",
    "TARGETOS",
    "TARGETARCH",
    "TARGETVARIANT",
];

/// Variables that may be passed to every build without a definition.
const PASSED: [&str; 12] = [
    "HTTP_PROXY",
    "http_proxy",
    "HTTPS_PROXY",
    "https_proxy",
    "FTP_PROXY",
    "ftp_proxy",
    "NO_PROXY",
    "no_proxy",
    "ALL_PROXY",
    "all_proxy",
    "PATH",
    "TARGETSTAGE",
];

pub(crate) fn check(build: &Build<'_>, found: &mut Vec<Diagnostic>) {
    let escape = build.file.escape;
    let globals: HashSet<String> = build.globals.iter().flat_map(|it| defined(it, escape)).collect();
    let defaults = defaults(build.globals, escape);
    for (number, stage) in build.stages.iter().enumerate() {
        in_from(stage, &globals, escape, found);
        default_image(stage, &defaults, escape, found);
        in_stage(build, number, &globals, found);
    }
}

fn in_from(stage: &Stage<'_>, globals: &HashSet<String>, escape: char, found: &mut Vec<Diagnostic>) {
    let is_known = |name: &str| globals.contains(name) || PLATFORM.contains(&name) || PASSED.contains(&name);
    let flag = stage.from.flag("platform").map(|it| it.range.clone());
    for (variable, range) in
        flag.into_iter().chain([stage.image.clone()]).flat_map(|it| used(stage.from, it, escape))
    {
        if variable.modifier.is_empty() && !is_known(&variable.name) {
            let known = globals.iter().map(String::as_str).chain(PLATFORM);
            let message = format!(
                "`{}` is no argument from before the first FROM{}",
                variable.name,
                hint(&variable.name, known)
            );
            found.push(Diagnostic::new("UndefinedArgInFrom", message, stage.from.line.place(range)));
        }
    }
}

fn used(it: &Instruction, part: Range<usize>, escape: char) -> Vec<(Variable, Range<usize>)> {
    let moved = |variable: Variable| {
        let range = part.start + variable.range.start..part.start + variable.range.end;
        (variable, range)
    };
    variables(&it.line.text[part.clone()], escape).into_iter().map(moved).collect()
}

/// Name of the image in a build without arguments.
fn default_image(stage: &Stage<'_>, defaults: &Values, escape: char, found: &mut Vec<Diagnostic>) {
    let text = stage.image_text();
    if variables(text, escape).is_empty() {
        return;
    }
    if expand(text, escape, defaults).is_some_and(|it| !is_image(&it)) {
        let message =
            format!("`{text}` is no image where the build has no arguments: the defaults lead to none");
        found.push(Diagnostic::new("InvalidDefaultArgInFrom", message, stage.image_place()));
    }
}

/// Values of the arguments from before the first stage in a build without arguments. Each sees those before it, as in
/// BuildKit.
fn defaults(globals: &[Instruction], escape: char) -> Values {
    let platform = |name: &str| match name {
        "TARGETPLATFORM" | "BUILDPLATFORM" => Some("linux/amd64"),
        "TARGETOS" | "BUILDOS" => Some("linux"),
        "TARGETARCH" | "BUILDARCH" => Some("amd64"),
        _ => None,
    };
    let platforms = PLATFORM.iter().filter_map(|it| Some(((*it).to_owned(), Some(platform(it)?.to_owned()))));
    let mut values: Values = platforms.collect();
    for it in globals {
        for word in it.words(escape) {
            if let Some((name, text)) = it.line.text[word].split_once('=') {
                let value = expand(text, escape, &values);
                values.insert(unquote(name, escape), value);
            }
        }
    }
    values
}

/// Whether a name may be that of an image: `host:port/path/name:tag@digest`.
pub(crate) fn is_image(name: &str) -> bool {
    let (rest, digest) = name.split_once('@').map_or((name, None), |(rest, it)| (rest, Some(it)));
    let slash = rest.rfind('/').map_or(0, |it| it + 1);
    let (path, tag) = rest[slash..]
        .split_once(':')
        .map_or((rest, None), |(last, tag)| (&rest[..slash + last.len()], Some(tag)));
    let is_tag = |it: &str| {
        it.starts_with(|it: char| it.is_ascii_alphanumeric() || it == '_')
            && it.len() <= 128
            && it.chars().all(|it| it.is_ascii_alphanumeric() || matches!(it, '_' | '.' | '-'))
    };
    let is_digest = |it: &str| {
        it.split_once(':')
            .is_some_and(|(_, hex)| hex.len() >= 32 && hex.chars().all(|it| it.is_ascii_hexdigit()))
    };
    let mut parts: Vec<&str> = path.split('/').collect();
    let has_host = parts.len() > 1
        && (parts[0].contains(['.', ':']) || parts[0] == "localhost" || parts[0] != parts[0].to_lowercase());
    if has_host {
        parts.remove(0);
    }
    let is_part = |it: &&str| {
        let ends_well =
            |it: Option<char>| it.is_some_and(|it| it.is_ascii_lowercase() || it.is_ascii_digit());
        let is_sign =
            |it: char| it.is_ascii_lowercase() || it.is_ascii_digit() || matches!(it, '.' | '_' | '-');
        ends_well(it.chars().next()) && ends_well(it.chars().last()) && it.chars().all(is_sign)
    };
    parts.iter().all(is_part) && tag.is_none_or(is_tag) && digest.is_none_or(is_digest)
}

/// Instructions in which variables are expanded.
const EXPANDED: [&str; 10] =
    ["ADD", "ARG", "COPY", "ENV", "EXPOSE", "LABEL", "STOPSIGNAL", "USER", "VOLUME", "WORKDIR"];

/// The flags of `ADD` and `COPY` of which the same is true.
const EXPANDED_FLAGS: [&str; 3] = ["chown", "chmod", "checksum"];

fn in_stage(build: &Build<'_>, number: usize, globals: &HashSet<String>, found: &mut Vec<Diagnostic>) {
    let escape = build.file.escape;
    let mut line: Vec<&Stage<'_>> = build.line_of(number).collect();
    line.reverse();
    let has_no_base = line.first().is_some_and(|it| it.image_text().eq_ignore_ascii_case("scratch"));
    let steps = build.stages[number].steps;
    let inherited = line[..line.len() - 1].iter().flat_map(|it| it.steps).flat_map(|it| defined(it, escape));
    let passed = PASSED.iter().map(|it| (*it).to_owned());
    let mut known: HashSet<String> = passed.chain(inherited).collect();
    let last = steps.iter().enumerate().flat_map(|(at, it)| defined(it, escape).map(move |name| (name, at)));
    let last: HashMap<String, usize> = last.collect();
    for (at, it) in steps.iter().enumerate() {
        let own: HashSet<String> = defined(it, escape).collect();
        let scope = Scope { known: &known, own: &own, last: &last, at, globals, has_no_base };
        for (variable, range) in expanded(it, escape).into_iter().flat_map(|part| used(it, part, escape)) {
            if let Some(message) = scope.problem(&variable) {
                found.push(Diagnostic::new("UndefinedVar", message, it.line.place(range)));
            }
        }
        known.extend(own);
    }
}

/// The parts of an instruction that variables are put into.
fn expanded(it: &Instruction, escape: char) -> Vec<Range<usize>> {
    if it.onbuild.is_some() || !EXPANDED.contains(&&*it.kind) {
        return Vec::new();
    }
    let flags = it.flags.iter().filter(|it| EXPANDED_FLAGS.contains(&&*it.name)).map(|it| it.range.clone());
    let arguments = it.arguments..it.line.text.len();
    // A string of an array has escapes of its own, behind which the places of variables are not known.
    let is_dark = it.json().is_some() && it.argument_text().contains([escape, '\\', '\'']);
    flags.chain((!is_dark).then_some(arguments)).collect()
}

/// The names that `ARG` or `ENV` of this build defines.
fn defined(it: &Instruction, escape: char) -> impl Iterator<Item = String> {
    let names = if it.is("ARG") || it.is("ENV") { names(it, escape) } else { Vec::new() };
    names.into_iter().map(|it| it.0)
}

/// State at an instruction.
struct Scope<'a> {
    known: &'a HashSet<String>,
    /// Names that the instruction itself defines: `ENV X=$X:more` adds to the value in the base image.
    own: &'a HashSet<String>,
    /// Number of the step in the stage that defines a name last; `at` is that of the instruction.
    last: &'a HashMap<String, usize>,
    at: usize,
    globals: &'a HashSet<String>,
    has_no_base: bool,
}

impl Scope<'_> {
    fn problem(&self, variable: &Variable) -> Option<String> {
        let name = &variable.name;
        if !variable.modifier.is_empty() || self.known.contains(name) {
            return None;
        }
        if self.globals.contains(name) && !self.own.contains(name) {
            return Some(format!(
                "`{name}` is from before the first FROM: the stage needs `ARG {name}` to see it"
            ));
        }
        if PLATFORM.contains(&&**name) {
            return Some(format!("the stage needs `ARG {name}` to see `{name}`"));
        }
        if self.own.contains(name) {
            return None;
        }
        if self.last.get(name).is_some_and(|it| *it > self.at) {
            return Some(format!("`{name}` is defined later only"));
        }
        let hint = hint(name, self.known.iter().map(String::as_str));
        if self.has_no_base || !hint.is_empty() {
            return Some(format!("nothing defines `{name}`{hint}"));
        }
        None
    }
}

/// The one of the names that was perhaps meant.
fn hint<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> String {
    let near =
        known.filter(|it| name.len() > 3 && name.len().abs_diff(it.len()) < 2 && is_near(name, it)).min();
    near.map(|it| format!("; did you mean `{it}`?")).unwrap_or_default()
}

/// Whether one letter is wrong, missing or too much, or two have changed places.
fn is_near(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let same = one.iter().zip(other).take_while(|(a, b)| a == b).count();
    let (a, b) = (&one[same..], &other[same..]);
    // A number at the end distinguishes names.
    if a.iter().chain(b).all(u8::is_ascii_digit) {
        return false;
    }
    match a.len().abs_diff(b.len()) {
        0 => a.get(1..) == b.get(1..) || (a.len() > 1 && a[0] == b[1] && a[1] == b[0] && a[2..] == b[2..]),
        1 if a.len() > b.len() => a[1..] == *b,
        1 => *a == b[1..],
        _ => false,
    }
}
