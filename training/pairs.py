"""Reader of what `extract.py` wrote."""

import glob
import gzip
import hashlib
import json
import os
import re

import packages


def files(split):
    return sorted(glob.glob(f"{packages.CACHE}/pairs/{split}/*.jsonl.gz"))


def read(path):
    with gzip.open(path, "rt", encoding="utf8") as file:
        for line in file:
            yield json.loads(line)


def package(path):
    return os.path.basename(path).removesuffix(".jsonl.gz")


def _plain(text):
    return hashlib.sha1(re.sub(r"\W+", "", text).lower().encode()).digest()[:8]


def keys(entry):
    """What makes a pair the same wherever it was copied: its code, or its name and documentation."""
    found = [_plain(entry["code"])]
    return [*found, _plain(entry["name"] + " " + entry["first"])] if "first" in entry else found


def held_out():
    """Keys of all that is evaluated: packages copy each other's code, and a copy is not trained on."""
    return {key for split in ("valid", "test", "extra") for path in files(split) for entry in read(path) for key in keys(entry)}
