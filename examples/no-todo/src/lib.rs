//! The smallest useful plugin: a comment that says `TODO` without naming who will do it is a finding.

use broker_plugin_sdk::*;

struct NoTodo;

impl Plugin for NoTodo {
    fn new() -> Self {
        Self
    }

    fn rules(&self) -> Vec<Rule> {
        vec![Rule::new("anonymous-todo", "A TODO names nobody who will do it")]
    }

    fn check(&mut self, file: &SourceFile) -> Result<Report, String> {
        let text = String::from_utf8_lossy(&file.content);
        let anonymous = |at: usize| !text[at..].starts_with("TODO(");
        let found = text.match_indices("TODO").filter(|(at, _)| anonymous(*at));
        let message = "write `TODO(name)`, so that somebody feels responsible";
        Ok(found.map(|(at, todo)| Diagnostic::new("anonymous-todo", message, at..at + todo.len())).collect())
    }
}

plugin!(NoTodo, "../broker-plugin.toml");

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<u32> {
        let file = SourceFile { path: "a.py".into(), content: text.into(), named: String::new() };
        NoTodo.check(&file).unwrap().diagnostics.iter().map(|it| it.span.start).collect()
    }

    #[test]
    fn finds_todos_of_nobody() {
        assert_eq!(found("x = 1  # TODO: two\n"), [9]);
        assert_eq!(found("x = 1  # TODO(ada): two\n"), []);
    }
}
