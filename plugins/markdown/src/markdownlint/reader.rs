//! Puts the blocks that pulldown-cmark reads into a [`Page`].

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Tag, TagEnd};

use super::page::{Code, Emphasis, Heading, Item, List, Page, label};

/// Blocks that are open while a text is read.
pub(super) struct Reader {
    lists: Vec<usize>,
    /// The end of the block read last in the text and in each open block, if that is a quotation.
    quotations: Vec<Option<usize>>,
    paragraph: Option<Paragraph>,
}

/// A paragraph outside other blocks.
struct Paragraph {
    range: Range<usize>,
    emphases: Vec<Range<usize>>,
    is_plain: bool,
}

impl Reader {
    pub(super) fn new() -> Self {
        Self { lists: Vec::new(), quotations: vec![None], paragraph: None }
    }

    pub(super) fn event(&mut self, event: &Event<'_>, range: Range<usize>, page: &mut Page<'_>) {
        if is_content(event) {
            self.extend_lists(page.lines_of(&range).end, page);
        }
        match event {
            Event::Start(tag) => {
                self.start(tag, &range, page);
                self.quotations.push(None);
            }
            Event::End(tag) => {
                self.quotations.pop();
                self.end(*tag, &range, page);
            }
            Event::Rule => {
                page.breaks.push(range.clone());
                self.block(None);
            }
            Event::Html(_) => page.html.extend(page.lines_of(&range)),
            _ => {}
        }
        self.paragraph.iter_mut().for_each(|it| it.is_plain &= is_plain(event));
    }

    fn start(&mut self, tag: &Tag<'_>, range: &Range<usize>, page: &mut Page<'_>) {
        let lines = page.lines_of(range);
        match tag {
            Tag::Heading { level, .. } => {
                page.headings.push(Heading { level: *level as u64, range: range.clone(), lines });
            }
            Tag::List(first) => self.list(first.is_some(), lines.start, page),
            Tag::Item if !range.is_empty() => self.item(range.start, page),
            Tag::CodeBlock(kind) => {
                let is_fenced = matches!(kind, CodeBlockKind::Fenced(_));
                page.code.push(Code { is_fenced, is_in_list: !self.lists.is_empty(), lines });
            }
            Tag::Table(_) | Tag::TableHead | Tag::TableRow => row(tag, range, page),
            Tag::BlockQuote(_) => {
                let before = self.quotations.last().copied().flatten();
                page.gaps.extend(before.map(|it| it..lines.start).filter(|it| page.is_blank(it.clone())));
            }
            Tag::Link { id, .. } | Tag::Image { id, .. } => drop(page.labels.insert(label(id))),
            _ => self.words(tag, range, page),
        }
    }

    /// Paragraphs and emphasis in them.
    fn words(&mut self, tag: &Tag<'_>, range: &Range<usize>, page: &mut Page<'_>) {
        match tag {
            Tag::Paragraph => {
                let paragraph = Paragraph { range: range.clone(), emphases: Vec::new(), is_plain: true };
                self.paragraph = (self.quotations.len() == 1).then_some(paragraph);
            }
            Tag::Emphasis | Tag::Strong => {
                page.emphases.push(Emphasis { is_strong: *tag == Tag::Strong, range: range.clone() });
                self.paragraph.iter_mut().for_each(|it| it.emphases.push(range.clone()));
            }
            _ => {}
        }
    }

    fn list(&mut self, is_ordered: bool, line: usize, page: &mut Page<'_>) {
        let is_nested = !self.lists.is_empty();
        self.lists.push(page.lists.len());
        page.lists.push(List { is_ordered, is_nested, lines: line..line + 1, items: Vec::new() });
    }

    /// Extends the open lists to a line's start. pulldown-cmark may put their ends behind definitions.
    fn extend_lists(&self, end: usize, page: &mut Page<'_>) {
        for list in &self.lists {
            if let Some(list) = page.lists.get_mut(*list) {
                list.lines.end = list.lines.end.max(end);
            }
        }
    }

    fn item(&self, start: usize, page: &mut Page<'_>) {
        let line = page.line_at(start);
        self.extend_lists(line + 1, page);
        let column = start - page.start_of(line);
        let marker = page.line(line)[column..].split([' ', '\t']).next().unwrap_or_default().len();
        if let Some(list) = self.lists.last().and_then(|it| page.lists.get_mut(*it)) {
            list.items.push(Item { start, column, marker });
        }
    }

    fn end(&mut self, tag: TagEnd, range: &Range<usize>, page: &mut Page<'_>) {
        match tag {
            TagEnd::List(_) => drop(self.lists.pop()),
            TagEnd::Paragraph => {
                page.lone_emphases.extend(self.paragraph.take().and_then(|it| it.lone_emphasis()))
            }
            _ => {}
        }
        self.block(matches!(tag, TagEnd::BlockQuote(_)).then(|| page.lines_of(range).end));
    }

    /// Notes where a block ended.
    fn block(&mut self, quotation: Option<usize>) {
        if let Some(last) = self.quotations.last_mut() {
            *last = quotation;
        }
    }
}

/// A table or a row of it. The delimiters' row is none of pulldown-cmark's.
fn row(tag: &Tag<'_>, range: &Range<usize>, page: &mut Page<'_>) {
    if matches!(tag, Tag::Table(_)) {
        page.tables.push(Vec::new());
        return;
    }
    let delimiters = page.row(page.line_at(range.start) + 1);
    if let Some(table) = page.tables.last_mut() {
        table.push(range.clone());
        table.extend(matches!(tag, Tag::TableHead).then_some(delimiters));
    }
}

impl Paragraph {
    fn lone_emphasis(self) -> Option<Range<usize>> {
        let [emphasis] = &self.emphases[..] else { return None };
        (self.is_plain && *emphasis == self.range).then(|| emphasis.clone())
    }
}

/// Whether an event may be in a paragraph of words and emphasis alone.
fn is_plain(event: &Event<'_>) -> bool {
    let tags = |it: &Tag<'_>| matches!(it, Tag::Emphasis | Tag::Strong | Tag::Paragraph);
    match event {
        Event::Start(tag) => tags(tag),
        other => matches!(other, Event::Text(_) | Event::End(_)),
    }
}

/// Whether an event is about a block's text rather than about blocks with others in them.
fn is_content(event: &Event<'_>) -> bool {
    let has_blocks = |it: &Tag<'_>| {
        matches!(it, Tag::List(_) | Tag::Item | Tag::BlockQuote(_) | Tag::FootnoteDefinition(_))
    };
    match event {
        Event::Start(tag) => !has_blocks(tag),
        Event::End(_) => false,
        _ => true,
    }
}
