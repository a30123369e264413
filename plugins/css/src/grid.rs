//! `named-grid-areas-no-invalid`: the areas of a grid, drawn in strings.

use crate::declarations::shifted;
use crate::tokens::{Kind, Token};
use crate::walk::Sheet;

impl Sheet<'_> {
    /// Rows of one length, and areas that are rectangles.
    pub(crate) fn areas(&mut self, text: &str, start: usize, tokens: &[Token]) {
        let cells = |it: &Token| -> Vec<&str> {
            text[it.range.clone()].trim_matches(['"', '\'']).split_whitespace().collect()
        };
        let strings = tokens.iter().filter(|it| it.kind == Kind::String);
        let rows: Vec<(&Token, Vec<&str>)> = strings.map(|it| (it, cells(it))).collect();
        let Some(width) = rows.first().map(|it| it.1.len()) else { return };
        let mut is_grid = true;
        for (row, cells) in &rows {
            let message = match cells.len() {
                0 => "the row is empty".to_owned(),
                it if it != width => format!("the row has {it} cells, the first has {width}"),
                _ => continue,
            };
            is_grid = false;
            self.tell("named-grid-areas-no-invalid", message, shifted(&row.range, start));
        }
        if is_grid {
            let grid: Vec<&[&str]> = rows.iter().map(|it| &*it.1).collect();
            for (name, row) in no_rectangles(&grid) {
                let message = format!("the area `{name}` is no rectangle");
                self.tell("named-grid-areas-no-invalid", message, shifted(&rows[row].0.range, start));
            }
        }
    }
}

/// Areas that leave out cells of the rectangle around them, and the first row that they are in; dots are no area.
fn no_rectangles<'c>(grid: &[&[&'c str]]) -> Vec<(&'c str, usize)> {
    let mut known: Vec<(&str, usize)> = Vec::new();
    for (number, row) in grid.iter().enumerate() {
        for name in row.iter().filter(|it| !it.trim_matches('.').is_empty()) {
            if known.iter().all(|it| it.0 != *name) {
                known.push((name, number));
            }
        }
    }
    known.retain(|(name, _)| {
        let has = |row: &&&[&str]| row.contains(name);
        let columns =
            grid.iter().flat_map(|row| row.iter().enumerate().filter(|it| it.1 == name)).map(|it| it.0);
        let rows = grid.iter().enumerate().filter(|it| has(&it.1)).map(|it| it.0);
        let cells = columns.clone().count();
        extent(columns) * extent(rows) != cells
    });
    known
}

/// Number of integers from the least to the greatest.
fn extent(numbers: impl Iterator<Item = usize> + Clone) -> usize {
    let least = numbers.clone().min().unwrap_or_default();
    numbers.max().map_or(0, |it| it + 1 - least)
}
