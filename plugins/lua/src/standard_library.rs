//! Names that exist in a program, by `std = "…"`: from libraries that selene has, and from files in the project.
//!
//! Does what the `selene` program does around its crate, and leaves out the download of `roblox`. Two things it does
//! otherwise: a library is for the versions of Lua that it names and those of what it is based on (in selene 0.31.0 the
//! latter alone count, so that `lua53` is Lua 5.2), and what selene has is corrected by Lua's manuals ([`corrections`]).

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use broker_plugin_sdk::config::{is_there, text_of};
use selene_lib::standard_library::{Field, FieldKind, StandardLibrary, v1};

use crate::corrections;

/// Files may be based on each other. selene itself would go in circles.
const DEEPEST: usize = 20;

/// The one that has to be downloaded.
const ROBLOX: &str = "roblox";

/// Collected libraries.
pub(crate) struct Libraries {
    pub(crate) library: StandardLibrary,
    /// Whether the library lacks Roblox's classes.
    pub(crate) lacks_roblox: bool,
}

/// The libraries in `names`, which are separated by `+`, as one. Files count before what selene has.
pub(crate) fn collect(names: &str, folders: &[PathBuf], root: &Path) -> Result<Libraries, String> {
    let mut collector = Collector { folders, root, lacks_roblox: false };
    let library = collector.all(names, 0)?;
    if let Some(name) = missing_struct(&library) {
        return Err(format!("the standard library names a struct `{name}` that it has not"));
    }
    Ok(Libraries { library, lacks_roblox: collector.lacks_roblox })
}

struct Collector<'a> {
    folders: &'a [PathBuf],
    root: &'a Path,
    lacks_roblox: bool,
}

impl Collector<'_> {
    fn all(&mut self, names: &str, depth: usize) -> Result<StandardLibrary, String> {
        if depth > DEEPEST {
            return Err(format!("the standard library `{names}` is based on itself"));
        }
        let mut all: Option<StandardLibrary> = None;
        for name in names.split('+') {
            let one = self.one(name, depth)?;
            match &mut all {
                Some(all) => extend(all, one),
                None => all = Some(one),
            }
        }
        all.ok_or_else(|| "there is no standard library without a name".to_owned())
    }

    fn one(&mut self, name: &str, depth: usize) -> Result<StandardLibrary, String> {
        for folder in self.folders {
            let file = |ending: &str| folder.join(format!("{name}.{ending}"));
            if let Some(file) = ["toml", "yml", "yaml"].map(file).into_iter().find(|it| is_there(it)) {
                return self.read(&file, depth);
            }
        }
        if name == ROBLOX {
            self.lacks_roblox = true;
        }
        built_in(name).ok_or_else(|| {
            format!("there is no standard library `{name}`: selene has lua51, lua52, lua53 and luau, and others are `{name}.yml` beside it")
        })
    }

    fn read(&mut self, file: &Path, depth: usize) -> Result<StandardLibrary, String> {
        let name = file.strip_prefix(self.root).unwrap_or(file).display();
        let wrong = |problem: String| format!("the standard library `{name}`: {problem}");
        let text = text_of(file).map_err(|it| wrong(it.to_string()))?;
        let mut library: StandardLibrary = if file.extension().is_some_and(|it| it == "toml") {
            let old: v1::StandardLibrary =
                toml::from_str(&text).map_err(|it| wrong(it.message().to_owned()))?;
            old.into()
        } else {
            serde_saphyr::from_str(&text)
                .map_err(|it| wrong(it.to_string().lines().next().unwrap_or_default().to_owned()))?
        };
        if let Some(base) = library.base.clone() {
            extend(&mut library, self.all(&base, depth + 1)?);
        }
        Ok(library)
    }
}

/// Libraries of selene, read once and corrected. (selene's own copies cache lookups, and must not be extended.)
static BUILT_IN: LazyLock<[(&str, Option<StandardLibrary>); 5]> = LazyLock::new(|| {
    let luau = StandardLibrary::from_name("luau").and_then(corrections::based_on_lua51);
    [
        ("lua51", corrections::plain("lua51")),
        ("lua52", corrections::plain("lua52")),
        ("lua53", corrections::plain("lua53")),
        ("luau", luau),
        (ROBLOX, corrections::based_on_lua51(StandardLibrary::roblox_base())),
    ]
});

pub(crate) fn built_in(name: &str) -> Option<StandardLibrary> {
    BUILT_IN.iter().find(|it| it.0 == name).and_then(|it| it.1.clone())
}

/// Adds what `other` has and `library` has not.
pub(crate) fn extend(library: &mut StandardLibrary, other: StandardLibrary) {
    let mut versions = std::mem::take(&mut library.lua_versions);
    versions
        .extend(other.lua_versions.iter().filter(|it| !versions.contains(it)).cloned().collect::<Vec<_>>());
    library.extend(other);
    library.lua_versions = versions;
}

/// A struct that fields refer to and that is not there; selene breaks off when it comes across one.
fn missing_struct(library: &StandardLibrary) -> Option<&str> {
    let fields = library.globals.values().chain(library.structs.values().flat_map(|it| it.values()));
    let named = fields.filter_map(|it: &Field| match &it.field_kind {
        FieldKind::Struct(name) => Some(name.as_str()),
        _ => None,
    });
    named.into_iter().find(|it| !library.structs.contains_key(*it))
}
