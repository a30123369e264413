//! Tools of an agent for the files of a view, each time with the same result.
//!
//! No protocol, no disk and no model: the input is texts and a view, the output is texts, differences and reasons.

pub mod edit;
