//! List of the files that would be checked, with their linters.

use std::io::{self, Write};

use check_engine::ListedFile;
use config::root::WorkspaceRoot;
use lint::printable;
use serde::Serialize;

use super::{Format, json, workspace_path};

#[derive(Serialize)]
struct Row<'a> {
    path: &'a str,
    linters: &'a [String],
}

/// Writes the files.
pub fn show_files(
    format: Format,
    workspace: &WorkspaceRoot,
    files: &[ListedFile],
    out: &mut dyn Write,
) -> io::Result<()> {
    match format {
        Format::Json | Format::Jsonl => {
            let rows = files.iter().map(|it| Row { path: workspace_path(&it.path), linters: &it.linters });
            for_programs(format, rows, out)
        }
        _ => files.iter().try_for_each(|ListedFile { path, linters }| {
            writeln!(out, "{} ({})", printable(&workspace.display(path)), linters.join(", "))
        }),
    }
}

fn for_programs<'a>(
    format: Format,
    mut rows: impl Iterator<Item = Row<'a>>,
    out: &mut dyn Write,
) -> io::Result<()> {
    if format == Format::Jsonl {
        return rows.try_for_each(|row| {
            serde_json::to_writer(&mut *out, &row)?;
            writeln!(out)
        });
    }
    write!(out, "[")?;
    json::list(rows, out)?;
    writeln!(out, "]")
}
