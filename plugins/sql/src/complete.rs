//! The keywords that a dialect's grammar refers to and sqruff does not define for it.
//!
//! sqruff panics where its parser comes upon one: `WITH DATA` is in the grammar that SQLite takes over from ANSI, and `DATA`
//! is no keyword of SQLite. A panic ends the whole instance. So they become keywords, which match that word alone.

use sqruff_lib_core::dialects::Dialect;
use sqruff_lib_core::dialects::syntax::SyntaxKind;
use sqruff_lib_core::helpers::ToMatchable;
use sqruff_lib_core::parser::parsers::StringParser;

/// The dialect with those keywords; none where nothing is missing.
pub(crate) fn completed(dialect: &Dialect) -> Option<Dialect> {
    let missing = dialect.validation_errors();
    let names = missing.iter().map(|it| it.missing_reference()).filter(|it| is_keyword(it));
    let keyword = |name: &str| {
        (name.to_owned().into(), StringParser::new(name, SyntaxKind::Keyword).to_matchable().into())
    };
    let keywords: Vec<_> = names.map(keyword).collect();
    (!keywords.is_empty()).then(|| {
        let mut dialect = dialect.clone();
        dialect.add(keywords);
        dialect
    })
}

/// Whether a missing name is a keyword: sqruff's names of grammars are like `FileSegment`.
fn is_keyword(name: &str) -> bool {
    name.bytes().all(|it| it.is_ascii_uppercase() || it.is_ascii_digit() || it == b'_')
}

#[cfg(test)]
mod tests {
    use std::str::FromStr;

    use sqruff_lib_core::dialects::init::{DialectKind, dialect_readout};

    use super::*;
    use crate::config;

    #[test]
    fn no_dialect_refers_to_what_is_not_there() {
        let mut incomplete = Vec::new();
        for name in dialect_readout() {
            let kind = DialectKind::from_str(&name).unwrap();
            if let Some(dialect) = completed(config::ready(kind).get_dialect()) {
                assert_eq!(dialect.validate(), Ok(()), "{name}");
                incomplete.push(name);
            }
        }
        assert!(incomplete.contains(&"sqlite".to_owned()), "{incomplete:?}");
    }
}
