//! Checkstyle's XML: `<file name="..."><error line="1" column="2" severity="error" message="..." source="..."/>`.

use quick_xml::{
    Reader, XmlVersion,
    events::{BytesStart, Event},
};

use super::{Extent, Message, Position, Printed, unreadable};
use crate::checker::{Checker, Columns};

pub(super) fn read(text: &str, checker: &Checker) -> Result<Printed, String> {
    let mut reader = Reader::from_str(text.trim_start_matches('\u{feff}'));
    let (mut path, mut messages, mut is_whole) = (None, Vec::new(), false);
    loop {
        match reader.read_event().map_err(|error| unreadable(text, &error))? {
            Event::Start(it) | Event::Empty(it) if it.name().as_ref() == "checkstyle" => is_whole = true,
            Event::Start(it) if it.name().as_ref() == "file" => path = attribute(&it, "name"),
            Event::End(it) if it.name().as_ref() == "file" => path = None,
            Event::Start(it) | Event::Empty(it) if it.name().as_ref() == "error" => {
                let path = path.clone().ok_or_else(|| unreadable(text, &"an error outside of a file"))?;
                messages.push(message(&it, path, checker));
            }
            Event::Eof => break,
            _ => {}
        }
    }
    if !is_whole {
        return Err(unreadable(text, &"there is no element `checkstyle`"));
    }
    Ok(Printed { messages, ..Printed::default() })
}

fn message(error: &BytesStart<'_>, path: String, checker: &Checker) -> Message {
    let number = |name: &str| attribute(error, name)?.parse::<u64>().ok();
    // Tools may write 0 for a column that they do not know.
    let column = number("column").filter(|it| *it > 0 || checker.first_column == 0);
    let extent = number("line").map(|line| Extent::Lines {
        start: Position::counted(line, column, checker.first_line, checker.first_column),
        end: None,
        columns: checker.columns.unwrap_or(Columns::CodePoints),
    });
    let text = attribute(error, "message").unwrap_or_default();
    let code = attribute(error, "source").map(|it| it.rsplit('.').next().unwrap_or_default().to_owned());
    let severity = checker.severity_of(attribute(error, "severity").as_deref());
    Message { code: code.filter(|it| !it.is_empty()), severity, ..Message::new(path, extent, text) }
}

fn attribute(of: &BytesStart<'_>, name: &str) -> Option<String> {
    let attribute = of.try_get_attribute(name).ok()??;
    attribute.normalized_value(XmlVersion::Implicit1_0).ok().map(std::borrow::Cow::into_owned)
}
