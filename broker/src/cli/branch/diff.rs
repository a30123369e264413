//! `broker branch diff`

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use lint::{printable, printable_text};
use overlay::{Revision, WorkspacePath};
use workspaces::{DiffRequest, DiffSide};

use super::{Change, Shape};
use crate::{
    CliError,
    cli::{AnswerFormat, Session, words},
    client::Opened,
};

/// Show what a branch changed, as a patch that `git apply` understands
///
/// The paths in the patch are relative to the workspace's root. With `--output-format json`, the paths and
/// kinds of the changes.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  broker branch diff try-it                     against what it was forked from
  broker branch diff try-it --base --stat       against the disk as it is now, in numbers
  broker branch diff try-it --since 3           what happened after revision 3
  broker branch diff try-it | git apply         take the changes over")]
pub(super) struct Diff {
    branch: String,

    /// Compare with the files on the disk as they are now
    #[arg(long, conflicts_with = "since")]
    base: bool,

    /// Compare with what the branch was at this revision
    #[arg(long, value_name = "REVISION")]
    since: Option<u64>,

    /// Show only how many lines each file gained and lost
    #[arg(long, conflicts_with = "name_only")]
    stat: bool,

    /// Show only the paths
    #[arg(long)]
    name_only: bool,

    /// So many lines around each change
    #[arg(long, short = 'U', value_name = "N", default_value_t = 3)]
    unified: u32,

    #[command(flatten)]
    shape: Shape,
}

/// Paths that a warning names.
const MAX_NAMED: usize = 10;

const GONE: Style = AnsiColor::Red.on_default();
const NEW: Style = AnsiColor::Green.on_default();
const PLACE: Style = AnsiColor::Cyan.on_default();
const HEADER: Style = Style::new().bold();

pub(super) fn run(args: &Diff, open: &Opened, session: &mut Session) -> Result<(), CliError> {
    let is_json = args.shape.output_format == AnswerFormat::Json;
    let workspaces::Diff { changes, patch, outdated } = ask(args, open, is_json || args.name_only)?;
    let patch = patch.unwrap_or_default();
    let paths: Vec<_> = changes.iter().map(|it| it.path.to_string()).collect();
    let changes: Vec<_> = changes.iter().map(|it| Change::of(open, it)).collect();
    let color = session.color;
    let patch = match session.process_context.is_terminal {
        true => printable_text(&patch).into_owned(),
        false => patch,
    };
    if !args.base {
        warn_of_outdated(&outdated, session);
    }
    if !args.stat {
        warn_of_binaries(&patch, session);
    }
    args.shape.print(session, &changes, || match () {
        () if args.name_only => changes.iter().map(|it| format!("{}\n", it.path)).collect(),
        () if args.stat => stat(&changes, &paths, &patch, color),
        () if color => colored(&patch),
        () => patch,
    })
}

fn ask(args: &Diff, open: &Opened, changes_only: bool) -> Result<workspaces::Diff, CliError> {
    let against = match args.since {
        Some(revision) => DiffSide::Revision(Revision(revision)),
        None if args.base => DiffSide::Base,
        None => DiffSide::Parent,
    };
    let branch = open.branch(&args.branch)?.id.to_string();
    let (with_patch, context_lines) = (!changes_only, Some(args.unified as usize));
    let request = DiffRequest { branch, against, with_patch, context_lines };
    Ok(open.client.wait(open.client.daemon().diff_branch(request))?)
}

/// The disk has moved on where the branch has edits.
fn warn_of_outdated(paths: &[WorkspacePath], session: &Session) {
    if !paths.is_empty() {
        let shown: Vec<_> = paths.iter().take(MAX_NAMED).map(ToString::to_string).collect();
        let more = if paths.len() > MAX_NAMED { ", …" } else { "" };
        let named = printable(&shown.join(", ")).into_owned();
        let what = "compared with what the branch found, not with what is on the disk now";
        session.messages.warning(&format!("{what}: {named}{more}"));
    }
}

/// A patch has texts only: who applies it elsewhere has to know what is missing.
fn warn_of_binaries(patch: &str, session: &Session) {
    let named = binaries(patch);
    if !named.is_empty() {
        let named = printable(&named.join(", ")).into_owned();
        session.messages.warning(&format!("what is no text is only named in the patch: {named}"));
    }
}

/// The files of which the patch says only that they differ: `Binary files a/x and b/x differ`.
fn binaries(patch: &str) -> Vec<&str> {
    let headers = lines(patch).filter(|(kind, _)| *kind == Kind::Header);
    let both = headers
        .filter_map(|(_, line)| line.strip_prefix("Binary files ")?.trim_end().strip_suffix(" differ"));
    both.map(|both| {
        let deleted = both.strip_suffix(" and /dev/null").map(|it| it.strip_prefix("a/").unwrap_or(it));
        let added = both.strip_prefix("/dev/null and ").map(|it| it.strip_prefix("b/").unwrap_or(it));
        // A name may have ` and ` in it, but both are the same name.
        let half = both.get(..both.len().saturating_sub(" and ".len()) / 2).unwrap_or(both);
        deleted.or(added).unwrap_or_else(|| half.strip_prefix("a/").unwrap_or(half))
    })
    .collect()
}

/// Kind of a line of a patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The first line of a file's part.
    File,
    Header,
    Place,
    Same,
    Gone,
    New,
}

