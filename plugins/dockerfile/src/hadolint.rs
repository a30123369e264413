//! Rules of hadolint that BuildKit has not: images, copies, users, ports, labels.

use std::collections::HashSet;
use std::ops::Range;

use broker_plugin_sdk::Diagnostic;

use crate::config::Config;
use crate::parse::Instruction;
use crate::stages::{Build, Stage};
use crate::words::{unquote, variables};

pub(crate) fn check(build: &Build<'_>, config: &Config, found: &mut Vec<Diagnostic>) {
    for (number, stage) in build.stages.iter().enumerate() {
        image(build, stage, found);
        registry(build, stage, config, found);
        copies(build, number, found);
        workdir_before_copy(build, number, found);
        labels(stage, build.file.escape, config, found);
        for it in stage.steps {
            match &*it.kind {
                "ADD" if it.onbuild.is_none() => add(it, build.file.escape, found),
                "EXPOSE" => ports(it, build.file.escape, found),
                "ENV" => same_statement(it, build.file.escape, found),
                _ => {}
            }
        }
    }
    root(build, found);
    healthcheck(build, found);
}

fn words_of(it: &Instruction, escape: char) -> Vec<(String, Range<usize>)> {
    let plain = |word: Range<usize>| (unquote(&it.line.text[word.clone()], escape), it.line.place(word));
    match it.json() {
        // Places in a JSON array are those of the whole: messages on a word name it.
        Some(words) => {
            let all = it.line.place(it.arguments..it.line.text.trim_end().len());
            words.into_iter().map(|word| (word, all.clone())).collect()
        }
        None => it.words(escape).into_iter().map(plain).collect(),
    }
}

fn image(build: &Build<'_>, stage: &Stage<'_>, found: &mut Vec<Diagnostic>) {
    let image = unquote(stage.image_text(), build.file.escape);
    let is_fixed = image.contains('@') || image.eq_ignore_ascii_case("scratch") || stage.parent.is_some();
    if is_fixed || image.starts_with('$') && !image.contains(':') {
        return;
    }
    let last = image.rsplit('/').next().unwrap_or_default();
    let place = stage.image_place();
    match last.split_once(':') {
        None if image.contains('$') => {}
        None => {
            let message = format!("`{image}` has no tag: builds change with each new version");
            found.push(Diagnostic::new("DL3006", message, place));
        }
        Some((_, "latest")) => {
            let message = format!("`{image}` changes with each new version: name the one that is meant");
            found.push(Diagnostic::new("DL3007", message, place));
        }
        Some(_) => {}
    }
}

fn registry(build: &Build<'_>, stage: &Stage<'_>, config: &Config, found: &mut Vec<Diagnostic>) {
    let image = unquote(stage.image_text(), build.file.escape);
    if config.trusted.is_empty() || stage.parent.is_some() || image == "scratch" || image.contains('$') {
        return;
    }
    let first = image.split('/').next().unwrap_or_default();
    let has_host = image.contains('/') && (first.contains(['.', ':']) || first == "localhost");
    let host = if has_host { first } else { "docker.io" };
    let is_hub = |it: &str| matches!(it, "docker.io" | "hub.docker.com");
    let is_trusted = |it: &String| {
        it.strip_suffix('*').map_or(it == host, |start| host.starts_with(start))
            || it.strip_prefix('*').is_some_and(|end| host.ends_with(end))
    };
    let is_trusted =
        config.trusted.iter().any(|it| it == "*" || is_trusted(it) || is_hub(it) && is_hub(host));
    if !is_trusted {
        let message = format!("`{image}` is from `{host}`, which is no trusted registry here");
        found.push(Diagnostic::new("DL3026", message, stage.image_place()));
    }
}

fn copies(build: &Build<'_>, number: usize, found: &mut Vec<Diagnostic>) {
    let stage = &build.stages[number];
    for it in stage.steps.iter().filter(|it| it.is("COPY")) {
        let words = words_of(it, build.file.escape);
        if let Some((last, place)) = words.last().filter(|_| words.len() > 2)
            && !last.ends_with(['/', '\\'])
            && variables(last, build.file.escape).is_empty()
            && !matches!(&**last, "." | "..")
        {
            let message =
                format!("`{last}` must end in `/`: with several sources, the destination is a folder");
            found.push(Diagnostic::new("DL3021", message, place.clone()));
        }
        copy_from(build, number, it, found);
    }
}

