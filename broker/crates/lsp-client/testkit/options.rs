//! Client options that start the testkit's servers. Part of the tests, too.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use lsp_client::{EditPolicy, Epoch, Initialize, Launch, Limits, Options, Supervisor};
use serde_json::Value;

/// Launch in which both the supervisor and the server are this program.
pub(crate) fn launch(testkit: &Path, args: impl IntoIterator<Item = impl Into<OsString>>) -> Launch {
    Launch {
        supervisor: Supervisor { program: testkit.into(), args: vec!["supervisor".into()] },
        program: testkit.into(),
        args: args.into_iter().map(Into::into).collect(),
        env: Vec::new(),
        own_folder: Vec::new(),
        cwd: PathBuf::from("/"),
        nice: 0,
    }
}

/// Options for a server that follows the script.
pub(crate) fn options(testkit: &Path, script: &str) -> Options {
    Options {
        launch: launch(testkit, ["fake", script]),
        initialize: Initialize::new(Vec::new()),
        settings: Value::Null,
        edits: EditPolicy::Refuse,
        epoch: Epoch(1),
        limits: Limits::default(),
    }
}
