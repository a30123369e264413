//! Reports where ruff is not configured: of code that is broken, and not of code that is there on purpose.

use broker_plugin_sdk::{
    DEFAULT,
    testing::{select, told},
};

use super::{Project, UNUSED};

fn check(name: &str, text: &str) -> String {
    Project::new(&[(name, text)]).check(name)
}

/// The findings by default, after a look at whether ruff itself reports the rule.
fn by_default(name: &str, text: &str, rule: &str) -> String {
    let configured = format!("lint.select = ['{rule}']\n");
    let configured = Project::new(&[(name, text), ("ruff.toml", &configured)]).check(name);
    let selected = Project::new(&[(name, text)]).with(select(&[rule])).check(name);
    assert!(configured.contains(rule) && configured == selected, "{configured:?} {selected:?}: {text}");
    check(name, text)
}

#[test]
fn exports_that_may_be_lists() {
    for value in [
        "collect(m for m in modules)",
        "modules.names()",
        "modules",
        "modules.public",
        "modules[1:]",
        "sorted(modules)",
        "modules + list_of(modules)",
        "2 * modules",
        "modules or ['a']",
        "modules if collect else []",
    ] {
        let text = format!(
            "from x import collect, list_of, modules\n\nprint(list_of, collect)\n__all__ = {value}\n"
        );
        assert_eq!(by_default("a.py", &text, "PLE0605"), "", "{value}");
    }
    let added = "__all__ = ['a']\n__all__ += (it for it in 'ab')\n__all__ += {'c'}\na = 1\n";
    assert_eq!(by_default("a.py", added, "PLE0605"), "");
}

#[test]
fn exports_that_are_no_lists() {
    for value in [
        "'a'",
        "{'a'}",
        "set(modules)",
        "map(str, modules)",
        "(it for it in modules)",
        "None",
        "modules | {'a'}",
    ] {
        let text = format!("from x import modules\n\nprint(modules)\n__all__ = {value}\n");
        assert!(by_default("a.py", &text, "PLE0605").contains("PLE0605"), "{value}");
    }
    assert!(check("a.py", "__all__ = ['a']\n__all__ += 'b'\na = 1\n").contains("PLE0605"));
}

#[test]
fn imports_bind_submodules_in_their_package() {
    for import in [
        "from .sub import name",
        "from .sub.deep import name",
        "from . import sub as name",
        "from ..web.sub import name",
        "from ...lib.web.sub import name",
        "from web.sub import name",
        "import lib.web.sub as name",
        "from lib.web import sub as name",
        "def load():\n    from .sub import name\n    return name",
    ] {
        for (file, usage) in [("lib/web/__init__.py", "del sub"), ("lib/web/__init__.pyi", "x = sub.y")] {
            let text = format!("{import}\n{usage}\n");
            assert!(!by_default(file, &text, "F821").contains("F821"), "{import}");
        }
        let module = check("lib/web/views.py", &format!("{import}\nprint(sub)\n"));
        assert!(module.contains("F821"), "{import}");
    }
}

#[test]
fn imports_do_not_bind_what_is_elsewhere() {
    for import in [
        "from .other import sub as name",
        "from ..sub import name",
        "from ..other.sub import name",
        "from x.sub import name",
    ] {
        assert!(
            check("lib/web/__init__.py", &format!("{import}\nprint(sub)\n")).contains("F821"),
            "{import}"
        );
    }
}

#[test]
fn a_package_offers_what_it_imports() {
    let text = "import os\nfrom .routes import Route\n\n\ndef f():\n    x = Route\n";
    assert_eq!(by_default("web/__init__.py", "from .a import b\nimport c\n", "F401"), "");
    assert_eq!(check("web/__init__.py", text), "F841");
    assert_eq!(check("web/init.py", text), "F401 F841");
    assert_eq!(by_default("web/__init__.pyi", "__all__ = ['routes']\n", "F822"), "");
    let more = Project::new(&[("__init__.py", UNUSED)]).with(select(&[DEFAULT, "F401"])).check("__init__.py");
    assert_eq!(more, "F401", "who asks is told");
    let mut project = Project::new(&[]);
    assert!(!project.is_on("web/__init__.py", "F401") && project.is_on("web/a.py", "F401"));
}

