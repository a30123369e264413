//! Queries, and a source of random choices that is the same each time.

use overlay::{View, WorkspacePath};
use search::GrepRequest;

/// Numbers that look like random ones: a linear congruential generator with the constants of MMIX.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % end.max(1)
    }

    pub(crate) fn choice<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }
}

/// Queries made of what stands in the files, so that most are found somewhere.
pub(crate) fn queries(
    view: &dyn View,
    files: &[WorkspacePath],
    count: usize,
    random: &mut Random,
) -> Vec<GrepRequest> {
    let mut queries = Vec::new();
    while queries.len() < count {
        let Ok(text) = view.read(random.choice(files)) else { continue };
        let Ok(text) = std::str::from_utf8(&text) else { continue };
        let lines: Vec<_> = text.lines().filter(|it| it.len() < 300).collect();
        if lines.is_empty() {
            continue;
        }
        let line = *random.choice(&lines);
        let words: Vec<_> =
            line.split(|it: char| !it.is_alphanumeric()).filter(|it| it.chars().count() > 2).collect();
        if words.is_empty() {
            continue;
        }
        let query = query(line, &words, random);
        let case_sensitive = random.below(3) > 0;
        queries.push(GrepRequest { case_sensitive, limit: usize::MAX, ..GrepRequest::new(&query) });
    }
    queries
}

fn query(line: &str, words: &[&str], random: &mut Random) -> String {
    let [word, other] = [*random.choice(words), *random.choice(words)];
    let part: String = word.chars().skip(random.below(2)).take(3 + random.below(3)).collect();
    match random.below(14) {
        0 => escaped(line.trim()),
        1 => format!(r"\b{word}\b"),
        2 => format!("{word}.*{other}"),
        3 => format!("({word}|{part}|zebra)"),
        4 => format!(r"^\s*{word}"),
        5 => format!(r"[a-z_]+{part}\w*"),
        6 => format!(r"{part}?.{{0,3}}{other}"),
        7 => format!(r"(?:{part})+\W"),
        8 => format!("{}$", escaped(line.trim_end().get(line.trim_end().len() / 2..).unwrap_or(word))),
        9 => format!("({part}|{other})[({{;:]"),
        10 => format!(r"\p{{Lu}}{part}"),
        11 => format!("[{}]{part}", &word.chars().next().unwrap()),
        12 => format!("{word} |x{{2,}}{part}"),
        _ => word.to_owned(),
    }
}

fn escaped(text: &str) -> String {
    let is_special = |it: char| r"\.+*?()|[]{}^$#&-~".contains(it);
    text.chars().flat_map(|it| is_special(it).then_some('\\').into_iter().chain([it])).collect()
}
