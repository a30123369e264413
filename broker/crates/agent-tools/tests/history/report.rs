//! What came of the cases, by language and by shape.

use std::collections::BTreeMap;

use crate::shapes::Case;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    Exact,
    Refused { reason: String },
    Wrong,
}

#[derive(Default)]
pub(crate) struct Report {
    /// Sketches with three lines of context, by language; whether the place is ambiguous.
    languages: BTreeMap<(&'static str, bool), Count>,
    shapes: BTreeMap<&'static str, Count>,
    reasons: BTreeMap<String, usize>,
    wrong: usize,
}

#[derive(Default, Clone)]
struct Count {
    exact: usize,
    refused: usize,
    wrong: usize,
    lines: usize,
    seconds: f64,
    /// Milliseconds for 1,000 lines, of each file of 200 lines or more.
    rates: Vec<f64>,
}

/// The shape that languages are compared by.
const PLAIN: &str = "three lines of context";

impl Report {
    pub(crate) fn count(&self, language: &'static str) -> usize {
        [true, false].iter().filter_map(|it| self.languages.get(&(language, *it))).map(Count::total).sum()
    }

    pub(crate) fn wrong(&self) -> usize {
        self.wrong
    }

    pub(crate) fn add(&mut self, case: &Case, verdict: Verdict, seconds: f64) {
        let lines = case.before.lines().count();
        self.wrong += usize::from(verdict == Verdict::Wrong);
        if case.shape == PLAIN {
            self.languages
                .entry((case.language, case.is_ambiguous))
                .or_default()
                .add(&verdict, lines, seconds);
        } else {
            self.shapes.entry(case.shape).or_default().add(&verdict, lines, seconds);
        }
        if let Verdict::Refused { reason } = verdict
            && (case.shape == PLAIN && !case.is_ambiguous)
        {
            *self.reasons.entry(reason).or_default() += 1;
        }
    }

    pub(crate) fn print(&self) {
        println!("{:34} {}", "sketches by language", Count::HEAD);
        let mut all = Count::default();
        for ((language, is_ambiguous), count) in &self.languages {
            let name = if *is_ambiguous {
                format!("{language}, context not unique")
            } else {
                (*language).to_owned()
            };
            println!("{name:34} {}", count.row());
            all.join(count);
        }
        println!("{:34} {}\n", "all", all.row());
        println!("{:34} {}", "by shape", Count::HEAD);
        for (shape, count) in &self.shapes {
            println!("{shape:34} {}", count.row());
        }
        println!("\nwhy sketches with unique context were refused");
        self.reasons.iter().for_each(|(reason, count)| println!("{reason:34} {count:7}"));
    }
}

impl Count {
    const HEAD: &str = "  exact refused wrong  exact %  ms/1000 lines  worst";

    fn total(&self) -> usize {
        self.exact + self.refused + self.wrong
    }

    fn add(&mut self, verdict: &Verdict, lines: usize, seconds: f64) {
        match verdict {
            Verdict::Exact => self.exact += 1,
            Verdict::Refused { .. } => self.refused += 1,
            Verdict::Wrong => self.wrong += 1,
        }
        self.lines += lines;
        self.seconds += seconds;
        if lines >= 200 {
            self.rates.push(seconds * 1e6 / lines as f64);
        }
    }

    fn join(&mut self, other: &Self) {
        self.exact += other.exact;
        self.refused += other.refused;
        self.wrong += other.wrong;
        self.lines += other.lines;
        self.seconds += other.seconds;
        self.rates.extend(&other.rates);
    }

    fn row(&self) -> String {
        let percent = self.exact as f64 * 100.0 / self.total().max(1) as f64;
        let rate = self.seconds * 1e6 / self.lines.max(1) as f64;
        let worst = self.rates.iter().copied().fold(0.0, f64::max);
        format!("{:7} {:7} {:5} {percent:8.1} {rate:14.2} {worst:6.1}", self.exact, self.refused, self.wrong)
    }
}