#[test]
fn imports_that_are_tried() {
    for probe in [
        "try:\n    import fast\nexcept ImportError:\n    HAS = False\nelse:\n    HAS = True",
        "try:\n    from x import fast\nexcept (AttributeError, ModuleNotFoundError):\n    import slow as fast",
        "try:\n    import fast\n    HAS = True\nexcept Exception:\n    HAS = False",
        "try:\n    import fast\nexcept:\n    pass",
        "import contextlib\nwith contextlib.suppress(ImportError):\n    import fast",
    ] {
        assert_eq!(by_default("a.py", &format!("{probe}\n"), "F401"), "", "{probe}");
    }
    for other in [
        "try:\n    import fast\nexcept ValueError:\n    pass",
        "try:\n    import fast\n    print(1)\nexcept Exception:\n    pass",
        "try:\n    print(1)\nexcept ImportError:\n    pass\nelse:\n    import fast",
    ] {
        assert_eq!(check("a.py", &format!("{other}\n")), "F401", "{other}");
    }
}

#[test]
fn what_is_left_over_in_tests() {
    let text = "def run(make):\n    made = make()\n    later: int\n";
    for path in ["tests/a.py", "test_a.py", "lib/bench/a.py"] {
        assert_eq!(by_default(path, text, "F841"), "", "{path}");
        assert_eq!(
            check(path, "import os\n\n\ndef f(a):\n    a == 1\n    return b\n"),
            "F401 B015 F821",
            "{path}"
        );
    }
    assert_eq!(check("lib/a.py", text), "F841 F842");
    let mut project = Project::new(&[]);
    assert!(!project.is_on("tests/a.py", "F841") && project.is_on("tests/a.py", "B015"));
    assert_eq!(Project::new(&[("tests/a.py", text), ("ruff.toml", "")]).check("tests/a.py"), "F841 F842");
}

#[test]
fn comparisons_that_should_raise() {
    for block in [
        "with pytest.raises(TypeError):\n    a < b",
        "with self.assertRaisesRegex(TypeError, 'no'), open(a):\n    c = 1\n    a == b",
        "with suppress(TypeError):\n    a >= b",
        "try:\n    a == b\nexcept Exception:\n    pass",
    ] {
        let text = format!(
            "from x import a, b, pytest, self, suppress\n\nprint(a, b, pytest, self, suppress)\n{block}\n"
        );
        assert_eq!(by_default("a.py", &text, "B015"), "", "{block}");
    }
    for block in [
        "with pytest.raises(TypeError) as e:\n    a()\ne.value == b",
        "with open(a):\n    a == b",
        "try:\n    a == b\n    a()\nexcept OSError:\n    pass",
        "try:\n    a == b\nfinally:\n    a()",
    ] {
        let text = format!("from x import a, b, pytest\n\nprint(a, b, pytest)\n{block}\n");
        assert_eq!(check("test_a.py", &text), "B015", "{block}");
    }
}

/// The findings by default of two functions of one name.
fn redefined(path: &str, name: &str, first: &str, second: &str) -> String {
    let imports = "import atexit\nimport contextlib\nimport functools as f\nfrom unittest import mock\n\nimport pytest\nfrom web import app, mount, update\n";
    let uses = "print(atexit, contextlib, f, mock, pytest, app, mount, update)\n";
    let text = format!("{imports}{uses}\n\n{first}def {name}(): pass\n\n\n{second}def {name}(): pass\n");
    by_default(path, &text, "F811")
}

#[test]
fn definitions_that_are_registered() {
    for (first, second) in [
        ("@mount.register(int)\n", "@update.register(int)\n"),
        ("@app.get('/a')\n", "@app.post('/a')\n"),
        ("@mount\n", "@update\n"),
        ("@atexit.register\n", "@f.cache\n@atexit.register\n"),
        ("@app.handlers['a']\n", "@app.of(1)(2)\n"),
    ] {
        assert_eq!(redefined("a.py", "page", first, second), "", "{first}{second}");
    }
    for (first, second) in [
        ("", ""),
        ("", "@app.get('/a')\n"),
        ("@app.get('/a')\n", ""),
        ("@f.wraps(app)\n", "@f.lru_cache(None)\n"),
        ("@contextlib.contextmanager\n", "@contextlib.contextmanager\n"),
        ("@pytest.fixture\n", "@pytest.fixture()\n"),
        ("@mock.patch('a')\n", "@mock.patch('b')\n"),
        ("@property\n", "@property\n"),
    ] {
        assert_eq!(redefined("a.py", "page", first, second), "F811", "{first}{second}");
    }
    assert_eq!(redefined("test_a.py", "test_page", "@mount\n", "@mount\n"), "F811", "one test is lost");
    assert_eq!(redefined("test_a.py", "page", "@mount\n", "@mount\n"), "");
}

