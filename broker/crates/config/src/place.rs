//! Where a text stands in a configuration file.

use lint::{LineColumn, LineTable};
use toml::de::{DeTable, DeValue};

/// The first text that `is_meant` in one of the lists `keys`, at the top of the file or in an override.
pub(super) fn of_text(text: &str, keys: &[&str], is_meant: impl Fn(&str) -> bool) -> Option<LineColumn> {
    let table = DeTable::parse(text).ok()?;
    let overrides = value(table.get_ref(), "overrides").and_then(DeValue::as_array);
    let overrides = overrides.into_iter().flatten().filter_map(|it| it.get_ref().as_table());
    let lists = std::iter::once(table.get_ref())
        .chain(overrides)
        .flat_map(|table| keys.iter().filter_map(|key| value(table, key).and_then(DeValue::as_array)));
    let starts = lists.flatten().filter(|it| it.get_ref().as_str().is_some_and(&is_meant));
    let start = starts.map(|it| it.span().start).min()?;
    Some(LineTable::new(text.as_bytes()).scalar(u32::try_from(start).ok()?))
}

/// Place of the value of a key in tables within tables.
pub(super) fn of_key(text: &str, keys: &[&str]) -> Option<LineColumn> {
    let (last, tables) = keys.split_last()?;
    let all = DeTable::parse(text).ok()?;
    let table = tables.iter().try_fold(all.get_ref(), |table, key| value(table, key)?.as_table())?;
    let (_, found) = table.iter().find(|it| it.0.get_ref() == last)?;
    Some(LineTable::new(text.as_bytes()).scalar(u32::try_from(found.span().start).ok()?))
}

fn value<'t, 'i>(table: &'t DeTable<'i>, key: &str) -> Option<&'t DeValue<'i>> {
    table.iter().find(|it| it.0.get_ref() == key).map(|it| it.1.get_ref())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_found_in_lists() {
        let text = "select = ['A']\n\n[severity]\nB = 'off'\n\n[[overrides]]\npaths = ['B']\nignore = [\n  'A', 'B']\n";
        let place = |name: &str| of_text(text, &["select", "ignore"], |it| it == name);
        let at = |line, column| Some(LineColumn { line, column });
        assert_eq!([place("A"), place("B"), place("off")], [at(1, 11), at(9, 8), None]);
    }

    #[test]
    fn keys_are_found_in_tables() {
        let place = |text: &str| of_key(text, &["a", "b", "c"]).map(|it| (it.line, it.column));
        assert_eq!(place("[a.b]\nc = 1\n"), Some((2, 5)));
        assert_eq!(place("a = { b.c = 1 }\n"), Some((1, 13)));
        assert_eq!(place("[a]\nc = 1\n"), None);
    }
}
