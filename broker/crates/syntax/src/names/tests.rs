//! Names of texts in several languages.

use bytes::Bytes;

use super::*;
use crate::Language;

/// Each name with its role, what it is a member of, and the arguments of its call.
#[track_caller]
fn check(language: &'static str, text: &'static str, want: &[&str]) {
    let language = Language::named(language).unwrap();
    let tree = Tree::parse(language, Bytes::from_static(text.as_bytes()), &|| false).unwrap();
    let shown = names(&tree).into_iter().map(|it| {
        let owner = it.qualifier.map(|it| format!("{}.", &text[it])).unwrap_or_default();
        let call = it.call.map(|it| {
            format!(" {}{}{}", it.positional, it.named.concat(), if it.is_open { "*" } else { "" })
        });
        format!("{:?} {owner}{}{}", it.role, &text[it.range], call.unwrap_or_default())
    });
    assert_eq!(shown.collect::<Vec<_>>(), want);
}

#[test]
fn of_python() {
    check(
        "python",
        "import a.b as c, d.e\nfrom f import g as h, i\ng(x, *y, k=f'{j.l(1)}') # no\n",
        &[
            "InImport a",
            "InImport b",
            "Imported c",
            "Imported d",
            "InImport e",
            "InImport f",
            "InImport g",
            "Imported h",
            "Imported i",
            "Bare g 1k*",
            "Bare x",
            "Bare y",
            "Label k",
            "Bare j",
            "Member j.l 1",
        ],
    );
    check(
        "python",
        "class A:\n    b: int = 1\n    def c(self, d=1):\n        self.e = d\n        f = self.e\n",
        &[
            "Bare A",
            "Field b",
            "Bare int",
            "Bare c",
            "Bound self",
            "Bound d",
            "Bare self",
            "Field self.e",
            "Bare d",
            "Bound f",
            "Bare self",
            "Member self.e",
        ],
    );
}

#[test]
fn of_scripts() {
    check(
        "typescript",
        "import a, { b as c } from './d';\nnew a.E({ f: `${g(...h)} no` }).i(1, 2);\nexport { j } from './k';\n",
        &[
            "Imported a",
            "InImport b",
            "Imported c",
            "Bare a",
            "Member a.E 1",
            "Label f",
            "Bare g 0*",
            "Bare h",
            "Member new a.E({ f: `${g(...h)} no` }).i 2",
            "Imported j",
        ],
    );
}

#[test]
fn a_call_as_the_only_argument_is_several_in_go_alone() {
    let calls = |language, text: &'static str| {
        let language = Language::named(language).unwrap();
        let tree = Tree::parse(language, Bytes::from_static(text.as_bytes()), &|| false).unwrap();
        let calls = names(&tree).into_iter().filter_map(|it| it.call);
        calls.map(|it| (it.positional, it.is_open)).collect::<Vec<_>>()
    };
    let go = calls("go", "package p\nvar _, x = f(g()), f(g(), 1)\n");
    assert_eq!(go, [(0, true), (0, false), (2, false), (0, false)]);
    assert_eq!(calls("c", "int x = f(g(1));\n"), [(1, false), (1, false)]);
}

#[test]
fn of_go() {
    check(
        "go",
        "package p\nimport (\n\t\"a/b/v2\"\n\tc \"d\"\n)\nfunc (r T) f(x int) { y := b.G(x, 1); r.h = T{k: y} }\n",
        &[
            "Bare p",
            "Imported b",
            "Imported c",
            "Bound r",
            "Bare T",
            "Bare f",
            "Bound x",
            "Bare int",
            "Bound y",
            "Bare b",
            "Member b.G 2",
            "Bare x",
            "Bare r",
            "Member r.h",
            "Bare T",
            "Label k",
            "Bare y",
        ],
    );
}

#[test]
fn of_rust() {
    check(
        "rust",
        "use a::{b, c as d};\nfn f() { let x = S { y: b::g::<T>(1) }; m!(x.z(2)); }\n",
        &[
            "InImport a",
            "Imported b",
            "InImport c",
            "Imported d",
            "Bare f",
            "Bound x",
            "Bare S",
            "Label y",
            "Bare b",
            "Member b.g 1",
            "Bare T",
            "Bare m",
            "Bare x",
            "Member x.z",
        ],
    );
}
