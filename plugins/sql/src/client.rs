//! Commands of the programs that send SQL to a database: the dot-commands of sqlite3's shell and DuckDB's, `DELIMITER` and
//! `SOURCE` of MySQL's client, psql's commands with a backslash, and the rows below `COPY … FROM STDIN`. They are no SQL. For
//! sqruff each is a comment or blanks of the same length, so that all places stay where they are.
//!
//! Left out: psql's variables but for those that begin a statement (`:explain SELECT …`), since sqruff's grammar of PostgreSQL
//! has them; commands of SQL*Plus, of which its grammar of Oracle
//! has some; other commands of MySQL's client, whose names are words of SQL as well.

use std::borrow::Cow;
use std::ops::Range;

use broker_plugin_sdk::{Report, Span};
use sqruff_lib_core::dialects::init::DialectKind;

use crate::statements::dollar_quoted;

/// A program with commands of its own.
#[derive(Clone, Copy, PartialEq)]
enum Client {
    Sqlite,
    Mysql,
    Psql,
}

/// A text without commands.
pub(crate) struct Masked<'a> {
    pub(crate) text: Cow<'a, str>,
    /// Ranges of the file's text that were replaced.
    places: Vec<Range<usize>>,
}

impl<'a> Masked<'a> {
    /// With no `dialect` named, the file may be for any client.
    pub(crate) fn new(text: &'a str, dialect: Option<DialectKind>) -> Self {
        let unchanged = Self { text: Cow::Borrowed(text), places: Vec::new() };
        let Some(client) = client(text, dialect) else { return unchanged };
        let mut scanner = Scanner::new(text, client);
        scanner.run();
        let masked = String::from_utf8(scanner.masked);
        masked.map_or(unchanged, |it| Self { text: Cow::Owned(it), places: scanner.places })
    }

    /// Takes out what is about the masks, and fixes that would put one into the file.
    pub(crate) fn spare(&self, mut report: Report) -> Report {
        let touches = |it: &Span| {
            let (start, end) = (it.start as usize, it.end as usize);
            // The places are in order and apart.
            let next = self.places.partition_point(|place| place.end <= start);
            self.places.get(next).is_some_and(|place| place.start < end.max(start + 1))
        };
        report.diagnostics.retain(|it| !touches(&it.span));
        for found in &mut report.diagnostics {
            found.fixes.retain(|it| !it.edits.iter().any(|it| touches(&it.span)));
        }
        report
    }
}

/// The client that a text has commands of, as far as single lines tell.
fn client(text: &str, dialect: Option<DialectKind>) -> Option<Client> {
    let clients: &[Client] = match dialect {
        None => &[Client::Psql, Client::Sqlite, Client::Mysql],
        Some(DialectKind::Postgres) => &[Client::Psql],
        Some(DialectKind::Sqlite | DialectKind::Duckdb) => &[Client::Sqlite],
        Some(DialectKind::Mysql | DialectKind::Mariadb) => &[Client::Mysql],
        Some(_) => &[],
    };
    let has = |client: &Client| text.lines().any(|it| client.command(it));
    clients.iter().copied().find(has)
}

impl Client {
    /// Whether a line is a command, if no statement goes on in it.
    fn command(self, line: &str) -> bool {
        match self {
            // At the left margin, where no statement of SQL begins with a dot.
            Self::Sqlite => {
                line.strip_prefix('.').is_some_and(|it| it.starts_with(|it: char| it.is_ascii_alphabetic()))
            }
            Self::Mysql => delimiter(line).is_some() || argument(line, "source").is_some(),
            Self::Psql => is_of_psql(line.trim_start()) || is_variable(line),
        }
    }
}

fn is_of_psql(text: &str) -> bool {
    text.strip_prefix('\\')
        .is_some_and(|it| it.starts_with(|it: char| it.is_ascii_alphabetic() || "!?.;:".contains(it)))
}

