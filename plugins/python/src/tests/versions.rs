//! Undefined names in code that no supported version of Python gets to, and names that exist without a trace.

use super::Project;
use super::false_positives::{notebook, undefined};

const IMPORTS: &str = "import sys, platform, six\nfrom six import PY2, PY3\n\nsys, platform, six, PY2, PY3\n";

/// The undefined names. Of conditions, other rules have a word to say.
fn found(code: &str) -> String {
    let found = undefined(&format!("{IMPORTS}{code}\n"));
    found.split(' ').filter(|it| *it == "F821").collect::<Vec<_>>().join(" ")
}

/// Conditions that hold in no Python from 3.10 on.
const NEVER: [&str; 29] = [
    "sys.version_info[0] < 3",
    "sys.version_info < (3,)",
    "(3, 0) > sys.version_info",
    "sys.version_info[:2] <= (2, 7)",
    "sys.version_info[0:1] == (2,)",
    "sys.version_info.major == 2",
    "sys.version_info[0] == 3 and sys.version_info[1] < 4",
    "sys.version_info < (3, 8, 1)",
    "sys.version_info[:2] == (3, 5) or sys.version_info.major < 3",
    "3 > sys.version_info[0]",
    "not sys.version_info >= (3,)",
    "not (six.PY3 or len(sys.argv) > 1)",
    "six.PY2",
    "PY2",
    "not PY3",
    "PY2 and len(sys.argv) > 1",
    "len(sys.argv) > 1 and PY2",
    "sys.version_info[0] != 3",
    "sys.version[0] == '2'",
    "sys.version < '3'",
    "sys.version.startswith('2.7')",
    "sys.version[:1] == '2'",
    "int(sys.version[0]) < 3",
    "sys.hexversion < 0x03000000",
    "platform.python_version().startswith('2')",
    "platform.python_version_tuple()[0] == '2'",
    "six.IS_PYTHON2",
    "sys.version_info >= (4,)",
    "sys.version_info.minor < 3",
];

/// Conditions that hold in some of them, or say nothing of the version.
const PERHAPS: [&str; 16] = [
    "sys.version_info >= (3, 12)",
    "sys.version_info[:2] == (3, 11)",
    "sys.version_info[:2] <= (3, 10)",
    "sys.version_info[0] >= 3",
    "sys.version_info.minor < 12",
    "sys.version.startswith('3.1')",
    "sys.version < '3.9'",
    "sys.hexversion < 0x030d0000",
    "six.PY2 or len(sys.argv) > 1",
    "six.version_info < (1, 5)",
    "platform.version < '3'",
    "sys.argv[0] < 'a'",
    "sys.version_info",
    "False",
    "PY3",
    "not PY2",
];

#[test]
fn names_under_a_condition_that_never_holds() {
    for never in NEVER {
        assert_eq!(found(&format!("if {never}:\n    print(basestring)")), "", "{never}");
        assert_eq!(found(&format!("print(basestring if {never} else str)")), "", "{never}");
        assert_eq!(found(&format!("print({never} and basestring)")), "", "{never}");
        let other = format!("if {never}:\n    pass\nelse:\n    print(basestring)");
        assert_eq!(found(&other), "F821", "{never}");
        let negated =
            format!("if not ({never}):\n    pass\nelif unichr:\n    pass\nelse:\n    print(basestring)");
        assert_eq!(found(&negated), "", "{never}");
    }
}

#[test]
fn names_under_a_condition_that_may_hold() {
    for perhaps in PERHAPS {
        assert_eq!(found(&format!("if {perhaps}:\n    print(basestring)")), "F821", "{perhaps}");
        assert_eq!(found(&format!("print(basestring if {perhaps} else str)")), "F821", "{perhaps}");
        assert_eq!(found(&format!("print({perhaps} and basestring)")), "F821", "{perhaps}");
    }
}

