-- What each table of a home needs while its shard is being moved.

-- The newest change that was applied to each key: with the key's collation, so that what is one key there is one here.
CREATE TABLE IF NOT EXISTS {applied} (
  {collated_key_columns},
  leg INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  PRIMARY KEY ({key_columns})
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS {applied}_seq ON {applied} (leg, seq);

-- Whatever goes past the router is stopped where the home is not the owner.
DROP TRIGGER IF EXISTS ringshard_guard_insert_{id};
CREATE TRIGGER ringshard_guard_insert_{id} BEFORE INSERT ON {table}
WHEN (SELECT role FROM ringshard_home) <> 'owner'
BEGIN
  SELECT RAISE(ABORT, 'ringshard: this home does not own its shard any more, the write was refused');
END;
DROP TRIGGER IF EXISTS ringshard_guard_update_{id};
CREATE TRIGGER ringshard_guard_update_{id} BEFORE UPDATE ON {table}
WHEN (SELECT role FROM ringshard_home) <> 'owner'
BEGIN
  SELECT RAISE(ABORT, 'ringshard: this home does not own its shard any more, the write was refused');
END;
DROP TRIGGER IF EXISTS ringshard_guard_delete_{id};
CREATE TRIGGER ringshard_guard_delete_{id} BEFORE DELETE ON {table}
WHEN (SELECT role FROM ringshard_home) <> 'owner'
BEGIN
  SELECT RAISE(ABORT, 'ringshard: this home does not own its shard any more, the write was refused');
END;

DROP TRIGGER IF EXISTS ringshard_log_insert_{id};
CREATE TRIGGER ringshard_log_insert_{id} AFTER INSERT ON {table}
BEGIN
  INSERT INTO ringshard_change_log (leg, table_name, {key_columns})
  SELECT leg, {table_text}, {new_key} FROM ringshard_home WHERE peer <> '';
END;
DROP TRIGGER IF EXISTS ringshard_log_update_{id};
CREATE TRIGGER ringshard_log_update_{id} AFTER UPDATE ON {table}
BEGIN
  INSERT INTO ringshard_change_log (leg, table_name, {key_columns})
  SELECT leg, {table_text}, {old_key} FROM ringshard_home WHERE peer <> '' AND ({key_changed});
  INSERT INTO ringshard_change_log (leg, table_name, {key_columns})
  SELECT leg, {table_text}, {new_key} FROM ringshard_home WHERE peer <> '';
END;
DROP TRIGGER IF EXISTS ringshard_log_delete_{id};
CREATE TRIGGER ringshard_log_delete_{id} AFTER DELETE ON {table}
BEGIN
  INSERT INTO ringshard_change_log (leg, table_name, {key_columns})
  SELECT leg, {table_text}, {old_key} FROM ringshard_home WHERE peer <> '';
END;
