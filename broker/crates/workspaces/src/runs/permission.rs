//! Permissions that a run asks for beyond what the workspace allows, and the question whether they are granted.

use std::{
    collections::BTreeSet,
    env,
    ffi::{OsStr, OsString},
    fs,
    path::{Path, PathBuf},
};

use config::{Configs, RunNetwork, RunSettings, SetupFailure};
use linters::trust::Trusted;
use overlay::View;
use shadow::{Isolation, Network, Sandbox};

use super::{request::RunRequest, target::RunTarget};
use crate::DaemonError;

/// Permission that a run asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WantedPermission {
    pub kind: PermissionKind,
    /// The command, path, variable or network.
    pub what: String,
}

/// The key of `[run]` that would allow it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PermissionKind {
    Allow,
    Read,
    Write,
    Env,
    Network,
    /// To run without isolation, which no key allows for good.
    Isolation,
}

impl PermissionKind {
    const ALL: [Self; 6] = [Self::Allow, Self::Read, Self::Write, Self::Env, Self::Network, Self::Isolation];

    /// The kind of this [`name`](Self::name).
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.name() == name)
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Read => "read",
            Self::Write => "write",
            Self::Env => "env",
            Self::Network => "network",
            Self::Isolation => "isolation",
        }
    }
}

impl WantedPermission {
    /// Why it is asked about, as a sentence.
    pub fn reason(&self) -> String {
        let what = &self.what;
        match self.kind {
            PermissionKind::Allow => format!("`allow` in `[run]` does not list the command `{what}`"),
            PermissionKind::Read => format!("{what} is hidden from commands"),
            PermissionKind::Write => format!("{what} would be written to for real"),
            PermissionKind::Env => {
                format!("the variable {what} is not on the list of those that commands have")
            }
            PermissionKind::Network => "commands have no network but that of their branch".to_owned(),
            PermissionKind::Isolation => {
                "without isolation a command may do all that its user may".to_owned()
            }
        }
    }

    /// Setting to add to `[run]` in `broker.toml`.
    pub fn remedy(&self) -> String {
        let quoted = |it: &str| serde_json::Value::from(it).to_string();
        match self.kind {
            PermissionKind::Network => "network = \"host\"".to_owned(),
            PermissionKind::Isolation => "nothing does".to_owned(),
            PermissionKind::Allow => {
                let first = self.what.split(' ').next().unwrap_or_default();
                format!("allow = [[{}]]", quoted(first))
            }
            kind => format!("{} = [{}]", kind.name(), quoted(&self.what)),
        }
    }
}

/// `[run]` of the disk's `broker.toml`, if the workspace at `root` is trusted; else nothing is allowed.
pub fn run_settings(root: &Path, disk: &dyn View) -> Result<RunSettings, SetupFailure> {
    match Trusted::of_user().is_some_and(|it| it.holds(root)) {
        true => Ok(Configs::new(disk).workspace()?.run()),
        false => Ok(RunSettings::default()),
    }
}

/// Hidden places that every command is shown, those that are there.
pub(super) fn shown_paths(settings: &RunSettings) -> Vec<PathBuf> {
    let home = home();
    let places = settings.read.iter().map(|it| place(it, home.as_deref()));
    places.filter(|it| it.is_absolute() && it.exists()).collect()
}

/// Permissions that the request needs beyond what is allowed.
pub(super) fn wanted(
    target: &RunTarget,
    allowed: &RunSettings,
    request: &RunRequest,
) -> Vec<WantedPermission> {
    match &request.environment {
        Some(given) => beyond(allowed, request, |it| given.get(OsStr::new(it)).cloned(), target.root()),
        None => beyond(allowed, request, target.variables(), target.root()),
    }
}

fn home() -> Option<PathBuf> {
    env::home_dir().and_then(|it| fs::canonicalize(it).ok())
}

