//! Destinations and formats of the report: several at once, as in `--output-format sarif --output-file
//! x.sarif --output-format github`.

use std::{
    fs::File,
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};

use clap::{ArgMatches, Command, FromArgMatches, ValueEnum as _};
use render::Format;

use crate::{CliError, ErrorKind, cli::Session};

/// The flags in the order they were given, which says what belongs together.
#[derive(Debug, Clone)]
pub(super) struct OutputArgs(Vec<Flag>);

#[derive(Debug, Clone)]
enum Flag {
    Format(Format),
    File(PathBuf),
}

/// Format of the report, with its destination.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Output {
    pub(super) format: Format,
    /// `None`: standard output.
    pub(super) file: Option<PathBuf>,
}

/// As clap reads them, without their order.
#[derive(Debug, clap::Args)]
struct Unordered {
    /// How to print findings [default: full]
    ///
    /// Can be given several times, each but one with an `--output-file` of its own after it.
    // `--format` is what eslint calls it.
    #[arg(long, alias = "format", value_enum, value_name = "FORMAT", help_heading = "Output")]
    output_format: Vec<Format>,

    /// Write to this file instead of standard output, in the format given before it
    #[arg(long, short, value_name = "FILE", help_heading = "Output")]
    output_file: Vec<PathBuf>,
}

