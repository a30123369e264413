//! BuildKit's build checks but those on variables.

use std::collections::HashMap;

use broker_plugin_sdk::{Applicability, Diagnostic, Edit, Fix, Related};

use crate::parse::Instruction;
use crate::secrets;
use crate::stages::{Build, Stage};
use crate::words::{unquote, variables};

pub(crate) fn check(build: &Build<'_>, text: &str, found: &mut Vec<Diagnostic>) {
    casing(build, found);
    stage_names(build, found);
    for (number, stage) in build.stages.iter().enumerate() {
        platform(stage, build.file.escape, found);
        stage_steps(build, number, found);
        used_once(stage, found);
    }
    for it in &build.file.instructions {
        empty_continuation(it, text, found);
        descriptions(it, build.file.escape, found);
    }
}

/// All keywords small, or all in capitals, as most are.
fn casing(build: &Build<'_>, found: &mut Vec<Diagnostic>) {
    let written = |it: &Instruction| it.onbuild.clone().unwrap_or_else(|| it.keyword.clone());
    let of_stages = || build.file.instructions.iter().skip(build.globals.len());
    let small = of_stages().filter(|it| written(it) == written(it).to_ascii_lowercase()).count();
    let large = of_stages().filter(|it| written(it) == written(it).to_ascii_uppercase()).count();
    for it in of_stages() {
        let written = written(it);
        let (wanted, words) = match small > large {
            true => (written.to_ascii_lowercase(), "small letters"),
            false => (written.to_ascii_uppercase(), "capitals"),
        };
        if written != wanted {
            let message = format!("`{written}` should be in {words}, as most instructions here are");
            let fix = Fix::safe(format!("Write `{wanted}`"), it.place.clone(), wanted);
            found.push(
                Diagnostic::new("ConsistentInstructionCasing", message, it.place.clone()).with_fix(fix),
            );
        }
    }
}

fn stage_names(build: &Build<'_>, found: &mut Vec<Diagnostic>) {
    let mut known: HashMap<&str, std::ops::Range<usize>> = HashMap::new();
    for stage in &build.stages {
        let Some(name) = &stage.name else { continue };
        let place = stage.from.line.place(name.range.clone());
        if name.written != name.folded {
            let message = format!("the name of the stage `{}` should be in small letters", name.written);
            found.push(Diagnostic::new("StageNameCasing", message, place.clone()));
        }
        if matches!(&*name.folded, "context" | "scratch") {
            let message =
                format!("`{}` means something else already: a stage should not be called so", name.written);
            found.push(Diagnostic::new("ReservedStageName", message, place.clone()));
        }
        as_casing(stage, name, found);
        if let Some(first) = known.get(&*name.folded) {
            let message = format!("there is a stage `{}` already", name.written);
            let related =
                Related { path: None, span: first.clone().into(), message: "the first is here".into() };
            let related = vec![related];
            found.push(Diagnostic {
                related,
                ..Diagnostic::new("DuplicateStageName", message, place.clone())
            });
        }
        known.entry(&name.folded).or_insert(place);
    }
}

fn as_casing(stage: &Stage<'_>, name: &crate::stages::Name, found: &mut Vec<Diagnostic>) {
    let from = &stage.from.keyword;
    let keyword = &stage.from.line.text[name.keyword.clone()];
    let wanted = if *from == from.to_ascii_lowercase() {
        "as"
    } else if *from == from.to_ascii_uppercase() {
        "AS"
    } else {
        return;
    };
    if keyword != wanted {
        let place = stage.from.line.place(name.keyword.clone());
        let message = format!("`{keyword}` should be written as `{from}` is: `{wanted}`");
        let fix = Fix::safe(format!("Write `{wanted}`"), place.clone(), wanted);
        found.push(Diagnostic::new("FromAsCasing", message, place).with_fix(fix));
    }
}

