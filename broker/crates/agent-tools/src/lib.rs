//! What an agent's tools do with the files of a view, each time with the same result.
//!
//! No protocol, no disk and no model: what comes in are texts and a view, what goes out are texts, differences and reasons.

pub mod edit;
