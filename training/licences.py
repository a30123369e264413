"""Licences: which are permissive, and which files of a Debian source have which."""

import fnmatch
import glob
import re
import tarfile

# Words of the names of permissive licences, in lower case. What no word fits is refused.
PERMISSIVE = re.compile(
    r"\b(mit|mit-0|x11|expat|apache|apache-2|apache2|asl|bsd|bsd-?\d|isc|iscl|psf|psfl|python software foundation|python-2|zlib|zlib/libpng|libpng"
    r"|unlicense|unlicensed public domain|cc0|wtfpl|0bsd|bsl-1|boost|bsl|hpnd|postgresql|curl|public|pd|public-domain|ncsa|openssl"
    r"|blueoak|artistic-2|ruby|w3c|unicode|unicode-dfs|icu|ftl|tcl|python|zope|zpl|edl|sgi|libtiff|bouncycastle|khronos|go|\d-clause|afl)\b"
)
# An alternative with one of these, alone, is no permission for us.
COPYLEFT = re.compile(r"gpl|mpl|mozilla|epl|eclipse|cddl|cc-by|eupl|osl|ms-rl|cecill|sspl|busl|proprietary|commercial|gfdl|gnu|general public|non-commercial|elastic")


def is_permissive(licence):
    """Whether an expression leaves a permissive choice: one alternative of an `OR`, all parts of an `AND`."""
    text = licence.lower().replace("(", " ").replace(")", " ")
    text = re.sub(r"\s+with\s+[\w.+-]*exception[\w.]*", "", text)
    text = text.replace("mit/apache", "mit or apache").replace("apache-2.0/mit", "mit or apache")
    for choice in re.split(r"\s+or\s+|\s*/\s*|\s*\|\s*", text):
        parts = [it for it in re.split(r"\s+and\s+|\s*,\s*|\s*&\s*", choice) if it.strip()]
        if parts and all(PERMISSIVE.search(it) and not COPYLEFT.search(it) for it in parts):
            return True
    return False


def copyright_file(folder):
    for path in sorted(glob.glob(f"{folder}/*.debian.tar.*")) + sorted(glob.glob(f"{folder}/*.tar.*")):
        if path.endswith(".asc"):
            continue
        with tarfile.open(path) as archive:
            for member in archive:
                if member.isfile() and re.fullmatch(r"(\./)?([^/]+/)?debian/copyright", member.name):
                    return archive.extractfile(member).read().decode("utf8", "replace")
    return ""


def stanzas(text):
    """Pairs of patterns and the short name of a licence, in the order of the file: the last that fits counts."""
    found = []
    for stanza in re.split(r"\n\s*\n", text):
        files = re.search(r"^Files:((?:.*\n?)(?:[ \t]+.*\n?)*)", stanza, re.M)
        licence = re.search(r"^License:[ \t]*(.*)$", stanza, re.M)
        if files and licence:
            found.append((files[1].replace(",", " ").split(), licence[1].strip()))
    return found


def of_debian(folder):
    """The licence of most of a source, as its `debian/copyright` says it."""
    return of_stanzas(copyright_file(folder))


def of_stanzas(text):
    for patterns, licence in stanzas(text):
        if "*" in patterns:
            return licence
    return ""


class Files:
    """Files of a Debian source by licence."""

    def __init__(self, folder):
        found = stanzas(copyright_file(folder))
        self.stanzas = [([re.compile(fnmatch.translate(it)) for it in patterns], is_permissive(licence)) for patterns, licence in found]

    def allows(self, path):
        allowed = False
        for patterns, permissive in self.stanzas:
            if any(it.match(path) for it in patterns):
                allowed = permissive
        return allowed