/// Whether a text begins with a variable of psql's that is put there as it is.
fn is_variable(text: &str) -> bool {
    text.strip_prefix(':').is_some_and(|it| it.starts_with(is_letter))
}

fn is_letter(it: char) -> bool {
    it.is_ascii_alphanumeric() || it == '_'
}

/// Whether a command of psql sends what was written before it.
fn sends(command: &str) -> bool {
    ["\\g", "\\crosstabview", "\\watch", "\\;"].iter().any(|it| command.starts_with(it))
}

/// Delimiter that a line sets for the statements after it.
fn delimiter(line: &str) -> Option<&str> {
    argument(line, "delimiter")?.split_whitespace().next()
}

/// Text behind a command's name.
fn argument<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let line = line.trim();
    let is_it = line.get(..name.len()).is_some_and(|it| it.eq_ignore_ascii_case(name));
    line.get(name.len()..).filter(|it| is_it && it.starts_with([' ', '\t']) && !it.trim().is_empty())
}

/// Goes through a text statement by statement.
struct Scanner<'a> {
    text: &'a str,
    client: Client,
    at: usize,
    is_in_statement: bool,
    /// Offset of the last statement.
    statement: usize,
    /// In place of a semicolon.
    delimiter: Option<&'a str>,
    masked: Vec<u8>,
    places: Vec<Range<usize>>,
}

impl<'a> Scanner<'a> {
    fn new(text: &'a str, client: Client) -> Self {
        let masked = text.as_bytes().to_vec();
        let places = Vec::new();
        Self { text, client, at: 0, is_in_statement: false, statement: 0, delimiter: None, masked, places }
    }

    fn run(&mut self) {
        while self.at < self.text.len() {
            if !self.skips_command() && !self.skips_delimiter() && !self.skips_rows() {
                self.skip_sign();
            }
        }
    }

    fn skips_command(&mut self) -> bool {
        let (before, rest) = self.text.split_at(self.at);
        if self.client == Client::Psql {
            // Only where one may begin, or a long line is read once per character.
            let line = rest.starts_with(['\\', ':']).then(|| rest.lines().next().unwrap_or_default());
            return line.is_some_and(|it| self.skips_command_of_psql(it));
        }
        let begins_line = before.is_empty() || before.ends_with('\n');
        // Before anything that reads the line, or a long one is read once per character.
        if !begins_line || self.is_in_statement && self.delimiter.is_none() {
            return false;
        }
        let line = rest.lines().next().unwrap_or_default();
        // A delimiter of its own is MySQL's client's already.
        let may_be = !self.is_in_statement || delimiter(line).is_some();
        if !may_be || !self.client.command(line) {
            return false;
        }
        if let Some(new) = delimiter(line).filter(|_| self.client == Client::Mysql) {
            self.delimiter = Some(new).filter(|it| *it != ";");
            self.is_in_statement = false;
        }
        self.put(&comment(line.len()));
        true
    }

    /// From a backslash to the end of the line.
    fn skips_command_of_psql(&mut self, rest_of_line: &str) -> bool {
        if !self.is_in_statement && is_variable(rest_of_line) {
            let len = 1 + rest_of_line[1..].find(|it| !is_letter(it)).unwrap_or(rest_of_line.len() - 1);
            self.put(&" ".repeat(len));
            return true;
        }
        if !is_of_psql(rest_of_line) {
            return false;
        }
        if rest_of_line.starts_with("\\;") {
            self.put(" ;");
        } else if self.is_in_statement && sends(rest_of_line) {
            self.put(&format!(";{}", " ".repeat(rest_of_line.len() - 1)));
        } else {
            self.put(&comment(rest_of_line.len()));
            return true;
        }
        self.is_in_statement = false;
        true
    }

