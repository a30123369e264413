"""The SDK without a host: `python3 -m unittest sdk/python/test_broker.py`."""

import ast
import socket
import sys
import unittest
from collections import namedtuple
from enum import Enum, IntFlag
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace

sys.path.insert(0, str(Path(__file__).parent))

import broker
from broker import Edit, File, Finding, Fix, LeftOut, Problem, Related, Settings, linter_options, log, options, rule, rules


class Err(Exception):
    def __init__(self, value):
        super().__init__(value)
        self.value = value


class Level(Enum):
    INFO = 1


logged = []

# What the bindings have of the world, as far as `check` needs it.
WIT = SimpleNamespace(
    Severity=Enum("Severity", "ERROR WARNING INFO HINT"),
    Applicability=Enum("Applicability", "SAFE UNSAFE DISPLAY_ONLY"),
    Tags=IntFlag("Tags", "UNNECESSARY DEPRECATED"),
    Span=namedtuple("Span", "start end"),
    Edit=namedtuple("Edit", "span replacement"),
    Fix=namedtuple("Fix", "message applicability edits"),
    Related=namedtuple("Related", "path span message"),
    Diagnostic=namedtuple("Diagnostic", "code name message severity cell span tags url fixes related"),
    Report=namedtuple("Report", "diagnostics cells completeness"),
    Completeness_Complete=lambda: "complete",
    Completeness_Excluded=lambda: "excluded",
    Settings=None,
    Rule=None,
    SourceFile=namedtuple("SourceFile", "path content named"),
)
HOST = SimpleNamespace(Level=Level, linter_options=lambda: '{"words": ["TODO"]}', log=lambda _, message: logged.append(message))
SYNTAX = SimpleNamespace(Problem=None)
IMPORTS = SimpleNamespace(host=HOST, syntax=SYNTAX, types=WIT)
sys.modules |= {
    "plugin": SimpleNamespace(__file__=__file__),
    "componentize_py_types": SimpleNamespace(Err=Err),
    "wit_world": SimpleNamespace(exports=SimpleNamespace(Lint=object), imports=IMPORTS),
    "wit_world.imports": IMPORTS,
}

import broker_component


def check(content, found):
    """What the host is told that a rule `odd` finds: the diagnostics, or why there are none."""
    rule("odd")(found)
    broker_component._wanted.add("odd")
    try:
        return broker_component.Lint().check(WIT.SourceFile("a.py", content, "")).diagnostics
    except Err as error:
        return error.value
    finally:
        rules.pop()


class Files(unittest.TestCase):
    def test_captures_of_one_match_have_its_number(self):
        found = SimpleNamespace(names=["call", "name"], table=[7, 1, 0, 0, 4, 7, 1, 1, 0, 2], cut=False)
        SYNTAX.query, SYNTAX.Source_File = lambda *_: found, lambda path: path
        call, name = File("a.py", "ä(1)".encode()[:4]).query("…")
        self.assertEqual((call.name, call.text, call.start, call.end), ("call", "ä(1", 0, 4))
        self.assertEqual((name.name, name.text, name.in_match, name.pattern), ("name", "ä", call.in_match, 1))
        self.assertEqual(name.finding("m").end, 2)

    def test_options_are_those_that_the_user_means(self):
        with TemporaryDirectory() as root:
            Path(root, "own.toml").write_text("own ä", "utf-8")
            Path(root, "other.toml").write_text("other", "utf-8")
            Path(root, "odd.toml").write_bytes(b"\xff")
            self.addCleanup(setattr, broker, "_settings", broker._settings)
            for config, isolated, name, want in (
                (None, False, "own.toml", "own ä"),
                (None, False, "none.toml", None),
                (None, True, "own.toml", None),
                ("other.toml", False, "own.toml", "other"),
            ):
                broker._settings = Settings(root, isolated, config)
                self.assertEqual(options(name), want)
            broker._settings = Settings(root, False, "none.toml")
            with self.assertRaisesRegex(Problem, "there is no none.toml"):
                options("own.toml")
            broker._settings = Settings(root)
            with self.assertRaisesRegex(Problem, "cannot read odd.toml: 'utf-8' codec"):
                options("odd.toml")

    def test_options_of_the_linter_are_what_the_host_has(self):
        self.addCleanup(setattr, broker, "_settings", broker._settings)
        self.assertEqual(linter_options(), {})
        asked = SimpleNamespace(root="", isolated=False, config=None, select=None, ignore=[])
        broker_component.Lint().configure(asked)
        self.assertEqual(linter_options(), {"words": ["TODO"]})

    def test_offsets_are_bytes(self):
        file = File("a.txt", "aäb🙂c".encode() + b"\xff\xc3!")
        index = file.text.index("c")
        self.assertEqual(file.content[file.offset(index) :], b"c\xff\xc3!")
        self.assertEqual(file.offset(len(file.text)), len(file.content))
        self.assertEqual([(it.start, it.end) for it in file.find("!")], [(11, 12)])
        self.assertEqual(list(file.find("")), [])

    def test_nodes_of_ast_have_places(self):
        for start in (b"", b"\xef\xbb\xbf"):
            for end in (b"\n", b"\r\n", b"\r"):
                file = File("a.py", start + end.join([b"x = 'a'", "y = ('ä', call(\f1))".encode(), b""]))
                call = next(it for it in ast.walk(ast.parse(file.content)) if isinstance(it, ast.Call))
                self.assertEqual(file.node(call).text, "call(\f1)", (start, end))
                self.assertEqual(file.node(file.ast().body[0]).text, "x = 'a'", (start, end))
        # No line of the file, but of what somebody made of it.
        self.assertEqual(file.at(99, 99), len(file.content))

    def test_the_docstring_explains(self):
        @rule("x", fix="sometimes")
        def x(file):
            """One line

            More,
            and more.
            """

        made = rules.pop()
        self.assertEqual((made.code, made.summary, made.explanation), ("x", "One line", "More,\nand more."))
        found = File("a", b"ab").place(0, 1).finding("m").fix("f", "c")
        self.assertEqual((found.start, found.fixes[0].edits[0].replacement), (0, "c"))

    def test_what_python_cannot_parse_is_none(self):
        for content in (b"(" * 10_000, b"x = \0", b"=", b"# coding: latin-1\nx = '\xe4'\n", b"-" * 100_000 + b"1"):
            self.assertIsNone(File("a.py", content).ast(), content[:20])
        # Columns of another encoding would be columns of no line of the file.
        file = File("a.py", "# coding: latin-1\nx = 'ä'; y = 1\n".encode())
        self.assertEqual(file.node(file.ast().body[1]).text, "y = 1")
        self.assertIs(file.ast(), file.ast())


