"""Ten tasks in Python and JavaScript."""

from task import By, Change, Task, unused

MKDOCS = ("pypi", "mkdocs", "1.6.1")
ITERTOOLS = ("pypi", "more-itertools", "10.5.0")
ARGCOMPLETE = ("pypi", "argcomplete", "3.5.3")
REQUESTS = ("pypi", "requests", "2.32.3")
AXIOS = ("npm", "axios", "1.7.9")
SEMVER = ("npm", "semver", "7.6.3")

COMPARE_TEST = """const { test } = require('node:test')
const assert = require('node:assert')
const { compareIdentifiers } = require('../internal/identifiers')

test('identifiers are in order', () => {
  assert.strictEqual(compareIdentifiers('alpha', 'beta'), -1)
  assert.strictEqual(compareIdentifiers('2', '10'), -1)
  assert.strictEqual(compareIdentifiers('rc', '1'), 1)
})
"""

STABLE = """const parse = require('./parse.js')

const isStable = (version, options) => {
  const parsed = parse(version, options)
  return parsed !== null && parsed.major > 0 && parsed.prerelease.length === 0
}
module.exports = isStable
"""

STABLE_TEST = """const { test } = require('node:test')
const assert = require('node:assert')
const { isStable } = require('..')

test('a stable version has a major and no prerelease', () => {
  assert.ok(isStable('1.2.3'))
  assert.ok(!isStable('0.2.3'))
  assert.ok(!isStable('1.2.3-rc.1'))
})
"""

TASKS = [
    Task(
        "a function is renamed in 5 files (Python)",
        MKDOCS,
        [
            Change("mkdocs/commands/build.py", "utils.get_relative_url(", "utils.relative_url("),
            Change("mkdocs/structure/files.py", "utils.get_relative_url(", "utils.relative_url("),
            Change("mkdocs/structure/pages.py", "utils.get_relative_url(", "utils.relative_url("),
            Change("mkdocs/tests/utils/utils_tests.py", "utils.get_relative_url(", "utils.relative_url("),
            Change("mkdocs/utils/__init__.py", "get_relative_url(", "relative_url("),
        ],
        search=r"\bget_relative_url\b",
        by=By.RENAME,
    ),
    Task(
        "a bug that a test finds, in 5,000 lines (Python)",
        ITERTOOLS,
        [Change("more_itertools/more.py", "(seq[i : i + n] for i in count(n, n))", "(seq[i : i + n] for i in count(0, n))")],
        is_broken_first=True,
        test="python3 -m unittest tests.test_more.SlicedTests",
    ),
    Task(
        "a type error (Python)",
        ARGCOMPLETE,
        [Change("argcomplete/shell_integration.py", "quoted_executables = [quote(1)", "quoted_executables = [quote(i)")],
        is_broken_first=True,
        given={"ty.toml": "[src]\ninclude = [\"argcomplete\"]\n"},
        lints_first=True,
    ),
    Task(
        "unused imports in 4 files (Python)",
        ARGCOMPLETE,
        [
            unused("argcomplete/io.py", "import json", "import os"),
            unused("argcomplete/lexers.py", "import re", "import os"),
            unused("argcomplete/completers.py", "import textwrap", "import subprocess"),
            unused("argcomplete/finders.py", "import time", "import sys"),
        ],
        is_broken_first=True,
        lints_first=True,
        by=By.FIXES,
        rule="python/F401",
    ),
    Task(
        "a parameter is added, and given by callers (Python)",
        REQUESTS,
        [
            Change("src/requests/utils.py", "def get_encoding_from_headers(headers):", "def get_encoding_from_headers(headers, fallback):"),
            Change("src/requests/utils.py", '        return "ISO-8859-1"\n', "        return fallback\n"),
            Change("src/requests/utils.py", "get_encoding_from_headers(r.headers)", 'get_encoding_from_headers(r.headers, "ISO-8859-1")'),
            Change(
                "src/requests/adapters.py",
                "get_encoding_from_headers(response.headers)",
                'get_encoding_from_headers(response.headers, "ISO-8859-1")',
            ),
            Change("tests/test_utils.py", "get_encoding_from_headers(value)", 'get_encoding_from_headers(value, "ISO-8859-1")'),
        ],
        search=r"\bget_encoding_from_headers\b",
    ),
    Task(
        "a name that does not exist (Python)",
        REQUESTS,
        [Change("src/requests/sessions.py", "stream = merge_settings(stream", "stream = merge_setting(stream")],
        is_broken_first=True,
        lints_first=True,
    ),
    Task(
        "a new function with its test (JavaScript)",
        SEMVER,
        [
            Change(
                "index.js",
                "const coerce = require('./functions/coerce')\n",
                "const coerce = require('./functions/coerce')\nconst isStable = require('./functions/is-stable')\n",
            ),
            Change("index.js", "  coerce,\n", "  coerce,\n  isStable,\n"),
        ],
        written={"functions/is-stable.js": STABLE, "test/is-stable.js": STABLE_TEST},
        search=r"\bcoerce\b",
        test="node --test test/is-stable.js",
    ),
    Task(
        "a function is renamed in 4 files (JavaScript)",
        AXIOS,
        [
            Change("lib/helpers/buildURL.js", "function buildURL(", "function withParams("),
            Change("lib/helpers/resolveConfig.js", "import buildURL from", "import withParams from"),
            Change("lib/helpers/resolveConfig.js", "= buildURL(", "= withParams("),
            Change("lib/core/Axios.js", "import buildURL from", "import withParams from"),
            Change("lib/core/Axios.js", "return buildURL(", "return withParams("),
            Change("lib/adapters/http.js", "import buildURL from", "import withParams from"),
            Change("lib/adapters/http.js", "path = buildURL(", "path = withParams("),
        ],
        search=r"\bbuildURL\b",
        search_in="lib",
    ),
    Task(
        "a bug that a test finds (JavaScript)",
        SEMVER,
        [Change("internal/identifiers.js", "    : a > b ? -1\n", "    : a < b ? -1\n")],
        is_broken_first=True,
        given={"test/compare.js": COMPARE_TEST},
        test="node --test test/compare.js",
    ),
    Task(
        "unused imports in 2 files (JavaScript)",
        AXIOS,
        [
            unused("lib/helpers/resolveConfig.js", 'import combineURLs from "./combineURLs.js";', 'import buildURL from "./buildURL.js";'),
            unused(
                "lib/core/dispatchRequest.js",
                "import toFormData from '../helpers/toFormData.js';",
                "import transformData from './transformData.js';",
            ),
        ],
        is_broken_first=True,
        lints_first=True,
    ),
]
