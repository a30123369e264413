//! Names that tables have in the FROMs of a statement, as far as its words tell: more than there are, and never less.

use crate::statements::Token;

/// Words that end the name of a table.
const AFTER_TABLE: [&str; 8] = ["CROSS", "FULL", "INNER", "LEFT", "NATURAL", "ON", "RIGHT", "USING"];

/// Words that end a FROM.
const AFTER_FROM: [&str; 15] = [
    "EXCEPT",
    "FETCH",
    "GROUP",
    "HAVING",
    "INTERSECT",
    "LIMIT",
    "OFFSET",
    "ORDER",
    "QUALIFY",
    "RETURNING",
    "SELECT",
    "SET",
    "UNION",
    "WHERE",
    "WINDOW",
];

/// Words beside a name.
const AROUND: [&str; 3] = ["AS", "LATERAL", "ONLY"];

/// The names in what was read so far.
#[derive(Default)]
pub(crate) struct Tables {
    names: Vec<String>,
    /// States outside the brackets that are open, one for each.
    levels: Vec<Level>,
    level: Level,
    last: Last,
}

#[derive(Debug, Default, Clone, Copy)]
struct Level {
    is_in_from: bool,
    is_in_table: bool,
}

/// Kind of the last token.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Last {
    /// `FROM`, `JOIN`, a comma between tables, or a bracket after one of these.
    Opening,
    Name,
    #[default]
    Other,
}

impl Tables {
    pub(crate) fn take(&mut self, token: Token<'_>) {
        self.last = match token {
            Token::Word(it) => self.word(&it.to_ascii_uppercase()),
            Token::Quoted(it) => self.name(it.trim_matches(['"', '`', '\'']).to_ascii_uppercase()),
            Token::Sign(',') if self.level.is_in_from => self.open(),
            Token::Sign('(') => self.bracket(),
            Token::Sign(')') => {
                self.level = self.levels.pop().unwrap_or_default();
                Last::Other
            }
            Token::Sign('.') if self.last == Last::Name => {
                self.names.pop();
                Last::Other
            }
            Token::Sign(_) => Last::Other,
        };
    }

    /// Whether two tables may have one name.
    pub(crate) fn has_one_twice(mut self) -> bool {
        self.names.sort_unstable();
        self.names.windows(2).any(|it| it[0] == it[1])
    }

    fn word(&mut self, word: &str) -> Last {
        if word == "FROM" || word.ends_with("JOIN") || word.ends_with("APPLY") {
            return self.open();
        }
        if AROUND.contains(&word) {
            return Last::Other;
        }
        let ends_from = AFTER_FROM.contains(&word);
        if ends_from || AFTER_TABLE.contains(&word) {
            self.level = Level { is_in_from: self.level.is_in_from && !ends_from, is_in_table: false };
            return Last::Other;
        }
        self.name(word.to_owned())
    }

    fn name(&mut self, name: String) -> Last {
        if !self.level.is_in_table {
            return Last::Other;
        }
        self.names.push(name);
        Last::Name
    }

    fn open(&mut self) -> Last {
        self.level = Level { is_in_from: true, is_in_table: true };
        Last::Opening
    }

    /// Begins a list of tables, a query of its own, or arguments.
    fn bracket(&mut self) -> Last {
        self.levels.push(self.level);
        if self.last == Last::Opening {
            return Last::Opening;
        }
        self.level = Level::default();
        Last::Other
    }
}