#[test]
fn names_behind_a_condition_that_leaves_the_block() {
    for before in [
        "if PY3:\n        return text",
        "if sys.version_info.major != 2:\n        raise SystemExit",
        "if PY2:\n        pass\n    else:\n        return text",
        "if text:\n        sys.exit(1)\n    elif not PY2:\n        return text",
    ] {
        assert_eq!(found(&format!("def f(text):\n    {before}\n    return unicode(text)")), "", "{before}");
    }
    for before in [
        "if PY2:\n        return text",
        "if PY3:\n        print(text)",
        "if text:\n        print(text)\n    elif PY3:\n        return text",
        "if text:\n        return text\n    else:\n        return 1",
        "if PY3:\n        pass\n    else:\n        return text",
    ] {
        assert_eq!(
            found(&format!("def f(text):\n    {before}\n    return unicode(text)")),
            "F821",
            "{before}"
        );
    }
    assert_eq!(found("def f():\n    if PY3:\n        return 1\n\n\nprint(unicode)"), "F821", "another block");
}

#[test]
fn variables_that_hold_the_version() {
    for (assigned, condition) in [
        ("OLD = sys.version_info < (3, 0)", "OLD"),
        ("info = sys.version_info", "info[0] < 3"),
        ("major, minor = sys.version_info[:2]", "major == 2 and minor > 5"),
        ("major = sys.version_info.major\nold = not major > 2", "old"),
        ("PY2 = False\nif sys.argv:\n    PY2 = True", "PY2"),
        ("a: bool = PY2", "a"),
    ] {
        assert_eq!(found(&format!("{assigned}\nif {condition}:\n    print(unichr)")), "", "{assigned}");
    }
    for (assigned, condition) in [
        ("OLD = sys.version_info < (3, 0)\nOLD = sys.argv", "OLD"),
        ("python2 = '/usr/bin/python2'", "python2"),
        ("mode = 'dev'", "mode == 'live'"),
        ("level = 2", "level > 3"),
        ("DEBUG = False", "DEBUG"),
        ("version = '1'", "version < '3'"),
        ("from six import version", "version < '3'"),
        ("a = b = sys.argv\nb = a\na = b", "a"),
        ("x = y\ny = x", "x"),
    ] {
        let text = format!("y = 1\n{assigned}\nif {condition}:\n    print(unichr)");
        assert_eq!(found(&text), "F821", "{assigned}");
    }
}

/// Variables that are looked up again and again take no more time for that.
#[test]
fn variables_in_many_layers() {
    let layer = |it: usize| format!("v{it} = {}v{}\n", format!("v{} and ", it + 1).repeat(300), it + 1);
    let layers: String = (0..5).rev().map(layer).collect();
    let text = format!("v5 = sys.version_info > (3,)\n{layers}if v0:\n    pass\nelse:\n    print(unichr)");
    assert_eq!(found(&text), "");
}

#[test]
fn fixtures() {
    let text = include_str!("../../fixtures/valid/versions.py");
    assert_eq!(Project::new(&[("a.py", text)]).check("a.py"), "");
    let text = include_str!("../../fixtures/valid/injected.py");
    assert_eq!(Project::new(&[("a.py", text)]).check("a.py"), "");
}

#[test]
fn the_oldest_version_is_that_of_the_project() {
    let text = "import sys\nif sys.version_info < (3, 9):\n    print(unichr)\n";
    let check = |stated: &str| {
        let stated = format!("[project]\nrequires-python = '{stated}'\n");
        Project::new(&[("a.py", text), ("pyproject.toml", &stated)]).check("a.py")
    };
    assert_eq!(check(">=3.9"), "");
    assert_eq!(check(">=3.8"), "F821");
}

#[test]
fn names_with_underscores_around() {
    assert_eq!(found("print(__salt__, __opts__['a'])"), "");
    for other in ["__salt", "salt__", "____", "_salt_"] {
        assert_eq!(found(&format!("print({other})")), "F821", "{other}");
    }
}

#[test]
fn names_of_ipython() {
    for name in [
        "_",
        "__",
        "___",
        "_7",
        "_i",
        "_i12",
        "_iii",
        "_oh[2]",
        "In[1]",
        "Out[3]",
        "display",
        "get_ipython()",
    ] {
        assert_eq!(notebook("x = 1", &format!("print({name})")), "", "{name}");
    }
    assert_eq!(notebook("x = 1", "exit()"), "");
    for name in ["frame", "_a", "_1a", "_i1_", "out"] {
        assert_eq!(notebook("x = 1", &format!("print({name})")), "F821", "{name}");
    }
    for name in ["_", "_7", "Out", "In"] {
        assert_eq!(undefined(&format!("print({name})\n")), "F821", "{name}: no notebook");
    }
}