    /// The rows that follow `COPY … FROM STDIN;`, up to `\.`.
    fn skips_rows(&mut self) -> bool {
        let (before, rest) = self.text.split_at(self.at);
        let is_copy =
            self.client == Client::Psql && rest.starts_with(';') && copies(&before[self.statement..]);
        let Some(first) = rest.find('\n').filter(|_| is_copy).map(|it| it + 1) else { return false };
        let rows = rest[first..].find("\n\\.").map_or(0, |it| it + 1);
        let blanks = rest[first..first + rows].bytes().map(|it| if it == b'\n' { '\n' } else { ' ' });
        let blanks: String = blanks.collect();
        self.at += first;
        self.is_in_statement = false;
        self.put(&blanks);
        true
    }

    fn skips_delimiter(&mut self) -> bool {
        let Some(delimiter) = self.delimiter.filter(|it| self.text[self.at..].starts_with(it)) else {
            return false;
        };
        self.put(&format!("{:len$}", ";", len = delimiter.len()));
        self.is_in_statement = false;
        true
    }

    /// Puts as many bytes in the place of those that are here.
    fn put(&mut self, mask: &str) {
        let place = self.at..self.at + mask.len();
        self.masked[place.clone()].copy_from_slice(mask.as_bytes());
        self.at = place.end;
        self.places.push(place);
    }

    fn skip_sign(&mut self) {
        let rest = &self.text[self.at..];
        let Some(first) = rest.chars().next() else { return };
        let is_comment =
            rest.starts_with("--") || rest.starts_with("/*") || first == '#' && self.client == Client::Mysql;
        if !self.is_in_statement {
            self.statement = self.at;
        }
        self.is_in_statement = match first {
            ';' => self.delimiter.is_some() && self.is_in_statement,
            _ => self.is_in_statement || !is_comment && !first.is_whitespace(),
        };
        self.at += match first {
            '\'' | '"' | '`' => self.string(rest, first),
            '$' if self.client == Client::Psql => dollar_quoted(rest).unwrap_or(1),
            _ if is_comment => after(rest, if first == '/' { "*/" } else { "\n" }),
            it => it.len_utf8(),
        };
    }

    /// Length of a string or a name. A quote that is doubled begins another.
    fn string(&self, rest: &str, quote: char) -> usize {
        let has_escapes = match self.client {
            Client::Sqlite => false,
            Client::Mysql => quote != '`',
            // `E'…'`.
            Client::Psql => quote == '\'' && self.text[..self.at].ends_with(['e', 'E']),
        };
        let mut chars = rest.char_indices().skip(1);
        while let Some((at, it)) = chars.next() {
            match it {
                '\\' if has_escapes => drop(chars.next()),
                it if it == quote => return at + 1,
                _ => {}
            }
        }
        rest.len()
    }
}

/// A comment of so many bytes.
fn comment(len: usize) -> String {
    if len < 4 { "-".repeat(len) } else { format!("-- {}", "-".repeat(len - 3)) }
}

fn copies(statement: &str) -> bool {
    let mut words = statement.split_whitespace().map(str::to_ascii_lowercase);
    let is_copy = words.next().as_deref() == Some("copy");
    let words: Vec<_> = words.collect();
    is_copy && words.windows(2).any(|it| it[0] == "from" && it[1].starts_with("stdin"))
}

/// Length of a text up to and including `end`, or of all of it.
fn after(text: &str, end: &str) -> usize {
    text.find(end).map_or(text.len(), |it| it + end.len())
}

#[cfg(test)]
mod tests {
    use broker_plugin_sdk::Diagnostic;

    use super::*;

    fn masked(text: &str) -> String {
        let masked = Masked::new(text, None);
        assert_eq!(masked.text.len(), text.len());
        masked.text.into_owned()
    }