class Border(unittest.TestCase):
    def test_what_is_not_utf8_is_told_and_not_written(self):
        def found(file):
            it = file.place(0, 1).finding(file.text)
            it.related.append(Related(0, 1, file.text, file.text))
            # In a text of all of the file, of a part of it, and in none.
            it.fix("a" + file.text, file.text).fix("b", file.place(1, 2).text).fix("c" + file.text, "c")
            yield it

        text = "a\ufffd"
        for content, applied in ((b"a\xff", "DISPLAY_ONLY DISPLAY_ONLY SAFE"), (text.encode(), "SAFE SAFE SAFE")):
            (it,) = check(content, found)
            self.assertEqual((it.message, it.related[0].path, it.related[0].message), (text,) * 3)
            self.assertEqual(" ".join(that.applicability.name for that in it.fixes), applied)
            self.assertEqual((it.fixes[0].message, it.fixes[0].edits[0].replacement), ("a" + text, text))
        log(File("a", b"\xff").text)
        self.assertEqual(logged.pop(), "\ufffd")

        def broken(file):
            raise Problem(file.text)

        self.assertEqual(check(b"\xff", broken), "rule odd: \ufffd")

    def test_a_file_is_left_out_for_what_it_contains(self):
        def found(file):
            yield file.place(0, 1).finding("m")
            raise LeftOut("it is a template" + file.text)

        rule("odd")(found)
        broker_component._wanted.add("odd")
        try:
            report = broker_component.Lint().check(WIT.SourceFile("d/a", b"\xff", ""))
        finally:
            rules.pop()
            broker_component._wanted.remove("odd")
        self.assertEqual((report.diagnostics, report.completeness), ([], "excluded"))
        self.assertEqual(logged.pop(), "d/a is left out: it is a template\ufffd")

    def test_what_the_host_would_not_take_names_the_rule(self):
        def later(**changes):
            it = Finding(0, 1, "m")
            it.fix("f", "r")
            vars(it).update(changes)
            yield it

        severity = "severity is `fatal`, not error, warning, info or hint"
        wanted = {
            lambda _: [Finding(0, 1, "m", "fatal")]: f"ValueError: {severity} (in",
            lambda _: later(severity="fatal"): f"ValueError: {severity}",
            lambda _: [Finding(-1, 1, "m")]: "ValueError: -1 to 1 are no bytes of a file (in",
            lambda _: [Finding(0, 1.0, "m")]: "ValueError: 0 to 1.0 are no bytes of a file (in",
            lambda _: later(start=2): "ValueError: 2 to 1 are no bytes of a file",
            lambda _: [Finding(0, 1, None)]: "TypeError: message is None, not a str (in",
            lambda _: [Edit(0, 1, b"")]: "TypeError: replacement is b'', not a str (in",
            lambda _: [Fix("f", [], "sure")]: "ValueError: applicability is `sure`, not safe, unsafe or display-only (in",
            lambda file: file.query(None): "TypeError: query is None, not a str (in",
            lambda _: log("m", "fatal"): "ValueError: level is `fatal`, not debug, info, warn or error (in",
            lambda _: None: "TypeError: it returns nothing; `yield` findings, or return a list of them",
            lambda _: Finding(0, 1, "m"): "TypeError: it returns a Finding; `yield` findings",
            lambda _: ["text"]: "TypeError: it yields a str, not a Finding",
            lambda _: __import__("nowhere"): "ModuleNotFoundError: No module named 'nowhere'; import it at the top of a",
            lambda _: sys.exit(3): "SystemExit: 3 (in",
        }
        for found, why in wanted.items():
            told = check(b"a", found)
            self.assertEqual(told[: len(why) + 10], f"rule odd: {why}")

    def test_what_reaches_for_the_network_is_told_so(self):
        def encoded(_):
            raise LookupError("unknown encoding: idna")

        def refused(_):
            socket.socket(family=99)

        def without_tls(_):
            raise ModuleNotFoundError("No module named '_ssl'", name="_ssl")

        def other(_):
            raise LookupError("unknown encoding: cp1252")

        for found, is_network in ((encoded, True), (refused, True), (without_tls, True), (other, False)):
            told = check(b"a", found)
            self.assertEqual("; a plugin reaches no network (in" in told, is_network, told)
            self.assertNotIn("import it at the top", told)

    def test_a_rule_is_checked_when_the_plugin_is_built(self):
        with self.assertRaisesRegex(TypeError, r'a rule has a code: @rule\("code"\)'):
            rule(len)
        with self.assertRaisesRegex(ValueError, "fix is `maybe`, not none, sometimes or always"):
            rule("a", fix="maybe")


if __name__ == "__main__":
    unittest.main()
