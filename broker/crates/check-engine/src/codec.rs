//! Format of answers in the cache's files. Parts that all of a file's findings have in common are written once.

use std::{collections::HashMap, sync::Arc};

use lint::{Applicability, Completeness, LineColumn, Severity, Span};
use overlay::{ContentHash, WorkspacePath};
use scheduler::Codec;
use serde::{Deserialize, Serialize};

use super::{
    answer::Answer,
    finding::{CheckedFile, Edit, Finding, FindingCell, Fix, Range, Related, RuleRef},
};

/// The cache's [`Codec`] for [`Answer`].
pub struct AnswerCodec;

impl Codec<Answer> for AnswerCodec {
    fn version(&self) -> u32 {
        4
    }

    fn encode(&self, value: &Answer) -> Option<Vec<u8>> {
        postcard::to_stdvec(&Cached::of(value)?).ok()
    }

    fn decode(&self, bytes: &[u8]) -> Option<Answer> {
        postcard::from_bytes::<Cached>(bytes).ok()?.into_answer()
    }
}

#[derive(Serialize, Deserialize)]
struct Cached {
    excluded: bool,
    left_out: Option<String>,
    content: [u8; 32],
    path: String,
    rules: Vec<CachedRule>,
    cells: Vec<String>,
    findings: Vec<CachedFinding>,
}

#[derive(Serialize, Deserialize)]
struct CachedRule {
    linter: String,
    code: String,
    name: Option<String>,
    url: Option<String>,
    is_syntax_error: bool,
    fixes_first: bool,
    is_unnecessary: bool,
    is_deprecated: bool,
    shared_name: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct CachedFinding {
    rule: u32,
    message: String,
    severity: u8,
    /// The cell's number, and which of the texts it has.
    cell: Option<(u32, u32)>,
    span: (u32, u32),
    range: CachedRange,
    fixes: Vec<CachedFix>,
    related: Vec<CachedRelated>,
}

/// Lines and columns of the start and the end.
type CachedRange = [u32; 4];

#[derive(Serialize, Deserialize)]
struct CachedFix {
    message: Option<String>,
    applicability: u8,
    edits: Vec<((u32, u32), CachedRange, String)>,
}

#[derive(Serialize, Deserialize)]
struct CachedRelated {
    path: Option<String>,
    range: Option<CachedRange>,
    span: (u32, u32),
    message: String,
}

const SEVERITIES: [Severity; 4] = [Severity::Hint, Severity::Info, Severity::Warning, Severity::Error];
const APPLICABILITIES: [Applicability; 3] =
    [Applicability::DisplayOnly, Applicability::Unsafe, Applicability::Safe];

/// The place of a value in a table of all of them, which are few.
fn number<T: PartialEq>(all: &[T], value: &T) -> u8 {
    all.iter().position(|it| it == value).and_then(|it| u8::try_from(it).ok()).unwrap_or(u8::MAX)
}

impl Cached {
    /// `None` for an answer that is not final, or that rests on more than files of a view.
    fn of(answer: &Answer) -> Option<Self> {
        if answer.lease.is_some() || answer.aborted {
            return None;
        }
        let content = *answer.content?.as_bytes();
        let excluded = match answer.completeness {
            Completeness::Complete => false,
            Completeness::Excluded => true,
            _ => return None,
        };
        let path = answer.findings.first().map(|it| it.file.path.to_string()).unwrap_or_default();
        let (mut rules, mut cells) = (Table::default(), Table::default());
        let findings =
            answer.findings.iter().map(|it| CachedFinding::of(it, &mut rules, &mut cells)).collect();
        let rules = rules.items.iter().map(|it: &Arc<RuleRef>| CachedRule::of(it)).collect();
        let cells = cells.items.iter().map(|it: &Arc<str>| it.to_string()).collect();
        let left_out = answer.left_out.as_deref().map(str::to_owned);
        Some(Self { excluded, left_out, content, path, rules, cells, findings })
    }

