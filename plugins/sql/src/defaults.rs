//! Defaults where nothing is configured: rules for code that is a mistake in any database.
//!
//! sqruff's own set (`core`) is a style. With it and the right dialect there is a finding per two to seven lines in the SQL
//! of projects that never asked for it (MediaWiki 2,953 in 7,583, PostgreSQL 3,366 in 22,436, Roundcube 1,887 in 3,872),
//! all but some twenty about blanks, lines and capitals. Of the rest of it, these are off, too:
//! - AL02, AL03, AL09, AM01, AM02, AM06, CV04, ST08: taste, or a query that says more than it has to;
//! - AL05, AL08: `SELECT a.id, b.id` is right, and so is an alias that is not used;
//! - AL06: does nothing without a configuration;
//! - AL10: SQLite, Oracle and PostgreSQL from 16 on want no alias of a subquery;
//! - CV03: DuckDB, BigQuery and Snowflake read a comma before `FROM`;
//! - RF01: knows neither records nor `EXCLUDED`, and what a trigger or a procedure has.
//!
//! Text that cannot be parsed is not reported there, either, but for a misspelled first word ([`crate::misspelled`]): MediaWiki's
//! 304 files are for three databases, and no dialect parses more than two thirds of them; and of PostgreSQL's own 152 scripts
//! sqruff's grammar for it refuses 46, which are right.

use sqruff_lib_core::dialects::init::DialectKind;

/// Dialects that are tried for a file, in this order; the first that can parse all of it counts.
pub(crate) const DIALECTS: [DialectKind; 4] =
    [DialectKind::Ansi, DialectKind::Postgres, DialectKind::Mysql, DialectKind::Sqlite];

/// On without a configuration: two tables with one alias in a FROM, a condition `= NULL`, which is never true, and a query
/// in WITH that nothing uses. Of the first two only what [`crate::false_positives`] takes for certain.
pub(crate) const CERTAIN: [&str; 3] = ["AL04", "CV05", "ST03"];
