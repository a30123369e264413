"""Reader of what `extract.py` wrote."""

import glob
import gzip
import json
import os

import packages


def files(split):
    return sorted(glob.glob(f"{packages.CACHE}/pairs/{split}/*.jsonl.gz"))


def read(path):
    with gzip.open(path, "rt", encoding="utf8") as file:
        for line in file:
            yield json.loads(line)


def package(path):
    return os.path.basename(path).removesuffix(".jsonl.gz")
