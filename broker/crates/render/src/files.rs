//! Which files would be checked, and by whom.

use std::io::{self, Write};

use checker::Router;
use config::root::WorkspaceRoot;
use lint::{Unit, printable};
use overlay::View;
use serde::Serialize;

use super::{Format, json, workspace_path};

#[derive(Serialize)]
struct Row<'a> {
    path: &'a str,
    linters: Vec<&'a str>,
}

/// Writes the files that some linter wants, sorted. A linter's own configuration may still leave some out.
pub fn show_files(
    format: Format,
    workspace: &WorkspaceRoot,
    units: &[Unit],
    router: &Router,
    view: &dyn View,
    out: &mut dyn Write,
) -> io::Result<()> {
    let row = |unit: &'_ Unit| -> Option<(String, Vec<&str>)> {
        let linters = router.linters_for(view, &unit.path);
        let linters: Vec<_> = linters.into_iter().map(|it| it.identity().name.as_str()).collect();
        (!linters.is_empty()).then(|| (workspace.display(&unit.path), linters))
    };
    match format {
        Format::Json | Format::Jsonl => {
            let rows = units.iter().filter_map(|unit| {
                row(unit).map(|(_, linters)| Row { path: workspace_path(&unit.path), linters })
            });
            for_programs(format, rows, out)
        }
        _ => units
            .iter()
            .filter_map(row)
            .try_for_each(|(path, linters)| writeln!(out, "{} ({})", printable(&path), linters.join(", "))),
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
