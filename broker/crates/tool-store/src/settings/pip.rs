//! Settings of pip: `pip.conf` of the machine and the user, the variables `PIP_…`, and passwords in `.netrc`.

use std::path::PathBuf;

use download::{Connection, Url};

use super::{UserSettings, basic, ini, netrc, registry_url};
use crate::Error;

/// Prints the index that pip has where it is not configured. A Python without pip has it packed.
const OWN_INDEX: &str = "\
try:
    from pip._internal.models.index import PyPI
except ImportError:
    import ensurepip, pathlib, sys
    sys.path += map(str, pathlib.Path(ensurepip.__file__).parent.glob('_bundled/pip-*.whl'))
    from pip._internal.models.index import PyPI
print(PyPI.simple_url)";

#[derive(Debug)]
pub struct PipSettings {
    /// Indexes in the order in which they are asked, each with its header.
    pub(crate) indexes: Vec<(Url, Option<String>)>,
    pub(crate) connection: Connection,
    netrc: String,
}

impl PipSettings {
    pub fn read(user: &UserSettings) -> Result<Self, Error> {
        let mut settings = Vec::new();
        for file in files(user) {
            settings.extend(ini::settings(&user.read(&file)?.unwrap_or_default(), ini::Dialect::Pip));
        }
        let value = |key: &str| {
            let variable = format!("PIP_{}", key.to_uppercase().replace('-', "_"));
            let of_file = |section| {
                settings.iter().rev().find(|it| it.0 == section && it.1 == key).map(|it| it.2.as_str())
            };
            user.get(&variable).or_else(|| of_file("install")).or_else(|| of_file("global"))
        };
        let own = || user.printed("python3", &["-I", "-c", OWN_INDEX]);
        let first = value("index-url").map(str::to_owned).or_else(own);
        let more = value("extra-index-url").unwrap_or_default();
        let texts = first.iter().map(String::as_str).chain(more.split_whitespace());
        let indexes: Vec<_> = texts.filter_map(registry_url).collect();
        if indexes.is_empty() {
            return Err(Error::NoRegistry { registry: "Python", program: "pip", variable: "PIP_INDEX_URL" });
        }
        let certificates = value("cert").or(user.get("REQUESTS_CA_BUNDLE")).or(user.get("CURL_CA_BUNDLE"));
        let connection = Connection {
            proxy: value("proxy").map(str::to_owned),
            no_proxy: None,
            certificates: certificates.map(|it| user.certificates(it)).transpose()?,
        };
        let netrc = user.get("NETRC").map(PathBuf::from).or_else(|| user.in_home(".netrc"));
        let netrc = netrc.map(|it| user.read(&it)).transpose()?.flatten().unwrap_or_default();
        Ok(Self { indexes, connection, netrc })
    }

    /// The header for an address: that of the index which it is on, or what `.netrc` has for its host.
    pub(crate) fn authorization(&self, url: &Url) -> Option<String> {
        let of_index = self.indexes.iter().find(|it| it.1.is_some() && it.0.origin() == url.origin());
        of_index.and_then(|it| it.1.clone()).or_else(|| {
            let (name, password) = netrc::login(&self.netrc, url.host_str()?)?;
            Some(basic(&name, &password))
        })
    }
}

fn files(user: &UserSettings) -> Vec<PathBuf> {
    let named = user.get("PIP_CONFIG_FILE");
    if named == Some("/dev/null") {
        return Vec::new();
    }
    let of_machine = ["/etc/xdg/pip/pip.conf", "/etc/pip.conf"].map(PathBuf::from);
    let of_machine = of_machine.into_iter().filter(|_| user.has_machine);
    let config = user.get("XDG_CONFIG_HOME").map(PathBuf::from).or_else(|| user.in_home(".config"));
    let of_user = [user.in_home(".pip/pip.conf"), config.map(|it| it.join("pip/pip.conf"))];
    of_machine.chain(of_user.into_iter().flatten()).chain(named.map(PathBuf::from)).collect()
}
