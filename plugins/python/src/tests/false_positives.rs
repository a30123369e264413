//! Findings that are suppressed where ruff is not configured, and reported where it is.

use broker_plugin_sdk::testing::select;

use super::Project;

fn check(name: &str, text: &str) -> String {
    Project::new(&[(name, text)]).check(name)
}

/// The findings by default, after a look at what ruff itself says of the text.
pub(super) fn undefined(text: &str) -> String {
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
fn a_name_that_is_not_proved_is_reported() {
    for (body, handler) in [
        ("spark", "except NameError:\n        pass"),
        ("spark", "except ValueError:\n        return"),
        ("flink", "except NameError:\n        return"),
        ("x = lambda: spark", "except NameError:\n        return"),
        ("True or spark", "except NameError:\n        return"),
        ("spark", "except NameError:\n        if f:\n            return"),
        ("spark", "except Exception:\n        return"),
        ("spark", "except (OSError, BaseException) as e:\n        raise SystemExit from e"),
        ("spark", "except:\n        return"),
        ("spark", "except UnboundLocalError:\n        return"),
        ("spark", "except Exception:\n        pass\n    except NameError:\n        return"),
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
fn proofs_hold_to_the_end_of_their_block() {
    let text = "def f(a):\n    if a:\n        try:\n            spark, flink\n        except NameError:\n            return\n        spark\n    \
                elif spark:\n        pass\n    try:\n        flink\n    except NameError:\n        return\n    else:\n        flink\n    \
                return flink\n\nflink\n";
    let report = Project::new(&[("a.py", text)]).report("a.py", "").unwrap();
    let lines = report.diagnostics.iter().filter(|it| it.code == "F821");
    let lines: Vec<_> = lines.map(|it| text[..it.span.start as usize].matches('\n').count() + 1).collect();
    assert_eq!(lines, [8, 18]);
}

#[test]
fn an_expected_name_error_is_no_mistake() {
    for expecting in [
        "with pytest.raises(NameError):\n    gone()",
        "with pytest.raises((OSError, NameError), match='gone') as e:\n    gone",
        "with pytest.raises(expected_exception=NameError):\n    gone",
        "with suppress(OSError, NameError), open(gone):\n    pass",
        "async def f(self):\n    with self.assertRaisesRegex(builtins.NameError, 'gone'):\n        await gone()",
        "def t(self):\n    self.assertRaises((NameError, OSError), lambda: gone)",
    ] {
        assert_eq!(
            undefined(
                &format!("import pytest, builtins\npytest, builtins\n{expecting}\n")
                    .replace("suppress", "pytest.suppress")
            ),
            ""
        );
    }
}

#[test]
fn an_expected_exception_of_another_kind_is_not_that_of_a_name() {
    for expecting in [
        "with pytest.raises(OSError):\n    gone()",
        "with pytest.raises(Exception):\n    gone()",
        "with pytest.raises((ValueError, Exception), match='no'):\n    gone()",
        "with pytest.suppress(BaseException):\n    gone()",
        "with pytest.suppress(Exception):\n    with open('f'):\n        print(gone)",
        "class T:\n    def test(self):\n        with self.assertRaises(Exception):\n            gone.load()",
        "def t(self):\n    self.assertRaisesRegex(Exception, 'a', lambda: gone)",
        "def t(self):\n    self.assertRaises(NameError, gone)",
        "def t(self):\n    self.assertRaises(OSError, lambda: gone, NameError)",
        "with open(gone), pytest.raises(NameError):\n    pass",
    ] {
        assert_eq!(undefined(&format!("import pytest\npytest\n{expecting}\n")), "F821", "{expecting}");
    }
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
        "print('v1' in dir())",
        "def f():\n    return 'v1' in locals()",
        "import sys\nif 'v1' in dir(sys.modules[__name__]):\n    pass",
        "import builtins\nif 'v1' not in dir(builtins):\n    pass",
        "if 'v1' in vars(__builtins__):\n    pass",
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
        "import argparse\nargs = argparse.Namespace()\nprint('v1' in vars(args))",
        "def f(x):\n    return 'v1' not in dir(x)",
        "import os\nprint('v1' in dir(os), 'v1' in vars(os))",
        "class C:\n    def dir(self): return []\nprint('v1' in C().dir())",
        "print('v1' == dir())",
    ] {
        assert_eq!(undefined(&format!("{other}\nprint(v1)\n")), "F821", "{other}");
    }
}

#[test]
fn harmless_code_is_not_reported() {
    let text = "rows = [[1]]\nfor rows in rows:\n    print(f'done')\n";
    assert_eq!(check("a.py", text), "");
    assert_eq!(Project::new(&[("a.py", text)]).with(select(&["B020", "F541"])).check("a.py"), "B020 F541");
}

/// The findings by default in a notebook with these cells.
pub(super) fn notebook(first: &str, second: &str) -> String {
    let cell = |source: &str| {
        format!(
            r#"{{"cell_type": "code", "metadata": {{}}, "outputs": [], "execution_count": null, "source": ["{source}"]}}"#
        )
    };
    let text = format!(
        r#"{{"cells": [{}, {}], "metadata": {{"language_info": {{"name": "python"}}}}, "nbformat": 4, "nbformat_minor": 4}}"#,
        cell(first),
        cell(second)
    );
    check("n.ipynb", &text)
}

#[test]
fn a_notebook_that_runs_another_one() {
    assert_eq!(notebook("%run ./setup.ipynb", "print(frame)"), "");
    assert_eq!(notebook("%matplotlib inline", "print(frame)"), "F821");
}

/// The findings by default of `except` with this expression, which ruff itself reports.
fn caught(expr: &str) -> String {
    let text = format!(
        "def f(run, a, b, is_strict, mod):\n    try:\n        run()\n    except {expr}:\n        pass\n"
    );
    let selected = Project::new(&[("a.py", &text)]).with(select(&["B030"])).check("a.py");
    assert!(selected.starts_with("B030"), "{expr}");
    check("a.py", &text)
}

#[test]
fn what_a_condition_chooses_may_be_caught() {
    for right in [
        "mod.known + ((a,) if is_strict else ())",
        "(a if is_strict else b)",
        "a if is_strict else b if mod else (a, b)",
        "(a, b if is_strict else mod.Error)",
        "(a, *(mod.more if is_strict else [b]))",
        "(a, *(b + [mod.Error] if is_strict else ()))",
        "(*[it.Error for it in a], *{b for b in mod.all})",
    ] {
        assert_eq!(caught(right), "", "{right}");
    }
}

#[test]
fn what_cannot_be_caught_is_reported() {
    for wrong in [
        "'text'",
        "a if is_strict else None",
        "a if is_strict else [b]",
        "a or b",
        "(a, (b,) if is_strict else a)",
        "(a, 1, b if is_strict else a)",
        "mod.known + ((a, 2) if is_strict else ())",
        "mod.known - (b,)",
    ] {
        assert_eq!(caught(wrong), "B030", "{wrong}");
    }
}
