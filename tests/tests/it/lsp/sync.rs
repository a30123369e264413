//! Texts by property: after ten thousand random edits the server has what the editor has, in each encoding.

use super::*;
use gen_lsp_types::{Position, Range};
use tests::{
    daemon::Random,
    editor::{Encoding, edit, lines, whole},
};

/// Messages with edits for each encoding; most have one, some have many.
const MESSAGES: u64 = 10_000;

/// Messages of one session with a document.
const SESSION: u64 = 250;

/// Messages between two looks at the server's text.
const BETWEEN: u64 = 25;

const PIECES: [&str; 20] = [
    "x",
    "word ",
    "é",
    "€",
    "𐐀",
    "👩‍👩‍👧",
    "\n",
    "\r\n",
    "\r",
    "\n\n",
    "\t",
    "",
    "\u{feff}",
    "\u{2028}",
    "e\u{301}",
    "{",
    "'\"\\",
    "a longer piece of text, with some words in it",
    "line\nline\r\nline\rend",
    "\u{0}",
];

fn text(random: &mut Random, pieces: u64) -> String {
    (0..random.below(pieces + 1)).map(|_| PIECES[random.below(PIECES.len() as u64) as usize]).collect()
}

/// A place in the text or, now and then, beyond a line or the end.
fn place_in(random: &mut Random, encoding: Encoding, text: &str) -> Position {
    let mut offset = random.below(text.len() as u64 + 1) as usize;
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    let at = encoding.position(text, offset);
    match random.below(20) {
        0 => Position { character: at.character + 1_000, ..at },
        1 => Position {
            line: lines(text).len() as u32 + random.below(5) as u32,
            character: random.below(9) as u32,
        },
        2 => Position { character: u32::MAX >> 1, ..at },
        _ => at,
    }
}

fn change(random: &mut Random, encoding: Encoding, text: &str) -> Value {
    if random.below(40) == 0 {
        return whole(&self::text(random, 40));
    }
    let (one, other) = (place_in(random, encoding, text), place_in(random, encoding, text));
    // Most edits are small: a place, or a few characters behind it.
    let end = match random.below(4) {
        0 => other,
        1 => Position { character: one.character.saturating_add(random.below(4) as u32), ..one },
        _ => one,
    };
    let start = clamped(encoding, text, one);
    let end = clamped(encoding, text, end);
    let (start, end) = if start <= end { (one, end) } else { (end, one) };
    let pieces = if text.len() > 4_000 { 1 } else { 4 };
    edit(Range { start, end }, &self::text(random, pieces))
}

/// Clamps a position to the text, where no two clients disagree.
fn clamped(encoding: Encoding, text: &str, at: Position) -> Position {
    encoding.position(text, encoding.offset(text, at))
}

/// Messages in which edits rest on those before them.
fn type_at_random(editor: &mut Editor, random: &mut Random, uri: &str) {
    let edits = if random.below(10) == 0 { 1 + random.below(6) } else { 1 };
    let encoding = editor.encoding();
    let mut changes = Vec::new();
    let mut text = editor.text(uri).to_owned();
    for _ in 0..edits {
        let next = change(random, encoding, &text);
        match next.get("range") {
            None => text = next["text"].as_str().unwrap().to_owned(),
            Some(range) => {
                let range: Range = serde_json::from_value(range.clone()).unwrap();
                let bytes = encoding.offset(&text, range.start)..encoding.offset(&text, range.end);
                text.replace_range(bytes, next["text"].as_str().unwrap());
            }
        }
        changes.push(next);
    }
    editor.change(uri, &changes);
    assert_eq!(editor.text(uri), text);
}

fn texts_agree(encoding: Encoding, seed: u64) {
    let place = Place::new(&[("broker.toml", "")]);
    let mut editor = Editor::start(&place, Client::pulling().encoding(encoding));
    // A kind of file that no linter reads.
    let uri = file_uri(&place, "a.unknown");
    editor.open_text(&uri, "");
    editor.findings(&uri);
    editor.close_document(&uri);
    let daemon = Daemon::of(&place);
    let mut random = Random(seed);
    for session in 0..MESSAGES / SESSION {
        let begin = self::text(&mut random, 30);
        editor.open_text(&uri, &begin);
        for number in 1..=SESSION {
            type_at_random(&mut editor, &mut random, &uri);
            if number % BETWEEN == 0 {
                // The answer is about the text, so the daemon has it by then.
                editor.findings(&uri);
                let shown = daemon.text(&place, "a.unknown").unwrap();
                assert_eq!(
                    shown,
                    editor.text(&uri),
                    "{encoding:?}, seed {seed}, session {session}, message {number}"
                );
            }
        }
        editor.close_document(&uri);
    }
    editor.close();
}

#[test]
fn texts_agree_in_utf_8() {
    texts_agree(Encoding::Utf8, 1);
}

#[test]
fn texts_agree_in_utf_16() {
    texts_agree(Encoding::Utf16, 2);
}

#[test]
fn texts_agree_in_utf_32() {
    texts_agree(Encoding::Utf32, 3);
}

/// Ranges that no client may send: the session goes on, and a whole text brings both together again.
#[test]
fn ranges_that_are_none_are_no_harm() {
    let place = Place::new(&[("broker.toml", "")]);
    for encoding in Encoding::ALL {
        let mut editor = Editor::start(&place, Client::pulling().encoding(encoding));
        let uri = file_uri(&place, "a.py");
        editor.open_text(&uri, "s = '𐐀é'\nx = 1\n");
        let at = |line: u32, character: u32| json!({ "line": line, "character": character });
        let mut version = 1;
        for (start, end) in [
            (at(1, 3), at(0, 0)),
            (at(0, 6), at(0, 6)),
            (at(0, 7), at(0, 8)),
            (at(9, 9), at(3, 1)),
            (at(u32::MAX, u32::MAX), at(u32::MAX, u32::MAX)),
        ] {
            version += 1;
            let change = json!({ "range": { "start": start, "end": end }, "text": "y" });
            let document = json!({ "uri": uri, "version": version });
            editor.notify(
                "textDocument/didChange",
                json!({ "textDocument": document, "contentChanges": [change] }),
            );
        }
        editor.documents.get_mut(&uri).unwrap().version = version;
        editor.set_text(&uri, "import os\n");
        assert_eq!(found(&mut editor, &uri), [F401], "{encoding:?}");
        editor.close();
    }
}

/// Deprecated, and still sent by some clients.
#[test]
fn the_length_of_a_range_is_passed_over() {
    let (place, mut editor, uri) = opened(Client::pulling());
    let range = editor.encoding().range_of(UNUSED, "os");
    let change = json!({ "range": range, "rangeLength": 99, "text": "sys" });
    editor.change(&uri, &[change]);
    assert_eq!(found(&mut editor, &uri), [F401]);
    Daemon::of(&place).until_text(&place, "a.py", "import sys\n");
    editor.close();
}
