#!/usr/bin/env bash
# Installs what is missing, builds, measures, and prints the figures as a table. See --help.
set -euo pipefail
started_in=$PWD
cd "$(dirname "$0")/../.."

usage() {
  cat <<'END'
usage: tests/bench/run.sh [--json FILE] [--dir FOLDER]

  --json FILE   also write the table as a list of {name, value, unit, peer, ratio, goal, met}
  --dir FOLDER  make the SQLite databases there (default: build/release, where a commit has to wait
                for a real disk)

Every figure stands beside a peer that was measured in the same run, the repetitions of all of them
in random order; figures are medians. A goal is an upper bound of the ratio, or of the value where
there is no peer. Transactions with synchronous=NORMAL are measured in memory (/dev/shm) where there
is one: then nothing but computing and system calls is compared.

example: tests/bench/run.sh --json figures.json
END
}

json=()
folder=build/release
while [ $# -gt 0 ]; do
  case $1 in
    --json)
      file=${2:?--json needs a file}
      case $file in /*) ;; *) file=$started_in/$file ;; esac
      json=(--json "$file")
      shift
      ;;
    --dir) folder=${2:?--dir needs a folder}; shift ;;
    -h | --help) usage; exit 0 ;;
    *) echo "unknown option: $1" >&2; usage >&2; exit 2 ;;
  esac
  shift
done

tests/install.sh --build
cmake --preset release -DRINGSHARD_BUILD_BENCH=ON >/dev/null
cmake --build build/release --target ringshard_bench

memory=$folder
if [ -w /dev/shm ]; then memory=/dev/shm; fi
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT

# measure <program> <name of the result> <folder> <seconds of one repetition> <repetitions> <filter>
measure() {
  echo "== $2 (in $3)"
  RINGSHARD_BENCH_DIR=$3 "build/release/tests/bench/$1" \
    --benchmark_min_time="$4" --benchmark_repetitions="$5" --benchmark_filter="$6" \
    --benchmark_enable_random_interleaving=true --benchmark_report_aggregates_only=true \
    --benchmark_out="$results/$2.json" --benchmark_out_format=json >/dev/null 2>"$results/$2.log" || {
    cat "$results/$2.log" >&2
    exit 1
  }
}

measure routing_bench routing "$folder" 0.05 9 '^(hash|route|map_ring)_(int64|text36)|^plan_growth/1000'
measure transact_bench transact_full "$folder" 0.15 25 '/full/'
measure transact_bench transact_normal "$memory" 0.1 15 '/normal/'
measure move_bench move "$folder" 0.2 7 '.'

# Two servers of its own, on a real disk and with fsync, where PostgreSQL is installed.
if [ -n "$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null)" ]; then
  servers=$(mktemp -d "${RINGSHARD_BENCH_SERVERS:-/var/tmp}/ringshard-bench-XXXXXX")
  chmod 755 "$servers"
  stop_servers() {
    for server in a b; do tests/support/postgres_cluster.sh kill "$servers/$server" || true; done
    rm -rf "$results" "$servers"
  }
  trap stop_servers EXIT
  export RINGSHARD_CLUSTER_BUFFERS=256MB
  for server in a b; do tests/support/postgres_cluster.sh init "$servers/$server"; done
  export RINGSHARD_BENCH_POSTGRES_A="postgresql://ringshard@/shop?host=$servers/a"
  export RINGSHARD_BENCH_POSTGRES_B="postgresql://ringshard@/shop?host=$servers/b"
  measure postgres_bench postgres "$folder" 0.3 9 '.'
fi

echo
build/release/tests/bench/bench_report "${json[@]}" "$results"/*.json
