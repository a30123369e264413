//! Comments of PHP that are not closed, where the grammar goes on to read the rest of the file as code.
//!
//! Looks for tags, strings and comments, and for nothing else.

use std::ops::Range;

use memchr::memmem;

/// The `/*` of a comment that goes on to the end of the file.
pub(crate) fn unclosed_comment(text: &[u8]) -> Option<Range<usize>> {
    let mut at = after_tag(text, 0)?;
    loop {
        at = match text.get(at..)? {
            [b'/', b'*', ..] => match after(text, at + 2, b"*/") {
                Some(end) => end,
                None => return Some(at..at + 2),
            },
            [b'?', b'>', ..] => after_tag(text, at + 2)?,
            [b'/', b'/', ..] => after_line_comment(text, at),
            [b'#', next, ..] if *next != b'[' => after_line_comment(text, at),
            [quote @ (b'\'' | b'"' | b'`'), ..] => after_string(text, at + 1, *quote)?,
            [b'<', b'<', b'<', ..] => after_heredoc(text, at + 3)?,
            [_, ..] => at + 1,
            [] => return None,
        };
    }
}

/// Returns the position after the next tag that begins code: `<?php`, `<?=` or `<?`, but no other instruction such as `<?xml`.
fn after_tag(text: &[u8], from: usize) -> Option<usize> {
    let mut tags = memmem::find_iter(text.get(from..)?, b"<?").map(|it| from + it + 2);
    tags.find(|it| {
        let word = text[*it..].iter().take_while(|it| it.is_ascii_alphabetic()).count();
        word == 0 || text[*it..*it + word].eq_ignore_ascii_case(b"php")
    })
}

fn after(text: &[u8], from: usize, end: &[u8]) -> Option<usize> {
    memmem::find(text.get(from..)?, end).map(|it| from + it + end.len())
}

/// The end of the line, or of the code before that.
fn after_line_comment(text: &[u8], from: usize) -> usize {
    let line = memchr::memchr(b'\n', &text[from..]).map_or(text.len(), |it| from + it);
    memmem::find(&text[from..line], b"?>").map_or(line, |it| from + it)
}

fn after_string(text: &[u8], from: usize, quote: u8) -> Option<usize> {
    let mut at = from;
    loop {
        match *text.get(at)? {
            b'\\' => at += 2,
            it if it == quote => return Some(at + 1),
            _ => at += 1,
        }
    }
}

/// Returns the position after a heredoc whose `<<<` ends at `from`, or of the next byte if it is no heredoc.
fn after_heredoc(text: &[u8], from: usize) -> Option<usize> {
    let is_gap = |it: &&u8| b" \t'\"".contains(it);
    let start = from + text[from..].iter().take_while(is_gap).count();
    let length = word(&text[start..]);
    if length == 0 {
        return Some(from);
    }
    let label = &text[start..start + length];
    let is_end = |line: &[u8]| {
        let indent = line.iter().take_while(|it| b" \t".contains(it)).count();
        line[indent..].starts_with(label) && word(&line[indent..]) == length
    };
    let mut at = start + length;
    loop {
        at += memchr::memchr(b'\n', text.get(at..)?)? + 1;
        if is_end(&text[at..]) {
            return Some(at + memmem::find(&text[at..], label)? + length);
        }
    }
}

fn word(text: &[u8]) -> usize {
    text.iter().take_while(|it| it.is_ascii_alphanumeric() || **it == b'_' || !it.is_ascii()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(text: &str) -> Option<usize> {
        unclosed_comment(text.as_bytes()).map(|it| it.start)
    }

    #[test]
    fn comments_that_are_not_closed() {
        for before in [
            "<?php f(); ",
            "a /* <?php\n",
            "<?= 1 ?> it's <? f('\\'', \"*/\"); ",
            "<?xml version='1'?><?PHP // /* a\n# b */\n",
            "<?php /* a */ /**/ ",
            "<?php $a = <<<'B'\n it's /*\n Bc\n  B;\n",
            "<?php #[A]\n1 << 2; 1 <<< (3); `l's`; ",
            "<?php // a ?> b ' <?php ",
        ] {
            for comment in ["/*", "/* a\n[b]\n", "/** it's * / \"", "/*/"] {
                assert_eq!(place(&format!("{before}{comment}")), Some(before.len()), "{before}{comment}");
            }
        }
    }

    #[test]
    fn comments_that_are_closed_or_none() {
        for text in [
            "",
            "a /*",
            "<?php",
            "<?php /* a */",
            "<?php /* a\n*/ ?> /*",
            "<?php glob('a/*'); \"/*\"; // /*",
            "<?php $a = <<<B\n/*\nB;\n",
            "<?php $a = <<<B\n/*\n",
            "<?php # /*\r\n",
            "<?php 'a /*",
            "<?xml a='/*'?>",
            "<?php '\\",
        ] {
            assert_eq!(place(text), None, "{text}");
        }
    }
}
