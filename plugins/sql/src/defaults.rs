//! What holds where nothing is configured: rules about how SQL looks are off.
//!
//! With sqruff's own defaults and the right dialect there is a finding per two to seven lines in the SQL of projects that
//! never asked for them (MediaWiki 2,953 in 7,583, PostgreSQL 3,366 in 22,436, Roundcube 1,887 in 3,872), all but some
//! twenty about blanks, lines and capitals. What is left is 22 in 90,000 lines.
//!
//! What cannot be parsed is not told there, either, but for a misspelled first word ([`crate::misspelled`]): MediaWiki's 304 files are for three databases, and no dialect takes
//! more than two thirds of them; and of PostgreSQL's own 152 scripts sqruff's grammar for it refuses 46, which are right.

use sqruff_lib_core::dialects::init::DialectKind;

/// What a file is tried as, in this order; the first that can parse all of it counts.
pub(crate) const DIALECTS: [DialectKind; 4] =
    [DialectKind::Ansi, DialectKind::Postgres, DialectKind::Mysql, DialectKind::Sqlite];

/// Groups of rules that are about how SQL looks, and what is no SQL.
pub(crate) const STYLE: [&str; 3] = ["capitalisation", "jinja", "layout"];
