//! Message of one sentence for a broken configuration.

use std::error::Error;
use std::path::Path;
use std::rc::Rc;

use broker_plugin_sdk::config::{ConfigFiles, on_one_line};

/// Names the configuration file relative to the workspace and says what is wrong with it.
pub(crate) fn sentence(error: &dyn Error, config: &Path, files: &ConfigFiles) -> Rc<str> {
    let mut causes = vec![one_line(&error.to_string())];
    let mut deeper = error.source();
    while let Some(cause) = deeper {
        causes.push(one_line(&cause.to_string()));
        deeper = cause.source();
    }
    let mut told: Vec<&str> = causes.iter().map(String::as_str).collect();
    told.dedup(); // wrappers repeat what they wrap
    // The causes behind these are more precise: the file is named here, with its path in the workspace.
    let says_little = |it: &str| {
        it.starts_with("Failed deserializing config file") || it.starts_with("Error reading config file")
    };
    if told.len() > 1 {
        told.retain(|it| !says_little(it));
    }
    files.unusable(config, files.with_names(&told.join(": "))).into()
}

fn one_line(text: &str) -> String {
    on_one_line(text).trim_end_matches('.').to_owned()
}
