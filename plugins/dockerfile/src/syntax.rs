//! What BuildKit refuses: instructions that it does not know, and arguments that do not fit.

use crate::parse::{Dockerfile, Flaw, Instruction};
use crate::words::unquote;

/// Everything that keeps a file from being built.
pub(crate) fn flaws(file: &mut Dockerfile) -> Vec<Flaw> {
    let mut found = std::mem::take(&mut file.flaws);
    let knows_flags = !is_foreign(file);
    let mut has_stage = false;
    for it in &file.instructions {
        has_stage |= it.is("FROM");
        if let Some(message) = refused(it, file.escape, has_stage, knows_flags) {
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

/// Whether the file says that it is read by something else than Docker's own frontend.
pub(crate) fn is_foreign(file: &Dockerfile) -> bool {
    let mut named = file.directives.iter().filter(|it| it.name == "syntax");
    named.any(|it| !it.value.contains("docker/dockerfile"))
}

fn refused(it: &Instruction, escape: char, has_stage: bool, knows_flags: bool) -> Option<String> {
    let kind = &*it.kind;
    if it.onbuild.is_some() && matches!(kind, "ONBUILD" | "FROM" | "MAINTAINER") {
        return Some(format!("{kind} cannot be put off by ONBUILD"));
    }
    let flags = known_flags(kind);
    if flags.is_none() && kind != "ONBUILD" {
        return Some(format!("there is no instruction `{}`", it.keyword));
    }
    if !has_stage && kind != "ARG" {
        return Some(format!("{kind} must come after FROM: there is no stage that it could belong to"));
    }
    let is_unknown = |it: &&crate::parse::Flag| !flags.unwrap_or_default().contains(&&*it.name);
    if let Some(flag) = it.flags.iter().find(is_unknown).filter(|_| knows_flags) {
        return Some(format!("{kind} has no flag `--{}`", flag.name));
    }
    arguments(it, escape)
}

/// `None`: there is no such instruction.
fn known_flags(kind: &str) -> Option<&'static [&'static str]> {
    Some(match kind {
        "ADD" => &["keep-git-dir", "chown", "chmod", "link", "checksum", "unpack", "exclude"],
        "COPY" => &["from", "chown", "chmod", "link", "parents", "exclude"],
        "FROM" => &["platform"],
        "HEALTHCHECK" => &["interval", "timeout", "start-period", "start-interval", "retries"],
        "RUN" => &["mount", "network", "security", "device"],
        "ARG" | "CMD" | "ENTRYPOINT" | "ENV" | "EXPOSE" | "LABEL" | "MAINTAINER" | "SHELL" | "STOPSIGNAL"
        | "USER" | "VOLUME" | "WORKDIR" => &[],
        _ => return None,
    })
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
    match kind {
        "ADD" | "COPY" if json.as_ref().map_or(words.len(), Vec::len) < 2 => {
            Some(format!("{kind} needs a source and a destination"))
        }
        "FROM" => from(it, escape),
        "ENV" | "LABEL" => pairs(it, escape),
        "ARG" if it.argument_text().starts_with('=') => Some("an argument needs a name".to_owned()),
        "SHELL" if json.is_none_or(|it| it.is_empty()) => {
            Some("SHELL needs its arguments as a JSON array: [\"sh\", \"-c\"]".to_owned())
        }
        "HEALTHCHECK" => healthcheck(it, escape),
        _ => None,
    }
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
        ("CMD", _) => None,
        _ => Some("HEALTHCHECK needs `CMD` and a command, or `NONE`".to_owned()),
    }
}
