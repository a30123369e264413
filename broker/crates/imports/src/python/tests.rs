//! Each way to import in Python, and what only looks like one.

use super::super::tests::{check, check_each};

#[test]
fn each_way_to_import() {
    let files = [
        ("src/p/__init__.py", ""),
        ("src/p/m.py", ""),
        ("a.py", "import os, p.m as q"),
        ("b.py", "def f():\n    from p import m"),
        ("c.py", "from p import (\n    n,\n    m,\n)\n"),
        ("src/p/d.py", "from . import m"),
        ("src/p/q/e.py", "from ..m import x"),
        ("f.py", "import m2\nfrom m3 import m\n"),
    ];
    check("py", &files, "src/p/m.py", "a.py b.py c.py src/p/d.py src/p/q/e.py");
    check("py", &files, "src/p/__init__.py", "a.py b.py c.py src/p/d.py src/p/q/e.py");
}

#[test]
fn each_way_to_write_it() {
    let texts = [
        "from p import \\\n a",
        "from p import \\\r\n a",
        "from \\\n p.a import f",
        "from p import (  # see (1)\n a,\n)",
        "from p import (b, # (1\r\n\ta as c\r\n)\r\n",
        "from p import(a)",
        "from p import b as x, a",
        "from\tp.a\timport\tf",
        "from p . a import f",
        "from .p import a",
        "from.p.a import*",
        "from . import b\nfrom . import (p, b)\nfrom .p import (\n  # all\n  b,\n\n  a)",
        "from p.a import f as g",
        "import os, \\\n p.a",
        "import os, p . a",
        "import\tp.a",
        "import p.a as b, os",
        "import os; from p.a import f",
        "import os; import p.a",
        "import os\rimport p.a\r",
        "\u{c}import p.a",
        "\u{feff}import p.a",
        "try: import p.a\nexcept ImportError: pass",
        "if True: from p import a",
        "class C: import p.a",
        "with x: import p.a",
        "async def f():\n\timport p.a",
        "async def f(): from p import a",
        "else: import p.a",
        "lambda: 0; import p.a # x",
        "x = '''\n\"\"\" it's '''; import p.a",
        "x = \"\"\" \\\"\"\" \"\"\"; import p.a",
        "x = 'it\\'s # no'; import p.a",
        "x = 'it\\\r\ns'; import p.a",
        "x = 'broken\nimport p.a",
        "x = f(\nimport p.a",
        "from p import (b\nimport p.a",
        "raise E from e; import p.a",
        "m = importlib.import_module(\"p.a\")",
        "m = import_module(\n  name='p.a',\n)",
        "m = import_module('.a', package='p')",
        "m = import_module('.p.a', __package__)",
        "m = __import__(\"p.a\")",
        "m = pytest.importorskip('p.a')",
    ];
    check_each("py", &[("p/a.py", "")], "x.py", &texts, "p/a.py");
}

#[test]
fn what_is_no_import() {
    let texts = ["# import p.a", "from q import a", "import p.ab", "import q as p, b", "x = 'import p.a'"];
    for text in texts {
        check("py", &[("p/a.py", ""), ("x.py", text)], "p/a.py", "");
    }
}

#[test]
fn stubs() {
    check("py", &[("p/a.pyi", ""), ("p/a.py", ""), ("x.py", "import p.a")], "p/a.pyi", "x.py");
    check("py", &[("p-stubs/a.pyi", ""), ("x.py", "import p.a")], "p-stubs/a.pyi", "x.py");
    check(
        "py",
        &[("typings/p-stubs/__init__.pyi", ""), ("x.py", "import p")],
        "typings/p-stubs/__init__.pyi",
        "x.py",
    );
}
