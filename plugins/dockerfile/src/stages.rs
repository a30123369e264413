//! The stages of a build: what each is made from, and what it inherits.

use std::ops::Range;

use crate::parse::{Dockerfile, Instruction};
use crate::words::unquote;

/// All there is to know of a file before rules look at it.
pub(crate) struct Build<'d> {
    pub(crate) file: &'d Dockerfile,
    /// `ARG` before the first stage.
    pub(crate) globals: &'d [Instruction],
    pub(crate) stages: Vec<Stage<'d>>,
}

pub(crate) struct Stage<'d> {
    pub(crate) from: &'d Instruction,
    /// Instructions that follow `FROM`.
    pub(crate) steps: &'d [Instruction],
    /// In the line of `from`, with its variables.
    pub(crate) image: Range<usize>,
    pub(crate) name: Option<Name>,
    /// The earlier stage that it is made from.
    pub(crate) parent: Option<usize>,
}

/// `AS name`.
pub(crate) struct Name {
    pub(crate) written: String,
    /// Names are the same in small letters and large.
    pub(crate) folded: String,
    /// Both in the line of `FROM`.
    pub(crate) range: Range<usize>,
    pub(crate) keyword: Range<usize>,
}

impl<'d> Build<'d> {
    pub(crate) fn new(file: &'d Dockerfile) -> Self {
        let all = &file.instructions;
        let starts: Vec<usize> = all.iter().enumerate().filter(|it| it.1.is("FROM")).map(|it| it.0).collect();
        let mut build =
            Self { file, globals: &all[..starts.first().copied().unwrap_or(0)], stages: Vec::new() };
        for (number, start) in starts.iter().enumerate() {
            let end = starts.get(number + 1).copied().unwrap_or(all.len());
            let stage = build.stage(&all[*start], &all[start + 1..end]);
            build.stages.push(stage);
        }
        build
    }

    fn stage(&self, from: &'d Instruction, steps: &'d [Instruction]) -> Stage<'d> {
        let escape = self.file.escape;
        let words = from.words(escape);
        let text = |it: &Range<usize>| &from.line.text[it.clone()];
        let image = words.first().cloned().unwrap_or_default();
        let name = words.get(2).zip(words.get(1)).map(|(name, keyword)| {
            let written = unquote(text(name), escape);
            let folded = written.to_ascii_lowercase();
            Name { written, folded, range: name.clone(), keyword: keyword.clone() }
        });
        let parent = self.named(&unquote(text(&image), escape));
        Stage { from, steps, image, name, parent }
    }

    /// The last of the stages so far that have the name.
    pub(crate) fn named(&self, name: &str) -> Option<usize> {
        let folded = name.to_ascii_lowercase();
        self.stages.iter().rposition(|it| it.name.as_ref().is_some_and(|it| it.folded == folded))
    }

    /// A stage and those that it is made from, itself first.
    pub(crate) fn line_of(&self, stage: usize) -> impl Iterator<Item = &Stage<'d>> {
        let numbers = std::iter::successors(Some(stage), |it| self.stages[*it].parent.filter(|up| up < it));
        numbers.map(|it| &self.stages[it])
    }

    /// The last instruction of a kind in the stages that a stage is made from, which is in force where the stage begins.
    pub(crate) fn inherited(&self, stage: usize, kind: &str) -> Option<&'d Instruction> {
        self.line_of(stage).skip(1).find_map(|it| it.steps.iter().rfind(|it| it.is(kind)))
    }
}

impl Stage<'_> {
    pub(crate) fn image_text(&self) -> &str {
        &self.from.line.text[self.image.clone()]
    }

    /// Name and tag, where the image is one of Docker's official ones; both may be empty.
    pub(crate) fn official_image(&self, escape: char) -> Option<(String, String)> {
        let image = unquote(self.image_text(), escape);
        let official = image.trim_start_matches("docker.io/").trim_start_matches("library/");
        let plain = official.split('@').next().unwrap_or_default();
        let (name, tag) = plain.split_once(':').unwrap_or((plain, ""));
        (!name.contains(['/', '$'])).then(|| (name.to_owned(), tag.to_owned()))
    }

    pub(crate) fn image_place(&self) -> Range<usize> {
        self.from.line.place(self.image.clone())
    }
}
