//! Placeholders for secrets in documents and tests: words, sequences, repetitions, and a few well-known values.

use memchr::memmem;

use super::shape::Alphabet;

/// Words, in lower case. A random text of 40 characters has one of them in fewer than one of 300 cases.
const WORDS: [&[u8]; 26] = [
    b"xxxx",
    b"example",
    b"sample",
    b"dummy",
    b"fake",
    b"mock",
    b"test",
    b"demo",
    b"your",
    b"token",
    b"secret",
    b"redact",
    b"placeholder",
    b"replace",
    b"invalid",
    b"changeme",
    b"password",
    b"foobar",
    b"qwerty",
    b"asdf",
    b"deadbeef",
    b"0123",
    b"1234",
    b"abcd",
    b"fedcba",
    b"notreal",
];

/// Values that vendors' documents or emulators use.
const KNOWN: [&[u8]; 7] = [
    b"Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq", // Azurite's account
    b"AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw",                             // Telegram
    b"4eC39HqLyjWDarjtT1zdp7dc",                                       // Stripe
    b"BQokikJOvBiI2HlWgH4olfQ2",                                       // Stripe
    b"tR3PYbcVNZZ796tH88S4VQ2u",                                       // Stripe
    b"ngeVfQFYQlKU0ufo8x5d1A",                                         // SendGrid
    b"N7UND0UgjKTVK-Uodkm0Hg_xSvEMPvz",                                // Supabase on one's own machine
];

/// Length of a part whose repetition marks a text as an example.
const REPEATED: usize = 6;

/// Whether a text of an alphabet is unlikely to come from a generator of secrets.
pub(super) fn is_dummy(secret: &[u8], alphabet: Alphabet) -> bool {
    let lower = secret.to_ascii_lowercase();
    !has_classes(secret, alphabet)
        || entropy(secret) < least_entropy(secret.len(), alphabet)
        || is_sequence(&lower)
        || repeats(&lower)
}

/// Whether a text contains a word of examples, or a well-known value.
pub(super) fn has_word(text: &[u8]) -> bool {
    let lower = text.to_ascii_lowercase();
    WORDS.iter().any(|it| memmem::find(&lower, it).is_some())
        || KNOWN.iter().any(|it| memmem::find(text, it).is_some())
}

/// Whether each class of characters of the alphabet occurs, and hexadecimal digits are of one case.
fn has_classes(secret: &[u8], alphabet: Alphabet) -> bool {
    let count = |is: fn(&u8) -> bool| secret.iter().filter(|it| is(it)).count();
    let (upper, lower) = (count(u8::is_ascii_uppercase), count(u8::is_ascii_lowercase));
    let digits = count(u8::is_ascii_digit);
    match alphabet {
        Alphabet::Digits => true,
        Alphabet::Hex => digits > 0 && (upper > 0) != (lower > 0),
        Alphabet::Lower | Alphabet::Upper => digits > 0 && upper + lower > 0,
        // A name in camel case has fewer of upper case.
        Alphabet::Letters => upper * 4 >= secret.len() && lower * 4 >= secret.len(),
        Alphabet::Alphanumeric | Alphabet::Url | Alphabet::Base64 | Alphabet::Encoded => {
            upper > 0 && lower > 0 && digits > 0
        }
    }
}

/// Bits per character, by how often each occurs.
fn entropy(secret: &[u8]) -> f64 {
    let mut counts = [0u32; 256];
    secret.iter().for_each(|it| counts[usize::from(*it)] += 1);
    let shares = counts.iter().filter(|it| **it > 0).map(|it| f64::from(*it) / secret.len() as f64);
    -shares.map(|it| it * it.log2()).sum::<f64>()
}

/// A bound that random texts keep and words seldom do.
fn least_entropy(length: usize, alphabet: Alphabet) -> f64 {
    0.78 * (length.min(alphabet.size()) as f64).log2()
}

/// Whether characters are equal, ascend or descend five times in a row, adjacent or every second one, or letters or digits by
/// themselves do so for longer.
fn is_sequence(lower: &[u8]) -> bool {
    let only = |is: fn(&u8) -> bool| lower.iter().copied().filter(is).collect::<Vec<u8>>();
    let side_by_side = [1, 2].into_iter().any(|stride| has_steps(lower, stride, &[0, 1, u8::MAX], 4));
    let by_class = || [only(u8::is_ascii_alphabetic), only(u8::is_ascii_digit)];
    side_by_side || by_class().iter().any(|it| has_steps(it, 1, &[1, u8::MAX], 6))
}

/// Whether the difference between characters that are `stride` apart is one of `steps` at least `least` times in a row.
fn has_steps(text: &[u8], stride: usize, steps: &[u8], least: usize) -> bool {
    let later = text.get(stride..).unwrap_or_default();
    let differences = || text.iter().zip(later).map(|(a, b)| b.wrapping_sub(*a));
    steps.iter().any(|step| longest(differences(), *step) >= least)
}

/// The most steps in a row that are `step`.
fn longest(steps: impl Iterator<Item = u8>, step: u8) -> usize {
    let runs = steps.scan(0, |run, it| {
        *run = if it == step { *run + 1 } else { 0 };
        Some(*run)
    });
    runs.max().unwrap_or(0)
}

/// Whether a part of [`REPEATED`] characters occurs twice.
fn repeats(lower: &[u8]) -> bool {
    let windows = || lower.windows(REPEATED).enumerate();
    windows().any(|(at, part)| memmem::find(&lower[at + 1..], part).is_some())
}
