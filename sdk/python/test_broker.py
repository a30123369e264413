"""The part of the SDK that needs no host: `python3 -m unittest sdk/python/test_broker.py`."""

import ast
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from broker import File, rule, rules


class Files(unittest.TestCase):
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


if __name__ == "__main__":
    unittest.main()
