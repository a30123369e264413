//! A plugin that panics while it is made ready.

use broker_plugin_sdk::*;

struct Unready;

impl Plugin for Unready {
    fn new() -> Self {
        panic!("the table of rules has a hole")
    }

    fn rules(&self) -> Vec<Rule> {
        Vec::new()
    }

    fn check(&mut self, _: &SourceFile) -> Result<Report, String> {
        Ok(Report::new(Vec::new()))
    }
}

plugin!(Unready, "../broker-plugin.toml");
