-- What a home needs once while its shard is being moved. {home}: its schema; {key_columns}: k0 TEXT, k1 TEXT, …, as many as the
-- widest primary key; {lock}: the call that takes the shard's shared lock.

-- A key is kept as the text of its values. transaction_id tells a writer which entries are its own.
CREATE TABLE IF NOT EXISTS {home}.ringshard_change_log (
  seq BIGINT GENERATED ALWAYS AS IDENTITY (SEQUENCE NAME {home}.ringshard_change_seq) PRIMARY KEY,
  leg BIGINT NOT NULL,
  table_name TEXT NOT NULL,
  transaction_id XID8 NOT NULL DEFAULT pg_current_xact_id(),
  {key_columns}
);

CREATE TABLE IF NOT EXISTS {home}.ringshard_checkpoint (
  table_name TEXT PRIMARY KEY,
  last_key BYTEA,
  complete BIGINT NOT NULL
);

-- What is not as the application made it for the time of the move. Foreign keys: dropped, a mirror lives without it until it
-- becomes the owner, since applied rows could not obey it; unchecked, it holds for what is written, and the rows that came before
-- were not looked at yet; deferred, an owner's is deferrable. Triggers: silent, a mirror's does not fire.
CREATE TABLE IF NOT EXISTS {home}.ringshard_parked (
  kind TEXT NOT NULL,
  table_name TEXT NOT NULL,
  name TEXT NOT NULL,
  statement TEXT NOT NULL,
  state TEXT NOT NULL,
  PRIMARY KEY (kind, table_name, name)
);

-- The record, for a transaction that is about to change a row. The lock first: a cutover that holds it has decided or given up
-- by then. Under REPEATABLE READ the snapshot is older than that, so the row is locked too, which fails if it has changed.
CREATE OR REPLACE FUNCTION {home}.ringshard_owner() RETURNS {home}.ringshard_home
LANGUAGE plpgsql SECURITY DEFINER SET search_path TO pg_catalog, pg_temp AS $ringshard$
DECLARE
  found {home}.ringshard_home;
BEGIN
  PERFORM {lock};
  IF current_setting('transaction_isolation') = 'read committed' THEN
    SELECT * INTO found FROM {home}.ringshard_home WHERE id = 1;
  ELSE
    SELECT * INTO found FROM {home}.ringshard_home WHERE id = 1 FOR SHARE;
  END IF;
  IF found.role IS DISTINCT FROM 'owner' THEN
    RAISE EXCEPTION USING ERRCODE = 'RS001',
      MESSAGE = 'ringshard: this home does not own its shard any more, the write was refused';
  END IF;
  RETURN found;
END $ringshard$;

CREATE OR REPLACE FUNCTION {home}.ringshard_no_truncate() RETURNS trigger
LANGUAGE plpgsql SET search_path TO pg_catalog, pg_temp AS $ringshard$
DECLARE
  home {home}.ringshard_home;
BEGIN
  IF current_setting('ringshard.applying', true) = 'on' THEN RETURN NULL; END IF;
  home := {home}.ringshard_owner();
  IF home.peer <> '' THEN
    RAISE EXCEPTION USING ERRCODE = 'RS003',
      MESSAGE = 'ringshard: table ' || TG_TABLE_NAME || ' is being moved, and TRUNCATE can not be followed',
      HINT = 'use DELETE, or wait until the move is over';
  END IF;
  RETURN NULL;
END $ringshard$;
