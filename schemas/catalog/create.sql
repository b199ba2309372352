-- The catalog. The same text makes it in SQLite and in PostgreSQL; times are milliseconds since 1970 in UTC, truth values
-- are 0 and 1. Names of stages, states, roles and wishes are those of the library's to_string().

CREATE TABLE IF NOT EXISTS ringshard_catalog (
  singleton BIGINT PRIMARY KEY CHECK (singleton = 1),
  id        TEXT   NOT NULL,
  format    BIGINT NOT NULL
);

CREATE TABLE IF NOT EXISTS ringshard_keyspace (
  name        TEXT   PRIMARY KEY,
  key_type    TEXT   NOT NULL,
  hash        TEXT   NOT NULL,
  shard_count BIGINT NOT NULL,
  state       TEXT   NOT NULL,
  setup_id    TEXT   NOT NULL,  -- the init or import that may finish it; empty: none is under way
  version     BIGINT NOT NULL
);

-- How the application's tables are divided, as the configuration said.
CREATE TABLE IF NOT EXISTS ringshard_table (
  keyspace     TEXT   NOT NULL,
  name         TEXT   NOT NULL,
  position     BIGINT NOT NULL,
  is_reference BIGINT NOT NULL,
  parent       TEXT   NOT NULL,  -- empty: none
  PRIMARY KEY (keyspace, name)
);

CREATE TABLE IF NOT EXISTS ringshard_table_column (
  keyspace      TEXT   NOT NULL,
  table_name    TEXT   NOT NULL,
  kind          TEXT   NOT NULL,  -- key: of the shard key; parent: leads to the parent
  position      BIGINT NOT NULL,
  name          TEXT   NOT NULL,
  parent_column TEXT   NOT NULL,  -- empty unless kind is parent
  PRIMARY KEY (keyspace, table_name, kind, position)
);

-- What homes are made of. home: the kind of database and the kind of home, "postgres/shard", "sqlite/reference".
CREATE TABLE IF NOT EXISTS ringshard_schema_statement (
  keyspace  TEXT   NOT NULL,
  home      TEXT   NOT NULL,
  position  BIGINT NOT NULL,
  statement TEXT   NOT NULL,
  PRIMARY KEY (keyspace, home, position)
);

CREATE TABLE IF NOT EXISTS ringshard_schema_table (
  keyspace TEXT   NOT NULL,
  home     TEXT   NOT NULL,
  position BIGINT NOT NULL,
  name     TEXT   NOT NULL,
  PRIMARY KEY (keyspace, home, position)
);

CREATE TABLE IF NOT EXISTS ringshard_schema_column (
  keyspace       TEXT   NOT NULL,
  home           TEXT   NOT NULL,
  table_position BIGINT NOT NULL,
  kind           TEXT   NOT NULL,  -- column: can be written; key: of the primary key; unique: of a further unique key
  list           BIGINT NOT NULL,  -- which of the further unique keys; 0 for the other kinds
  position       BIGINT NOT NULL,
  name           TEXT   NOT NULL,
  collation_name TEXT   NOT NULL,
  PRIMARY KEY (keyspace, home, table_position, kind, list, position)
);

CREATE TABLE IF NOT EXISTS ringshard_node (
  keyspace TEXT             NOT NULL,
  position BIGINT           NOT NULL,  -- its index in a topology
  name     TEXT             NOT NULL,
  dsn      TEXT             NOT NULL,
  weight   DOUBLE PRECISION NOT NULL,
  state    TEXT             NOT NULL,
  zone     TEXT             NOT NULL,
  PRIMARY KEY (keyspace, position),
  UNIQUE (keyspace, name)
);

CREATE TABLE IF NOT EXISTS ringshard_placement (
  keyspace TEXT   NOT NULL,
  shard    BIGINT NOT NULL,
  node     BIGINT NOT NULL,  -- the node's position
  PRIMARY KEY (keyspace, shard)
);

CREATE TABLE IF NOT EXISTS ringshard_move (
  id                TEXT   PRIMARY KEY,
  position          BIGINT NOT NULL UNIQUE,  -- in the order of planning
  plan_id           TEXT   NOT NULL,
  keyspace          TEXT   NOT NULL,
  shard             BIGINT NOT NULL,
  source            TEXT   NOT NULL,
  target            TEXT   NOT NULL,
  stage             TEXT   NOT NULL,
  is_final          BIGINT NOT NULL,  -- the stage is one that nothing follows
  wish              TEXT   NOT NULL,
  verified_seq      BIGINT NOT NULL,
  differences_found BIGINT NOT NULL,
  error             TEXT   NOT NULL,
  rows_copied       BIGINT NOT NULL,
  rows_verified     BIGINT NOT NULL,
  changes_applied   BIGINT NOT NULL,
  bytes_estimated   BIGINT NOT NULL,
  rows_estimated    BIGINT NOT NULL,
  cutover_attempts  BIGINT NOT NULL,
  pause_us          BIGINT NOT NULL,
  observe_until_ms  BIGINT NOT NULL,
  created_ms        BIGINT NOT NULL,
  updated_ms        BIGINT NOT NULL,
  lease_holder      TEXT   NOT NULL,  -- empty: nobody runs it
  lease_until_ms    BIGINT NOT NULL
);

-- One shard is in one move at a time, whatever the program that writes here believes.
CREATE UNIQUE INDEX IF NOT EXISTS ringshard_move_unfinished
  ON ringshard_move (keyspace, shard) WHERE is_final = 0;

CREATE TABLE IF NOT EXISTS ringshard_event (
  seq      BIGINT PRIMARY KEY,
  at_ms    BIGINT NOT NULL,
  keyspace TEXT   NOT NULL,
  move_id  TEXT   NOT NULL,  -- empty: none
  what     TEXT   NOT NULL,
  text     TEXT   NOT NULL,
  version  BIGINT NOT NULL
);

CREATE INDEX IF NOT EXISTS ringshard_event_keyspace ON ringshard_event (keyspace, seq);
