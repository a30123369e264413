//! The diagnosis for people. Of the servers that are not used, it lists only those that are installed.

use std::fmt::Write as _;

use lint::printable;

use super::diagnosis::{Diagnosis, Elsewhere, Kind, Language, Reason, Runs, Server};
use crate::cli::words::counted;

/// A line below a language: what it is, its name, why, and where it is.
type Row = [String; 4];

pub(super) fn render(it: &Diagnosis) -> String {
    let mut text = head(it);
    let mut blocks: Vec<(String, Vec<Row>)> = it.languages.iter().map(|of| block(it, of)).collect();
    let idle: Vec<_> = it.servers.iter().filter(|it| it.used && it.files == 0).map(server).collect();
    blocks.push(("without any files".to_owned(), idle));
    let width = |column: usize| {
        let rows = blocks.iter().flat_map(|(_, rows)| rows);
        rows.map(|it| it[column].chars().count()).max().unwrap_or_default()
    };
    let widths = [width(0), width(1), width(2)];
    for (title, rows) in blocks.iter().filter(|(_, rows)| !rows.is_empty()) {
        let _to_a_string = writeln!(text, "\n{title}");
        rows.iter().for_each(|row| text += &line(row, &widths));
    }
    text += &nobody(it);
    text += &notes(it);
    if !it.missing.is_empty() {
        text.push('\n');
    }
    for it in &it.missing {
        let (what, why) = (printable(&it.what), printable(&it.why));
        let _to_a_string = writeln!(text, "missing: {what}: {why}: {}", printable(&it.remedy));
    }
    for it in &it.elsewhere {
        let _to_a_string = writeln!(text, "\n{}", elsewhere(it));
    }
    text
}

/// Notes about the servers that are used.
fn notes(it: &Diagnosis) -> String {
    let is_told = |it: &&Server| it.used && it.program.is_some() && it.files > 0;
    let mut text = String::new();
    for server in it.servers.iter().filter(is_told) {
        let unwell = server.unwell.as_ref().map(|it| format!("it says of itself: {it}"));
        for note in server.limits.iter().chain(&unwell) {
            let _to_a_string = writeln!(text, "\nnote: {}: {}", server.name, printable(note));
        }
    }
    text
}

fn elsewhere(it: &Elsewhere) -> String {
    let finds = match &it.program {
        Some(program) => format!("finds {} at {}", it.server, printable(program)),
        None => format!("does not find {}", it.server),
    };
    format!("the daemon {finds}, since it was started with another PATH; `broker daemon stop` ends it")
}

fn head(it: &Diagnosis) -> String {
    let trusted = match (it.trusted, it.confined) {
        (true, _) => "yes: language servers and checkers may run code of it".to_owned(),
        (false, true) => "no: what Broker knows runs confined".to_owned(),
        (false, false) => {
            let how = it.how_to_trust();
            format!(
                "no: only what runs none of its code is asked, confined; to allow more: {}",
                printable(&how)
            )
        }
    };
    let by = if it.named { "`servers.use` in broker.toml" } else { "the project's files" };
    let any = it.plugins.iter().filter(|it| it.languages.is_empty());
    let any: Vec<_> = any.map(|it| printable(&format!("{} {}", it.name, it.version)).into_owned()).collect();
    let any = if any.is_empty() { "no plugin".to_owned() } else { format!("plugin {}", any.join(", ")) };
    let runs = it.runs.as_ref().map(runs).unwrap_or_default();
    format!(
        "workspace  {}\ntrusted    {trusted}\nservers    chosen by {by}\n{runs}any file   {any} ({})\n",
        printable(&it.root),
        counted(it.files, "file")
    )
}

/// The line about `broker run`.
fn runs(it: &Runs) -> String {
    let Some(backend) = &it.backend else {
        let (error, remedy) = (it.error.as_deref().unwrap_or("unknown"), it.remedy.as_deref());
        let remedy = remedy.map(|it| format!("; to mend it: {}", printable(it))).unwrap_or_default();
        return format!("commands   do not run: {}{remedy}\n", printable(error));
    };
    let how = if it.isolated { "isolated" } else { "not isolated" };
    let lacks =
        if it.lacks.is_empty() { String::new() } else { format!("; not promised: {}", it.lacks.join("; ")) };
    format!("commands   {how}, by {backend}{lacks}\n")
}