impl FromArgMatches for OutputArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let indices = |id| matches.indices_of(id).into_iter().flatten();
        let (formats, files) = (indices("output_format"), indices("output_file"));
        let flags = Unordered::from_arg_matches(matches)?;
        let mut placed: Vec<_> = formats.zip(flags.output_format.into_iter().map(Flag::Format)).collect();
        placed.extend(files.zip(flags.output_file.into_iter().map(Flag::File)));
        placed.sort_by_key(|(index, _)| *index);
        Ok(Self(placed.into_iter().map(|(_, flag)| flag).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl clap::Args for OutputArgs {
    fn augment_args(command: Command) -> Command {
        Unordered::augment_args(command)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Unordered::augment_args_for_update(command)
    }
}

impl OutputArgs {
    /// Pairs formats and files: each file belongs to the format before it; with one format at most, the order does not matter.
    pub(super) fn outputs(&self) -> Result<Vec<Output>, CliError> {
        let mut outputs: Vec<Output> = Vec::new();
        let mut early = None;
        for flag in &self.0 {
            match (flag, outputs.last_mut()) {
                (Flag::Format(format), _) => outputs.push(Output { format: *format, file: None }),
                (Flag::File(file), Some(Output { file: place @ None, .. })) => *place = Some(file.clone()),
                (Flag::File(file), None) if early.is_none() => early = Some(file),
                (Flag::File(file), _) => return Err(no_format(file, "has no format of its own")),
            }
        }
        if outputs.is_empty() {
            outputs.push(Output { format: Format::Full, file: None });
        }
        match (early, &mut outputs[..]) {
            (None, _) => {}
            (Some(file), [Output { file: place @ None, .. }]) => *place = Some(file.clone()),
            (Some(file), [_]) => return Err(no_format(file, "has no format of its own")),
            (Some(file), _) => return Err(no_format(file, "stands before every --output-format")),
        }
        check(&outputs)?;
        Ok(outputs)
    }
}

fn no_format(file: &Path, why: &str) -> CliError {
    let error = CliError::usage(format!("`--output-file {}` {why}", file.display()));
    error.hint("each file belongs to the format before it: `--output-format FORMAT --output-file FILE`")
}

/// Returns an error if two outputs have the same destination.
fn check(outputs: &[Output]) -> Result<(), CliError> {
    let place = |it: &Output| it.file.as_deref().map(|it| std::path::absolute(it).unwrap_or(it.to_owned()));
    for (index, one) in outputs.iter().enumerate() {
        let Some(other) = outputs[..index].iter().find(|it| place(it) == place(one)) else { continue };
        let (first, second) = (name(other.format), name(one.format));
        return Err(match &one.file {
            Some(file) => CliError::usage(format!(
                "the formats `{first}` and `{second}` would be written to one file, {}",
                file.display()
            )),
            None => {
                CliError::usage(format!("the formats `{first}` and `{second}` have no file, either of them"))
                    .hint(format!("standard output takes one: `--output-format {first} --output-file FILE`"))
            }
        });
    }
    Ok(())
}

fn name(format: Format) -> String {
    format.to_possible_value().map(|it| it.get_name().to_owned()).unwrap_or_default()
}

/// Writes to each place in turn, and reports those that fail. Returns whether none did; a reader of standard output that has
/// gone is no failure.
#[expect(clippy::disallowed_methods, reason = "a report goes where the user says")]
pub(super) fn write(
    outputs: &[Output],
    session: &mut Session,
    mut write: impl FnMut(&Output, &mut dyn Write) -> io::Result<()>,
) -> bool {
    let mut all = true;
    for output in outputs {
        let mut buffered = |to: &mut dyn Write| {
            let mut out = BufWriter::with_capacity(64 << 10, to);
            write(output, &mut out).and_then(|()| out.flush())
        };
        let written = match &output.file {
            Some(path) => {
                let written = File::create(path).and_then(|mut it| buffered(&mut it));
                written.map_err(|error| CliError::files(format!("cannot write {}: {error}", path.display())))
            }
            None => buffered(&mut session.process_context.stdout).map_err(CliError::from),
        };
        if let Err(error) = written
            && error.kind != ErrorKind::BrokenPipe
        {
            session.messages.error(&error);
            all = false;
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: OutputArgs,
    }

    fn outputs(words: &str) -> Result<Vec<Output>, CliError> {
        let line = Line::try_parse_from(std::iter::once("check").chain(words.split_whitespace()));
        line.unwrap().args.outputs()
    }

    #[track_caller]
    fn pairs(words: &str, want: &[(Format, Option<&str>)]) {
        let want: Vec<_> = want
            .iter()
            .map(|(format, file)| Output { format: *format, file: file.map(Into::into) })
            .collect();
        assert_eq!(outputs(words), Ok(want), "{words}");
    }

    #[test]
    fn a_file_belongs_to_the_format_before_it() {
        pairs("", &[(Format::Full, None)]);
        pairs("--output-file x", &[(Format::Full, Some("x"))]);
        pairs("-o x", &[(Format::Full, Some("x"))]);
        pairs("--output-format json", &[(Format::Json, None)]);
        pairs("--output-format json -o x", &[(Format::Json, Some("x"))]);
        pairs("--format json", &[(Format::Json, None)]);
        pairs("--output-file x --output-format=json", &[(Format::Json, Some("x"))]);
        pairs(
            "--output-format sarif --output-file x --output-format github",
            &[(Format::Sarif, Some("x")), (Format::Github, None)],
        );
        pairs(
            "--output-format github --output-format sarif --output-file x --output-format=sarif -oy",
            &[(Format::Github, None), (Format::Sarif, Some("x")), (Format::Sarif, Some("y"))],
        );
    }

    #[test]
    fn what_is_not_clear_is_refused() {
        for (words, message) in [
            ("-o x -o y", "`--output-file y` has no format of its own"),
            ("--output-format json -o x -o y", "`--output-file y` has no format of its own"),
            ("-o x --output-format json -o y", "`--output-file x` has no format of its own"),
            (
                "-o x --output-format json --output-format sarif",
                "`--output-file x` stands before every --output-format",
            ),
            (
                "--output-format json --output-format sarif",
                "the formats `json` and `sarif` have no file, either of them",
            ),
            (
                "--output-format json -o x --output-format sarif -o ./x",
                "the formats `json` and `sarif` would be written to one file, ./x",
            ),
        ] {
            assert_eq!(outputs(words).unwrap_err().message, message, "{words}");
        }
    }
}
