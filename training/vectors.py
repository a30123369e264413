"""Test data for the reader in Rust: texts, their tokens and their vectors."""

import json
import sys

import model

TEXTS = [
    "parseHttpRequest",
    "Reads all bytes of a file into memory.",
    "fn read_all(path: &Path) -> io::Result<Vec<u8>> { fs::read(path) }",
    "HTTPServer2 XMLHttpRequest utf8_to_16 aB ABC _private__name",
    "zxqvkjhgwpq supercalifragilisticexpialidocious unmarshalling",
    "größeÄndern 你好 naïve café don\u2019t – dash",
    "x i 7 42 1234567 0xff sha256",
    "a_" * 40 + "z",
    "",
    "get get get set",
]


def main(path):
    it = model.Model(path)
    found = [
        {
            "text": text,
            "tokens": it.tokenizer.ids_of(text),
            "question": [round(float(value), 5) for value in it.questions([text])[0]],
            "chunk": [round(float(value), 5) for value in it.chunks([{"code": text, "symbol": "Reader.read_all"}])[0]],
        }
        for text in TEXTS
    ]
    json.dump({"defined": it.defined, "symbol": "Reader.read_all", "texts": found}, sys.stdout, ensure_ascii=False)


if __name__ == "__main__":
    main(sys.argv[1])
