//! Requests to the host that are so large that the host would have to keep much.

use broker_plugin_sdk::{Diagnostic, Fix, Related, Severity, Span};
use wasip2::{
    clocks::monotonic_clock,
    filesystem::{
        preopens::get_directories,
        types::{Descriptor, DescriptorFlags, OpenFlags, PathFlags},
    },
    random::random::get_random_bytes,
};

/// Words of the fault: which, and the rest of it.
pub(crate) fn greedy<'w>(fault: &str, words: &mut dyn Iterator<Item = &'w str>) -> Option<Diagnostic> {
    let path = |words: &mut dyn Iterator<Item = &'w str>| words.next().unwrap_or_default().to_owned();
    Some(match fault {
        "leak-streams" => super::found(&leak(&path(words), |it| it.read_via_stream(0).map(std::mem::forget))),
        "leak-listings" => super::found(&leak(&path(words), |it| it.read_directory().map(std::mem::forget))),
        "leak-pollables" => super::found(&leak_pollables()),
        "random" => {
            let count = path(words).parse().unwrap_or_default();
            super::found(&format!("{} bytes", get_random_bytes(count).len()))
        }
        "look-far" => super::found(&look(&"x".repeat(4_000))),
        "related" => related(&path(words), words.next()),
        "edits" => edits(&path(words)),
        "log" => {
            for line in 0..100_000 {
                broker_plugin_sdk::log(
                    broker_plugin_sdk::Level::Info,
                    &format!("{line} {}", "x".repeat(20_000)),
                );
            }
            super::found("logged")
        }
        _ => return None,
    })
}

fn root() -> Descriptor {
    get_directories().pop().expect("a plugin sees the workspace").0
}

/// Opens `path` again and again, keeping what `take` makes of it.
fn leak<E: std::fmt::Debug>(path: &str, take: impl Fn(&Descriptor) -> Result<(), E>) -> String {
    let root = root();
    for count in 0..1_000_000 {
        let opened = root.open_at(PathFlags::empty(), path, OpenFlags::empty(), DescriptorFlags::READ);
        let refused = match opened {
            Ok(file) => take(&file).err().map(|it| format!("{it:?}")),
            Err(error) => Some(format!("{error:?}")),
        };
        if let Some(refused) = refused {
            return format!("{count} times, then {refused}");
        }
    }
    "a million times".to_owned()
}

/// Asks for files that are not there, one after the other.
fn look(folder: &str) -> String {
    for it in 0..10_000_000 {
        drop(std::fs::metadata(format!("/{folder}/{it}")));
    }
    "ten million looks".to_owned()
}

fn leak_pollables() -> String {
    for _ in 0..2_000_000 {
        std::mem::forget(monotonic_clock::subscribe_duration(1));
    }
    "two million pollables".to_owned()
}

/// So many places in the file itself or in others, as many as there are numbers: `other/0`, `other/1` …
fn related(count: &str, other: Option<&str>) -> Diagnostic {
    let path = |it: usize| other.map(|other| format!("{other}/{it}"));
    let places = (0..count.parse().unwrap_or_default()).map(|it| Related {
        path: path(it),
        span: Span { start: 0, end: 0 },
        message: String::new(),
    });
    Diagnostic { related: places.collect(), severity: Severity::Info, ..super::found("related") }
}

fn edits(count: &str) -> Diagnostic {
    let count = count.parse().unwrap_or_default();
    let fix = || Fix { message: None, ..Fix::safe("", 0..0, "") };
    Diagnostic { fixes: (0..count).map(|_| fix()).collect(), ..super::found("edits") }
}
