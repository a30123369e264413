//! Text that a shell reads in place of `${{ … }}`, which the runner fills in before.

use std::borrow::Cow;

use broker_yaml_tree::github::expression_end;

const START: &str = "${{";
const END: &str = "}}";

/// Stands for an expression, with as many bytes.
#[derive(Debug, Clone, Copy)]
pub(super) enum Filler {
    /// `_____`.
    Word,
    /// `${__}`.
    Variable,
}

/// A script without expressions, in which all else is where it was. One that does not end is left as it is.
pub(super) fn replaced(script: &str, filler: Filler) -> Cow<'_, str> {
    let mut made = Cow::Borrowed(script);
    let mut from = 0;
    while let Some(start) = script[from..].find(START).map(|it| from + it) {
        let Some(inner) = expression_end(&script[start + START.len()..]) else { break };
        from = start + START.len() + inner + END.len();
        made.to_mut().replace_range(start..from, &filler.text(from - start));
    }
    made
}

impl Filler {
    fn text(self, length: usize) -> String {
        match self {
            Self::Word => "_".repeat(length),
            Self::Variable => format!("${{{}}}", "_".repeat(length - "${}".len())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_else_is_where_it_was() {
        let read = |script: &str| {
            let both = [Filler::Word, Filler::Variable].map(|it| replaced(script, it).into_owned());
            assert!(both.iter().all(|it| it.len() == script.len()), "{both:?}");
            both
        };
        assert_eq!(read("a ${{ x }} b"), ["a ________ b", "a ${_____} b"]);
        assert_eq!(read("${{}}"), ["_____", "${__}"]);
        assert_eq!(read("${{ '}}' }}|${{ 'ö' }}."), ["___________|___________.", "${________}|${________}."]);
        assert_eq!(read("${{ a\n || b }}\nc"), ["______________\nc", "${___________}\nc"]);
        assert_eq!(read("${{ x"), ["${{ x", "${{ x"]);
        assert_eq!(read("${x}"), ["${x}", "${x}"]);
    }
}
