//! `import … from 'x'`, `export … from 'x'`, `require('x')`, `import('x')`. What is not relative may be an alias
//! or a package of the workspace, and means each file that ends like it.

use std::collections::BTreeSet;

use overlay::WorkspacePath;

use super::{Files, beside};

const EXTENSIONS: [&str; 10] =
    [".ts", ".tsx", ".d.ts", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs", ".d.mts"];

/// What may stand before a name.
const BEFORE: [&str; 5] = ["from", "import", "import(", "require(", "path="];

pub(super) fn names(text: &str) -> BTreeSet<String> {
    let names = text.match_indices(['"', '\'', '`']).filter_map(|(at, quote)| {
        let before = text[..at].trim_end();
        let is_import = BEFORE.iter().any(|it| before.ends_with(it));
        let name = text[at + 1..].split_once(quote).filter(|_| is_import)?.0;
        (!name.contains('\n')).then(|| name.to_owned())
    });
    names.collect()
}

pub(super) fn targets(path: &WorkspacePath, name: &str, files: &Files) -> Vec<WorkspacePath> {
    if name.starts_with('.') {
        return ends(name).filter_map(|it| files.get(beside(path, &it))).collect();
    }
    // `@/a/b`, `~/a/b`, `#a/b`, `@scope/package`, `package/a`.
    let plain = name.trim_start_matches(['@', '~', '#', '/']);
    let below = if name.starts_with('@') { plain.split_once('/').map_or(plain, |it| it.1) } else { plain };
    let of_package = [format!("{below}/src"), format!("{below}/lib")];
    let all = [plain, below].into_iter().chain(of_package.iter().map(String::as_str));
    all.flat_map(ends).flat_map(|it| files.ending_with(&it).collect::<Vec<_>>()).collect()
}

/// The files that a name may stand for: also what `.js` was made from.
fn ends(name: &str) -> impl Iterator<Item = String> {
    let name = name.trim_end_matches('/');
    let made = [".js", ".jsx", ".mjs", ".cjs"].iter().find_map(|it| name.strip_suffix(it));
    let stems = [name].into_iter().chain(made);
    let all: Vec<_> = stems
        .flat_map(|it| {
            EXTENSIONS.iter().flat_map(move |end| [format!("{it}{end}"), format!("{it}/index{end}")])
        })
        .collect();
    [name.to_owned()].into_iter().chain(all)
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;

    #[test]
    fn each_way_to_import() {
        let files = [
            ("lib/m.ts", ""),
            ("a.ts", "import { x } from './lib/m';"),
            ("b.tsx", "export * from \"./lib/m.js\"\n"),
            ("c.js", "const m = require('./lib/m')"),
            ("d.ts", "import type {\n  X,\n} from '@/lib/m'"),
            ("e.ts", "await import(`./lib/m`); import './other'"),
            ("f.ts", "// './lib/m' is not imported\nimport m from 'm'\n"),
            ("lib/g.ts", "import './m'"),
            ("h.ts", "import 'n'"),
        ];
        check("typescript", &files, "lib/m.ts", "a.ts b.tsx c.js d.ts e.ts f.ts lib/g.ts");
    }

    #[test]
    fn folders_and_packages() {
        let files = [
            ("packages/ui/src/index.ts", ""),
            ("app/a.ts", "import { B } from '@mine/ui'"),
            ("packages/ui/b.ts", "import '.'\nimport './src'"),
        ];
        check("typescript", &files, "packages/ui/src/index.ts", "app/a.ts packages/ui/b.ts");
    }
}
