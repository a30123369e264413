//! `broker.lock`: which plugins and tools the workspace has in fact, to the byte.

use std::io;

use config::{Digest, Source};
use overlay::{View, WorkspacePath};
use serde::{Deserialize, Serialize};
use signatures::Signed;
use tool_store::LockedTool;

pub const LOCK_FILE: &str = "broker.lock";

/// Layout without tools.
const LAYOUT: u32 = 1;

/// Layout of a file with tools, which a Broker that knows none must not read as if it were damaged.
const WITH_TOOLS: u32 = 2;

const HEADING: &str =
    "# Written by `broker plugin` and `broker server`. What is not as it says here is not run.\n";

#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Lock {
    /// Layout of the text, which is chosen when it is written.
    version: u32,
    /// By name.
    #[serde(default, rename = "plugin", skip_serializing_if = "Vec::is_empty")]
    plugins: Vec<Locked>,
    /// Tools of the store, by name.
    #[serde(default, rename = "tool", skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<LockedTool>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Locked {
    pub name: String,
    /// The plugin's own.
    pub version: String,
    /// Source as in `broker.toml`.
    pub source: Source,
    /// Digest of the component.
    pub digest: Digest,
    /// Digest of the registry's manifest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manifest: Option<Digest>,
    /// If `signed-by` asked for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<Signed>,
}

impl Default for Lock {
    fn default() -> Self {
        Self { version: LAYOUT, plugins: Vec::new(), tools: Vec::new() }
    }
}