fn copy_from(build: &Build<'_>, number: usize, it: &Instruction, found: &mut Vec<Diagnostic>) {
    let Some(flag) = it.flag("from") else { return };
    let from = unquote(flag.value.as_deref().unwrap_or_default(), build.file.escape);
    let place = it.line.place(flag.range.clone());
    let folded = from.to_ascii_lowercase();
    if build.stages[number].name.as_ref().is_some_and(|it| it.folded == folded) {
        let message = format!("`{from}` is the stage that copies: it cannot copy from itself");
        return found.push(Diagnostic::new("DL3023", message, place));
    }
    let is_earlier = build.named(&folded).is_some_and(|it| it < number)
        || from.parse::<usize>().is_ok_and(|it| it < number);
    let is_image = from.contains([':', '/', '@', '$']);
    if !is_earlier && !is_image && !from.is_empty() {
        let message = format!("there is no stage `{from}` before this one");
        found.push(Diagnostic::new("DL3022", message, place));
    }
}

fn workdir_before_copy(build: &Build<'_>, number: usize, found: &mut Vec<Diagnostic>) {
    // The working directory of a stage from `scratch` is the root.
    let is_from_scratch = build.line_of(number).last().is_some_and(|it| it.image_text() == "scratch");
    let mut has_workdir =
        is_from_scratch || build.line_of(number).skip(1).flat_map(|it| it.steps).any(|it| it.is("WORKDIR"));
    for it in build.stages[number].steps {
        has_workdir |= it.is("WORKDIR");
        let words = words_of(it, build.file.escape);
        let Some((target, place)) = words.last().filter(|_| it.is("COPY") && !has_workdir) else { continue };
        let is_windows = target.get(1..2) == Some(":");
        if !target.starts_with(['/', '\\', '$']) && !is_windows {
            let message =
                format!("where `{target}` is depends on the base image: there is no WORKDIR before");
            found.push(Diagnostic::new("DL3045", message, place.clone()));
        }
    }
}

/// Endings of archives that `ADD` unpacks, or that hadolint takes for such; the case of letters does not count.
const ARCHIVES: [&str; 16] = [
    ".tar", ".tar.zst", ".z", ".gz", ".tgz", ".tpz", ".tz", ".bz2", ".tb2", ".tbz", ".tbz2", ".lz", ".tlz",
    ".lzma", ".xz", ".txz",
];

fn add(it: &Instruction, escape: char, found: &mut Vec<Diagnostic>) {
    let words = words_of(it, escape);
    let Some((_, sources)) = words.split_last() else { return };
    let is_special = |(word, _): &(String, Range<usize>)| {
        let folded = word.to_ascii_lowercase();
        let is_remote =
            ["http://", "https://", "git@", "git://", "ftp://"].iter().any(|it| folded.starts_with(it));
        is_remote
            || word.contains('$')
            || ARCHIVES.iter().any(|it| folded.ends_with(it))
            || word.starts_with("<<")
    };
    if !sources.is_empty() && !sources.iter().any(is_special) {
        let message = "files and folders are copied by COPY; ADD unpacks archives and fetches addresses";
        found.push(Diagnostic::new("DL3020", message, it.place.clone()));
    }
}

fn ports(it: &Instruction, escape: char, found: &mut Vec<Diagnostic>) {
    for (port, place) in words_of(it, escape) {
        let numbers = port.split('/').next().unwrap_or_default().split(['-', ':']);
        let is_too_large = |it: &str| {
            !it.is_empty()
                && it.chars().all(|it| it.is_ascii_digit())
                && it.parse::<u32>().map_or(true, |it| it > 65535)
        };
        if numbers.into_iter().any(is_too_large) {
            let message = format!("`{port}` is no port: they go from 0 to 65535");
            found.push(Diagnostic::new("DL3011", message, place));
        }
    }
}

