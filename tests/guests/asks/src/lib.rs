//! A plugin that asks for a variable of the environment, and tells what it sees of it.

use std::env;

use broker_plugin_sdk::*;

struct Asks;

impl Plugin for Asks {
    fn new() -> Self {
        Self
    }

    fn rules(&self) -> Vec<Rule> {
        vec![Rule::new("team", "Tells the team")]
    }

    fn check(&mut self, _: &SourceFile) -> Result<Report, String> {
        let seen: Vec<_> = env::vars().map(|(name, value)| format!("{name}={value}")).collect();
        Ok(Report::new(vec![Diagnostic::new("team", &format!("sees {seen:?}"), 0..0)]))
    }
}

plugin!(Asks, "../broker-plugin.toml");
