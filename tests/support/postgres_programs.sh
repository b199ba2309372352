# For scripts that run a PostgreSQL server: to be sourced.

# The server does not run as root.
as_server() {
  if [ "$(id -u)" -eq 0 ]; then
    setpriv --reuid=postgres --regid=postgres --clear-groups "$@"
  else
    "$@"
  fi
}

server_programs() {
  local folder
  for folder in $(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -rV) $(pg_config --bindir 2>/dev/null || true); do
    if [ -x "$folder/initdb" ]; then
      echo "$folder"
      return
    fi
  done
}
