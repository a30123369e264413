//! The registries, proxies and credentials that npm and pip are configured with: by variables, and by files of the user and the
//! machine. Files of a workspace do not count, since their authors must not learn what the user's variables hold.
//!
//! Nothing here is ever printed: a value may be a password.

mod ini;
mod netrc;
mod npm;
mod pip;

use std::{
    collections::BTreeMap,
    env,
    io::{self, Read as _},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use download::Url;
use overlay::read_regular;

pub use self::{npm::NpmSettings, pip::PipSettings};
use crate::Error;

/// Bytes of the largest file of settings, or of certificates.
const LARGEST: u64 = 8 << 20;

/// Time that a program may take that prints a setting.
const PROGRAM_TIMEOUT: Duration = Duration::from_secs(10);

/// Variables and files that settings are read from.
#[derive(Debug, Clone, Default)]
pub struct UserSettings {
    pub variables: BTreeMap<String, String>,
    /// Home folder.
    pub home: Option<PathBuf>,
    /// Files of the machine and programs count, too.
    pub has_machine: bool,
}

impl UserSettings {
    /// Settings of the user that runs this process.
    pub fn of_process() -> Self {
        let variables =
            env::vars_os().filter_map(|(name, it)| Some((name.into_string().ok()?, it.into_string().ok()?)));
        Self { variables: variables.collect(), home: env::home_dir(), has_machine: true }
    }

    fn get(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str).filter(|it| !it.is_empty())
    }

    fn in_home(&self, name: &str) -> Option<PathBuf> {
        self.home.as_ref().map(|it| it.join(name))
    }

    /// Reads a file that need not be there.
    fn read(&self, file: &Path) -> Result<Option<String>, Error> {
        let failed = |why| Error::Settings { file: file.to_owned(), why };
        // What npm and pip are told to read where they are to read nothing.
        if file == Path::new("/dev/null") {
            return Ok(None);
        }
        match read_regular(file, LARGEST) {
            Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(failed(overlay::io_reason(&error))),
        }
    }

    /// Reads certificates, which are named and so must be there.
    fn certificates(&self, file: &str) -> Result<Vec<u8>, Error> {
        let failed =
            |error: io::Error| Error::Settings { file: file.into(), why: overlay::io_reason(&error) };
        read_regular(Path::new(file), LARGEST).map_err(failed)
    }

    /// The program of this name in `PATH`.
    pub(crate) fn program(&self, name: &str) -> Option<PathBuf> {
        let folders = self.get("PATH").filter(|_| self.has_machine)?;
        let mut programs = env::split_paths(folders).filter(|it| it.is_absolute()).map(|it| it.join(name));
        programs.find(|it| it.is_file())
    }

    /// The major version of the Node in `PATH`.
    pub fn node(&self) -> Option<u32> {
        self.printed("node", &["--version"])?.trim_start_matches('v').split('.').next()?.parse().ok()
    }

    /// Output of a program, trimmed. It is run where it finds no settings of a workspace.
    pub(crate) fn printed(&self, program: &str, arguments: &[&str]) -> Option<String> {
        let mut command = Command::new(self.program(program)?);
        command.args(arguments).current_dir("/");
        let text = output(command, PROGRAM_TIMEOUT)?.trim().to_owned();
        (!text.is_empty()).then_some(text)
    }
}

/// Output of a program that succeeds; one that does not end in time is ended.
fn output(mut command: Command, timeout: Duration) -> Option<String> {
    let command = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    let mut stdout = child.stdout.take()?;
    let (sender, printed) = mpsc::channel();
    thread::spawn(move || {
        let mut text = String::new();
        let read = stdout.read_to_string(&mut text);
        // The receiver is gone if this took too long.
        let _late = sender.send(read.is_ok().then_some(text));
    });
    let text = printed.recv_timeout(timeout).ok().flatten();
    if text.is_none() {
        let _ended = child.kill();
    }
    (child.wait().ok()?.success()).then_some(text)?
}

/// A registry's URL, with a slash at its end, so that names can be joined to it; its name and password apart.
fn registry_url(text: &str) -> Option<(Url, Option<String>)> {
    let mut url = Url::parse(text).ok().filter(|it| ["http", "https"].contains(&it.scheme()))?;
    if !url.path().ends_with('/') {
        let path = format!("{}/", url.path());
        url.set_path(&path);
    }
    Some(without_password(url))
}

/// The URL without name and password, and those as a header.
pub(crate) fn without_password(mut url: Url) -> (Url, Option<String>) {
    let plain = |it: &str| percent_encoding::percent_decode_str(it).decode_utf8_lossy().into_owned();
    let (name, password) = (plain(url.username()), url.password().map(plain));
    let header =
        (!name.is_empty() || password.is_some()).then(|| basic(&name, &password.unwrap_or_default()));
    // They fail for URLs without a host, which have no name either.
    let _kept = url.set_username("").and_then(|()| url.set_password(None));
    (url, header)
}

fn basic(name: &str, password: &str) -> String {
    format!("Basic {}", STANDARD.encode(format!("{name}:{password}")))
}

#[cfg(test)]
mod tests;
