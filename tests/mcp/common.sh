# shellcheck shell=bash
# Sourced by the scripts beside it: installs the tools, in fixed versions, outside this folder, and creates a project.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
program=${1:-${CARGO_TARGET_DIR:-$root/target}/debug/leftoff}
program=$(realpath "$program")
[ -x "$program" ] || { echo "no program at $program: cargo build" >&2; exit 2; }

node_version=24.21.0
inspector_version=2.12.0
conformance_version=0.2.0-alpha.12
claude_version=2.1.197
npm_cache=${XDG_CACHE_HOME:-$HOME/.cache}/leftoff/npm

# Installs one package into a folder of its own, once, and prints the folder. Exits with 77 if the package cannot be installed.
installed() {
  local name=$1 version=$2
  local folder=$npm_cache/${name##*/}-$version
  if [ ! -e "$folder/done" ]; then
    echo "installing $name $version into $folder (once)" >&2
    mkdir -p "$folder"
    echo '{"private":true}' >"$folder/package.json"
    (cd "$folder" && npm install --no-audit --no-fund --loglevel=error --fetch-retries=1 --fetch-retry-mintimeout=1000 --fetch-retry-maxtimeout=5000 "$name@$version" >&2) || return 77
    touch "$folder/done"
  fi
  echo "$folder"
}

# Puts a version of node that is new enough first in PATH.
use_node() {
  local major
  major=$(node --version 2>/dev/null | sed 's/^v\([0-9]*\).*/\1/')
  [ "${major:-0}" -ge 24 ] && return
  local folder found
  folder=$(installed node "$node_version")
  found=$(find "$folder/node_modules" -path '*/bin/node' -type f -size +1M | head -n 1)
  [ -n "$found" ] || { echo "node $node_version was not installed" >&2; return 77; }
  PATH=$(dirname "$found"):$PATH
}

# Creates a temporary folder with a repository whose workflow has a gate, isolated from this machine's user.
new_project() {
  work=$(mktemp -d "${TMPDIR:-/tmp}/leftoff-mcp.XXXXXX")
  mkdir -p "$work/home" "$work/project/.git" "$work/project/.leftoff/workflows" "$work/bin"
  echo 'ref: refs/heads/main' >"$work/project/.git/HEAD"
  ln -s "$program" "$work/bin/leftoff"
  cat >"$work/project/.leftoff/workflows/ship.toml" <<'TOML'
name = "ship"
title = "Ship a feature"
[[phase]]
id = "plan"
[[phase]]
id = "build"
  [phase.evidence]
  tests_passed = { type = "integer", required = true }
[[phase]]
id = "release"
TOML
  echo 'workflow = "ship"' >"$work/project/.leftoff/config.toml"
  unset LEFTOFF_SESSION LEFTOFF_AGENT_SESSION
  export HOME=$work/home XDG_STATE_HOME=$work/state
}

servers=()
end() {
  local server
  for server in "${servers[@]-}"; do
    [ -z "$server" ] || kill "$server" 2>/dev/null || true
  done
  [ -z "${work-}" ] || rm -rf "$work"
}
trap end EXIT

# Starts the server over HTTP and sets `address`.
serve_http() {
  (cd "$work/project" && exec "$program" mcp --http 127.0.0.1:0) 2>"$work/http.log" &
  servers+=($!)
  local line
  # The server prints its address when it listens.
  while ! line=$(grep -m 1 -o 'http://.*' "$work/http.log"); do
    kill -0 "${servers[-1]}" || { cat "$work/http.log" >&2; return 1; }
    sleep 0.05
  done
  address=$line
}
