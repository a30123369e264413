//! Stylesheets that a compiler made of others in the project, which are found by their names. Compilers of Sass, Less and
//! Stylus write into the same folder or into one beside it.

use std::path::{Path, PathBuf};

/// Endings of what stylesheets are compiled of.
const ENDINGS: [&str; 4] = ["scss", "sass", "less", "styl"];

/// Names of folders with such.
const FOLDERS: [&str; 9] = ["scss", "sass", "_sass", "less", "styl", "stylus", "src", "source", "styles"];

/// Number of folders above the stylesheet's that may have folders with sources beside it.
const ABOVE: usize = 2;

/// Whether the stylesheet at `path`, which is below `root`, has a source.
pub(crate) fn has_source(path: &Path, root: &Path) -> bool {
    let is_css = path.extension().is_some_and(|it| it == "css");
    let Some(folder) = path.parent().filter(|_| is_css) else { return false };
    let stem = path.file_stem().and_then(|it| it.to_str()).unwrap_or_default();
    folders(folder, root).iter().any(|it| is_in(it, stem))
}

/// Whether a source with this name is in a folder.
fn is_in(folder: &Path, stem: &str) -> bool {
    folder.is_dir() && ENDINGS.iter().any(|it| folder.join(format!("{stem}.{it}")).is_file())
}

/// The folder itself, those in it and beside it, and those that have the folders below as well: `scss/page` for `css/page`.
fn folders(folder: &Path, root: &Path) -> Vec<PathBuf> {
    let mut found = vec![folder.to_path_buf()];
    for above in folder.ancestors().take(ABOVE + 1).take_while(|it| it.starts_with(root)) {
        let way = folder.strip_prefix(above).unwrap_or(Path::new(""));
        let below: PathBuf = way.iter().skip(1).collect();
        found.extend(FOLDERS.iter().map(|it| above.join(it)));
        found.extend(FOLDERS.iter().filter(|_| below != Path::new("")).map(|it| above.join(it).join(&below)));
    }
    found
}
