//! Measurements beside their targets.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::samples::Samples;

#[derive(Default)]
pub(crate) struct Table(Vec<Row>);

struct Row {
    what: String,
    figure: f64,
    unit: &'static str,
    target: Option<Target>,
    samples: Option<usize>,
}

#[derive(Clone, Copy)]
pub(crate) enum Target {
    AtMost(f64),
    AtLeast(f64),
}

impl Table {
    pub(crate) fn add(
        &mut self,
        what: impl Into<String>,
        figure: f64,
        unit: &'static str,
        target: Option<Target>,
    ) {
        self.0.push(Row { what: what.into(), figure, unit, target, samples: None });
    }

    /// The median and the 99th percentile, in milliseconds, each with its target if it has one.
    pub(crate) fn times(&mut self, what: &str, samples: &Samples, p50: Option<f64>, p99: Option<f64>) {
        let both = [("p50", samples.p50(), p50), ("p99", samples.p99(), p99)];
        for (name, figure, target) in both {
            let (what, target) = (format!("{what}, {name}"), target.map(Target::AtMost));
            self.0.push(Row { what, figure, unit: "ms", target, samples: Some(samples.count()) });
        }
    }

    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        let _ = writeln!(text, "{:68} {:>11} {:5} {:>12} {:>7}", "", "figure", "", "target", "samples");
        for row in &self.0 {
            let samples = row.samples.map(|it| it.to_string()).unwrap_or_default();
            let (target, verdict) = row.target.map_or_else(Default::default, |it| it.judge(row.figure));
            let _ = writeln!(
                text,
                "{:68} {:11.4} {:5} {target:>12} {samples:>7} {verdict}",
                row.what, row.figure, row.unit
            );
        }
        text
    }

    pub(crate) fn json(&self) -> Value {
        let row = |it: &Row| {
            let (relation, target) = match it.target {
                Some(Target::AtMost(target)) => (Some("at most"), Some(target)),
                Some(Target::AtLeast(target)) => (Some("at least"), Some(target)),
                None => (None, None),
            };
            let Row { what, figure, unit, samples, .. } = it;
            json!({ "what": what, "figure": figure, "unit": unit, "relation": relation, "target": target, "samples": samples })
        };
        self.0.iter().map(row).collect()
    }
}

impl Target {
    fn judge(self, figure: f64) -> (String, &'static str) {
        let (text, is_met) = match self {
            Self::AtMost(target) => (format!("<= {target:.2}"), figure <= target),
            Self::AtLeast(target) => (format!(">= {target:.2}"), figure >= target),
        };
        (text, if is_met { "ok" } else { "MISSED" })
    }
}
