#!/usr/bin/env bash
# Proves that a project of somebody else's can use ringshard in one of three ways.
# usage: run.sh <find_package|add_subdirectory|pkg_config> <build folder of ringshard>
set -euo pipefail
way=$1
build=$2
here=$(cd "$(dirname "$0")" && pwd)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if [ "$way" != add_subdirectory ]; then
  cmake --install "$build" --prefix "$work/installed" >"$work/install.log"
  [ -x "$work/installed/bin/ringshard" ] || { echo "the program is not installed" >&2; exit 1; }
  export CMAKE_PREFIX_PATH=$work/installed
  config=$(find "$work/installed" -name ringshard.pc)
  export PKG_CONFIG_PATH=${config%/*}
fi

cmake -S "$here" -B "$work/build" -G Ninja -D CMAKE_BUILD_TYPE=Debug -D RINGSHARD_FROM="$way"
cmake --build "$work/build"
"$work/build/consumer"
