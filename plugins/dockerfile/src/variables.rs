//! Variables that nothing defines.
//!
//! BuildKit knows what the base image defines, and here nobody does. So a variable that is not known is told only where
//! the file itself shows that it is wrong: where there is no base image, where the name is that of an argument from
//! before the first stage or of a later definition, and where it differs by a letter from one that is known.

use std::collections::HashSet;
use std::ops::Range;

use broker_plugin_sdk::Diagnostic;

use crate::buildkit::names;
use crate::parse::Instruction;
use crate::stages::{Build, Stage};
use crate::words::{Variable, expand, unquote, variables};

/// What every build has before its first stage.
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

/// What may be passed to every build without a definition.
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
    let globals: Vec<String> = build.globals.iter().flat_map(|it| names(it, escape)).map(|it| it.0).collect();
    for (number, stage) in build.stages.iter().enumerate() {
        in_from(stage, &globals, escape, found);
        default_image(build, stage, found);
        in_stage(build, number, &globals, found);
    }
}

fn in_from(stage: &Stage<'_>, globals: &[String], escape: char, found: &mut Vec<Diagnostic>) {
    let is_known = |name: &str| {
        globals.iter().any(|it| it == name) || PLATFORM.contains(&name) || PASSED.contains(&name)
    };
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

/// What the image is called when nobody passes arguments.
fn default_image(build: &Build<'_>, stage: &Stage<'_>, found: &mut Vec<Diagnostic>) {
    let escape = build.file.escape;
    let text = stage.image_text();
    if variables(text, escape).is_empty() {
        return;
    }
    let default = |name: &str| default_of(build.globals, name, escape, 0);
    if expand(text, escape, &default).is_some_and(|it| !is_image(&it)) {
        let message =
            format!("`{text}` is no image as long as nobody passes an argument: the defaults lead to none");
        found.push(Diagnostic::new("InvalidDefaultArgInFrom", message, stage.image_place()));
    }
}

/// Of an argument of an argument of an argument.
const DEEPEST: usize = 20;

fn default_of(globals: &[Instruction], name: &str, escape: char, depth: usize) -> Option<String> {
    let known = match name {
        "TARGETPLATFORM" | "BUILDPLATFORM" => "linux/amd64",
        "TARGETOS" | "BUILDOS" => "linux",
        "TARGETARCH" | "BUILDARCH" => "amd64",
        _ => "",
    };
    if !known.is_empty() {
        return Some(known.to_owned());
    }
    let mut value = None;
    for (number, it) in globals.iter().enumerate() {
        for word in it.words(escape) {
            let Some((key, text)) = it.line.text[word].split_once('=') else { continue };
            if unquote(key, escape) == name && depth < DEEPEST {
                let before = |name: &str| default_of(&globals[..number], name, escape, depth + 1);
                value = Some(expand(text, escape, &before).unwrap_or_else(|| "unknown".to_owned()));
            }
        }
    }
    value
}

/// Whether it may be the name of an image: `host:port/path/name:tag@digest`.
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

/// What an instruction puts in values for.
const EXPANDED: [&str; 10] =
    ["ADD", "ARG", "COPY", "ENV", "EXPOSE", "LABEL", "STOPSIGNAL", "USER", "VOLUME", "WORKDIR"];

fn in_stage(build: &Build<'_>, number: usize, globals: &[String], found: &mut Vec<Diagnostic>) {
    let escape = build.file.escape;
    let mut line: Vec<&Stage<'_>> = build.line_of(number).collect();
    line.reverse();
    let has_no_base = line.first().is_some_and(|it| it.image_text().eq_ignore_ascii_case("scratch"));
    let stage = &build.stages[number];
    let mut known: HashSet<String> = PASSED.iter().map(|it| (*it).to_owned()).collect();
    for up in &line[..line.len() - 1] {
        known.extend(defined(up.steps, escape));
    }
    for (at, it) in stage.steps.iter().enumerate() {
        if it.onbuild.is_none() && EXPANDED.contains(&&*it.kind) && it.json().is_none() {
            let after = defined(&stage.steps[at + 1..], escape);
            let own = defined(std::slice::from_ref(it), escape);
            let scope = Scope { known: &known, own: &own, after: &after, globals, has_no_base };
            for (variable, range) in used(it, it.arguments..it.line.text.len(), escape) {
                if let Some(message) = scope.problem(&variable) {
                    found.push(Diagnostic::new("UndefinedVar", message, it.line.place(range)));
                }
            }
        }
        known.extend(defined(std::slice::from_ref(it), escape));
    }
}

fn defined(steps: &[Instruction], escape: char) -> Vec<String> {
    let definitions = steps.iter().filter(|it| it.is("ARG") || it.is("ENV"));
    definitions.flat_map(|it| names(it, escape)).map(|it| it.0).collect()
}

/// What is known where an instruction is.
struct Scope<'a> {
    known: &'a HashSet<String>,
    /// What the instruction itself defines: `ENV X=$X:more` adds to what the base image has.
    own: &'a [String],
    after: &'a [String],
    globals: &'a [String],
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
        if self.after.contains(name) {
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
    let mut near: Vec<&str> = known.filter(|it| name.len() > 3 && is_near(name, it)).collect();
    near.sort_unstable();
    near.first().map(|it| format!("; did you mean `{it}`?")).unwrap_or_default()
}

/// Whether one letter is wrong, missing or too much, or two have changed places.
fn is_near(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let same = one.iter().zip(other).take_while(|(a, b)| a == b).count();
    let (a, b) = (&one[same..], &other[same..]);
    // A number at the end tells one name from another.
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
