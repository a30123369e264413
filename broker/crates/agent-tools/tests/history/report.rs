//! Tables of what came of the cases, by shape and by language.

use std::collections::BTreeMap;

use crate::{
    file::Group,
    options::Options,
    verdict::{Judged, Verdict},
};

#[derive(Default)]
struct Count {
    exact: usize,
    blank: usize,
    refused: usize,
    wrong: usize,
    lost: usize,
    /// Refusals whose first reading is right, and those that have a right one.
    first: usize,
    any: usize,
    /// Milliseconds for 1,000 lines, of each file of 200 lines or more.
    rates: Vec<f64>,
}

/// Lines of a file that its time is counted for; what is shorter takes next to none.
const TIMED: usize = 200;

/// Summary of a case.
pub(crate) struct Row {
    group: Group,
    shape: &'static str,
    language: &'static str,
    repository: String,
    verdict: Verdict,
    rate: Option<f64>,
}

impl From<&Judged> for Row {
    fn from(it: &Judged) -> Self {
        Self {
            group: it.case.group,
            shape: it.case.shape,
            language: it.case.language,
            repository: it.repository.clone(),
            verdict: it.verdict.clone(),
            rate: (it.lines >= TIMED).then(|| it.seconds * 1e6 / it.lines as f64),
        }
    }
}

impl Row {
    pub(crate) fn is_wrong(&self) -> bool {
        matches!(self.verdict, Verdict::Wrong { .. })
    }
}

pub(crate) fn print(rows: &[Row], options: &Options) {
    println!("seed {}, {} cases of each shape from each repository\n", options.seed, options.cases);
    for (group, title) in [
        (Group::Shape, "shape"),
        (Group::Form, "form or slip"),
        (Group::Adversarial, "adversarial: one text is right, or a refusal"),
    ] {
        let rows = || rows.iter().filter(move |it| it.group == group);
        table(title, rows(), |it| it.shape.to_owned());
        if options.has_languages {
            table(&format!("{title}, language"), rows(), |it| format!("{}: {}", it.shape, it.language));
        }
    }
    table("language", rows.iter().filter(|it| it.group == Group::Shape), |it| it.language.to_owned());
    table("repository", rows.iter().filter(|it| it.group == Group::Shape), |it| it.repository.clone());
    reasons(rows);
}

fn table<'a>(title: &str, rows: impl Iterator<Item = &'a Row>, name: impl Fn(&Row) -> String) {
    let (mut counts, mut all) = (BTreeMap::<String, Count>::new(), Count::default());
    for row in rows {
        counts.entry(name(row)).or_default().add(row);
        all.add(row);
    }
    println!("{title:44} {}", Count::HEAD);
    counts.iter().for_each(|(name, it)| println!("{name:44} {}", it.row()));
    println!("{:44} {}\n", "all", all.row());
}

/// Prints the reasons why the shapes were refused.
fn reasons(rows: &[Row]) {
    let mut counts: BTreeMap<&str, BTreeMap<&str, usize>> = BTreeMap::new();
    for row in rows.iter().filter(|it| it.group == Group::Shape) {
        if let Verdict::Refused { reason, .. } = &row.verdict {
            *counts.entry(reason).or_default().entry(row.shape).or_default() += 1;
        }
    }
    println!("why shapes were refused");
    for (reason, shapes) in counts {
        let all: Vec<_> = shapes.iter().map(|(shape, count)| format!("{shape} {count}")).collect();
        println!("{reason:24} {:5}   {}", shapes.values().sum::<usize>(), all.join("; "));
    }
}

impl Count {
    const HEAD: &str =
        "  exact  blank refused  wrong (lost)  right %  wrong %   first  any   ms/1000: median    p99  worst";

    fn add(&mut self, row: &Row) {
        match row.verdict {
            Verdict::Exact => self.exact += 1,
            Verdict::Blank => self.blank += 1,
            Verdict::Refused { right, .. } => {
                self.refused += 1;
                self.first += usize::from(right == Some(0));
                self.any += usize::from(right.is_some());
            }
            Verdict::Wrong { is_lost } => {
                self.wrong += 1;
                self.lost += usize::from(is_lost);
            }
        }
        self.rates.extend(row.rate);
    }

    fn row(&self) -> String {
        let Self { exact, blank, refused, wrong, lost, first, any, .. } = self;
        let total = (exact + blank + refused + wrong).max(1) as f64;
        let percent = |it: usize| it as f64 * 100.0 / total;
        let (right, share) = (percent(exact + blank), percent(*wrong));
        let mut rates = self.rates.clone();
        rates.sort_by(f64::total_cmp);
        let rate = |share: f64| rates.get((rates.len() as f64 * share) as usize).or(rates.last()).copied();
        let [median, most, worst] = [0.5, 0.99, 1.0].map(|it| rate(it).unwrap_or_default());
        format!(
            "{exact:7} {blank:6} {refused:7} {wrong:6} {lost:6}  {right:7.1} {share:8.2} {first:7} {any:4} {median:17.2} {most:6.1} {worst:6.1}"
        )
    }
}
