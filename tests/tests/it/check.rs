//! `broker check` with what decides over findings, with fixes, and with git: through the program, with the
//! real plugins.

mod fixes;
mod git;
mod harm;
mod hidden;
mod policy;
mod runs;
mod selection;
mod suppressions;

use std::{ops::Deref, process::Output};

use serde_json::Value;
use tests::place::{Place, without_not_asked};

/// A package that is as untidy as they come.
pub(crate) const MESSY: [(&str, &str); 7] = [
    (
        "pkg/__init__.py",
        "from .a import *\nimport os, sys\nimport json as json\nfrom typing import List, Dict, Optional\n",
    ),
    (
        "pkg/a.py",
        "import os\nimport sys, re\nfrom collections import OrderedDict, defaultdict\n\n\ndef f():\n    import json\n    import csv\n\n\
         class C:\n    def g(self):\n        import os\n        x = f\"nothing\"\n        try:\n            pass\n        except Exception as e:\n            pass\n\
         \x20       if x == None or not x is None or x != True:\n            return dict(a=1, a2=f'')\n        y: int = 3\n        print('%s' % x, '{}'.format(1, 2))\n\n\
         def h(a, b=None):\n    lambda_ = lambda x: x\n    if type(a) == type(b): pass\n    raise NotImplemented\n",
    ),
    ("pkg/crlf.py", "import os\r\nimport sys\r\n\r\n\r\nx = f'a'\r\nif not x in [1]:\r\n    pass\r\n"),
    ("pkg/bom.py", "\u{feff}import os\nx = f'ä'  # ünused\nif not x in []:\n\tpass\n"),
    ("pkg/no_newline.py", "import os\nx = f'𐐀'; y = x == None"),
    ("pkg/broken.py", "import os\ndef f(:\n    x = (1,\n"),
    (
        "pkg/again.py",
        "import os\nimport os\nfrom os import path\nimport os.path\n\n\ndef os():\n    import re, re\n    from a import b, b as c, d\n    return c\n",
    ),
];

pub(crate) struct Workspace(Place);

impl Deref for Workspace {
    type Target = Place;

    fn deref(&self) -> &Place {
        &self.0
    }
}

impl Workspace {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let it = Self(Place::new(&[("pyproject.toml", "[tool.ruff.lint]\nselect = [\"E\", \"F\"]\n")]));
        files.iter().for_each(|(path, text)| it.write(path, text));
        it
    }

    /// Exit code, standard output and standard error of `broker check --output-format concise`.
    pub(crate) fn told(&self, arguments: &[&str]) -> String {
        told(&self.run(&[&["check", "--output-format", "concise"], arguments].concat()))
    }

    /// The report without what changes from run to run.
    pub(crate) fn json(&self, arguments: &[&str]) -> (i32, Value) {
        let output = self.run(&[&["check", "--output-format", "json"], arguments].concat());
        let mut value: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}", told(&output)));
        value["summary"]["duration_ms"] = Value::Null;
        (output.status.code().unwrap(), value)
    }

    pub(crate) fn commit_all(&self) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-qm", "all"]);
    }
}

pub(crate) fn told(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let code = output.status.code().expect("not killed");
    format!("exit {code}\n{}-- stderr\n{}", text(&output.stdout), without_not_asked(&text(&output.stderr)))
}
