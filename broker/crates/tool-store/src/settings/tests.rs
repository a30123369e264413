//! Settings as npm and pip read them.

#![allow(clippy::disallowed_methods, reason = "a test makes its own files")]

use std::fs;

use super::*;

struct Home(tempfile::TempDir);

impl Home {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let file = folder.path().join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        Self(folder)
    }

    fn with(&self, variables: &[(&str, &str)]) -> UserSettings {
        let variables = variables.iter().map(|(name, it)| ((*name).to_owned(), (*it).to_owned())).collect();
        UserSettings { variables, home: Some(self.0.path().to_owned()), has_machine: false }
    }
}

fn url(text: &str) -> Url {
    text.parse().unwrap()
}

#[test]
fn registries_and_tokens_of_npm() {
    let home = Home::new(&[(
        ".npmrc",
        "; mine
registry = https://npm.example/all
@company:registry=\"https://company.example:8443/npm/\"
//company.example:8443/npm/:_authToken=${TOKEN}
//npm.example/all/:username=me
//npm.example/all/:_password=c2VjcmV0
https-proxy=http://proxy.example:3128
noproxy=.example
cafile=
",
    )]);
    let settings = NpmSettings::read(&home.with(&[("TOKEN", "t0ken")])).unwrap();
    let header = |text: &str| settings.authorization(&url(text));
    assert_eq!(settings.registry_of("@company/a").as_str(), "https://company.example:8443/npm/");
    assert_eq!(settings.registry_of("@other/a").as_str(), "https://npm.example/all/");
    assert_eq!(header("https://company.example:8443/npm/@company%2fa"), Some("Bearer t0ken"));
    assert_eq!(header("https://npm.example/all/a/-/a-1.tgz"), Some(&*basic("me", "secret")));
    assert_eq!([header("https://npm.example/other"), header("https://company.example/npm/")], [None, None]);
    let Connection { proxy, no_proxy, certificates } = settings.connection;
    assert_eq!(
        (proxy.as_deref(), no_proxy.as_deref(), certificates),
        (Some("http://proxy.example:3128"), Some(".example"), None)
    );
}

use download::Connection;

#[test]
fn variables_count_more_than_files() {
    let home = Home::new(&[
        (".npmrc", "registry=https://a.example/\n"),
        ("other/npmrc", "registry=https://b.example/\n"),
        (".config/pip/pip.conf", "[global]\nindex-url = https://a.example/simple\n"),
    ]);
    let npm = |variables: &[(&str, &str)]| {
        NpmSettings::read(&home.with(variables)).unwrap().registry_of("a").to_string()
    };
    let other = home.0.path().join("other/npmrc");
    assert_eq!(npm(&[]), "https://a.example/");
    assert_eq!(npm(&[("NPM_CONFIG_USERCONFIG", other.to_str().unwrap())]), "https://b.example/");
    assert_eq!(npm(&[("npm_config_registry", "https://c.example")]), "https://c.example/");
    assert_eq!(npm(&[("NPM_CONFIG_REGISTRY", "https://d.example/x/")]), "https://d.example/x/");
    let pip = |variables: &[(&str, &str)]| {
        PipSettings::read(&home.with(variables)).unwrap().indexes[0].0.to_string()
    };
    assert_eq!(pip(&[]), "https://a.example/simple/");
    assert_eq!(pip(&[("PIP_INDEX_URL", "https://b.example/simple")]), "https://b.example/simple/");
    let missing = PipSettings::read(&home.with(&[("PIP_CONFIG_FILE", "/dev/null")])).unwrap_err();
    assert_eq!(
        missing.to_string(),
        "no registry of Python is configured, and pip cannot be asked for its own"
    );
    assert_eq!(missing.hint().unwrap(), "set PIP_INDEX_URL to its URL");
}

#[test]
fn indexes_and_passwords_of_pip() {
    let home = Home::new(&[
        (
            ".config/pip/pip.conf",
            "[global]\nindex-url: https://me:p%40ss@a.example/simple\nextra-index-url =\n  https://b.example/simple\n  https://c.example/\n\n[install]\nproxy = http://proxy.example\n[search]\nproxy = http://none.example\n",
        ),
        (
            ".netrc",
            "# passwords\nmachine c.example login you password secret\nmachine d.example\n  login other\n",
        ),
    ]);
    let settings = PipSettings::read(&home.with(&[])).unwrap();
    let urls: Vec<_> = settings.indexes.iter().map(|it| it.0.as_str()).collect();
    assert_eq!(urls, ["https://a.example/simple/", "https://b.example/simple/", "https://c.example/"]);
    assert_eq!(settings.connection.proxy.as_deref(), Some("http://proxy.example"));
    let header = |text: &str| settings.authorization(&url(text));
    assert_eq!(header("https://a.example/files/a.whl"), Some(basic("me", "p@ss")));
    assert_eq!(header("https://b.example/simple/a/"), None);
    assert_eq!(header("https://c.example/a/"), Some(basic("you", "secret")));
    assert_eq!(header("https://d.example/a/"), Some(basic("other", "")));
}

#[test]
fn indentation_goes_on_with_a_value_of_pip_alone() {
    let of = |text: &str, dialect| {
        let all = ini::settings(text, dialect).into_iter();
        all.map(|(section, key, value)| format!("{section}.{key}={value}")).collect::<Vec<_>>()
    };
    let text = "[global]\ntimeout = 60\n[install]\n  index-url = https://x\n  cert = a\n    b\n[c]\nd = e\n";
    let all = ["global.timeout=60", "install.index-url=https://x", "install.cert=a\nb", "c.d=e"];
    assert_eq!(of(text, ini::Dialect::Pip), all);
    assert_eq!(of("a=b\n  c=d\n", ini::Dialect::Npm), [".a=b", ".c=d"]);
    assert_eq!(of("a=b\n  c=d\n", ini::Dialect::Pip), [".a=b\nc=d"]);
}

#[test]
fn the_null_device_is_a_file_that_is_not_there() {
    let settings = Home::new(&[]).with(&[
        ("NPM_CONFIG_USERCONFIG", "/dev/null"),
        ("NETRC", "/dev/null"),
        ("NPM_CONFIG_REGISTRY", "https://a.example/"),
        ("PIP_INDEX_URL", "https://a.example/"),
    ]);
    assert!(NpmSettings::read(&settings).is_ok() && PipSettings::read(&settings).is_ok());
}

#[test]
fn a_program_that_hangs_is_ended() {
    let of = |program: &str, argument, timeout| {
        let mut command = Command::new(program);
        command.arg(argument);
        output(command, timeout)
    };
    assert_eq!(of("sleep", "600", Duration::from_millis(1)), None);
    assert_eq!(of("echo", "a", Duration::from_secs(600)).as_deref(), Some("a\n"));
    assert_eq!(of("false", "", Duration::from_secs(600)), None);
}

#[test]
fn certificates_that_are_named_must_be_there() {
    let home = Home::new(&[(".npmrc", "registry=https://a.example/\ncafile=/nowhere/ca.pem\n")]);
    let error = NpmSettings::read(&home.with(&[])).unwrap_err();
    assert_eq!(error.to_string(), "cannot use /nowhere/ca.pem: no such file or directory");
}
