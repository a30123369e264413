//! Markers of projects.

use overlay::{View, WorkspacePath};

/// Whether a folder has a marker: the name of a file, with `#` and a key that it must have, in TOML with the tables around it.
/// An empty marker stands for the workspace's root.
pub fn is_there(view: &dyn View, folder: &WorkspacePath, marker: &str) -> bool {
    if marker.is_empty() {
        return folder.is_root();
    }
    let (file, key) = marker.split_once('#').map_or((marker, None), |(file, key)| (file, Some(key)));
    let Ok(file) = folder.join(file) else { return false };
    let Some(key) = key else { return view.resolve(&file).is_ok_and(|it| view.metadata(&it).is_ok()) };
    let Some(text) = view.open(&file).ok().and_then(|it| String::from_utf8(it.to_vec()).ok()) else {
        return false;
    };
    if !file.as_str().ends_with(".toml") {
        return text
            .lines()
            .any(|it| it.strip_prefix(key).is_some_and(|it| it.trim_start().starts_with(['=', ':'])));
    }
    let Ok(table) = text.parse::<toml::Table>() else { return false };
    let (tables, last) = key.rsplit_once('.').map_or((None, key), |(tables, last)| (Some(tables), last));
    let around = tables.into_iter().flat_map(|it| it.split('.'));
    let inner = around.into_iter().try_fold(&table, |table, name| table.get(name)?.as_table());
    inner.is_some_and(|it| it.contains_key(last))
}

#[cfg(test)]
mod tests {
    use overlay::Memory;

    use super::*;

    #[test]
    fn keys_of_files() {
        let files = [("p.toml", "[tool.mypy]\nfiles = ['src']\n"), ("mypy.ini", "[mypy]\nfiles = src\n")];
        let view = Memory::from_files(files).unwrap();
        let has = |marker: &str| is_there(&view, &WorkspacePath::root(), marker);
        assert!(
            has("p.toml#tool.mypy.files") && has("p.toml#tool") && has("mypy.ini#files") && has("p.toml")
        );
        assert!(!has("p.toml#tool.mypy.packages") && !has("mypy.ini#file") && !has("none#a") && !has("none"));
    }
}
