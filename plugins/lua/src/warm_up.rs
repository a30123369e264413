//! Work done ahead of time, so that no instance has to do it: standard libraries, regular expressions and tables that
//! selene builds on first use. Reads no files.

use crate::lint::Linter;
use crate::rules;

/// Something for most lints to look at.
const SAMPLE: &str = include_str!("warm_up.lua");

/// `linter` remembers some of it itself.
pub(crate) fn run(linter: &Linter) {
    let all = rules::everything();
    drop(linter.run("warm_up.lua", SAMPLE, &all));
}
