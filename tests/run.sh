#!/usr/bin/env bash
# Installs what is missing, builds, and runs every test. See --help.
set -euo pipefail
cd "$(dirname "$0")/.."

usage() {
  cat <<'END'
usage: tests/run.sh [--quick] [--no-tsan] [--label LABEL] [--jobs N]

  (nothing)      the unit tests under AddressSanitizer and UndefinedBehaviorSanitizer; those of what
                 runs in several threads also under ThreadSanitizer; the slow tests, with real
                 processes and kills, with the release build
  --quick        all tests with the release build only
  --no-tsan      without ThreadSanitizer
  --label LABEL  only the tests with this label: unit or slow
  --jobs N       this many compilers and tests at a time (default: the number of cores)

The builds are in build/release, build/asan and build/tsan. Real data sets are taken from the folder
that RINGSHARD_TEST_DATA names, else from ../shared/data; a test whose data is not there is skipped.

example: tests/run.sh --quick --label unit
END
}

presets=(release asan tsan)
unit_in_release=OFF
jobs=$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN)
label=()
while [ $# -gt 0 ]; do
  case $1 in
    --quick) presets=(release); unit_in_release=ON ;;
    --no-tsan) presets=("${presets[@]/tsan/}") ;;
    --label) label=(--label-regex "^${2:?--label needs a label}\$"); shift ;;
    --jobs) jobs=${2:?--jobs needs a number}; shift ;;
    -h | --help) usage; exit 0 ;;
    *) echo "unknown option: $1" >&2; usage >&2; exit 2 ;;
  esac
  shift
done

tests/install.sh

# ThreadSanitizer of older compilers can not start where addresses are randomised over more than 28
# bits; without the randomisation it can. The test programs are started by the build too.
start=()
bits=$(cat /proc/sys/vm/mmap_rnd_bits 2>/dev/null || echo 0)
if [ "$bits" -gt 28 ] && setarch "$(uname -m)" -R true 2>/dev/null; then
  start=(setarch "$(uname -m)" -R)
fi

# All builds first and then one run of ctest over all of them, so that its summary at the end counts
# every test of every build: the names of those of a sanitizer start with asan/ or tsan/.
mkdir -p build/all
: >build/all/CTestTestfile.cmake
for preset in "${presets[@]}"; do
  [ -n "$preset" ] || continue
  echo "== building $preset"
  more=()
  targets=(ringshard_tests)
  if [ "$preset" = release ]; then
    more=(-D "RINGSHARD_TEST_UNIT=$unit_in_release" -D RINGSHARD_BUILD_BENCH=OFF)
    targets=(all)
  fi
  # The build for ThreadSanitizer is that of a project which has ringshard as a subdirectory.
  folder=.
  if [ "$preset" = tsan ]; then
    folder=tests/consumer
    more=(--preset tsan-subdirectory)
    targets+=(consumer)
  else
    more+=(--preset "$preset")
  fi
  cmake -S "$folder" "${more[@]}" >"build/$preset.configure.log" 2>&1 || {
    cat "build/$preset.configure.log" >&2
    exit 1
  }
  NINJA_STATUS="$preset [%f/%t] " "${start[@]}" cmake --build "build/$preset" --target "${targets[@]}" --parallel "$jobs"
  echo "subdirs(\"$PWD/build/$preset\")" >>build/all/CTestTestfile.cmake
done

# Tests make many small databases and wait for the disk at each commit; in memory they do the same faster.
if [ -z "${TMPDIR:-}" ] && [ -w /dev/shm ] &&
  [ "$(df --output=avail -k /dev/shm 2>/dev/null | tail -n 1)" -gt 2000000 ]; then
  export TMPDIR=/dev/shm
fi

echo "== testing"
export UBSAN_OPTIONS=print_stacktrace=1
export TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1
cd build/all
exec "${start[@]}" ctest --parallel "$jobs" --output-on-failure --no-tests=error "${label[@]}"
