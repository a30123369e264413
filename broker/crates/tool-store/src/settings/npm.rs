//! Settings of npm: `.npmrc` of the user and the machine, and the variables `npm_config_…`.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use download::{Connection, Url};

use super::{UserSettings, basic, ini, registry_url};
use crate::Error;

#[derive(Debug)]
pub struct NpmSettings {
    registry: Url,
    /// Registries of scopes: `@company`.
    scoped: BTreeMap<String, Url>,
    /// The header for what lies below an address: `//host/path/`.
    authorizations: Vec<(String, String)>,
    pub(crate) connection: Connection,
}

impl NpmSettings {
    pub fn read(user: &UserSettings) -> Result<Self, Error> {
        let all = merged(user)?;
        let value =
            |key: &str| all.get(key).map(String::as_str).filter(|it| !matches!(*it, "" | "null" | "false"));
        let own = || user.printed("npm", &["config", "get", "registry"]);
        let missing = Error::NoRegistry { registry: "npm", program: "npm", variable: "NPM_CONFIG_REGISTRY" };
        let registry = value("registry").map(str::to_owned).or_else(own);
        let (registry, header) = registry.as_deref().and_then(registry_url).ok_or(missing)?;
        let mut authorizations = authorizations(&all);
        authorizations.extend(header.map(|it| (address(&registry), it)));
        let scoped = all.iter().filter_map(|(key, it)| {
            let scope = key.strip_suffix(":registry").filter(|it| it.starts_with('@'))?;
            Some((scope.to_owned(), registry_url(it)?.0))
        });
        let certificates = value("cafile").or(user.get("NODE_EXTRA_CA_CERTS"));
        let inline = value("ca").map(|it| it.replace("\\n", "\n").into_bytes());
        Ok(Self {
            registry,
            scoped: scoped.collect(),
            authorizations,
            connection: Connection {
                proxy: value("https-proxy").or(value("proxy")).map(str::to_owned),
                no_proxy: value("noproxy").or(value("no-proxy")).map(str::to_owned),
                certificates: certificates.map(|it| user.certificates(it)).transpose()?.or(inline),
            },
        })
    }

    /// The registry that has this package.
    pub(crate) fn registry_of(&self, package: &str) -> &Url {
        let scope = package.split_once('/').map(|it| it.0);
        scope.and_then(|it| self.scoped.get(it)).unwrap_or(&self.registry)
    }

    /// The header for an address: of the longest address that it lies below.
    pub(crate) fn authorization(&self, url: &Url) -> Option<&str> {
        let own = address(url);
        let fitting = self.authorizations.iter().filter(|it| own.starts_with(&it.0));
        fitting.max_by_key(|it| it.0.len()).map(|it| it.1.as_str())
    }
}

/// Address as npm writes it, without the scheme.
fn address(url: &Url) -> String {
    let port = url.port().map(|it| format!(":{it}")).unwrap_or_default();
    format!("//{}{port}{}", url.host_str().unwrap_or_default(), url.path())
}

/// All settings, later sources overriding earlier ones.
fn merged(user: &UserSettings) -> Result<BTreeMap<String, String>, Error> {
    let mut all = BTreeMap::new();
    for file in files(user) {
        let text = user.read(&file)?.unwrap_or_default();
        let settings =
            ini::settings(&text, ini::Dialect::Npm).into_iter().map(|(_, key, value)| (key, value));
        all.extend(settings.map(|(key, value)| (key, expanded(&value, user))));
    }
    let of_variables = user.variables.iter().filter_map(|(name, it)| {
        let (start, key) = name.split_at_checked("npm_config_".len())?;
        // Addresses and scopes stay as they are.
        let is_plain = !key.starts_with("//") && !key.starts_with('@');
        let key = if is_plain { key.to_lowercase().replace('_', "-") } else { key.to_lowercase() };
        start.eq_ignore_ascii_case("npm_config_").then(|| (key, it.clone()))
    });
    all.extend(of_variables);
    Ok(all)
}

fn files(user: &UserSettings) -> Vec<PathBuf> {
    let named = |name: &str| {
        let lower = name.to_lowercase();
        user.get(name).or_else(|| user.get(&lower)).map(PathBuf::from)
    };
    let beside_node = || Some(user.program("node")?.parent()?.parent()?.join("etc/npmrc"));
    let of_machine = [Some(Path::new("/etc/npmrc").to_owned()), beside_node()];
    let of_machine: Vec<_> = match named("NPM_CONFIG_GLOBALCONFIG") {
        Some(it) => vec![it],
        None if user.has_machine => of_machine.into_iter().flatten().collect(),
        None => Vec::new(),
    };
    let of_user = named("NPM_CONFIG_USERCONFIG").or_else(|| user.in_home(".npmrc"));
    of_machine.into_iter().chain(of_user).collect()
}

/// The value with `${NAME}` replaced by variables that are set.
fn expanded(value: &str, user: &UserSettings) -> String {
    let (mut text, mut rest) = (String::new(), value);
    while let Some((before, (name, after))) =
        rest.split_once("${").and_then(|(before, it)| Some((before, it.split_once('}')?)))
    {
        text += before;
        match user.variables.get(name.trim_end_matches('?')) {
            Some(it) => text += it,
            None if name.ends_with('?') => {}
            None => text += &format!("${{{name}}}"),
        }
        rest = after;
    }
    text + rest
}

fn authorizations(all: &BTreeMap<String, String>) -> Vec<(String, String)> {
    let header = |key: &str, value: &str| {
        let (place, kind) = key.rsplit_once(':').filter(|it| it.0.starts_with("//"))?;
        let header = match kind {
            "_authtoken" => format!("Bearer {value}"),
            "_auth" => format!("Basic {value}"),
            "_password" => {
                let name = all.get(&format!("{place}:username"))?;
                let password = base64::Engine::decode(&super::STANDARD, value).ok()?;
                basic(name, &String::from_utf8(password).ok()?)
            }
            _ => return None,
        };
        let slash = if place.ends_with('/') { "" } else { "/" };
        Some((format!("{place}{slash}"), header))
    };
    all.iter().filter_map(|(key, value)| header(key, value)).collect()
}
