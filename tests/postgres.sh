#!/usr/bin/env bash
# Starts and stops a PostgreSQL server of the tests' own, in memory where there is room, on a socket,
# for an ordinary role; and, where it is installed, PgBouncer in transaction mode beside it.
#
#   tests/postgres.sh start FILE   writes the server's DSN to FILE; does nothing but say so where
#                                  PostgreSQL is not installed
#   tests/postgres.sh stop FILE
set -euo pipefail

command=${1:?start or stop}
file=${2:?the file for the DSN}
folder_file=$file.folder

source "$(dirname "$0")/support/postgres_programs.sh"

stop() {
  if [ -f "$folder_file" ]; then
    local folder
    folder=$(cat "$folder_file")
    if [ -f "$folder/pgbouncer.pid" ]; then kill "$(cat "$folder/pgbouncer.pid")" || true; fi
    if [ -d "$folder/data" ]; then
      (cd / && as_server "$(server_programs)/pg_ctl" -D "$folder/data" -m immediate -s stop) || true
    fi
    rm -rf "$folder" "$folder_file" "$file"
  fi
}

start() {
  stop
  rm -f "$file"
  local programs folder
  programs=$(server_programs)
  if [ -z "$programs" ]; then
    echo "PostgreSQL's server is not installed: tests that need it are skipped"
    return
  fi
  folder=$(mktemp -d "${TMPDIR:-/tmp}/ringshard-postgres-XXXXXX")
  echo "$folder" >"$folder_file"
  if [ "$(id -u)" -eq 0 ]; then chown postgres:postgres "$folder"; fi
  chmod 755 "$folder"
  cd /
  as_server "$programs/initdb" -D "$folder/data" -A trust -U postgres -E UTF8 --locale=C.UTF-8 -N >"$folder/log" 2>&1 || {
    cat "$folder/log" >&2
    exit 1
  }
  as_server tee -a "$folder/data/postgresql.conf" >/dev/null <<END
listen_addresses = ''
unix_socket_directories = '$folder'
max_connections = 200
shared_buffers = 64MB
fsync = off
max_prepared_transactions = 10
max_locks_per_transaction = 512
log_min_messages = fatal
END
  as_server "$programs/pg_ctl" -D "$folder/data" -l "$folder/server.log" -w -s start
  "$programs/psql" -h "$folder" -U postgres -d postgres -q -c 'CREATE ROLE ringshard LOGIN CREATEDB'
  "$programs/psql" -h "$folder" -U postgres -d template1 -q -c 'CREATE EXTENSION citext'
  if command -v pgbouncer >/dev/null; then
    as_server tee "$folder/pgbouncer.ini" >/dev/null <<END
[databases]
* = host=$folder port=5432 user=ringshard
[pgbouncer]
listen_port = 6432
unix_socket_dir = $folder
auth_type = any
pool_mode = transaction
default_pool_size = 10
max_client_conn = 200
pidfile = $folder/pgbouncer.pid
logfile = $folder/pgbouncer.log
END
    as_server "$(command -v pgbouncer)" -d -q "$folder/pgbouncer.ini"
  fi
  echo "postgresql://ringshard@/postgres?host=$folder" >"$file"
}

case $command in
  start) start ;;
  stop) stop ;;
  *) echo "usage: $0 start|stop FILE" >&2; exit 2 ;;
esac