/// `FROM --platform`.
fn platform(stage: &Stage<'_>, escape: char, found: &mut Vec<Diagnostic>) {
    let Some(flag) = stage.from.flag("platform") else { return };
    let value = flag.value.as_deref().unwrap_or_default();
    let place = stage.from.line.place(flag.range.clone());
    let used = variables(value, escape);
    if let [only] = &used[..] {
        if only.name == "TARGETPLATFORM" && only.modifier.is_empty() && only.range == (0..value.len()) {
            let message = format!("`--platform={value}` is what holds anyway");
            let end = stage.image_place().start;
            let fix = Fix::safe("Remove the flag", place.start..end, "");
            found.push(Diagnostic::new("RedundantTargetPlatform", message, place).with_fix(fix));
        }
        return;
    }
    let value = unquote(value, escape);
    let name = stage.name.as_ref().map_or("", |it| &it.folded);
    let is_in_name = value.split('/').take(2).any(|it| !it.is_empty() && name.contains(&*it.to_lowercase()));
    let is_platform = value.split('/').all(|it| !it.is_empty() && !it.contains(char::is_whitespace));
    if used.is_empty() && is_platform && !is_in_name {
        let message = format!("the platform of a stage should not be fixed, as `{value}` is here");
        found.push(Diagnostic::new("FromPlatformFlagConstDisallowed", message, place));
    }
}

fn stage_steps(build: &Build<'_>, number: usize, found: &mut Vec<Diagnostic>) {
    let escape = build.file.escape;
    let stage = &build.stages[number];
    let parents = || build.line_of(number).skip(1).flat_map(|it| it.steps);
    let mut has_workdir = parents().any(|it| it.is("WORKDIR"));
    let mut has_shell = parents().any(|it| it.is("SHELL"));
    for it in stage.steps.iter().filter(|it| it.onbuild.is_none()) {
        match &*it.kind {
            "WORKDIR" => {
                workdir(it, escape, has_workdir, found);
                has_workdir = true;
            }
            "SHELL" => has_shell = true,
            "CMD" | "ENTRYPOINT" if !has_shell => json_arguments(it, found),
            "MAINTAINER" => maintainer(it, found),
            "ENV" | "LABEL" => legacy(it, escape, found),
            "EXPOSE" => ports(it, escape, found),
            _ => {}
        }
        if matches!(&*it.kind, "ARG" | "ENV") {
            secrets::check(it, escape, found);
        }
    }
}

fn workdir(it: &Instruction, escape: char, has_workdir: bool, found: &mut Vec<Diagnostic>) {
    let path = it.argument_text();
    let plain = unquote(path, escape);
    let is_windows = plain.get(1..2) == Some(":") || plain.starts_with('\\');
    if !has_workdir && !plain.starts_with(['/', '$']) && !is_windows {
        let message = format!("`{plain}` is not absolute: where that is depends on the base image");
        let place = it.line.place(it.arguments..it.line.text.len());
        found.push(Diagnostic::new("WorkdirRelativePath", message, place));
    }
}

fn json_arguments(it: &Instruction, found: &mut Vec<Diagnostic>) {
    if it.json().is_none() && !it.argument_text().is_empty() {
        let message =
            format!("{} should have a JSON array: a shell runs it, which may not pass signals on", it.kind);
        found.push(Diagnostic::new("JSONArgsRecommended", message, it.place.clone()));
    }
}

fn maintainer(it: &Instruction, found: &mut Vec<Diagnostic>) {
    let message = "MAINTAINER is deprecated: use the label `org.opencontainers.image.authors`";
    let mut diagnostic = Diagnostic::new("MaintainerDeprecated", message, it.place.clone());
    let name = it.argument_text().trim();
    let quoted = name.strip_prefix('"').and_then(|it| it.strip_suffix('"')).unwrap_or(name);
    if !quoted.contains(['"', '\\', '`', '$', '\'']) && !quoted.is_empty() {
        let edit = Edit {
            span: it.span.clone().into(),
            replacement: format!("LABEL org.opencontainers.image.authors=\"{quoted}\""),
        };
        let message = Some("Use a label".to_owned());
        diagnostic =
            diagnostic.with_fix(Fix { message, applicability: Applicability::Unsafe, edits: vec![edit] });
    }
    diagnostic.tags = broker_plugin_sdk::Tags::DEPRECATED;
    found.push(diagnostic);
}

/// `ENV name value`.
fn legacy(it: &Instruction, escape: char, found: &mut Vec<Diagnostic>) {
    let words = it.words(escape);
    let (Some(name), Some(second)) = (words.first(), words.get(1)) else { return };
    let text = &it.line.text;
    if text[name.clone()].contains('=') {
        return;
    }
    let kind = &it.kind;
    let message = format!("`{kind} name value` is an old form: write `{kind} name=value`");
    let place = it.line.place(it.arguments..text.len());
    let diagnostic = Diagnostic::new("LegacyKeyValueFormat", message, place.clone());
    let value = text[second.start..].trim_end();
    let is_plain = !value.contains(['"', '\'', '\\', '`']) && place.len() == text.len() - it.arguments;
    found.push(if is_plain {
        let is_bare = !value.contains(char::is_whitespace);
        let value = if is_bare { value.to_owned() } else { format!("\"{value}\"") };
        let made = format!("{}={value}", &text[name.clone()]);
        diagnostic.with_fix(Fix::safe("Write `name=value`", place, made))
    } else {
        diagnostic
    });
}