/// Files of no language have only the plugins for any file.
fn block(it: &Diagnosis, of: &Language) -> (String, Vec<Row>) {
    let plugins = it.plugins.iter().filter(|it| !it.languages.is_empty() && of.plugins.contains(&it.name));
    let plugin = |it: &super::diagnosis::Plugin| {
        ["plugin", &it.name, &it.version, ""].map(|it| printable(it).into_owned())
    };
    let is_shown = |it: &&Server| {
        let is_configured =
            matches!(it.reason, Reason::NotNamed { marker: Some(_) } | Reason::OtherVersion { .. });
        of.servers.contains(&it.name) && (it.used || it.program.is_some() || is_configured)
    };
    let rows = plugins.map(plugin).chain(it.servers.iter().filter(is_shown).map(server)).collect();
    let name = of.name.as_deref().unwrap_or("others");
    (format!("{}, {}", printable(name), counted(of.files, "file")), rows)
}

/// The languages that have no block.
fn nobody(it: &Diagnosis) -> String {
    let has_nobody = |of: &&Language| of.name.is_some() && block(it, of).1.is_empty();
    let nobodys = it.languages.iter().filter(has_nobody);
    let name = |of: &Language| printable(of.name.as_deref().unwrap_or_default()).into_owned();
    let names: Vec<_> = nobodys.map(|it| format!("{} ({})", name(it), counted(it.files, "file"))).collect();
    match names.is_empty() {
        true => String::new(),
        false => format!("\nnobody is there for {}\n", names.join(", ")),
    }
}

fn server(it: &Server) -> Row {
    let version = it.version.as_ref().map(|it| format!(" ({it})"));
    let error = it.error.as_ref().map(|it| format!(" (does not start: {it})"));
    let place = match &it.program {
        Some(program) => format!("{program}{}", version.or(error).unwrap_or_default()),
        None => "not installed".to_owned(),
    };
    let kind = match it.kind {
        Kind::Server => "server",
        Kind::Checker => "checker",
    };
    let how = match (&it.refused, it.confined) {
        (Some(_), _) if it.used => ", needs trust",
        (None, true) if it.used => ", confined",
        _ => "",
    };
    [kind, &it.name, &(reason(it) + how), &place].map(|it| printable(it).into_owned())
}

fn reason(it: &Server) -> String {
    match &it.reason {
        Reason::Named => "used: named in broker.toml".to_owned(),
        Reason::Configured { marker } => format!("used: configured by {}", marked(marker)),
        Reason::Project { marker } => format!("used: {} is there", marked(marker)),
        Reason::NotNamed { marker: None } => "not used: not named in broker.toml".to_owned(),
        Reason::NotNamed { marker: Some(marker) } => {
            format!("not used: {} is there, but broker.toml has no table for it", marked(marker))
        }
        Reason::OtherVersion { version, marker } => {
            format!("not used: {marker} names {version}, and the plugin is another: {}", it.install)
        }
        Reason::Instead { server } => format!("not used: {server} is"),
        Reason::NotConfigured { markers } if markers.is_empty() => "not used: not named".to_owned(),
        Reason::NotConfigured { .. } => "not used: not configured".to_owned(),
        Reason::NotSelected => "not used: left out by `select`".to_owned(),
    }
}

/// `[tool.ty] of pyproject.toml`
fn marked(marker: &str) -> String {
    match marker.split_once('#') {
        Some((file, table)) => format!("[{table}] in {file}"),
        None => marker.to_owned(),
    }
}

fn line(row: &Row, widths: &[usize; 3]) -> String {
    let mut text = " ".to_owned();
    for (cell, width) in row.iter().zip(widths) {
        let _to_a_string = write!(text, " {cell:<width$} ");
    }
    format!("{} {}", text, row[3]).trim_end().to_owned() + "\n"
}
