#!/usr/bin/env bash
# Installs the packages of tests/packages that are missing, with apt-get; with --build those that a
# build needs, without what only the tests use. Where there is no apt-get it prints what is needed;
# it then succeeds if all of that is found anyway, else it fails.
set -euo pipefail

list="$(cd "$(dirname "$0")" && pwd)/packages"

header_exists() {
  local folder
  for folder in ${CPATH:+${CPATH//:/ }} /usr/include /usr/local/include /opt/homebrew/include \
    ${CMAKE_PREFIX_PATH:+${CMAKE_PREFIX_PATH//[:;]/\/include }/include}; do
    [ -e "$folder/$1" ] && return 0
  done
  return 1
}

is_installed() { # <package> <command|header> <name>
  if command -v dpkg-query >/dev/null; then
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ] && return 0
  fi
  case $2 in
    command) command -v "$3" >/dev/null ;;
    header) header_exists "$3" ;;
  esac
}

build_only=${1:-}
missing=()
all=()
while read -r package kind name use; do
  case $package in '' | '#'*) continue ;; esac
  if [ "$build_only" = --build ] && [ "${use:-}" = test ]; then continue; fi
  all+=("$package")
  is_installed "$package" "$kind" "$name" || missing+=("$package")
done <"$list"

if [ ${#missing[@]} -eq 0 ]; then exit 0; fi

if ! command -v apt-get >/dev/null; then
  echo "There is no apt-get here. ringshard needs these (Debian's names):" >&2
  printf '  %s\n' "${all[@]}" >&2
  echo "Not found: ${missing[*]}. Install them with this system's own means and start again." >&2
  exit 1
fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "These packages are missing: ${missing[*]}" >&2
    echo "Run as root: apt-get install ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi

echo "Installing: ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
  apt-get install -y -qq --no-install-recommends "${missing[@]}" </dev/null
