//! Odd files. A plugin may find in them what it likes, but it has to answer.

use bytes::Bytes;
use lint::Completeness;
use overlay::WorkspacePath;

use crate::{Check, Fixtures, Report, Verdict, answers::Bench};

/// Bytes of what is made large: not so many that a file full of findings has more than a host takes.
const LARGE: usize = 256 << 10;
const DEEP: usize = 10_000;

pub(crate) fn check(bench: &Bench<'_>, report: &mut Report) {
    let mut count = 0;
    for (path, text, view) in seeds(bench) {
        for (what, odd) in odd_texts(&text) {
            if bench.is_over() {
                return;
            }
            count += 1;
            let odd = Bytes::from(odd);
            let outcome = bench.ask_of(&view, &path, odd.clone());
            if let Completeness::Failed(why) | Completeness::Pending(why) = outcome.completeness {
                report.no_answer(Check::Robustness, path.as_str(), &what, &why, &odd);
            }
        }
    }
    match count {
        0 => report.add(Check::Robustness, Verdict::Note, "", "there is no fixture to make odd files of"),
        _ => report.pass(Check::Robustness, format!("{count} odd files are answered")),
    }
}

type Seed = (WorkspacePath, Bytes, overlay::Memory);

/// A few fixtures, or an empty file if there are none.
fn seeds(bench: &Bench<'_>) -> Vec<Seed> {
    const MAX_SEEDS: usize = 8;
    let Fixtures { valid, invalid, .. } = bench.fixtures;
    let of = |set: &crate::fixtures::Set| -> Vec<Seed> {
        let files = bench.wanted(&set.files).filter(|(path, _)| !bench.is_configuration(path));
        files.map(|(path, text)| (path.clone(), text.clone(), (*set.view).clone())).collect()
    };
    let mut seeds: Vec<Seed> = [of(invalid), of(valid)].concat();
    seeds.truncate(MAX_SEEDS);
    if seeds.is_empty() {
        seeds.extend(made_up(bench));
    }
    seeds
}

/// A file that the globs name, so far as one can be made of them.
fn made_up(bench: &Bench<'_>) -> Option<Seed> {
    let globs = &bench.plugin.manifest().globs;
    let names = globs.iter().map(|it| it.replace("**/", "").replace('*', "file"));
    let path = names.filter_map(|it| WorkspacePath::new(&it).ok()).find(|it| !it.is_root())?;
    Some((path, Bytes::new(), overlay::Memory::default()))
}

fn odd_texts(text: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut odd: Vec<(String, Vec<u8>)> = Vec::new();
    let mut add = |what: &str, text: Vec<u8>| odd.push((what.to_owned(), text));
    for eighth in 1..8 {
        add(&format!("cut off after {eighth}/8"), text[..text.len() * eighth / 8].to_vec());
    }
    let middle = text.len() / 2;
    add("empty", Vec::new());
    add("not UTF-8", [&text[..middle], b"\xff\xfe\x80", &text[middle..]].concat());
    add("with a byte order mark", [b"\xef\xbb\xbf", text].concat());
    add("with CRLF", crlf(text));
    add("without a line break at the end", text.trim_ascii_end().to_vec());
    add("only line breaks", vec![b'\n'; 1_000]);
    add("NUL bytes", vec![0; 1_000]);
    add("with NUL bytes inside", [&text[..middle], b"\0\0", &text[middle..]].concat());
    add("in one line", one_line(text));
    add("large", repeated(text));
    for bracket in ["(", "[", "{", "<a>", "- ", "> ", "!", "if x:\n "] {
        add(&format!("{DEEP} times `{}`", bracket.escape_debug()), bracket.repeat(DEEP).into_bytes());
    }
    odd
}

fn crlf(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for (index, byte) in text.iter().enumerate() {
        if *byte == b'\n' && (index == 0 || text[index - 1] != b'\r') {
            out.push(b'\r');
        }
        out.push(*byte);
    }
    out
}

fn one_line(text: &[u8]) -> Vec<u8> {
    let line: Vec<u8> = text.iter().map(|it| if matches!(it, b'\n' | b'\r') { b' ' } else { *it }).collect();
    repeated(&line)
}

fn repeated(text: &[u8]) -> Vec<u8> {
    let text = if text.is_empty() { b"x " } else { text };
    text.iter().copied().cycle().take(LARGE).collect()
}