#[test]
fn fixtures_are_imported_to_be_asked_for_by_name() {
    for asking in [
        "@mark.usefixtures('client', \"other\")\nclass TestWeb:\n    pass",
        "pytestmark = [pytest.mark.usefixtures('client', 'other')]",
        "def test_get(request, other):\n    assert request.getfixturevalue('client')",
    ] {
        let text = format!(
            "from pytest import mark\nimport pytest\nfrom .fixtures import client, other\nmark, pytest\n\n\n{asking}\n"
        );
        assert_eq!(by_default("tests/test_web.py", &text, "F401"), "", "{asking}");
        assert_eq!(check("web.py", &text).matches("F401").count(), 2, "no test: {asking}");
        let configured =
            Project::new(&[("tests/test_web.py", &text), ("ruff.toml", "")]).check("tests/test_web.py");
        assert!(configured.contains("F401"), "ruff's own: {asking}");
    }
    let other = "from .fixtures import client\n\n\ndef test_get(mark):\n    mark.fixtures('client')\n";
    assert_eq!(check("tests/test_web.py", other), "F401");
}

#[test]
fn what_is_left_in_copies_is_the_other_projects() {
    let text = "import os\n\n\ndef f():\n    a = 1\n    return b\n";
    assert_eq!(check("web/_vendor/a.py", text), "F821");
    assert_eq!(check("web/vending/a.py", text), "F401 F841 F821");
    let configured = Project::new(&[("vendor/a.py", text), ("ruff.toml", "")]).check("vendor/a.py");
    assert_eq!(configured, "F401 F841 F821", "ruff's own");
}

/// Opinions, and what another linter or the code itself needs: RUF100, B004, DTZ.
#[test]
fn what_is_no_mistake_without_a_configuration() {
    let text = "import datetime\n\n\ndef callable(it):\n    return hasattr(it, '__call__')  # noqa\n\n\n\
                def noted(it):  # noqa: E501\n    return hasattr(it, '__call__'), datetime.datetime.now()\n";
    let mut project = Project::new(&[("a.py", text), (".flake8", "[flake8]\nmax-line-length = 20\n")]);
    assert_eq!(project.check("a.py"), "");
    let rules = "lint.select = ['RUF100', 'B004', 'DTZ']\n";
    let configured = Project::new(&[("a.py", text), ("ruff.toml", rules)]).check("a.py");
    assert!(
        ["RUF100", "B004", "DTZ005"].iter().all(|it| configured.contains(it)),
        "ruff's own: {configured}"
    );
}

#[test]
fn fixtures_are_imported_for_parameters() {
    let text = "from .fixtures import client, other\n\n\ndef test_get(client):\n    assert client.get('/')\n";
    assert_eq!(by_default("tests/test_web.py", text, "F811"), "F401", "`other` alone");
    assert_eq!(check("web.py", text), "F401 F401 F811");
    assert_eq!(check("conftest.py", "from .fixtures import client, other\n"), "");
}

#[test]
fn the_name_of_what_is_not_used() {
    let text = "from text import gettext as _\n\n\ndef f(rows):\n    for _ in rows:\n        print(1)\n";
    assert!(!by_default("a.py", text, "F402").contains("F402"));
    let text = "from text import gettext as _\n\n\ndef f(_):\n    return 1\n";
    assert_eq!(by_default("a.py", text, "F811"), "F401");
    assert!(check("a.py", &text.replace('_', "tr")).contains("F811"));
}

#[test]
fn versions_that_there_are_not_yet() {
    for (test, rule) in [
        ("sys.version_info[0] == 3", "YTT201"),
        ("sys.version_info[1] >= 7", "YTT203"),
        ("sys.version_info.minor >= 7", "YTT204"),
        ("sys.version[0] == '3'", "YTT301"),
    ] {
        assert_eq!(by_default("a.py", &format!("import sys\n\nprint({test})\n"), rule), "", "{test}");
    }
    assert_eq!(check("a.py", "import sys\n\nprint(sys.version[:3], sys.version[2])\n"), "YTT101 YTT102");
}

