# Tools that the tests of clients and schema need, installed once into a cache folder. Sourced, not run.
# The folder is chosen as in ./dev.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
tools=${BROKER_DEV_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/broker-dev}
[ -d "$tools" ] || tools=${CARGO_TARGET_DIR:-$root/target}
tools=$tools/tools

say() { printf '\033[1m%s\033[0m\n' "• $*" >&2; }
die() { printf 'error: %s\n' "$1" >&2; [ $# -lt 2 ] || printf 'hint: %s\n' "$2" >&2; exit 2; }
have() { command -v "$1" >/dev/null 2>&1; }

need_node() {
  have node || die "node is missing" "install Node.js 20 or newer"
  [ "$(node -p 'process.versions.node.split(".")[0]')" -ge 20 ] ||
    die "Node.js 20 or newer is needed, this is $(node --version)" "install Node.js 20 or newer"
  have npm || die "npm is missing" "it comes with Node.js; some systems call the package npm"
}

need_python() {
  have python3 || die "python3 is missing" "install Python 3.11 or newer"
  python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
    die "Python 3.11 or newer is needed, this is $(python3 --version)"
  python3 -c 'import ensurepip, venv' 2>/dev/null || die "python3 cannot make virtual environments" "apt-get install python3-venv"
}

# fingerprint FILE: what an installation is named by, so that another list of versions is another folder.
fingerprint() { git hash-object --no-filters "$1" | cut -c1-12; }

# python_tools REQUIREMENTS: sets `python` to one that has them.
python_tools() {
  need_python
  local version folder
  version=$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  folder=$tools/python-$version-$(fingerprint "$1")
  python=$folder/bin/python
  [ ! -e "$folder/complete" ] || return 0
  say "installing $(basename "$(dirname "$1")")'s $(basename "$1")"
  rm -rf "$folder"
  mkdir -p "$tools"
  python3 -m venv "$folder"
  "$python" -m pip install --quiet --disable-pip-version-check -r "$1" ||
    die "pip could not install what $1 lists" "the first run needs the network"
  touch "$folder/complete"
}

# node_tools FOLDER [COMMAND]: sets `node_modules` to a folder with what FOLDER/package-lock.json lists. COMMAND is `ci`, or
# `install` for packages that want optional ones which are nowhere, as `ci` does not let pass.
node_tools() {
  need_node
  local folder
  folder=$tools/node-$(basename "$1")-$(fingerprint "$1/package-lock.json")
  node_modules=$folder/node_modules
  [ ! -e "$folder/complete" ] || return 0
  say "installing $(basename "$1")'s package-lock.json"
  rm -rf "$folder"
  mkdir -p "$folder"
  cp "$1/package.json" "$1/package-lock.json" "$folder/"
  # Nothing here needs the scripts that packages would like to run.
  (cd "$folder" && npm "${2:-ci}" --silent --ignore-scripts --no-audit --no-fund) ||
    die "npm could not install what $1/package-lock.json lists" "the first run needs the network"
  touch "$folder/complete"
}
