//! The plugin over small projects on disk.

#![allow(clippy::disallowed_methods, reason = "a plugin has no overlay: its file system is the branch")]

mod configuration;
mod findings;

use std::fs;

use broker_plugin_sdk::{
    testing::{self, settings},
    *,
};

use crate::Sql;

type Repo = testing::Project<Sql>;

fn owned(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|it| (*it).to_owned()).collect()
}