/// `ENV A=1 B=$A`: the value is that from before, which `ENV A=$A B=$A` does not change.
fn same_statement(it: &Instruction, escape: char, found: &mut Vec<Diagnostic>) {
    let words = it.words(escape);
    let pair = |word: &Range<usize>| it.line.text[word.clone()].split_once('=');
    let is_new = |(name, value): &(&str, &str)| !is_variable(name, value, escape);
    let names: HashSet<&str> = words.iter().filter_map(pair).filter(is_new).map(|it| it.0).collect();
    for word in &words {
        let Some((own, value)) = it.line.text[word.clone()].split_once('=') else { continue };
        let start = word.start + own.len() + 1;
        for variable in variables(value, escape).iter().filter(|it| it.name != own) {
            if names.contains(&*variable.name) {
                let message = format!(
                    "`{}` has its old value here: the new one holds from the next line on",
                    variable.name
                );
                let range = start + variable.range.start..start + variable.range.end;
                found.push(Diagnostic::new("DL3044", message, it.line.place(range)));
            }
        }
    }
}

/// Whether a value is that of one variable and nothing else: `$V`, `"${V}"`.
fn is_variable(name: &str, value: &str, escape: char) -> bool {
    let [only] = &variables(value, escape)[..] else { return false };
    only.name == name && only.modifier.is_empty() && unquote(value, escape) == value[only.range.clone()]
}

/// The last stage is what runs.
fn root(build: &Build<'_>, found: &mut Vec<Diagnostic>) {
    let escape = build.file.escape;
    let Some(stage) = build.stages.last() else { return };
    let Some(user) = stage.steps.iter().rfind(|it| it.is("USER")) else { return };
    if user.is_root(escape) {
        let message = "the image runs as root: the last USER should be another";
        found.push(Diagnostic::new(
            "DL3002",
            message,
            user.line.place(user.arguments..user.line.text.trim_end().len()),
        ));
    }
}

fn healthcheck(build: &Build<'_>, found: &mut Vec<Diagnostic>) {
    let Some(last) = build.stages.len().checked_sub(1) else { return };
    if !build.line_of(last).flat_map(|it| it.steps).any(|it| it.is("HEALTHCHECK")) {
        let place = build.stages[last].from.place.clone();
        found.push(Diagnostic::new("DL3057", "nothing checks whether what the image runs is well", place));
    }
}

/// The labels that the configuration wants, and no others if it says so.
fn labels(stage: &Stage<'_>, escape: char, config: &Config, found: &mut Vec<Diagnostic>) {
    let all = stage.steps.iter().filter(|it| it.is("LABEL"));
    let all: Vec<(String, Option<String>, Range<usize>)> = all.flat_map(|it| pairs(it, escape)).collect();
    for (name, kind) in &config.labels {
        match all.iter().find(|it| it.0 == *name) {
            None => {
                let message = format!("the label `{name}` is missing");
                found.push(Diagnostic::new("DL3049", message, stage.from.place.clone()));
            }
            Some((_, Some(value), place)) if value.trim().is_empty() && kind == "text" => {
                let message = format!("the label `{name}` is empty");
                found.push(Diagnostic::new("DL3051", message, place.clone()));
            }
            Some(_) => {}
        }
    }
    let is_extra = |name: &str| config.strict_labels && !config.labels.iter().any(|it| it.0 == name);
    for (name, _, place) in all.iter().filter(|it| is_extra(&it.0)) {
        let message = format!("the label `{name}` is none of those that the configuration names");
        found.push(Diagnostic::new("DL3050", message, place.clone()));
    }
}

fn pairs(it: &Instruction, escape: char) -> Vec<(String, Option<String>, Range<usize>)> {
    let pair = |word: Range<usize>| {
        let text = &it.line.text[word.clone()];
        let (name, value) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
        let value = value.filter(|it| !it.contains('$')).map(|it| unquote(it, escape));
        (unquote(name, escape), value, it.line.place(word))
    };
    let words = it.words(escape);
    let is_legacy = words.first().is_some_and(|word| !it.line.text[word.clone()].contains('='));
    let many = if is_legacy { 1 } else { words.len() };
    words.into_iter().take(many).map(pair).collect()
}
