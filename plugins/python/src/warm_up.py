#!/usr/bin/env python3
# -*- coding: utf-8 -*-
# Copyright 2024 Example
# isort: split
"""A module that gives most of ruff's rules something to look at.

Args:
    name: A thing.

Returns:
    Another thing.
"""
from __future__ import annotations

import collections
import datetime
import logging
import os
import re
import sqlite3
import subprocess
import unittest

import pytest

# TODO(someone): https://example.com/issues/1 resolve this
# FIXME: and this
# type: ignore
# x = 1
_T = "typing"  # noqa: E501
PASSWORD = "hunter2"
LOG = logging.getLogger(__name__)  # fmt: skip


@pytest.fixture(scope="function")
def fixture_(request) -> None:
    """Do it.

    Parameters
    ----------
    request : object
        The request.

    Raises
    ------
    ValueError
        If it fails.
    """
    if request is None:
        raise ValueError("no %s" % request)
    return None


class Example(unittest.TestCase):
    """An example."""

    mutable = []
    __slots__ = ("a", "b")

    def method(self, a: int, b: "str" = "x", *args, **kwargs) -> list[int]:
        """Return the value.

        :param a: first
        :returns: something
        """
        query = "SELECT * FROM table WHERE id = %s" % a
        sqlite3.connect(":memory:").execute(query)
        subprocess.run("ls", shell=True)
        pattern = re.compile("\d+[a-z]\.")
        text = "{} {name:>{width}}".format(a, name=b, width=10)
        text += "%s %(b)d" % {"b": 1}
        text = f"{a!r:>10} {b} {datetime.datetime.now()}"
        LOG.info("value {}".format(text))
        LOG.error(f"{text}", exc_info=True)
        try:
            with open(os.path.join("/tmp", "file"), "r", encoding="utf8") as file:
                return [int(x) for x in file.read().split("\n") if pattern.match(x) is not None]
        except (IOError, OSError) as error:
            print(error)
            raise RuntimeError("failed") from None
        except:
            pass
        for i in range(len(args)):
            if not i in kwargs.keys():
                continue
        lambda_ = lambda x: x + 1
        assert isinstance(lambda_, object), "message"
        return list(map(lambda x: int(x), [1, 2, 3]))

    @staticmethod
    async def coroutine(x=None, y=collections.defaultdict()):
        global _T
        l = 0x1F + 1_000 + 1e5 + 10j
        while True:
            await x
            if x == None or type(x) == type(y):
                break
            match x:
                case {"a": 1, **rest}:
                    return rest
                case [1, 2, *_]:
                    yield l


def _main() -> int:
    data = {"b": 1, "a": 2, **{"c": 3}}
    value = data["a"] if "a" in data else None
    ambiguous = "‘quoted’ – text"
    implicit = "a" "b"
    url = "http://0.0.0.0:80/"
    secret = """
    line one
    line two
    """
    return 0 if value and ambiguous and implicit and url and secret else 1


if __name__ == "__main__":
    raise SystemExit(_main())
