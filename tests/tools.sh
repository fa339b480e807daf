# shellcheck shell=bash
# Finds the programs that tests need, and installs those that are missing. Sourced by ./test and ./prove, which set $cache,
# the folder for what needs no root.

: "${cache:?must be set}"
packages_listed=""

# install_package NAME…: installs packages of the system, which needs root. A new machine has no list of packages yet.
install_package() {
  command -v apt-get >/dev/null && [ "$(id -u)" = 0 ] || return 1
  echo "installing $*" >&2
  apt_install "$@" && return
  [ -z "$packages_listed" ] || return 1
  packages_listed=yes
  list_packages && apt_install "$@"
}

apt_install() {
  DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends -o DPkg::Lock::Timeout=120 "$@" >/dev/null 2>&1
}

list_packages() {
  apt-get update -qq -o DPkg::Lock::Timeout=120 >/dev/null 2>&1
}

# find_cargo_tool NAME VERSION: prints the path of a program, installing it first where it is missing.
find_cargo_tool() {
  local name=$1 version=$2
  if command -v "$name"; then
    return
  fi
  local tools=$cache/tools/$name-$version
  if [ ! -x "$tools/bin/$name" ]; then
    echo "installing $name $version into $tools (a few minutes, once)" >&2
    cargo install --quiet --locked "$name" --version "$version" --root "$tools" >&2 || return 1
  fi
  echo "$tools/bin/$name"
}

# Prints the path of strace. Without root it is taken out of its package.
find_strace() {
  local tools=$cache/tools/strace
  if command -v strace; then
    return
  fi
  if [ ! -x "$tools/usr/bin/strace" ]; then
    if install_package strace; then
      command -v strace
      return
    fi
    mkdir -p "$tools"
    (cd "$tools" && apt-get download --quiet strace && dpkg -x strace_*.deb .) >&2 || return 1
  fi
  echo "$tools/usr/bin/strace"
}

# A PostgreSQL server of the tests' own, a pooler, and networks of their own.
find_servers() {
  if ! ls -d /usr/lib/postgresql/*/bin >/dev/null 2>&1 && ! command -v pg_config >/dev/null; then
    install_package postgresql || echo "PostgreSQL COULD NOT BE FOUND OR INSTALLED: tests that need it are left out"
  fi
  [ -x /usr/sbin/pgbouncer ] || install_package pgbouncer ||
    echo "pgbouncer COULD NOT BE FOUND OR INSTALLED: a test is left out"
  command -v ip >/dev/null || install_package iproute2 ||
    echo "ip COULD NOT BE FOUND OR INSTALLED: tests of machines in network namespaces are left out"
}