    fn into_answer(self) -> Option<Answer> {
        let content = Some(ContentHash::from_bytes(self.content));
        let file = Arc::new(CheckedFile { path: WorkspacePath::new(&self.path).ok()?, content });
        let rules: Vec<_> = self.rules.into_iter().map(|it| Arc::new(it.into_rule())).collect();
        let cells: Vec<Arc<str>> = self.cells.into_iter().map(Into::into).collect();
        let findings = self.findings.into_iter().map(|it| it.into_finding(&file, &rules, &cells));
        let completeness = if self.excluded { Completeness::Excluded } else { Completeness::Complete };
        let mut findings: Vec<_> = findings.collect::<Option<_>>()?;
        // Collected in place, they keep the room of what was read.
        findings.shrink_to_fit();
        let left_out = self.left_out.map(Into::into);
        Some(Answer {
            completeness,
            content,
            findings,
            lease: None,
            aborted: false,
            is_deterministic: false,
            left_out,
        })
    }
}

/// Each of some things once, with its number.
struct Table<T> {
    items: Vec<T>,
    numbers: HashMap<T, u32>,
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self { items: Vec::new(), numbers: HashMap::new() }
    }
}

impl<T: Clone + Eq + std::hash::Hash> Table<T> {
    fn number(&mut self, item: &T) -> u32 {
        if let Some(number) = self.numbers.get(item) {
            return *number;
        }
        // There are fewer than there are bytes in the file.
        let number = u32::try_from(self.items.len()).unwrap_or(u32::MAX);
        self.items.push(item.clone());
        self.numbers.insert(item.clone(), number);
        number
    }
}

impl CachedRule {
    fn of(it: &RuleRef) -> Self {
        Self {
            linter: it.linter.to_string(),
            code: it.code.clone(),
            name: it.name.clone(),
            url: it.url.clone(),
            is_syntax_error: it.is_syntax_error,
            fixes_first: it.fixes_first,
            is_unnecessary: it.is_unnecessary,
            is_deprecated: it.is_deprecated,
            shared_name: it.shared_name.clone(),
        }
    }

    fn into_rule(self) -> RuleRef {
        RuleRef {
            linter: self.linter.into(),
            code: self.code,
            name: self.name,
            url: self.url,
            is_syntax_error: self.is_syntax_error,
            fixes_first: self.fixes_first,
            is_unnecessary: self.is_unnecessary,
            is_deprecated: self.is_deprecated,
            shared_name: self.shared_name,
        }
    }
}

impl CachedFinding {
    fn of(it: &Finding, rules: &mut Table<Arc<RuleRef>>, cells: &mut Table<Arc<str>>) -> Self {
        Self {
            rule: rules.number(&it.rule),
            message: it.message.to_string(),
            severity: number(&SEVERITIES, &it.severity),
            cell: it.cell.as_ref().map(|cell| (cell.index, cells.number(&cell.text))),
            span: pair(it.span),
            range: four(it.range),
            fixes: it.fixes.iter().map(CachedFix::of).collect(),
            related: it.related.iter().map(CachedRelated::of).collect(),
        }
    }

    fn into_finding(
        self,
        file: &Arc<CheckedFile>,
        rules: &[Arc<RuleRef>],
        cells: &[Arc<str>],
    ) -> Option<Finding> {
        let cell = match self.cell {
            Some((index, text)) => Some(FindingCell { index, text: Arc::clone(cells.get(text as usize)?) }),
            None => None,
        };
        Some(Finding {
            file: Arc::clone(file),
            rule: Arc::clone(rules.get(self.rule as usize)?),
            message: self.message.into(),
            severity: *SEVERITIES.get(usize::from(self.severity))?,
            cell,
            span: span(self.span),
            range: range(self.range),
            fixes: self.fixes.into_iter().map(CachedFix::into_fix).collect::<Option<_>>()?,
            related: self.related.into_iter().map(CachedRelated::into_related).collect::<Option<_>>()?,
        })
    }
}

