//! Standard libraries of selene's, corrected by the reference manuals of Lua 5.1 to 5.4: `corrections/*.yml`, with the
//! manual's section as the reason for each name.
//!
//! Leaves as they are: advice with a reason of selene's own (`assert` without a message), and names that a later version
//! of Lua deprecates.

use selene_lib::standard_library::{FieldKind, LuaVersion, StandardLibrary};

const LUA51: &str = include_str!("corrections/lua51.yml");
const LUA52: &str = include_str!("corrections/lua52.yml");
const LUA53: &str = include_str!("corrections/lua53.yml");
const LUA54: &str = include_str!("corrections/lua54.yml");

/// `lua51`, `lua52` or `lua53`, corrected by the manuals of that version and of those that it is based on.
pub(crate) fn plain(name: &str) -> Option<StandardLibrary> {
    let manuals: &[&str] = match name {
        "lua51" => &[LUA51],
        "lua52" => &[LUA51, LUA52],
        "lua53" => &[LUA51, LUA52, LUA53],
        _ => return None,
    };
    let mut library = StandardLibrary::from_name(name)?;
    manuals.iter().for_each(|it| correct(&mut library, it));
    if name == "lua53" {
        library.lua_versions.push(LuaVersion::Lua53);
    }
    Some(library)
}

/// Lua 5.4, which selene has not: for files that may be of any version.
pub(crate) fn lua54() -> Option<StandardLibrary> {
    let mut library = plain("lua53")?;
    correct(&mut library, LUA54);
    Some(library)
}

/// A library that is based on selene's `lua51`: what it took over from there is corrected.
pub(crate) fn based_on_lua51(mut library: StandardLibrary) -> Option<StandardLibrary> {
    let (wrong, right) = (StandardLibrary::from_name("lua51")?, plain("lua51")?);
    for (name, field) in &mut library.globals {
        if let (Some(wrong), Some(right)) = (wrong.globals.get(name), right.globals.get(name))
            && field == wrong
        {
            *field = right.clone();
        }
    }
    Some(library)
}

fn correct(library: &mut StandardLibrary, corrections: &str) {
    for (name, field) in read(corrections).globals {
        if field.field_kind == FieldKind::Removed {
            library.globals.remove(&name);
        } else {
            library.globals.insert(name, field);
        }
    }
}

fn read(corrections: &str) -> StandardLibrary {
    // The corrections are a part of the plugin; see the tests.
    serde_saphyr::from_str(corrections).unwrap_or_else(|error| unreachable!("{error}"))
}
