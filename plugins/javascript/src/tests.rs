//! The plugin over small projects on disk.

#![allow(clippy::disallowed_methods, reason = "a plugin has no overlay: its file system is the branch")]

mod configuration;
mod engines;
mod findings;
mod forms;
mod repairs;

use std::fs;

use broker_plugin_sdk::{
    testing::{self, select, settings, told},
    *,
};

use crate::JavaScript;

type Repo = testing::Project<JavaScript>;
