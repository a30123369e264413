//! Cost of a fork in this process, without a daemon around it.

use std::{hint::black_box, path::Path, sync::Arc, time::Instant};

use anyhow::Result;
use overlay::{Base, BaseOptions, Branch, View, WorkspacePath};

use crate::{samples::Samples, table::Table};

const WARM_UP: usize = 1_000;
const FORKS: usize = 20_000;
const EDITS: usize = 100;

/// In milliseconds.
const TARGET: f64 = 0.020;

/// Forks a branch with many edits, again and again.
pub(crate) fn in_process(root: &Path, files: &[(String, String)], table: &mut Table) -> Result<()> {
    let base: Arc<dyn View> = Arc::new(Base::open(root, BaseOptions::default())?);
    let mut branch = Branch::new(base);
    for (path, text) in files.iter().cycle().take(EDITS) {
        branch.write(&WorkspacePath::new(path)?, format!("{text}x = 1\n").into())?;
    }
    let mut samples = Samples::default();
    for round in 0..WARM_UP + FORKS {
        let start = Instant::now();
        let fork = black_box(branch.fork());
        let time = start.elapsed();
        drop(fork);
        if round >= WARM_UP {
            samples.add(time);
        }
    }
    table.times(
        &format!("fork in process, of a branch with {EDITS} edits"),
        &samples,
        Some(TARGET),
        Some(TARGET),
    );
    Ok(())
}
