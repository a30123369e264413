"""What every package says of the release: its names, version, time and machine."""

import os, pathlib, platform, subprocess, sys, tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent

# The one place of the names. `broker` is taken in both registries; `broker-check` was free in both.
NAME = "broker-check"
SDK_NAME = "broker-plugin-sdk"
PROGRAM = "broker"
SUMMARY = "Says what linters, type checkers and tests would say if edits were made"
MAINTAINER = "The Broker developers <broker@example.org>"
LICENCE = "MIT OR Apache-2.0"

_workspace = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]
VERSION = _workspace["version"]
assert _workspace["license"] == LICENCE, "Cargo.toml names another licence"

# What each registry calls a processor.
MACHINES = {
    "x86_64": {"rust": "x86_64-unknown-linux-gnu", "wheel": "x86_64", "npm": "x64", "deb": "amd64"},
    "aarch64": {"rust": "aarch64-unknown-linux-gnu", "wheel": "aarch64", "npm": "arm64", "deb": "arm64"},
}


def fail(message: str, hint: str = "") -> None:
    print(f"error: {message}" + (f"\nhint: {hint}" if hint else ""), file=sys.stderr)
    sys.exit(2)


def epoch() -> int:
    """The time that all files of all packages have: that of the last commit."""
    if given := os.environ.get("SOURCE_DATE_EPOCH"):
        return int(given)
    log = subprocess.run(["git", "-C", ROOT, "log", "-1", "--format=%ct"], capture_output=True, text=True)
    if log.returncode:
        fail("the time of the release is unknown", "set SOURCE_DATE_EPOCH, or run this in a git clone")
    return int(log.stdout)


def this_machine() -> str:
    return {"arm64": "aarch64", "amd64": "x86_64"}.get(platform.machine(), platform.machine())