    #[test]
    fn dot_commands() {
        assert_eq!(masked(".mode csv\r\nSELECT 1;\n.q\n"), "-- ------\r\nSELECT 1;\n--\n");
        assert_eq!(masked("-- é\n.print 'é\nSELECT 1;"), "-- é\n-- -------\nSELECT 1;");
        for other in [
            "SELECT a\n.b FROM t;\n",
            "SELECT '\n.a;\n';\n",
            "/*\n.a\n*/\n",
            ".5;\n",
            " .mode csv\n",
            "SELECT 'it''s;\n.a';\n",
        ] {
            assert_eq!(masked(other), other);
        }
        assert_eq!(masked("SELECT '\\';\n.quit\n"), "SELECT '\\';\n-- --\n");
    }

    #[test]
    fn long_lines_take_linear_time() {
        let line = format!("INSERT INTO t VALUES {};\n", "('a', 1), ".repeat(100_000));
        for command in [".headers on\n", "DELIMITER ;;\n"] {
            let text = format!("{command}{line}");
            assert!(masked(&text).ends_with(&line));
        }
    }

    #[test]
    fn spares_what_is_apart_from_commands() {
        let text = ".bail on\nSELECT 1;\n.quit\n";
        let spared = |start: u32, end: u32| {
            let report: Report =
                vec![Diagnostic::new("a", "b", start as usize..end as usize)].into_iter().collect();
            Masked::new(text, None).spare(report).diagnostics.len()
        };
        for (start, end, count) in [(0, 3, 0), (8, 8, 1), (9, 15, 1), (12, 20, 0), (19, 19, 0), (24, 25, 1)] {
            assert_eq!(spared(start, end), count, "{start}-{end}");
        }
    }

    #[test]
    fn delimiters() {
        let text = "DELIMITER //\nCREATE PROCEDURE p() BEGIN SELECT '//', 'a\\'//'; END//\ndelimiter ;\nSELECT 1 // 2;\n";
        let without = "-- ---------\nCREATE PROCEDURE p() BEGIN SELECT '//', 'a\\'//'; END; \n-- --------\nSELECT 1 // 2;\n";
        assert_eq!(masked(text), without);
        assert_eq!(masked("source a.sql\n# it's\nSOURCE b.sql\n"), "-- ---------\n# it's\n-- ---------\n");
        let copy = "COPY t FROM 'a'\nDELIMITER ','\nCSV;\n";
        assert_eq!(masked(copy), copy);
        assert_eq!(masked("DELIMITER\n"), "DELIMITER\n");
    }

    #[test]
    fn commands_of_psql() {
        assert_eq!(
            masked("\\set a 1\nSELECT :a \\gset b_\nSELECT 2;\n"),
            "-- -----\nSELECT :a ;       \nSELECT 2;\n"
        );
        assert_eq!(
            masked("\\c x\nSELECT 1 \\; SELECT 2;\n"),
            "----\nSELECT 1  ; SELECT 2;\n".replace("----", "-- -")
        );
        assert_eq!(masked("\\set a 1\n:a SELECT :b;\n"), "-- -----\n   SELECT :b;\n");
        let rows = "COPY t (a) FROM stdin;\nit's\té\n1;\n\\.\nSELECT 1;\n";
        assert_eq!(masked(rows), "COPY t (a) FROM stdin;\n       \n  \n--\nSELECT 1;\n");
        for other in ["SELECT E'\\'\n\\a';\n", "SELECT $$\n\\a\n$$;\n", "-- \\a\n/*\n\\b */\n"] {
            assert_eq!(masked(other), other);
        }
    }

    #[test]
    fn a_dialect_says_which_client_it_is() {
        let is_masked = |text: &str, dialect| Masked::new(text, Some(dialect)).text != text;
        for (text, of, not) in [
            (".mode csv\n", DialectKind::Duckdb, DialectKind::Postgres),
            (".mode csv\n", DialectKind::Sqlite, DialectKind::Mysql),
            ("\\d t\n", DialectKind::Postgres, DialectKind::Oracle),
            ("DELIMITER $$\n", DialectKind::Mariadb, DialectKind::Sqlite),
        ] {
            assert!(is_masked(text, of) && !is_masked(text, not), "{text}");
        }
    }
}