#[test]
fn generated_files() {
    let text = "import os\n\n\ndef f():\n    x = 1\n    return y\n";
    assert_eq!(check("a.pyi", &format!("# This file is generated by make_stubs.py.\n{text}")), "F821");
    assert_eq!(check("a_pb2.py", &format!("\"\"\"Messages.\n\nDO NOT EDIT!\n\"\"\"\n{text}")), "F821");
    assert_eq!(check("a.py", text), "F401 F841 F821");
}

#[test]
fn python_2_is_one_finding() {
    for statement in [
        "print 'a', b",
        "print >>f, 'a'",
        "if a: print a",
        "exec 'a' in b",
        "raise ValueError, 'a'\n",
        "if a <> b:\n    pass",
        "x = `a`",
        "x = 0755 + 10L",
        "x = ur'a'",
        "f(lambda (a, b): a)",
        "def g(self, (a, b), c=1):\n    pass",
        "f(async=True)",
        "print [a]\nprint\nprint -1, \"\"\"\n\"\"\"",
    ] {
        let text = format!("import os\n\nprint 'one'\nprint 'two' % unicode(1)\n{statement}\n");
        assert_eq!(check("a.py", &text), "invalid-syntax", "{statement}");
        let selected = Project::new(&[("a.py", &text)]).with(select(&["F"])).check("a.py");
        assert!(selected.matches("invalid-syntax").count() > 1, "{statement}");
    }
    assert_eq!(caught("OSError, error"), "invalid-syntax");
}

/// The findings in a project for Python 3.9 that catches exceptions so.
fn caught(exceptions: &str) -> String {
    let text = format!("try:\n    print(1)\nexcept {exceptions}:\n    print(error)\n");
    Project::new(&[("a.py", &text), ("pyproject.toml", "[project]\nrequires-python = '>=3.9'\n")])
        .check("a.py")
}

#[test]
fn what_is_no_python_2_either_is_told_in_full() {
    for text in ["print 'a'\nprint 'b'\nx = (\n", "print 'a'\ndef f(:\n", "x = = 1\ny = = 2\n"] {
        assert!(check("a.py", text).matches("invalid-syntax").count() > 1, "{text}");
    }
    assert_eq!(caught("OSError, ValueError"), "invalid-syntax F821", "a newer version of Python");
}

#[test]
fn python_2_that_says_so_is_left_out() {
    assert_eq!(check("a.py", "#!/usr/bin/env python2.7\nprint 'a'\n"), "excluded");
    assert_eq!(
        check("a.py", "#!/usr/bin/python2\nprint 'a'\nx = = 1\n").replace(" invalid-syntax", ""),
        "invalid-syntax"
    );
    assert_eq!(check("a.py", "#!/usr/bin/env python2\nimport os\n"), "F401", "it is Python 3 as well");
    let notebook = r#"{"cells": [{"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": null, "source": ["print 'a'"]}],
        "metadata": {"language_info": {"name": "python", "version": "VERSION"}}, "nbformat": 4, "nbformat_minor": 4}"#;
    let check = |version| {
        told(Project::new(&[("n.ipynb", &notebook.replace("VERSION", version))]).report("n.ipynb", ""))
    };
    assert_eq!(check("2.7.18"), "excluded");
    assert_eq!(check("3.12.1"), "invalid-syntax");
}

#[test]
fn fixtures() {
    for (path, text) in [
        ("package/__init__.py", include_str!("../../fixtures/valid/package/__init__.py")),
        ("probe.py", include_str!("../../fixtures/valid/probe.py")),
        ("routes.py", include_str!("../../fixtures/valid/routes.py")),
        ("test_order.py", include_str!("../../fixtures/valid/test_order.py")),
        ("test_marks.py", include_str!("../../fixtures/valid/test_marks.py")),
    ] {
        assert_eq!(check(path, text), "", "{path}");
        assert_ne!(
            Project::new(&[(path, text)]).with(select(&["F", "B015", "PLE0605"])).check(path),
            "",
            "{path}"
        );
    }
}
