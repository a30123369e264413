//! A plugin that does what the first line of each file tells it to, which may be a comment. One fault per word.

mod greedy;

use std::{
    fs,
    hint::black_box,
    sync::atomic::{AtomicUsize, Ordering},
};

use broker_plugin_sdk::*;

/// Number of times that the constructor below ran.
static CONSTRUCTED: AtomicUsize = AtomicUsize::new(0);

/// A constructor such as crates like `ctor` and `inventory` have.
#[used]
#[unsafe(link_section = ".init_array")]
static CONSTRUCTOR: extern "C" fn() = {
    extern "C" fn construct() {
        CONSTRUCTED.fetch_add(1, Ordering::Relaxed);
    }
    construct
};

/// Beginnings of comments in languages whose files may ask for a fault, too.
const COMMENT: &[char] = &['-', '/', ' '];

struct Misbehaves {
    /// Number of times that it had run when the plugin was made.
    constructed: usize,
}

impl Plugin for Misbehaves {
    fn new() -> Self {
        Self { constructed: CONSTRUCTED.load(Ordering::Relaxed) }
    }

    fn configure(&mut self, settings: &Settings) -> Result<(), SettingsError> {
        if settings.ignore.iter().any(|it| it == "fault") {
            return Err(SettingsError::Invalid("these settings make no sense".to_owned()));
        }
        if settings.ignore.iter().any(|it| it == "panic") {
            log(Level::Info, "about to be confused");
            panic!("these settings confuse the plugin");
        }
        Ok(())
    }

    fn rules(&self) -> Vec<Rule> {
        vec![Rule::new("fault", "The file asks for a fault")]
    }

    fn check(&mut self, file: &SourceFile) -> Result<Report, String> {
        let text = String::from_utf8_lossy(&file.content).into_owned();
        let mut words = text.trim_start_matches(COMMENT).split_whitespace();
        let fault = words.next().unwrap_or("nothing");
        match fault {
            "nothing" => Ok(Report::new(vec![found("did nothing bad")])),
            "spin" => loop {
                black_box(());
            },
            "sleep" => {
                std::thread::sleep(std::time::Duration::from_secs(3600));
                Ok(Report::new(vec![found("slept")]))
            }
            "bomb" => Ok(Report::new(vec![found(&format!("{} bytes", bomb()))])),
            "recurse" => Ok(Report::new(vec![found(&format!("{}", recurse(1)))])),
            "flood" => Ok((0..10_000_000).map(|_| Diagnostic::new("fault", "", 0..0)).collect()),
            "many" => Ok((0..300_000).map(|_| Diagnostic::new("fault", "", 0..0)).collect()),
            "huge-message" => Ok(Report::new(vec![found(&"x".repeat(150 << 20))])),
            "panic" => panic!("the plugin is confused about {}", file.path),
            "exit" => std::process::exit(3),
            "unknown-code" => Ok(Report::new(vec![Diagnostic::new("nobody-has-it", "odd", 0..0)])),
            "error" => Err("the plugin's configuration makes no sense".to_owned()),
            "span-outside" => Ok(Report::new(vec![Diagnostic::new("fault", "far out", 0..1_000_000)])),
            "span-reversed" => Ok(Report::new(vec![Diagnostic::new("fault", "backwards", 5..2)])),
            "cell-outside" => Ok(Report::new(vec![Diagnostic {
                cell: Some(7),
                ..Diagnostic::new("fault", "no cell", 0..0)
            }])),
            "not-utf8" => Ok(Report::new(vec![found(&not_utf8())])),
            "read" => Ok(Report::new(words.map(|path| found(&read(path))).collect())),
            "write" => Ok(Report::new(words.map(|path| found(&write(path))).collect())),
            "walk" => Ok(Report::new(vec![found(&walk())])),
            "query" => Ok(Report::new(vec![found(&query(&mut words))])),
            "tree" => Ok(Report::new(words.map(|path| found(&tree(path))).collect())),
            "mends" => Ok(Report::new(vec![mends(&text)])),
            "uncomments" => Ok(Report::new(vec![uncomments(&text)])),
            "chatter" => Ok(Report::new(vec![found(&chatter())])),
            "constructors" => {
                let now = CONSTRUCTED.load(Ordering::Relaxed);
                let told = format!("{} before it was made, {now} by now", self.constructed);
                Ok(Report::new(vec![found(&told)]))
            }
            "excluded" => Ok(Report::excluded()),
            "huge-error" => Err("x".repeat(1 << 20)),
            other => match greedy::greedy(other, &mut words) {
                Some(finding) => Ok(Report::new(vec![finding])),
                None => Err(format!("no such fault: {other}")),
            },
        }
    }
}

