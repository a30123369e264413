//! Hover: the description of a rule or key at the cursor, explanations of the findings there, and the answer of a language server,
//! in one text.

use std::{pin::pin, rc::Rc};

use check_engine::pipeline::Reported;
use gen_lsp_types::{Contents, Hover, MarkupContent, MarkupKind, Position, Range};
use serde_json::{Value, json};
use tokio::time::Instant;
use workspaces::LinterRule;

use super::{
    diagnostics::{message, rule},
    document::{Checked, Document, DocumentLocation},
    failure::Failure,
    hints::{self, CursorWord},
    hover_answer::Answer,
    queries::in_time,
    rule_list::markdown,
    server::Server,
};

/// A text about a range of the document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) text: String,
    pub(super) range: Option<Range>,
}

/// Horizontal rule between parts.
const SEPARATOR: &str = "\n\n---\n\n";

/// Hover of a word that names a rule or key. Findings are added if the check is done.
pub(super) async fn of_word(
    server: Rc<Server>,
    document: Rc<Document>,
    position: Position,
    cursor: CursorWord,
) -> Result<Value, Failure> {
    let mut parts: Vec<_> = hints::describe(&server, &document, &cursor).await?.into_iter().collect();
    if let Some(checked) = document.checked() {
        parts.extend(explained(&server, &document, &findings_at(&checked, position)).await);
    }
    Ok(json!(merged(&parts, server.traits.markdown_hover)))
}

/// Hover of any other place: findings, and the answer of a language server if one is asked.
pub(super) async fn of_place(
    server: Rc<Server>,
    document: Rc<Document>,
    version: i32,
    position: Position,
    of_server: Option<impl Future<Output = Result<Value, Failure>>>,
) -> Result<Value, Failure> {
    let findings = async {
        match document.place {
            DocumentLocation::Elsewhere => Ok(Vec::new()),
            _ => Ok(findings_at(&*document.result_of(version).await?, position)),
        }
    };
    let (findings, answer) = match of_server {
        Some(of_server) => both(findings, of_server).await,
        None => (findings.await?, Ok(Value::Null)),
    };
    let own = explained(&server, &document, &findings).await;
    with_answer(own, answer, server.traits.markdown_hover)
}

/// Findings and the answer of a language server. Once there is one of them, the other is waited for only as long as
/// [`in_time`] does.
async fn both<T>(
    findings: impl Future<Output = Result<Vec<T>, Failure>>,
    of_server: impl Future<Output = Result<Value, Failure>>,
) -> (Vec<T>, Result<Value, Failure>) {
    let (mut findings, mut of_server) = (pin!(findings), pin!(of_server));
    tokio::select! {
        found = &mut findings => match found.unwrap_or_default() {
            none if none.is_empty() => (none, of_server.await),
            found => (found, in_time(Instant::now(), of_server).await.unwrap_or(Ok(Value::Null))),
        },
        answer = &mut of_server => {
            let found = in_time(Instant::now(), findings).await;
            (found.and_then(Result::ok).unwrap_or_default(), answer)
        }
    }
}

/// The hover of own parts and of a language server's answer, which is passed on unchanged if there are no own parts.
fn with_answer(
    mut own: Vec<Part>,
    answer: Result<Value, Failure>,
    is_markdown: bool,
) -> Result<Value, Failure> {
    if own.is_empty() {
        return answer;
    }
    let of_server = answer.ok().and_then(|it| serde_json::from_value::<Option<Answer>>(it).ok().flatten());
    own.extend(of_server.map(|it| Part { text: it.contents.text(is_markdown), range: it.range }));
    own.retain(|it| !it.text.is_empty());
    Ok(json!(merged(&own, is_markdown)))
}

/// One hover for all parts, about the range that they share; `None` without parts.
fn merged(parts: &[Part], is_markdown: bool) -> Option<Hover> {
    if parts.is_empty() {
        return None;
    }
    let kind = if is_markdown { MarkupKind::Markdown } else { MarkupKind::PlainText };
    let value = parts.iter().map(|it| &*it.text).collect::<Vec<_>>().join(SEPARATOR);
    let range = parts
        .iter()
        .filter_map(|it| it.range)
        .reduce(|a, b| Range { start: a.start.max(b.start), end: a.end.min(b.end) });
    Some(Hover { contents: Contents::MarkupContent(MarkupContent { kind, value }), range })
}

