"""Many calls in one session: each has the answer that it must have. `tests/bench/agents-memory` has many more, and looks at memory."""

import unittest

from calls import Calls
from support import Wire


class Session(unittest.TestCase):
    def test_500_calls_in_a_row(self):
        calls = Calls()
        wire = Wire(calls.folder)
        wire.begin()
        self.addCleanup(wire.kill)
        for number in range(500):
            calls.make(wire, number)


if __name__ == "__main__":
    unittest.main()