plugin!(Misbehaves, "../broker-plugin.toml");

fn found(message: &str) -> Diagnostic {
    Diagnostic::new("fault", message, 0..0)
}

/// A finding whose fix leaves what stands after the first word.
fn mends(text: &str) -> Diagnostic {
    let rest = text.trim_start().trim_start_matches("mends").trim_start();
    found("mended").with_fix(Fix::safe("Mend", 0..text.len(), rest))
}

/// A finding whose fix makes code of the comment in the second line.
fn uncomments(text: &str) -> Diagnostic {
    let (first, rest) = text.split_once('\n').unwrap_or_default();
    let fixed = format!("{}\n{}", first.replace("uncomments", "nothing"), rest.trim_start_matches(COMMENT));
    found("a comment").with_fix(Fix::safe("Uncomment", 0..text.len(), fixed))
}

fn bomb() -> usize {
    let mut kept: Vec<Vec<u8>> = Vec::new();
    loop {
        kept.push(Vec::with_capacity(64 << 20));
        black_box(&kept);
    }
}

#[allow(unconditional_recursion, reason = "that is the fault")]
fn recurse(depth: u64) -> u64 {
    black_box(recurse(black_box(depth + 1)) + depth)
}

fn not_utf8() -> String {
    // SAFETY: none; breaking the contract of `String` is the fault.
    unsafe { String::from_utf8_unchecked(vec![b'a', 0xff, 0xfe, b'b']) }
}

fn read(path: &str) -> String {
    match fs::read_to_string(path) {
        Ok(text) => format!("{path}: {text:?}"),
        Err(error) => format!("{path}: {:?}", error.kind()),
    }
}

fn write(path: &str) -> String {
    let answers = [
        fs::write(path, "x").map_err(|it| it.kind()),
        fs::remove_file(path).map_err(|it| it.kind()),
        fs::create_dir(format!("{path}.d")).map_err(|it| it.kind()),
        fs::rename(path, format!("{path}.new")).map_err(|it| it.kind()),
    ];
    format!("{path}: {answers:?}")
}

fn walk() -> String {
    let entries = walkdir::WalkDir::new("/").sort_by_file_name().into_iter();
    let shown = entries.map(|entry| match entry {
        Ok(entry) => {
            let link =
                fs::read_link(entry.path()).map(|it| format!(" -> {}", it.display())).unwrap_or_default();
            format!("{}{link}", entry.path().display())
        }
        Err(error) => format!("{error}"),
    });
    shown.collect::<Vec<_>>().join(", ")
}

/// `PATH LANGUAGE QUERY`, where the language `-` is that of the path.
fn query(words: &mut dyn Iterator<Item = &str>) -> String {
    let path = syntax::Source::File(words.next().unwrap_or_default().to_owned());
    let language = words.next().filter(|it| *it != "-");
    let query = words.collect::<Vec<_>>().join(" ");
    match syntax::query(&path, language, &query) {
        Ok(captures) => {
            let shown = captures.iter().map(|it| format!("{} {:?}", it.name, it.range));
            shown.collect::<Vec<_>>().join(", ")
        }
        Err(problem) => problem.message(),
    }
}

fn tree(path: &str) -> String {
    match syntax::Tree::of_file(path) {
        Ok(tree) => {
            let named = tree.nodes().filter(|it| it.is_named());
            named.map(|it| it.kind()).collect::<Vec<_>>().join(" ")
        }
        Err(problem) => problem.message(),
    }
}

#[allow(clippy::print_stdout, clippy::print_stderr, reason = "the host must bear it")]
fn chatter() -> String {
    for line in 0..10_000 {
        println!("out {line}");
        eprintln!("err {line}");
    }
    log(Level::Warn, "enough said");
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    format!("{:?}, {} variables", now.map(|it| it.as_secs()), std::env::vars().count())
}
