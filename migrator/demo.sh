#!/usr/bin/env bash
# The main job in about half a minute: an application writes and reads while a fourth node joins and takes its share of
# 256 shards. Ends with what was proved, and fails if a number is not what it has to be.
set -euo pipefail
cd "$(dirname "$0")/.."

case "${1:-}" in
  '') ;;
  -h | --help)
    echo "usage: migrator/demo.sh"
    echo "  Installs what is missing, builds, and moves a quarter of a fleet under load."
    echo "  Works in a folder of its own under \$TMPDIR, which is removed at the end."
    exit 0
    ;;
  *) echo "unknown option: $1; see --help" >&2; exit 2 ;;
esac

tests/install.sh --build
echo "== building"
mkdir -p build
cmake --preset release >build/release.configure.log 2>&1 || { cat build/release.configure.log >&2; exit 1; }
cmake --build --preset release --target ringshard_cli ringshard_demo
ringshard=$PWD/build/release/ringshard
demo=$PWD/build/release/ringshard-demo
bank=$PWD/schemas/example/bank.sql

work=$(mktemp -d "${TMPDIR:-/tmp}/ringshard-demo.XXXXXX")
application=
cleanup() {
  [ -z "$application" ] || kill -KILL "$application" 2>/dev/null || true
  rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 130' INT TERM
cd "$work"

write_config() { # <node>...
  cat <<END
catalog: sqlite:catalog.db
keyspace:
  name: bank
  key: int64
  shards: 256
  schema: $bank
  tables:
    - {name: account, key: id}
    - {name: entry, key: account_id}
    - {name: last_seen, key: account_id}
nodes:
END
  for node in "$@"; do echo "  - {name: $node, dsn: 'sqlite:$node'}"; done
  cat <<END
router: {poll_interval: 200ms}
move: {observe_for: 10m, concurrency: 2, cutover: {pause_budget: 250ms}}
END
}

echo "== three nodes, 256 shards"
write_config a b c >ringshard.yaml
"$ringshard" init --quiet
"$demo" --config ringshard.yaml --accounts 2000 seed --history 40

echo "== an application with four threads writes and reads"
"$demo" --config ringshard.yaml --accounts 2000 run --ledger ledger --writers 2 --readers 2 \
  >workload.json 2>application.log &
application=$!
sleep 1

echo "== a fourth node joins"
write_config a b c d >ringshard.yaml
"$ringshard" plan --out moves.plan --json >plan.json
"$ringshard" plan | sed -n '1,12p'
echo "== its shards move: double-write, backfill, verification, cutover"
"$ringshard" apply --plan moves.plan --yes --json >observing.json
echo "== the way back is closed, the old homes are removed"
"$ringshard" finalize --all --json >apply.json
sleep 1

kill -TERM "$application"
wait "$application" || { cat application.log workload.json >&2; exit 1; }
application=
echo "== every account is held against what was acknowledged"
"$demo" --config ringshard.yaml --accounts 2000 audit --ledger ledger >audit.json || true
"$ringshard" verify --json --quiet >verify.json || true
"$ringshard" doctor
"$demo" prove --plan plan.json --apply apply.json --workload workload.json --audit audit.json \
  --verify verify.json --pause-budget-ms 250
