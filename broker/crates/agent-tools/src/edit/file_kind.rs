//! Kinds of files by how their lines are grouped and what their comments are.

use overlay::WorkspacePath;

/// Groups of lines, and signs of comments, that differ between files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileKind {
    /// Blocks by indentation.
    Code,
    /// Blocks by indentation, documents by `---`.
    Yaml,
    /// Sections with heads in brackets: TOML, INI.
    Sections,
    /// Sections with headings; `#` and `*` begin no comment.
    Prose,
}

/// Levels between the heads of sections and the lines below them: Markdown has six.
pub(super) const BELOW_HEADS: usize = 16;

impl FileKind {
    pub(super) fn of(path: &WorkspacePath) -> Self {
        match path.extension() {
            Some("yml" | "yaml") => Self::Yaml,
            Some("toml" | "ini" | "cfg" | "conf" | "lock" | "editorconfig" | "properties") => Self::Sections,
            Some("md" | "markdown" | "mdx" | "rst" | "txt" | "adoc" | "org" | "qmd" | "Rmd") => Self::Prose,
            _ => Self::Code,
        }
    }

    /// Depth of a line in its file; `None` for a blank one.
    pub(super) fn level(self, line: &str) -> Option<usize> {
        let text = line.trim();
        let indent = line.len() - line.trim_start().len();
        (!text.is_empty()).then(|| match self {
            Self::Code => indent,
            Self::Yaml => {
                if text == "---" {
                    0
                } else {
                    indent + 1
                }
            }
            Self::Sections => {
                if is_section(text) {
                    0
                } else {
                    indent + 1
                }
            }
            Self::Prose => heading(text).unwrap_or(indent + BELOW_HEADS),
        })
    }

    /// Depth of a line that is a heading, in files that have any.
    pub(super) fn heading(self, line: &str) -> Option<usize> {
        match self {
            Self::Sections => is_section(line.trim()).then_some(0),
            Self::Prose => heading(line.trim()),
            Self::Code | Self::Yaml => None,
        }
    }

    /// Whether a line may stand at any indentation: a comment, or a directive of a preprocessor.
    pub(super) fn is_aside(self, line: &str) -> bool {
        let text = line.trim_start();
        let is_hash = text.strip_prefix('#').is_some_and(|rest| {
            rest.is_empty() || rest.starts_with(' ') || DIRECTIVES.iter().any(|it| rest.starts_with(it))
        });
        self != Self::Prose && (is_hash || text.starts_with("//") || text.starts_with("/*"))
    }
}

const DIRECTIVES: [&str; 9] =
    ["if", "else", "elif", "endif", "define", "undef", "include", "pragma", "region"];

/// `[name]` and `[[name]]`.
fn is_section(text: &str) -> bool {
    let text = text.split(" #").next().unwrap_or_default().trim_end();
    text.starts_with('[') && text.ends_with(']') && !text.ends_with("],")
}

fn heading(text: &str) -> Option<usize> {
    let count = text.bytes().take_while(|it| *it == b'#').count();
    ((1..=6).contains(&count) && text[count..].starts_with(' ')).then_some(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn levels(path: &str, lines: &[&str]) -> Vec<Option<usize>> {
        let kind = FileKind::of(&WorkspacePath::new(path).unwrap());
        lines.iter().map(|it| kind.level(it)).collect()
    }

    #[test]
    fn heads_of_sections_stand_above_their_lines() {
        assert_eq!(levels("a.rs", &["fn a() {", "    b", ""]), [Some(0), Some(4), None]);
        assert_eq!(levels("a.toml", &["[a]", "[[b]] # c", "x = [1]"]), [Some(0), Some(0), Some(1)]);
        assert_eq!(levels("a.md", &["# A", "## B", "#c", "  d"]), [Some(1), Some(2), Some(16), Some(18)]);
        assert_eq!(levels("a.yaml", &["---", "a:", "  b: 1"]), [Some(0), Some(1), Some(3)]);
    }

    #[test]
    fn headings_are_no_comments() {
        assert!(FileKind::Code.is_aside("  # note") && FileKind::Code.is_aside("#ifdef X"));
        assert!(!FileKind::Prose.is_aside("# Title") && !FileKind::Code.is_aside("#id {"));
    }
}
