//! What is let pass where ruff is not configured, and told where it is.

use broker_plugin_sdk::testing::select;

use super::Project;

fn check(name: &str, text: &str) -> String {
    Project::new(&[(name, text)]).check(name)
}

/// What is told by default, after a look at what ruff itself says of the text.
fn undefined(text: &str) -> String {
    let configured = Project::new(&[("a.py", text), ("ruff.toml", "lint.select = ['F821']\n")]).check("a.py");
    let selected = Project::new(&[("a.py", text)]).with(select(&["F821"])).check("a.py");
    assert!(configured.contains("F821") && configured == selected, "{configured:?} {selected:?}: {text}");
    check("a.py", text)
}

#[test]
fn a_name_whose_absence_leaves_the_block_exists_after_it() {
    for handler in [
        "except NameError:\n        return 1",
        "except (AttributeError, NameError) as error:\n        raise RuntimeError from error",
        "except NameError:\n        if rest:\n            return 2\n        else:\n            raise",
        "except ValueError:\n        pass\n    except NameError:\n        sys.exit('none')",
        "except NameError:\n        pass\n    else:\n        print(spark)\n    return 3\n    try:\n        spark\n    except NameError:\n        return 4",
    ] {
        let text = format!(
            "import sys\n\ndef f(rest):\n    try:\n        spark.version\n    {handler}\n    with open(rest):\n        return lambda: spark, sys\n"
        );
        assert_eq!(undefined(&text), "", "{text}");
    }
    let looped = "for n in range(3):\n    try:\n        kept = bpy\n    except NameError:\n        continue\n    print(bpy, kept)\n";
    assert_eq!(undefined(looped), "");
}

#[test]
fn a_name_that_is_not_proved_is_told() {
    for (body, handler) in [
        ("spark", "except NameError:\n        pass"),
        ("spark", "except ValueError:\n        return"),
        ("flink", "except NameError:\n        return"),
        ("x = lambda: spark", "except NameError:\n        return"),
        ("True or spark", "except NameError:\n        return"),
        ("spark", "except NameError:\n        if f:\n            return"),
    ] {
        let text = format!("def f():\n    try:\n        {body}\n    {handler}\n    print(spark)\n");
        assert!(undefined(&text).ends_with("F821"), "{text}");
    }
    assert_eq!(
        undefined(
            "def g():\n    print(spark)\n    try:\n        spark\n    except NameError:\n        return\n"
        ),
        "F821"
    );
}

#[test]
fn an_expected_name_error_is_no_mistake() {
    assert_eq!(undefined("import pytest\n\nwith pytest.raises(NameError):\n    gone()\n"), "");
    assert_eq!(undefined("def t(self):\n    self.assertRaises((NameError, OSError), lambda: gone)\n"), "");
    assert_eq!(undefined("import pytest\n\nwith pytest.raises(OSError):\n    gone()\n"), "F821");
}

#[test]
fn names_bound_through_the_namespace() {
    for binding in [
        "for k in range(3):\n    globals()[f'v{k}'] = k",
        "def load(d):\n    globals().update(d)",
        "vars()[str(1)] = 2",
        "locals().update({'v1': 1})",
        "g = globals()\nfor k in 'ab':\n    g[k] = 1",
        "exec('v1 = 1')",
        "exec(open('f').read(), globals())",
        "import sys\nfor k in 'ab':\n    setattr(sys.modules[__name__], k, 1)",
        "import sys\nsys.modules[__name__].__dict__.update(a=1, v1=2)",
        "import inject\ninject.all_into(globals())",
        "globals()['v1'] = 1",
        "import builtins\nbuiltins.v1 = 1",
        "if 'v1' not in globals():\n    raise SystemExit",
        "get_all = 1\nfor k in dir():\n    globals().setdefault(k, 2)",
    ] {
        assert_eq!(undefined(&format!("{binding}\nprint(v1)\n")), "", "{binding}");
    }
    assert_eq!(undefined("import gettext\n\ngettext.install('app')\nprint(_('a'))\n"), "");
}

#[test]
fn namespaces_that_do_not_bind_the_name() {
    for other in [
        "globals()['v2'] = 1",
        "x = globals()['v2']",
        "about = {}\nexec('v1 = 1', about)",
        "def f():\n    locals()['v1'] = 1",
        "print(eval('1', globals()), '{a}'.format(**globals()))",
        "copy = dict(globals())\ncopy['v1'] = 1",
        "class C:\n    def update(self): pass\nC().update()",
        "globals().update(v2=1)",
        "if 'v2' in globals():\n    pass",
    ] {
        assert_eq!(undefined(&format!("{other}\nprint(v1)\n")), "F821", "{other}");
    }
}

#[test]
fn a_package_stub_declares_its_submodules() {
    let imports = |text| check("lib/web/__init__.pyi", text);
    assert_eq!(imports("from . import routes, views\n\nif True:\n    from . import forms\n"), "");
    assert_eq!(imports("import web.routes\nfrom lib.web import views\nfrom web import forms\n"), "");
    assert_eq!(
        imports("from .. import other\nimport os.path\nfrom .routes import Route\n"),
        "F401 F401 F401"
    );
    assert_eq!(check("lib/web/routes.pyi", "from . import views\n"), "F401");
    let configured = [("web/__init__.pyi", "from . import views\n"), ("ruff.toml", "lint.select = ['F']\n")];
    assert_eq!(Project::new(&configured).check("web/__init__.pyi"), "F401");
}

#[test]
fn harmless_code_is_not_told() {
    let text = "rows = [[1]]\nfor rows in rows:\n    print(f'done')\n";
    assert_eq!(check("a.py", text), "");
    assert_eq!(Project::new(&[("a.py", text)]).with(select(&["B020", "F541"])).check("a.py"), "B020 F541");
}

#[test]
fn a_notebook_that_runs_another_one() {
    let notebook = |line: &str| {
        let cell = |source: &str| {
            format!(
                r#"{{"cell_type": "code", "metadata": {{}}, "outputs": [], "execution_count": null, "source": ["{source}"]}}"#
            )
        };
        let text = format!(
            r#"{{"cells": [{}, {}], "metadata": {{"language_info": {{"name": "python"}}}}, "nbformat": 4, "nbformat_minor": 4}}"#,
            cell(line),
            cell("print(frame)")
        );
        check("n.ipynb", &text)
    };
    assert_eq!(notebook("%run ./setup.ipynb"), "");
    assert_eq!(notebook("%matplotlib inline"), "F821");
}
