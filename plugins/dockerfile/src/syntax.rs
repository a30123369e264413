//! Errors at which BuildKit refuses a file: instructions that it does not know, and arguments that do not fit.
//!
//! Left out is what it finds only when it builds, and flags where it does not look at them (`ARG`, `STOPSIGNAL`,
//! `HEALTHCHECK NONE`).

use serde_json::Value;

use crate::flags;
use crate::parse::{Dockerfile, Flaw, Instruction, heredoc};
use crate::words::{is_open, unquote};

/// Everything that keeps a file from being built.
pub(crate) fn flaws(file: &mut Dockerfile) -> Vec<Flaw> {
    let mut found = std::mem::take(&mut file.flaws);
    let mut has_stage = false;
    for it in &file.instructions {
        has_stage |= it.is("FROM");
        if let Some(message) = refused(it, file.escape, has_stage) {
            let place = if it.kind.is_empty() { it.span.clone() } else { it.place.clone() };
            found.push(Flaw { message, place });
        }
    }
    if !has_stage && found.is_empty() {
        let message = "there is no FROM: a build needs a stage".to_owned();
        found.push(Flaw { message, place: 0..0 });
    }
    found
}

/// Whether a file names another frontend than Docker's own.
pub(crate) fn is_foreign(file: &Dockerfile) -> bool {
    let mut named = file.directives.iter().filter(|it| it.name == "syntax");
    named.any(|it| !it.value.contains("docker/dockerfile"))
}

fn refused(it: &Instruction, escape: char, has_stage: bool) -> Option<String> {
    let kind = &*it.kind;
    if it.onbuild.is_some() && matches!(kind, "ONBUILD" | "FROM" | "MAINTAINER") {
        return Some(format!("{kind} cannot be put off by ONBUILD"));
    }
    let Some(known) = flags::known(kind) else {
        return Some(format!("there is no instruction `{}`", it.keyword));
    };
    if !has_stage && kind != "ARG" {
        return Some(format!("{kind} must come after FROM: there is no stage that it could belong to"));
    }
    flags::refused(it, known, escape).or_else(|| array(it)).or_else(|| arguments(it, escape))
}

/// An array that has more than strings.
fn array(it: &Instruction) -> Option<String> {
    let text = it.argument_text().trim();
    let text = match &*it.kind {
        "HEALTHCHECK" => text.split_once(char::is_whitespace)?.1.trim(),
        "ADD" | "CMD" | "COPY" | "ENTRYPOINT" | "RUN" | "SHELL" | "VOLUME" => text,
        _ => return None,
    };
    let values: Vec<Value> = text.starts_with('[').then(|| serde_json::from_str(text).ok()).flatten()?;
    let other = values.iter().find(|it| !it.is_string())?;
    Some(format!("{} takes an array of strings, and `{other}` is none", it.kind))
}

fn arguments(it: &Instruction, escape: char) -> Option<String> {
    let kind = &*it.kind;
    let words = it.words(escape);
    let json = it.json();
    match kind {
        "CMD" | "ENTRYPOINT" | "RUN" => return None,
        "ONBUILD" => return Some("ONBUILD needs an instruction".to_owned()),
        _ if words.is_empty() => return Some(format!("{kind} needs at least one argument")),
        _ => {}
    }
    let wrong = match kind {
        "ADD" | "COPY" => copy(it, json.as_ref().map_or(words.len(), Vec::len), escape),
        "FROM" => from(it, escape),
        "ENV" | "LABEL" => pairs(it, escape),
        "ARG" if it.argument_text().starts_with('=') => Some("an argument needs a name".to_owned()),
        "SHELL" if json.as_ref().is_none_or(Vec::is_empty) => {
            Some("SHELL needs its arguments as a JSON array: [\"sh\", \"-c\"]".to_owned())
        }
        "HEALTHCHECK" => healthcheck(it, escape),
        _ => None,
    };
    wrong.or_else(|| if json.is_none() { open_quote(it, escape) } else { None })
}

fn copy(it: &Instruction, n_words: usize, escape: char) -> Option<String> {
    let kind = &it.kind;
    if n_words < 2 {
        return Some(format!("{kind} needs a source and a destination"));
    }
    let last = it.words(escape).pop().filter(|_| it.json().is_none())?;
    let is_heredoc = heredoc(&it.line.text[last], escape).is_some();
    is_heredoc.then(|| format!("{kind} copies a here-document to a place: it cannot be the destination"))
}

/// A quote that is never closed, where variables are put in. Some instructions know words before they know quotes.
fn open_quote(it: &Instruction, escape: char) -> Option<String> {
    let text = &it.line.text;
    let parts = match &*it.kind {
        "ADD" | "COPY" | "EXPOSE" | "VOLUME" => it.words(escape),
        "FROM" => it.words(escape).into_iter().take(1).collect(),
        "ENV" | "LABEL" | "STOPSIGNAL" | "USER" | "WORKDIR" => {
            std::iter::once(it.arguments..text.len()).collect()
        }
        _ => return None,
    };
    let open = parts.into_iter().find(|part| is_open(&text[part.clone()], escape))?;
    let hint = match &*it.kind {
        "ADD" | "COPY" | "VOLUME" => ": a path with spaces needs a JSON array",
        _ => "",
    };
    Some(format!("the quote in `{}` is never closed{hint}", text[open].trim()))
}

fn from(it: &Instruction, escape: char) -> Option<String> {
    let words: Vec<&str> = it.words(escape).into_iter().map(|word| &it.line.text[word]).collect();
    match words[..] {
        [_] => None,
        [_, keyword, name] if keyword.eq_ignore_ascii_case("AS") => {
            let name = unquote(name, escape).to_ascii_lowercase();
            let is_sign = |it: char| it.is_ascii_alphanumeric() || matches!(it, '-' | '_' | '.');
            let is_name = name.starts_with(|it: char| it.is_ascii_lowercase()) && name.chars().all(is_sign);
            (!is_name).then(|| {
                format!("a stage cannot be called `{name}`: a name is a letter, then letters, digits, `-`, `_`, `.`")
            })
        }
        _ => Some("FROM needs an image, and may have `AS` and a name after it".to_owned()),
    }
}

fn pairs(it: &Instruction, escape: char) -> Option<String> {
    let words: Vec<&str> = it.words(escape).into_iter().map(|word| &it.line.text[word]).collect();
    let kind = &it.kind;
    let first = words.first()?;
    if first.starts_with('=') {
        return Some(format!("{kind} needs names: `name=value`"));
    }
    if !first.contains('=') {
        return (words.len() < 2).then(|| format!("{kind} needs a value: `{first}=value`"));
    }
    let wrong = words.iter().find(|it| !it.contains('='))?;
    Some(format!(
        "`{wrong}` has no `=`: {kind} needs `name=value`, with quotes around a value that has spaces"
    ))
}

fn healthcheck(it: &Instruction, escape: char) -> Option<String> {
    let words = it.words(escape);
    let kind = it.line.text[words.first()?.clone()].to_ascii_uppercase();
    match (&*kind, words.len()) {
        ("NONE", 1) => None,
        ("NONE", _) => Some("HEALTHCHECK NONE has no arguments".to_owned()),
        ("CMD", 1) => Some("HEALTHCHECK CMD needs a command".to_owned()),
        ("CMD", _) => flags::healthcheck(it, escape),
        _ => Some("HEALTHCHECK needs `CMD` and a command, or `NONE`".to_owned()),
    }
}