/// A finding with its range in the client's positions.
type Found = (Reported, Range);

fn findings_at(checked: &Checked, at: Position) -> Vec<Found> {
    let ranges = checked.diagnostics.iter().map(|it| it.range);
    let here = checked.found.findings.iter().zip(ranges).filter(|(_, range)| contains(*range, at));
    here.map(|(it, range)| (it.clone(), range)).collect()
}

/// Explanations of findings, a part for each rule.
async fn explained(server: &Server, document: &Document, findings: &[Found]) -> Vec<Part> {
    let rules = match document.folder() {
        // A finding without an explanation is better than none.
        Some(folder) if !findings.is_empty() => server.rules.of(folder).await.ok(),
        _ => None,
    };
    let known = |it: &Reported| rules.as_ref()?.find(&rule(it)).cloned();
    explanations(findings, known, server.traits.markdown_hover)
}

/// Whether a position is in a range, whose end is exclusive unless it is empty.
fn contains(range: Range, at: Position) -> bool {
    range.start <= at && (at < range.end || at == range.start)
}

/// Messages of findings, followed by the description of their rule, in the order of the findings.
fn explanations(
    findings: &[Found],
    known: impl Fn(&Reported) -> Option<LinterRule>,
    is_markdown: bool,
) -> Vec<Part> {
    let mut rules: Vec<(String, &Reported, Part)> = Vec::new();
    for (finding, range) in findings {
        let part = Part { text: shown(&message(finding), is_markdown), range: Some(*range) };
        let name = rule(finding);
        match rules.iter_mut().find(|it| it.0 == name) {
            Some((.., first)) => first.text += &format!("\n\n{}", part.text),
            None => rules.push((name, finding, part)),
        }
    }
    let explained = |(_, finding, part): (String, &Reported, Part)| {
        let rule = known(finding).unwrap_or_else(|| unlisted(finding));
        Part { text: format!("{}\n\n{}", part.text, markdown(&rule)), ..part }
    };
    rules.into_iter().map(explained).collect()
}

/// The rule of a linter that does not list its rules, as far as the finding tells.
fn unlisted(finding: &Reported) -> LinterRule {
    let rule = &finding.0.rule;
    LinterRule {
        linter: rule.linter.to_string(),
        rule: lint::Rule {
            code: rule.code.clone(),
            name: String::new(),
            summary: String::new(),
            explanation: String::new(),
            url: rule.url.clone(),
            fix: lint::FixAvailability::None,
            default: false,
        },
    }
}

