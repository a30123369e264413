//! `broker completions`

use clap::CommandFactory as _;
use clap_complete::Shell;

use super::{Cli, Session};
use crate::{CliError, Exit};

/// Print what lets a shell complete broker's command line
///
/// Put it where your shell looks:
///
///   bash        broker completions bash > ~/.local/share/bash-completion/completions/broker
///   zsh         broker completions zsh > ~/.zfunc/_broker
///               (with `fpath+=~/.zfunc` before `compinit` in ~/.zshrc)
///   fish        broker completions fish > ~/.config/fish/completions/broker.fish
///   elvish      broker completions elvish >> ~/.config/elvish/rc.elv
///   powershell  broker completions powershell >> $PROFILE
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    #[arg(value_enum)]
    shell: Shell,
}

pub(super) fn run(args: &Args, session: &mut Session) -> Result<Exit, CliError> {
    session.print(&script(args.shell))?;
    Ok(Exit::Clean)
}

fn script(shell: Shell) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "broker", &mut script);
    String::from_utf8_lossy(&script).into_owned()
}

#[cfg(test)]
mod tests {
    use std::{
        io::Write as _,
        process::{Command, Stdio},
    };

    use clap::ValueEnum as _;

    use super::*;

    #[test]
    fn every_shell_learns_the_commands() {
        for shell in Shell::value_variants() {
            let script = script(*shell);
            assert!(["check", "explain", "output-format"].iter().all(|it| script.contains(it)), "{shell}");
        }
    }

    #[test]
    fn bash_accepts_it() {
        let mut bash = Command::new("bash").arg("-n").stdin(Stdio::piped()).spawn().unwrap();
        bash.stdin.take().unwrap().write_all(script(Shell::Bash).as_bytes()).unwrap();
        assert!(bash.wait().unwrap().success());
    }
}
