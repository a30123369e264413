//! Files in which a server may have other findings when some files change: those that import them, and all if the
//! server's configuration has changed. Imports are found by the crate `imports`.

use imports::{Imports, Languages};
use overlay::{View, WalkOptions, WorkspacePath, walk};

use crate::{Profile, configs};

/// Files that import the changed ones and that the profile's server checks, the nearest first; all that it checks if
/// its configuration has changed. Without the changed files themselves, which need not be there.
pub(crate) fn dependents(
    imports: &Imports,
    profile: &Profile,
    view: &dyn View,
    changed: &[WorkspacePath],
) -> Vec<WorkspacePath> {
    let mut found: Vec<_> = if configures(profile, view, changed) {
        walk(view, &[WorkspacePath::root()], &WalkOptions::default()).collect()
    } else {
        imports.dependents(&languages(profile), view, changed)
    };
    found.retain(|it| profile.covers(it) && !changed.contains(it));
    found
}

/// Includes languages the server does not check, through which others are imported.
pub(crate) fn languages(profile: &Profile) -> Languages {
    Languages::of(profile.tool.globs.iter().filter_map(|it| it.rsplit('.').next()))
}

/// Whether a change may affect the server's findings in all files.
fn configures(profile: &Profile, view: &dyn View, changed: &[WorkspacePath]) -> bool {
    let may_be_named = changed.iter().any(|it| profile.is_config_if_named(it));
    let named = if may_be_named { configs::named(profile, view, changed) } else { Default::default() };
    changed.iter().any(|it| profile.is_config_of_all(it) || named.contains(it))
}

#[cfg(test)]
mod tests {
    use overlay::Memory;

    use super::*;

    #[track_caller]
    fn check(server: &str, files: &[(&str, &str)], changed: &str, want: &str) {
        let view = Memory::from_files(files.iter().copied()).unwrap();
        let changed = [WorkspacePath::new(changed).unwrap()];
        let found = dependents(&Imports::default(), Profile::named(server).unwrap(), &view, &changed);
        let paths: Vec<_> = found.iter().map(WorkspacePath::as_str).collect();
        assert_eq!(paths.join(" "), want);
    }

    #[test]
    fn configuration_is_for_all() {
        check("ty", &[("a.py", ""), ("b.py", ""), ("pyproject.toml", "")], "pyproject.toml", "a.py b.py");
        check("clangd", &[("a.c", ""), ("b.inl", "")], ".clangd", "a.c");
    }

    #[test]
    fn what_the_server_checks_also_through_what_it_does_not() {
        let files = [("a.h", ""), ("b.inl", "#include \"a.h\""), ("c.h", "#include \"b.inl\"")];
        check("clangd", &files, "a.h", "c.h");
        let files =
            [("a.ts", ""), ("b.vue", "<script>import './a'</script>"), ("c.ts", "import B from './b.vue'")];
        check("typescript", &files, "a.ts", "c.ts");
        check("tombi", &[("a.toml", ""), ("b.toml", "import = 'a.toml'")], "a.toml", "");
    }
}