impl Lock {
    /// Reads the lock file of the workspace that `view` shows; returns an empty one if there is none.
    pub fn read(view: &dyn View) -> Result<Self, String> {
        let bytes = match view.open(&WorkspacePath::root().child(LOCK_FILE)) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(format!("cannot read {LOCK_FILE}: {error}")),
        };
        Self::parse(&String::from_utf8_lossy(&bytes))
    }

    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Layout {
            version: u32,
        }
        let wrong = |error: toml::de::Error| {
            let line =
                error.span().and_then(|it| text.get(..it.start)).map_or(1, |it| it.lines().count().max(1));
            format!(
                "{LOCK_FILE}:{line} makes no sense: {}; restore it from version control, or delete it and run `broker plugin update` and `broker server add`",
                error.message()
            )
        };
        match toml::from_str::<Layout>(text).map_err(wrong)?.version {
            LAYOUT | WITH_TOOLS => {
                let lock: Self = toml::from_str(text).map_err(wrong)?;
                Ok(Self { version: LAYOUT, ..lock })
            }
            newer => Err(format!(
                "{LOCK_FILE} has layout {newer}, and this Broker knows {WITH_TOOLS}: use a newer Broker"
            )),
        }
    }

    pub fn to_text(&self) -> String {
        let version = if self.tools.is_empty() { LAYOUT } else { WITH_TOOLS };
        // The values are strings and a number, which can always be serialized.
        HEADING.to_owned() + &toml::to_string_pretty(&Self { version, ..self.clone() }).unwrap_or_default()
    }

    pub fn find(&self, name: &str) -> Option<&Locked> {
        self.plugins.iter().find(|it| it.name == name)
    }

    /// In place of one of the same name.
    pub fn put(&mut self, plugin: Locked) {
        self.plugins.retain(|it| it.name != plugin.name);
        self.plugins.push(plugin);
        self.plugins.sort_by(|a, b| a.name.cmp(&b.name));
    }

    pub fn keep(&mut self, is_kept: impl Fn(&Locked) -> bool) {
        self.plugins.retain(is_kept);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn locked(name: &str, source: &str) -> Locked {
        let (version, source, digest) = ("1.0.0".to_owned(), source.parse().unwrap(), Digest::of(b""));
        Locked { name: name.to_owned(), version, source, digest, manifest: None, signature: None }
    }

    #[test]
    fn what_is_written_is_read() {
        let mut lock = Lock::default();
        assert_eq!(Lock::parse(&lock.to_text()), Ok(lock.clone()));
        lock.put(locked("b", "tools/b.wasm"));
        lock.put(Locked { manifest: Some(Digest::of(b"{}")), ..locked("a", "oci://example.org/a:1") });
        lock.put(locked("b", "https://example.org/b.wasm"));
        insta::assert_snapshot!(lock.to_text(), @r#"
# Written by `broker plugin` and `broker server`. What is not as it says here is not run.
version = 1

[[plugin]]
name = "a"
version = "1.0.0"
source = "oci://example.org/a:1"
digest = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
manifest = "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"

[[plugin]]
name = "b"
version = "1.0.0"
source = "https://example.org/b.wasm"
digest = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
"#);
        assert_eq!(Lock::parse(&lock.to_text()), Ok(lock));
    }

    #[test]
    fn the_signature_stands_beside_the_digest() {
        let mut lock = Lock::default();
        let key = "RWQROtlOCq/RRC2QIXA3jsVqsQUgzYkggQe3xsU+NqPd5kDbaEbQZMWH";
        let minisign = "untrusted comment: signature from rsign secret key
RUQROtlOCq/RRMHzAS60xNZkxsc0lFN1VvrGeIoby79OhS0znFBW6MRRhm4vfGSMsHm4B67lOnFx8CPAaP2XlvIiZgkrVML7PwQ=
trusted comment: no-todo.wasm 1.0.0
zr8ho7kbP7ra5iOjiHw0oH980yO/732NXwtloIrGj80Q4SJ87kNlATptK7CqBtOI/0xZTY/pevX90+ykVgxDBg==";
        let signature =
            serde_json::from_value(serde_json::json!({ "key": key, "minisign": minisign })).unwrap();
        lock.put(Locked { signature, ..locked("a", "a.wasm") });
        lock.put(locked("b", "b.wasm"));
        insta::assert_snapshot!(lock.to_text(), @r#"
# Written by `broker plugin` and `broker server`. What is not as it says here is not run.
version = 1

[[plugin]]
name = "a"
version = "1.0.0"
source = "a.wasm"
digest = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

[plugin.signature]
key = "RWQROtlOCq/RRC2QIXA3jsVqsQUgzYkggQe3xsU+NqPd5kDbaEbQZMWH"
minisign = """
untrusted comment: signature from rsign secret key
RUQROtlOCq/RRMHzAS60xNZkxsc0lFN1VvrGeIoby79OhS0znFBW6MRRhm4vfGSMsHm4B67lOnFx8CPAaP2XlvIiZgkrVML7PwQ=
trusted comment: no-todo.wasm 1.0.0
zr8ho7kbP7ra5iOjiHw0oH980yO/732NXwtloIrGj80Q4SJ87kNlATptK7CqBtOI/0xZTY/pevX90+ykVgxDBg==
"""

[[plugin]]
name = "b"
version = "1.0.0"
source = "b.wasm"
digest = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
"#);
        assert_eq!(Lock::parse(&lock.to_text()), Ok(lock));
    }

    #[test]
    fn tools_stand_after_the_plugins() {
        let mut lock = Lock::default();
        lock.put(locked("a", "a.wasm"));
        let digest = "sha256-ypeBEsobvcr6wjGzmiPcTaeG7/gUfE5yuYB3ha/uSLs=";
        let file = |rest: &str| format!("pypi:ty@0.0.1 {digest} {rest}").parse().unwrap();
        let files = vec![file("12 file:ty-x64.whl linux-x64"), file("13 file:ty-arm64.whl linux-arm64")];
        lock.tools.push(LockedTool {
            name: "ty".to_owned(),
            version: "0.0.1".to_owned(),
            exact: false,
            files,
        });
        insta::assert_snapshot!(lock.to_text(), @r#"
# Written by `broker plugin` and `broker server`. What is not as it says here is not run.
version = 2

[[plugin]]
name = "a"
version = "1.0.0"
source = "a.wasm"
digest = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

[[tool]]
name = "ty"
version = "0.0.1"
files = [
    "pypi:ty@0.0.1 sha256-ypeBEsobvcr6wjGzmiPcTaeG7/gUfE5yuYB3ha/uSLs= 12 file:ty-x64.whl linux-x64",
    "pypi:ty@0.0.1 sha256-ypeBEsobvcr6wjGzmiPcTaeG7/gUfE5yuYB3ha/uSLs= 13 file:ty-arm64.whl linux-arm64",
]
"#);
        assert_eq!(Lock::parse(&lock.to_text()), Ok(lock.clone()));
        let error = Lock::parse(&lock.to_text().replace("ypeB", "")).unwrap_err();
        assert!(error.contains("broker.lock:13 makes no sense: `sha256-"), "{error}");
    }

    #[test]
    fn names_what_is_wrong() {
        let error = |text: &str| Lock::parse(text).unwrap_err();
        insta::assert_snapshot!(error("version = 3\nnew = 1"), @"broker.lock has layout 3, and this Broker knows 2: use a newer Broker");
        insta::assert_snapshot!(error("version = 1\n[[plugin]]\nname = 1"), @"broker.lock:3 makes no sense: invalid type: integer `1`, expected a string; restore it from version control, or delete it and run `broker plugin update` and `broker server add`");
        insta::assert_snapshot!(error(&Lock::default().to_text().replace("version", "verzion")), @"broker.lock:1 makes no sense: missing field `version`; restore it from version control, or delete it and run `broker plugin update` and `broker server add`");
        insta::assert_snapshot!(error("<<<<<<< HEAD\n"), @"broker.lock:1 makes no sense: key with no value, expected `=`; restore it from version control, or delete it and run `broker plugin update` and `broker server add`");
    }
}