impl CachedFix {
    fn of(it: &Fix) -> Self {
        let edit = |it: &Edit| (pair(it.span), four(it.range), it.replacement.to_string());
        Self {
            message: it.message.as_deref().map(str::to_owned),
            applicability: number(&APPLICABILITIES, &it.applicability),
            edits: it.edits.iter().map(edit).collect(),
        }
    }

    fn into_fix(self) -> Option<Fix> {
        let edit = |(own, place, replacement): ((u32, u32), CachedRange, String)| Edit {
            span: span(own),
            range: range(place),
            replacement: replacement.into(),
        };
        Some(Fix {
            message: self.message.map(Into::into),
            applicability: *APPLICABILITIES.get(usize::from(self.applicability))?,
            edits: self.edits.into_iter().map(edit).collect(),
        })
    }
}

impl CachedRelated {
    fn of(it: &Related) -> Self {
        Self {
            path: it.path.as_ref().map(ToString::to_string),
            range: it.range.map(four),
            span: pair(it.span),
            message: it.message.to_string(),
        }
    }

    fn into_related(self) -> Option<Related> {
        let path = match self.path {
            Some(path) => Some(WorkspacePath::new(&path).ok()?),
            None => None,
        };
        let message = self.message.into();
        Some(Related { path, range: self.range.map(range), span: span(self.span), message })
    }
}

fn pair(it: Span) -> (u32, u32) {
    (it.start, it.end)
}

fn span((start, end): (u32, u32)) -> Span {
    Span::new(start, end)
}

fn four(it: Range) -> CachedRange {
    [it.start.line, it.start.column, it.end.line, it.end.column]
}

fn range([line, column, end_line, end_column]: CachedRange) -> Range {
    let at = |line, column| LineColumn { line, column };
    Range { start: at(line, column), end: at(end_line, end_column) }
}

#[cfg(test)]
mod tests {
    use overlay::WalkOptions;

    use super::*;
    use crate::{Options, check, collect};

    #[test]
    fn what_is_kept_comes_back() {
        let view = lint_testkit::sample::view();
        let files = collect(&*view, &[WorkspacePath::root()], &WalkOptions::default());
        let linters = lint_testkit::sample::linters();
        let report = check(&view, files, &linters, &Options::default(), Arc::new(|_, _| ())).unwrap();
        assert!(report.findings.iter().any(|it| !it.fixes.is_empty() && !it.related.is_empty()));
        for finding in &report.findings {
            let answer = Answer {
                completeness: Completeness::Complete,
                content: Some(ContentHash::of(b"text")),
                findings: vec![Finding {
                    file: Arc::new(CheckedFile {
                        path: finding.file.path.clone(),
                        content: Some(ContentHash::of(b"text")),
                    }),
                    ..finding.clone()
                }],
                lease: None,
                is_deterministic: false,
                aborted: false,
                left_out: Some("it is a template".into()),
            };
            let bytes = AnswerCodec.encode(&answer).unwrap();
            assert_eq!(AnswerCodec.decode(&bytes), Some(answer));
            for end in 0..bytes.len() {
                assert_eq!(AnswerCodec.decode(&bytes[..end]), None, "cut at {end}");
            }
        }
    }

    #[test]
    fn what_is_not_final_is_not_kept() {
        let answer = |completeness| Answer {
            completeness,
            content: Some(ContentHash::of(b"")),
            findings: Vec::new(),
            lease: None,
            aborted: false,
            is_deterministic: false,
            left_out: None,
        };
        assert!(AnswerCodec.encode(&answer(Completeness::Excluded)).is_some());
        let lease = Some(lint::Lease::new(lint::Cancel::default(), None));
        assert!(AnswerCodec.encode(&Answer { lease, ..answer(Completeness::Complete) }).is_none());
        assert!(AnswerCodec.encode(&answer(Completeness::Partial("p".into()))).is_none());
        assert!(AnswerCodec.encode(&answer(Completeness::Failed("f".into()))).is_none());
    }
}