/// The lines with their kinds. Within a hunk, its header says how many lines follow, so that a removed line
/// `-- x` is not taken for a header.
fn lines(patch: &str) -> impl Iterator<Item = (Kind, &str)> {
    let (mut old, mut new) = (0_u64, 0_u64);
    patch.split_inclusive('\n').map(move |line| {
        let kind = match line.as_bytes().first() {
            Some(b'-') if old > 0 => Kind::Gone,
            Some(b'+') if new > 0 => Kind::New,
            Some(b' ' | b'\n') if old > 0 && new > 0 => Kind::Same,
            Some(b'\\') => Kind::Same,
            _ if line.starts_with("diff --git ") => Kind::File,
            _ => hunk(line).map_or(Kind::Header, |counts| {
                (old, new) = counts;
                Kind::Place
            }),
        };
        old -= u64::from(matches!(kind, Kind::Gone | Kind::Same) && old > 0 && !line.starts_with('\\'));
        new -= u64::from(matches!(kind, Kind::New | Kind::Same) && new > 0 && !line.starts_with('\\'));
        (kind, line)
    })
}

/// Returns the number of lines of each side that follow `@@ -1,3 +1,4 @@`.
fn hunk(line: &str) -> Option<(u64, u64)> {
    let (ranges, _) = line.strip_prefix("@@ -")?.split_once(" @@")?;
    let (old, new) = ranges.split_once(" +")?;
    let count = |it: &str| it.split_once(',').map_or(Some(1), |(_, count)| count.parse().ok());
    Some((count(old)?, count(new)?))
}

fn colored(patch: &str) -> String {
    let mut text = String::with_capacity(patch.len() + patch.len() / 8);
    for (kind, line) in lines(patch) {
        let style = match kind {
            Kind::File | Kind::Header => HEADER,
            Kind::Place => PLACE,
            Kind::Gone => GONE,
            Kind::New => NEW,
            Kind::Same => Style::new(),
        };
        let end = if line.ends_with('\n') { "\n" } else { "" };
        let _to_a_string = write!(text, "{style}{}{style:#}{end}", line.trim_end_matches('\n'));
    }
    text
}

/// Lines that came and went, file by file. A folder is a change, too, and has no part in the patch.
fn stat(changes: &[Change], paths: &[String], patch: &str, color: bool) -> String {
    let mut counts: Vec<(&str, u64, u64)> = Vec::new();
    for (kind, line) in lines(patch) {
        match (kind, counts.last_mut()) {
            (Kind::File, _) => counts.push((line.trim_end(), 0, 0)),
            (Kind::New, Some((_, new, _))) => *new += 1,
            (Kind::Gone, Some((_, _, gone))) => *gone += 1,
            _ => {}
        }
    }
    let (plus, minus) = if color { (NEW, GONE) } else { (Style::new(), Style::new()) };
    let mut text = String::new();
    for (change, path) in changes.iter().zip(paths) {
        let part = counts.iter().find(|(line, ..)| line.ends_with(&format!(" b/{path}")));
        let (new, gone) = part.map_or((0, 0), |(_, new, gone)| (*new, *gone));
        let (new, gone) = (format!("+{new}"), format!("-{gone}"));
        let _to_a_string =
            write!(text, "{plus}{new:>6}{plus:#} {minus}{gone:>6}{minus:#}  {}", change.line());
    }
    let (new, gone) = counts.iter().fold((0, 0), |sum, it| (sum.0 + it.1, sum.1 + it.2));
    let paths = words::counted(changes.len() as u64, "path");
    let _to_a_string = writeln!(text, "{paths}, {plus}+{new}{plus:#} {minus}-{gone}{minus:#}");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATCH: &str = "\
diff --git a/a.sql b/a.sql
index 1..2 100644
--- a/a.sql
+++ b/a.sql
@@ -1,2 +1,2 @@
--- a comment
+++ not a header
 same
@@ -9 +9,0 @@ context
-last
\\ No newline at end of file
diff --git a/b b/b
old mode 100644
new mode 100755
";

    #[test]
    fn lines_are_what_the_hunk_says() {
        let kinds: Vec<_> = lines(PATCH).map(|(kind, _)| kind).collect();
        use Kind::{File, Gone, Header, New, Place, Same};
        let want =
            [File, Header, Header, Header, Place, Gone, New, Same, Place, Gone, Same, File, Header, Header];
        assert_eq!(kinds, want);
    }

    #[test]
    fn files_that_are_no_text_are_named() {
        let patch = "diff --git a/x and y b/x and y\nBinary files a/x and y and b/x and y differ\n\
                     diff --git a/y b/y\ndeleted file mode 100644\nBinary files a/y and /dev/null differ\n\
                     diff --git a/z b/z\n--- a/z\n+++ b/z\n@@ -1 +1 @@\n-x\n+Binary files a/z and b/z differ\n";
        assert_eq!(binaries(patch), ["x and y", "y"]);
    }

    #[test]
    fn lines_are_counted_by_file() {
        let change =
            |path: &str, kind| Change { path: path.to_owned(), kind, from: None, is_directory: false };
        let text = stat(
            &[change("a.sql", "modified"), change("b", "mode")],
            &["a.sql".into(), "b".into()],
            PATCH,
            false,
        );
        let want = "    +1     -2  modified  a.sql\n    +0     -0  mode      b\n2 paths, +1 -2\n";
        assert_eq!(text, want);
    }

    #[test]
    fn color_changes_nothing_else() {
        let text = anstream::adapter::strip_str(&colored(PATCH)).to_string();
        assert_eq!(text, PATCH);
    }
}
