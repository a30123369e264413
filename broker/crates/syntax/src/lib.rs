//! Syntax trees of the files of a workspace: made by tree-sitter, kept by content, and shared by all branches.
//!
//! A tree is given away whole, as a flat [`table`](Tree::table) of numbers, or as the captures of a query, so that
//! a plugin crosses its border once for a file and not once for each node. Knows neither plugins nor linters; what
//! a wrong tree means is for others to say.

mod definitions;
mod languages;
mod library;
mod merge;
mod names;
mod parse;
mod query;
mod source;
mod table;
mod trees;

pub use definitions::{Definition, DefinitionKind, all_definitions, definitions, has_definitions};
pub use languages::Language;
pub use library::{CarriedGrammars, carry_grammars, load_grammars};
pub use merge::merge;
pub use names::{Arguments, Name, Role, names};
pub use parse::{Tree, Unparsed};
pub use query::{Captures, Query, QueryError};
pub use table::{Flags, WORDS};
pub use trees::Trees;
