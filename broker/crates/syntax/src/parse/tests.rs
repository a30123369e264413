//! Tests that a tree depends on its text alone.

use proptest::{
    prelude::*,
    sample::Index,
    test_runner::{RngSeed, TestRunner},
};

use super::{samples::SAMPLES, *};

fn tree(language: &str, text: &str) -> Tree {
    let language = Language::named(language).unwrap();
    Tree::parse(language, text.to_owned().into(), &|| false).unwrap()
}

/// Parses a text with a parser that never saw another.
fn alone(language: &str, text: &str) -> Tree {
    let (language, text) = (Language::named(language).unwrap(), Bytes::from(text.to_owned()));
    let inner = parse(&mut Parser::new(), language, &text, None, &|| false).unwrap();
    Tree { language, text, inner }
}

#[test]
fn each_language_has_a_sample_that_fits() {
    let all: Vec<_> = Language::all().map(Language::name).collect();
    assert_eq!(SAMPLES.map(|(language, _)| language), *all);
    let wrong = SAMPLES.iter().filter(|(language, text)| tree(language, text).has_error());
    let wrong: Vec<_> = wrong.map(|(language, _)| language).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

/// An edit as one types: where, how many bytes go, and what comes.
type Typed = (Index, usize, &'static str);

fn typed() -> impl Strategy<Value = Typed> {
    let gone = prop_oneof![3 => Just(0_usize), 3 => 1..4_usize, 1 => 4..40_usize];
    (any::<Index>(), gone, prop::sample::select(&COME[..]))
}

const COME: [&str; 24] = [
    "", "", "\n", " ", "a", "1", "\"", "'", "`", "(", ")", "[", "{", "}", "<", ":", "=", "/", "#", "\\", "$",
    "*/", "<!--", "\n    ",
];

fn edited(text: &str, (at, gone, come): Typed) -> String {
    let at = at.index(text.len() + 1);
    let [start, end] = [at, at + gone].map(|it| text.floor_char_boundary(it));
    [&text[..start], come, &text[end..]].concat()
}

/// Parsers are used again, and many grammars have a lexer with a state of its own: nothing of a text may be left in it.
#[test]
fn a_tree_depends_on_its_text_only() {
    for (language, sample) in SAMPLES {
        let rng_seed = RngSeed::Fixed(7);
        let config =
            ProptestConfig { rng_seed, cases: 16, failure_persistence: None, ..ProptestConfig::default() };
        let edits = prop::collection::vec(typed(), 1..4);
        let tried = TestRunner::new(config).run(&edits, |edits| {
            let mut text = sample.to_owned();
            for edit in edits {
                text = edited(&text, edit);
                prop_assert_eq!(tree(language, &text).table(), alone(language, &text).table(), "{}", text);
                // Something was typed and taken back.
                prop_assert_eq!(tree(language, sample).table(), alone(language, sample).table());
            }
            Ok(())
        });
        tried.unwrap_or_else(|error| panic!("{language}: {error}"));
    }
}

/// The tree of this text was another after a bracket was typed and deleted, when trees were made from earlier ones.
#[test]
fn what_was_typed_and_taken_back_leaves_nothing() {
    let (_, sample) = SAMPLES.iter().find(|(language, _)| *language == "typescriptreact").unwrap();
    let typed = [&sample[..170], "(", &sample[170..]].concat();
    let trees = crate::Trees::new(1 << 20);
    let tsx = Language::named("typescriptreact").unwrap();
    let table = |text: &str| {
        let (text, hash) = (Bytes::from(text.to_owned()), overlay::ContentHash::of(text.as_bytes()));
        trees.tree(tsx, text, hash, &|| false).unwrap().table()
    };
    table(&typed);
    assert_eq!(table(sample), alone("typescriptreact", sample).table());
}

#[test]
fn what_nobody_wants_is_given_up() {
    let python = Language::named("python").unwrap();
    let text = Bytes::from("x = 1\n".repeat(100_000));
    let given_up = Tree::parse(python, text, &|| true);
    assert_eq!(given_up.err(), Some(Unparsed::GivenUp));
    assert!(!tree("python", "x = 1\n").has_error(), "the next is not hurt");
    let large = Tree::parse(python, vec![b' '; LARGEST + 1].into(), &|| false);
    assert_eq!(large.err(), Some(Unparsed::TooLarge { bytes: LARGEST + 1 }));
}

/// A text that `Tree::fits` accepts has a tree without errors.
#[test]
fn a_text_that_fits_by_another_one_fits() {
    for (language, sample) in SAMPLES {
        let rng_seed = RngSeed::Fixed(11);
        let config =
            ProptestConfig { rng_seed, cases: 64, failure_persistence: None, ..ProptestConfig::default() };
        let edits = prop::collection::vec(typed(), 1..3);
        let tried = TestRunner::new(config).run(&edits, |edits| {
            let text = edits.into_iter().fold(sample.to_owned(), |text, it| edited(&text, it));
            let fits = tree(language, sample).fits(text.as_bytes(), &|| false);
            prop_assert!(!fits || !tree(language, &text).has_error(), "{language}: {text}");
            Ok(())
        });
        tried.unwrap();
    }
}