/// A message in Markdown: backticks enclose code, and all else is text.
fn shown(message: &str, is_markdown: bool) -> String {
    if !is_markdown {
        return message.to_owned();
    }
    let (mut text, mut is_code) = (String::with_capacity(message.len()), false);
    for it in message.chars() {
        is_code ^= it == '`';
        if !is_code && r"\*_<>[]#|~&".contains(it) {
            text.push('\\');
        }
        text.push(it);
    }
    text
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use check_engine::{CheckedFile, Finding, RuleRef};
    use lint::LineColumn;
    use overlay::WorkspacePath;

    use super::*;

    fn range(start: u32, end: u32) -> Range {
        let at = |character| Position { line: 0, character };
        Range { start: at(start), end: at(end) }
    }

    fn finding(linter: &str, code: &str, message: &str) -> Reported {
        let rule = RuleRef {
            linter: linter.into(),
            code: code.to_owned(),
            name: None,
            url: Some(format!("https://example.org/{code}")),
            is_syntax_error: false,
            fixes_first: false,
            is_unnecessary: false,
            is_deprecated: false,
            shared_name: None,
        };
        let at = LineColumn { line: 1, column: 1 };
        let finding = Finding {
            file: CheckedFile { path: WorkspacePath::root(), content: None }.into(),
            rule: rule.into(),
            message: message.into(),
            severity: lint::Severity::Warning,
            cell: None,
            span: lint::Span::new(0, 0),
            range: check_engine::Range { start: at, end: at },
            fixes: [].into(),
            related: [].into(),
        };
        (finding, lint::Fingerprint::MIN).into()
    }

    fn known(it: &Reported) -> Option<LinterRule> {
        let LinterRule { linter, rule } = unlisted(it);
        let rule = lint::Rule {
            name: "unused-import".to_owned(),
            summary: "An import that is not used.".to_owned(),
            explanation: "## Why\n\nIt costs time.".to_owned(),
            ..rule
        };
        (linter == "python").then_some(LinterRule { linter, rule })
    }

    fn of_server(contents: Value) -> Value {
        json!({"contents": contents, "range": range(3, 6)})
    }

    #[test]
    fn findings_of_a_rule_are_explained_together() {
        let (os, sys) = (finding("python", "F401", "`os` is unused"), finding("python", "F401", "`sys` is"));
        let ty = finding("ty", "bad-type", "Expected `list[_]`, found dict[str, *]");
        let here = [(os, range(0, 9)), (ty, range(2, 20)), (sys, range(0, 9))];
        let hover = merged(&explanations(&here, known, true), true).unwrap();
        assert_eq!(hover.range, Some(range(2, 9)));
        let Contents::MarkupContent(contents) = hover.contents else { panic!("{hover:?}") };
        insta::assert_snapshot!(contents.value, @r"
        `os` is unused

        `sys` is

        **python/F401** `unused-import`

        An import that is not used.

        ## Why

        It costs time.

        [Documentation](https://example.org/F401)

        ---

        Expected `list[_]`, found dict\[str, \*\]

        **ty/bad-type**

        [Documentation](https://example.org/bad-type)
        ");
        assert_eq!(shown("a `b` *c*", false), "a `b` *c*");
    }

    #[test]
    fn a_position_is_in_a_range_but_not_at_its_end() {
        let at = |character| Position { line: 0, character };
        let inside: Vec<_> = (0..6).filter(|it| contains(range(2, 4), at(*it))).collect();
        assert_eq!(inside, [2, 3]);
        assert!(contains(range(2, 2), at(2)) && !contains(range(2, 2), at(3)));
    }

    #[test]
    fn the_answer_of_a_server_follows_in_each_of_its_forms() {
        let own = || vec![Part { text: "own".to_owned(), range: Some(range(0, 5)) }];
        for (contents, want) in [
            (json!({"kind": "markdown", "value": "*it*"}), "own\n\n---\n\n*it*"),
            (json!({"kind": "plaintext", "value": "*it*"}), "own\n\n---\n\n```text\n*it*\n```"),
            (json!("it"), "own\n\n---\n\nit"),
            (json!([{"language": "go", "value": "f()"}, "it"]), "own\n\n---\n\n```go\nf()\n```\n\nit"),
            (json!(""), "own"),
        ] {
            let hover = with_answer(own(), Ok(of_server(contents)), true).unwrap();
            assert_eq!(hover["contents"], json!({"kind": "markdown", "value": want}));
        }
        let hover = with_answer(own(), Ok(of_server(json!("it"))), false).unwrap();
        assert_eq!((&hover["contents"]["kind"], &hover["range"]), (&json!("plaintext"), &json!(range(3, 5))));
        for none in [Ok(Value::Null), Err(Failure::failed("no"))] {
            assert_eq!(with_answer(own(), none, true).unwrap()["contents"]["value"], "own");
        }
    }

    #[test]
    fn without_findings_the_answer_is_that_of_the_server() {
        let answer = of_server(json!("it"));
        assert_eq!(with_answer(Vec::new(), Ok(answer.clone()), true).unwrap(), answer);
        assert!(with_answer(Vec::new(), Err(Failure::failed("no")), true).is_err());
        assert_eq!(merged(&[], true), None);
    }

    #[tokio::test]
    async fn neither_part_is_lost_if_both_are_there() {
        let part = Part { text: "own".to_owned(), range: None };
        for _order_is_random in 0..8 {
            let (own, answer) = both(ready(Ok(vec![part.clone()])), ready(Ok(json!("it")))).await;
            assert_eq!((own, answer.unwrap()), (vec![part.clone()], json!("it")));
        }
        let (own, answer) = both(ready(Err(Failure::content_modified())), ready(Ok(json!("it")))).await;
        assert_eq!((own, answer.unwrap()), (Vec::<Part>::new(), json!("it")));
        let past = Instant::now().checked_sub(super::super::queries::QUERY_TIMEOUT).unwrap();
        assert_eq!(in_time(past, pending::<()>()).await, None);
    }
}
