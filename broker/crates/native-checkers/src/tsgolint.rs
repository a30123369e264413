//! Questions to `tsgolint headless`: files, texts and rules, on its standard input.

mod configs;
mod question;
mod rules;

pub(crate) use self::{
    configs::without_emit,
    question::{SourceOverrides, edited, question},
    rules::Rules,
};