fn beyond(
    allowed: &RunSettings,
    request: &RunRequest,
    variable: impl Fn(&str) -> Option<OsString>,
    root: &Path,
) -> Vec<WantedPermission> {
    let mut wanted = Vec::new();
    let mut add = |kind, what: String| wanted.push(WantedPermission { kind, what });
    let begins = |words: &Vec<String>| {
        let command = request.command.iter().map(OsString::as_os_str);
        !words.is_empty() && command.take(words.len()).eq(words.iter().map(OsStr::new))
    };
    if allowed.allow.as_ref().is_some_and(|it| !it.iter().any(begins)) {
        add(PermissionKind::Allow, request.words().join(" "));
    }
    let home = home();
    let places = |all: &[String]| all.iter().map(|it| place(it, home.as_deref())).collect::<Vec<_>>();
    let (read, write) = (places(&allowed.read), places(&allowed.write));
    let named = folders_of_variables(variable, home.as_deref(), root);
    for path in request.sandbox.read.iter().chain(&named).filter(|it| !lies_in(it, &read)) {
        add(PermissionKind::Read, path.display().to_string());
    }
    for path in request.sandbox.write.iter().filter(|it| !lies_in(it, &write)) {
        add(PermissionKind::Write, path.display().to_string());
    }
    let variables = request.environment.iter().flat_map(|it| it.keys());
    for name in variables.map(|it| it.to_string_lossy()) {
        if !shadow::is_told(&name) && !allowed.env.iter().any(|it| **it == *name) {
            add(PermissionKind::Env, name.into_owned());
        }
    }
    if request.sandbox.isolation == Isolation::Off {
        add(PermissionKind::Isolation, "off".to_owned());
    }
    if request.sandbox.network == Network::Host && allowed.network != RunNetwork::Host {
        add(PermissionKind::Network, "host".to_owned());
    }
    wanted
}

/// A path of the configuration.
fn place(path: &str, home: Option<&Path>) -> PathBuf {
    let in_home = path.strip_prefix("~/").and_then(|it| home.map(|home| home.join(it)));
    let path = in_home.unwrap_or_else(|| path.into());
    fs::canonicalize(&path).unwrap_or(path)
}

fn lies_in(path: &Path, allowed: &[PathBuf]) -> bool {
    let real = fs::canonicalize(path);
    let path = real.as_deref().unwrap_or(path);
    allowed.iter().any(|it| it.is_absolute() && path.starts_with(it))
}

/// Folders in hidden places that are shown only because a variable names them.
fn folders_of_variables(
    variable: impl Fn(&str) -> Option<OsString>,
    home: Option<&Path>,
    root: &Path,
) -> Vec<PathBuf> {
    let usual = shadow::folders(home, root, |_| None);
    let mut named = shadow::folders(home, root, variable);
    named.retain(|it| !usual.contains(it));
    if named.is_empty() {
        return named;
    }
    let usual: BTreeSet<_> =
        usual.into_iter().flat_map(|it| [fs::canonicalize(&it).unwrap_or_default(), it]).collect();
    let named = named.into_iter().filter_map(|it| fs::canonicalize(it).ok());
    let nothing_named = Sandbox { home: home.map(Path::to_owned), ..Sandbox::default() };
    let is_hidden =
        |it: &PathBuf| nothing_named.hides(it) && nothing_named.is_private(it) && !it.starts_with(root);
    let is_usual = |it: &PathBuf| it.ancestors().any(|above| usual.contains(above));
    named.filter(|it| is_hidden(it) && !is_usual(it)).collect()
}