fn ports(it: &Instruction, escape: char, found: &mut Vec<Diagnostic>) {
    for word in it.words(escape) {
        let port = &it.line.text[word.clone()];
        if port.contains('$') {
            continue;
        }
        let place = it.line.place(word.clone());
        let last = port.rsplit(':').next().unwrap_or(port);
        if let Some((_, protocol)) = last.split_once('/')
            && protocol != protocol.to_ascii_lowercase()
        {
            let message = format!("`{protocol}` should be in small letters");
            let start = place.end - protocol.len();
            let fix = Fix::safe("Use small letters", start..place.end, protocol.to_ascii_lowercase());
            found.push(Diagnostic::new("ExposeProtoCasing", message, place.clone()).with_fix(fix));
        }
        if port.contains(':') {
            let message = format!("`{port}` should be the container's port alone: EXPOSE maps nothing");
            found.push(Diagnostic::new("ExposeInvalidFormat", message, place));
        }
    }
}

/// Names that `ARG` or `ENV` defines, with their ranges in the instruction's text.
pub(crate) fn names(it: &Instruction, escape: char) -> Vec<(String, std::ops::Range<usize>)> {
    let words = it.words(escape);
    let text = &it.line.text;
    let is_legacy = it.kind == "ENV" && words.first().is_some_and(|word| !text[word.clone()].contains('='));
    let many = if is_legacy { 1 } else { words.len() };
    let named = |word: &std::ops::Range<usize>| {
        let name = text[word.clone()].split('=').next().unwrap_or_default();
        (unquote(name, escape), word.start..word.start + name.len())
    };
    words.iter().take(many).map(named).collect()
}

/// Reports all but the last of several instructions of which only the last counts.
fn used_once(stage: &Stage<'_>, found: &mut Vec<Diagnostic>) {
    for kind in ["CMD", "ENTRYPOINT", "HEALTHCHECK"] {
        let all: Vec<_> = stage.steps.iter().filter(|it| it.is(kind)).collect();
        let Some((last, rest)) = all.split_last() else { continue };
        for it in rest {
            let message = format!("only the last {kind} of a stage counts: there is another on a later line");
            let related = Related {
                path: None,
                span: last.place.clone().into(),
                message: "this is the last".to_owned(),
            };
            let diagnostic = Diagnostic::new("MultipleInstructionsDisallowed", message, it.place.clone());
            found.push(Diagnostic { related: vec![related], ..diagnostic });
        }
    }
}

fn empty_continuation(it: &Instruction, text: &str, found: &mut Vec<Diagnostic>) {
    let Some(start) = it.empty_line else { return };
    let rest = &text[start..];
    let blank = rest.split_inclusive('\n').take_while(|it| it.trim().is_empty()).map(str::len).sum::<usize>();
    let message = "an instruction that goes on should have no empty lines: they will be errors";
    let fix = Fix::safe("Remove the empty lines", start..start + blank, "");
    found.push(Diagnostic::new("NoEmptyContinuation", message, start..start).with_fix(fix));
}

/// The comment right before a definition is shown to who asks for the build's outline.
fn descriptions(it: &Instruction, escape: char, found: &mut Vec<Diagnostic>) {
    let Some(comment) = it.described.last() else { return };
    let names: Vec<String> = match &*it.kind {
        "ARG" if it.onbuild.is_none() => names(it, escape).into_iter().map(|it| it.0).collect(),
        "FROM" => {
            it.words(escape).get(2).map(|word| it.line.text[word.clone()].to_owned()).into_iter().collect()
        }
        _ => return,
    };
    let first = comment.split(char::is_whitespace).next().unwrap_or_default();
    if !names.is_empty() && !names.iter().any(|it| it == first) {
        let message = format!("the comment should begin with `{}`, which it describes", names.join("` or `"));
        found.push(Diagnostic::new("InvalidDefinitionDescription", message, it.place.clone()));
    }
}
