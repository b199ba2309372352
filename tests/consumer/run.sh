#!/usr/bin/env bash
# Proves that a project of somebody else's can use ringshard in one of three ways. (The third one,
# add_subdirectory, takes the time of a whole build: tests/run.sh makes its build for ThreadSanitizer
# that way, see CMakePresets.json here.)
# usage: run.sh <find_package|pkg_config> <build folder of ringshard>
set -euo pipefail
way=$1
build=$2
here=$(cd "$(dirname "$0")" && pwd)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cmake --install "$build" --prefix "$work/installed" >"$work/install.log"
[ -x "$work/installed/bin/ringshard" ] || { echo "the program is not installed" >&2; exit 1; }
export CMAKE_PREFIX_PATH=$work/installed
config=$(find "$work/installed" -name ringshard.pc)
export PKG_CONFIG_PATH=${config%/*}

# What the README shows is what a newcomer does: its program, its tables, its configuration.
block() { # <language>: the first block of the README in it
  sed -n "/^\`\`\`$1\$/,/^\`\`\`\$/p" "$here/../../README.md" | sed '/^```/d;'
}
mkdir "$work/shop"
block cpp >"$work/shop/main.cpp"
block sql >"$work/shop/schema.sql"
block yaml >"$work/shop/ringshard.yaml"

cmake -S "$here" -B "$work/build" -G Ninja -D CMAKE_BUILD_TYPE= -D RINGSHARD_FROM="$way" \
  -D README_EXAMPLE="$work/shop/main.cpp"
cmake --build "$work/build"
"$work/build/consumer"

cd "$work/shop"
"$build/ringshard" init --quiet
"$work/build/readme_example" | tee output
grep -qx 'orders of 4711: 1' output
grep -qx 'orders in all:  1' output
