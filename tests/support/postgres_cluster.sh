#!/usr/bin/env bash
# Servers that a test may kill, in folders of its own.
#
#   postgres_cluster.sh init FOLDER            makes a server with an ordinary role and starts it
#   postgres_cluster.sh start|kill|stop FOLDER
#   postgres_cluster.sh replica FOLDER SOURCE  makes a standby of the server in SOURCE and starts it
#   postgres_cluster.sh promote FOLDER
#   postgres_cluster.sh tls FOLDER PORT        has it listen to TLS on localhost, with a certificate of
#                                              the authority FOLDER/ca.crt
set -euo pipefail
source "$(dirname "$0")/postgres_programs.sh"

command=${1:?a command}
folder=${2:?a folder}
programs=$(server_programs)
cd /

prepare() {
  mkdir -p "$folder"
  if [ "$(id -u)" -eq 0 ]; then chown postgres:postgres "$folder"; fi
  chmod 755 "$folder"
}

configure() { # fsync on: what was acknowledged has to survive
  as_server tee -a "$folder/data/postgresql.conf" >/dev/null <<END
listen_addresses = ''
unix_socket_directories = '$folder'
max_connections = 60
shared_buffers = ${RINGSHARD_CLUSTER_BUFFERS:-16MB}
wal_level = replica
log_min_messages = fatal
END
}

start() {
  as_server "$programs/pg_ctl" -D "$folder/data" -l "$folder/server.log" -w -t 60 -s start
}

case $command in
  init)
    prepare
    as_server "$programs/initdb" -D "$folder/data" -A trust -U postgres -E UTF8 --locale=C.UTF-8 >"$folder/log" 2>&1
    configure
    start
    "$programs/psql" -h "$folder" -U postgres -d postgres -q -c 'CREATE ROLE ringshard LOGIN CREATEDB' \
      -c 'CREATE DATABASE shop OWNER ringshard'
    ;;
  start) start ;;
  stop) as_server "$programs/pg_ctl" -D "$folder/data" -m fast -s -w stop ;;
  kill)
    # The postmaster and all that it started, at once: as when the machine goes away.
    postmaster=$(head -n 1 "$folder/data/postmaster.pid")
    kill -STOP "$postmaster" # so that it starts no more of them
    children=$(pgrep -P "$postmaster" || true)
    kill -KILL "$postmaster" $children 2>/dev/null || true
    for process in $postmaster $children; do
      while kill -0 "$process" 2>/dev/null && [ "$(ps -o stat= -p "$process" | cut -c1)" != Z ]; do sleep 0.01; done
    done
    # A dead process may still be listed for a while.
    rm -f "$folder/data/postmaster.pid" "$folder"/.s.PGSQL.*
    ;;
  replica)
    source_folder=${3:?the folder of the server that it follows}
    prepare
    as_server "$programs/pg_basebackup" -h "$source_folder" -U postgres -D "$folder/data" -R -X stream -c fast
    configure
    start
    ;;
  tls)
    port=${3:?a port}
    as_server openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj '/CN=test authority' \
      -keyout "$folder/ca.key" -out "$folder/ca.crt" 2>/dev/null
    as_server openssl req -newkey rsa:2048 -nodes -subj '/CN=localhost' -keyout "$folder/data/server.key" \
      -out "$folder/server.csr" 2>/dev/null
    printf 'subjectAltName=DNS:localhost' | as_server tee "$folder/server.ext" >/dev/null
    as_server openssl x509 -req -in "$folder/server.csr" -CA "$folder/ca.crt" -CAkey "$folder/ca.key" \
      -CAcreateserial -days 2 -extfile "$folder/server.ext" -out "$folder/data/server.crt" 2>/dev/null
    as_server chmod 600 "$folder/data/server.key"
    chmod 644 "$folder/ca.crt"
    as_server tee -a "$folder/data/postgresql.conf" >/dev/null <<END
listen_addresses = 'localhost'
port = $port
ssl = on
END
    as_server tee "$folder/data/pg_hba.conf" >/dev/null <<END
local all all trust
hostssl all all all trust
END
    as_server "$programs/pg_ctl" -D "$folder/data" -l "$folder/server.log" -w -t 60 -s restart
    ;;
  promote) as_server "$programs/pg_ctl" -D "$folder/data" -w -s promote ;;
  *) echo "unknown command: $command" >&2; exit 2 ;;
esac
