-- What each table of a home needs while its shard is being moved. {settings}: SET clauses that make the text of its key the
-- same in each session.

-- The newest change that was applied to each key, in the key's own types and collations: what is one key there is one here.
CREATE TABLE IF NOT EXISTS {home}.{applied} AS
SELECT {typed_key}, 0::BIGINT AS leg, 0::BIGINT AS seq FROM {home}.{table} WITH NO DATA;
CREATE UNIQUE INDEX IF NOT EXISTS {applied}_key ON {home}.{applied} ({key_columns});
CREATE INDEX IF NOT EXISTS {applied}_seq ON {home}.{applied} (leg, seq);

CREATE OR REPLACE FUNCTION {home}.ringshard_log_{id}() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path TO pg_catalog, pg_temp {settings} AS $ringshard$
DECLARE
  home {home}.ringshard_home;
BEGIN
  IF current_setting('ringshard.applying', true) = 'on' THEN RETURN NULL; END IF;
  home := {home}.ringshard_owner();
  IF home.peer = '' THEN RETURN NULL; END IF;
  IF TG_OP = 'DELETE' OR (TG_OP = 'UPDATE' AND ({key_changed})) THEN
    INSERT INTO {home}.ringshard_change_log (leg, table_name, {key_columns})
    VALUES (home.leg, {table_text}, {old_key});
  END IF;
  IF TG_OP <> 'DELETE' THEN
    INSERT INTO {home}.ringshard_change_log (leg, table_name, {key_columns})
    VALUES (home.leg, {table_text}, {new_key});
  END IF;
  RETURN NULL;
END $ringshard$;