/// The refusal of a run that is not given what it asks for.
pub(super) fn refused(wanted: &[WantedPermission]) -> DaemonError {
    DaemonError::NotPermitted {
        wanted: wanted.iter().map(|it| format!("{} {}", it.kind.name(), it.what)).collect(),
        reasons: wanted.iter().map(WantedPermission::reason).collect(),
        remedies: wanted.iter().map(WantedPermission::remedy).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{RunLimits, SandboxRequest, TargetId};

    fn request(command: &[&str]) -> RunRequest {
        RunRequest {
            target: TargetId::Workspace(String::new()),
            command: command.iter().map(OsString::from).collect(),
            folder: String::new(),
            environment: Some([("PATH".into(), "/bin".into())].into()),
            terminal: None,
            sandbox: SandboxRequest::default(),
            limits: RunLimits::default(),
            harvest: None,
            name: String::new(),
            background: false,
            request_id: None,
        }
    }

    fn wanted_by(allowed: &RunSettings, request: &RunRequest) -> Vec<WantedPermission> {
        let variable = |name: &str| request.environment.as_ref()?.get(OsStr::new(name)).cloned();
        beyond(allowed, request, variable, Path::new("/w"))
    }

    fn told(allowed: &RunSettings, request: &RunRequest) -> Vec<String> {
        let wanted = wanted_by(allowed, request);
        wanted.iter().map(|it| format!("{} {}", it.kind.name(), it.what)).collect()
    }

    #[test]
    fn what_reaches_nothing_but_its_folder_needs_no_permission() {
        let nothing = RunSettings::default();
        assert_eq!(told(&nothing, &request(&["make", "deploy"])), [""; 0]);
        let words = |all: &[&str]| all.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
        let allowed = RunSettings { allow: Some(vec![words(&["cargo"]), words(&["npm", "run"])]), ..nothing };
        assert_eq!(told(&allowed, &request(&["npm", "run", "dev"])), [""; 0]);
        assert_eq!(told(&allowed, &request(&["npm", "install"])), ["allow npm install"]);
        assert_eq!(told(&allowed, &request(&["cargo-x"])), ["allow cargo-x"]);
        assert_eq!(told(&allowed, &request(&["/tmp/cargo"])), ["allow /tmp/cargo"], "it may be any file");
    }

    #[test]
    fn what_goes_beyond_is_named() {
        let sandbox = SandboxRequest {
            network: Network::Host,
            read: vec!["/a/b".into(), "/c".into()],
            write: vec!["/a".into()],
            ..SandboxRequest::default()
        };
        let environment = Some([("TOKEN".into(), "t".into()), ("LANG".into(), "C".into())].into());
        let request = RunRequest { sandbox, environment, ..request(&["x"]) };
        let all = ["read /a/b", "read /c", "write /a", "env TOKEN", "network host"];
        assert_eq!(told(&RunSettings::default(), &request), all);
        let allowed = RunSettings {
            read: vec!["/a".to_owned()],
            env: vec!["TOKEN".to_owned()],
            network: RunNetwork::Host,
            ..RunSettings::default()
        };
        assert_eq!(told(&allowed, &request), ["read /c", "write /a"]);
        let remedies: Vec<_> = wanted_by(&allowed, &request).iter().map(|it| it.remedy()).collect();
        assert_eq!(remedies, ["read = [\"/c\"]", "write = [\"/a\"]"]);
    }

    #[test]
    fn a_folder_in_a_hidden_place_is_asked_about_whatever_names_it() {
        let hidden = tempfile::tempdir_in("/tmp").unwrap();
        let folder = hidden.path().canonicalize().unwrap();
        let name = |at: &Path| [("GOPATH".into(), at.into())].into();
        let of = |at: &Path| RunRequest { environment: Some(name(at)), ..request(&["x"]) };
        let nothing = RunSettings::default();
        assert_eq!(told(&nothing, &of(&folder)), [format!("read {}", folder.display())]);
        assert_eq!(told(&nothing, &of(Path::new("/usr"))), [""; 0], "it is seen anyway");
        let allowed = RunSettings { read: vec![folder.display().to_string()], ..nothing };
        assert_eq!(told(&allowed, &of(&folder)), [""; 0]);
    }
}
