//! One sentence for a broken configuration.

use std::error::Error;
use std::path::Path;
use std::rc::Rc;

/// Names the configuration file relative to the workspace and says what is wrong with it.
pub(crate) fn sentence(error: &dyn Error, config: &Path, root: &Path) -> Rc<str> {
    let mut causes = vec![one_line(&error.to_string())];
    let mut deeper = error.source();
    while let Some(cause) = deeper {
        causes.push(one_line(&cause.to_string()));
        deeper = cause.source();
    }
    let mut told: Vec<&str> = causes.iter().map(String::as_str).collect();
    told.dedup(); // wrappers repeat what they wrap
    // What follows says it better: the file is named here, with its path in the workspace.
    let says_little = |it: &str| {
        it.starts_with("Failed deserializing config file") || it.starts_with("Error reading config file")
    };
    if told.len() > 1 {
        told.retain(|it| !says_little(it));
    }
    let config = config.strip_prefix(root).unwrap_or(config);
    format!("cannot use `{}`: {}", config.display(), relative(&told.join(": "), root)).into()
}

fn one_line(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|it| !it.is_empty()).collect();
    lines.join(": ").trim_end_matches('.').to_owned()
}

/// Paths as the user knows them: without the mount point.
fn relative(text: &str, root: &Path) -> String {
    let root = root.to_string_lossy();
    let root = root.trim_end_matches('/');
    text.replace(&format!("file://{root}/"), "").replace(&format!("{root}/"), "")
}
