//! `broker plugin new`

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use plugin_host::is_name;

use super::{
    add::expect_name_is_free,
    template::{self, Language},
};
use crate::{CliError, Exit, cli::Session};

/// Make the folder of a new plugin: a rule, its fixtures, and all that it takes to build it
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {
    /// The plugin's name: small letters, digits and hyphens
    name: String,

    /// What it is written in
    #[arg(long, value_enum, default_value_t = Language::Rust)]
    language: Language,

    /// Where to make the folder, in place of the current folder
    #[arg(long, value_name = "FOLDER")]
    r#in: Option<PathBuf>,
}

#[expect(clippy::disallowed_methods, reason = "a new plugin's folder, which is asked for")]
pub(in crate::cli) fn run(args: &Args, session: &mut Session) -> Result<Exit, CliError> {
    check(&args.name)?;
    expect_name_is_free(&args.name)?;
    let parent = args.r#in.as_deref().unwrap_or(Path::new(""));
    let folder = session.cwd()?.join(parent).join(&args.name);
    if folder.exists() {
        let error = CliError::usage(format!("there is already something at {}", folder.display()));
        return Err(error.hint("choose another name, or another folder with --in"));
    }
    for (path, text) in template::files(args.language, &args.name) {
        let failed = |error: io::Error| CliError::files(format!("cannot write {path}: {error}"));
        let file = folder.join(&path);
        fs::create_dir_all(file.parent().unwrap_or(&folder)).map_err(failed)?;
        fs::write(file, text).map_err(failed)?;
    }
    let shown = parent.join(&args.name).display().to_string();
    let first = args.language.first_command().map(|it| format!("{it}; ")).unwrap_or_default();
    let into = shlex::try_quote(&shown).unwrap_or((&*shown).into());
    session
        .print(&format!("made {shown}; next: cd {into}; {first}broker plugin build; broker plugin test\n"))?;
    Ok(Exit::Clean)
}

/// The name is one of a crate, of a file, and stands before rules.
fn check(name: &str) -> Result<(), CliError> {
    if is_name(name) {
        return Ok(());
    }
    let error = CliError::usage(format!("`{name}` cannot be a plugin's name"));
    Err(error.hint("use small letters, digits and hyphens, a letter first: `no-todo`"))
}
