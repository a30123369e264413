//! Commands that fail where their standard input is empty or cut. A pipe that leads to one needs no `pipefail`.
//!
//! Left out is what succeeds with a part of its input (`grep -v`, `grep -c`), or reads something else.

/// The options of a command and what follows them.
#[derive(Default)]
struct Options<'a> {
    /// Letters without their values.
    short: String,
    long: Vec<&'a str>,
    operands: Vec<&'a str>,
}

pub(crate) fn is_needed_by(words: &[&str]) -> bool {
    let [name, arguments @ ..] = words else { return false };
    match name.rsplit('/').next().unwrap_or_default() {
        "sudo" => is_needed_by(under_sudo(arguments)),
        "tar" => reads_archive(arguments),
        "grep" | "egrep" | "fgrep" => searches(arguments),
        "gzip" | "bzip2" | "xz" | "zstd" => unpacks(arguments, false),
        "gunzip" | "zcat" | "bunzip2" | "bzcat" | "unxz" | "xzcat" | "unzstd" | "zstdcat" | "funzip" => {
            unpacks(arguments, true)
        }
        "unzip" => arguments.iter().any(|it| is_input(it)),
        "gpg" | "gpg2" => reads_keys(arguments),
        "md5sum" | "sha1sum" | "sha224sum" | "sha256sum" | "sha384sum" | "sha512sum" | "b2sum" | "shasum" => {
            checks_sums(arguments)
        }
        "apt-key" => matches!(arguments, ["add", key] if is_input(key)),
        _ => false,
    }
}

/// The command that sudo runs.
fn under_sudo<'w, 'a>(arguments: &'w [&'a str]) -> &'w [&'a str] {
    let mut rest = arguments;
    while let [option, behind @ ..] = rest
        && option.starts_with('-')
    {
        let has_value = option.len() == 2 && option.ends_with(['u', 'g', 'p', 'C', 'D', 'R', 'T']);
        rest = if has_value { behind.get(1..).unwrap_or_default() } else { behind };
    }
    rest
}

fn is_input(operand: &str) -> bool {
    matches!(operand, "-" | "/dev/stdin")
}

/// Options whose letters among `valued`, and whose names among `valued_long`, have a value of their own.
fn options<'a>(arguments: &[&'a str], valued: &str, valued_long: &[&str]) -> Options<'a> {
    let mut found = Options::default();
    let mut all = arguments.iter().copied();
    while let Some(it) = all.next() {
        if it.starts_with("--") {
            found.long.push(it);
            all.by_ref().take(usize::from(valued_long.contains(&it))).for_each(drop);
        } else if let Some(letters) = it.strip_prefix('-').filter(|it| !it.is_empty()) {
            let end = letters.find(|it| valued.contains(it)).map_or(letters.len(), |it| it + 1);
            found.short.push_str(&letters[..end]);
            let is_apart = end == letters.len() && letters.ends_with(|it| valued.contains(it));
            all.by_ref().take(usize::from(is_apart)).for_each(drop);
        } else {
            found.operands.push(it);
        }
    }
    found
}

/// `tar x` and `tar t` of the standard input.
fn reads_archive(arguments: &[&str]) -> bool {
    let (mut is_read, mut archive) = (false, None);
    let mut all = arguments.iter().copied();
    let mut is_first = true;
    while let Some(it) = all.next() {
        let is_letters = it.starts_with('-') && !it.starts_with("--") || is_first && !it.starts_with('-');
        if is_letters {
            is_read |= letters_of_tar(it, &mut all, &mut archive);
        }
        is_read |= matches!(it, "--extract" | "--get" | "--list");
        if it == "--file" {
            archive = all.next();
        }
        archive = it.strip_prefix("--file=").or(archive);
        is_first = false;
    }
    is_read && archive.is_none_or(is_input)
}

/// Whether one of the letters is for reading; takes the values of the others. `xzf FILE` is `-xzf FILE`.
fn letters_of_tar<'a>(
    word: &'a str,
    rest: &mut impl Iterator<Item = &'a str>,
    archive: &mut Option<&'a str>,
) -> bool {
    let letters = word.trim_start_matches('-');
    let mut is_read = false;
    for (at, it) in letters.char_indices() {
        is_read |= matches!(it, 'x' | 't');
        if !matches!(it, 'f' | 'C' | 'b' | 'T' | 'X' | 'I' | 'K' | 'N' | 'V' | 'H') {
            continue;
        }
        let glued = &letters[at + 1..];
        let is_glued = word.starts_with('-') && !glued.is_empty();
        let value = if is_glued { Some(glued) } else { rest.next() };
        if it == 'f' {
            *archive = value;
        }
        if is_glued {
            break;
        }
    }
    is_read
}

/// A list of checksums without any fails.
fn checks_sums(arguments: &[&str]) -> bool {
    let found = options(arguments, "a", &["--algorithm"]);
    let is_check =
        found.short.contains('c') || found.long.iter().any(|it| "--check".starts_with(it) && it.len() > 2);
    is_check && found.operands.iter().all(|it| is_input(it))
}

/// A search that finds nothing fails.
fn searches(arguments: &[&str]) -> bool {
    const OTHERS: [&str; 7] = [
        "--invert-match",
        "--count",
        "--quiet",
        "--silent",
        "--files-without-match",
        "--recursive",
        "--dereference-recursive",
    ];
    let it = options(arguments, "efmABCdD", &["--regexp", "--file", "--max-count"]);
    let names_pattern = it.short.contains(['e', 'f'])
        || it.long.iter().any(|it| it.starts_with("--regexp") || it.starts_with("--file"));
    let files = if names_pattern { &it.operands[..] } else { it.operands.get(1..).unwrap_or_default() };
    let is_plain =
        !it.short.contains(['v', 'c', 'q', 'L', 'r', 'R']) && !it.long.iter().any(|it| OTHERS.contains(it));
    is_plain && files.iter().all(|it| is_input(it))
}

/// With `-f`, what is not packed is passed on.
fn unpacks(arguments: &[&str], is_asked_for: bool) -> bool {
    let it = options(arguments, "STMo", &[]);
    let is_asked_for = is_asked_for
        || it.short.contains('d')
        || it.long.iter().any(|it| matches!(*it, "--decompress" | "--uncompress"));
    let is_forced = it.short.contains('f') || it.long.contains(&"--force");
    is_asked_for && !is_forced && it.operands.iter().all(|it| is_input(it))
}

/// Keys to import, or to write without their armor.
fn reads_keys(arguments: &[&str]) -> bool {
    let valued = ["--output", "--keyring", "--primary-keyring", "--homedir", "--options", "--keyserver"];
    let it = options(arguments, "o", &valued);
    let is_read = it.long.iter().any(|it| matches!(*it, "--dearmor" | "--import"));
    is_read && it.operands.iter().all(|it| is_input(it))
}
