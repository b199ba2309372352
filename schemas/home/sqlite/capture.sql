-- What a home needs once while its shard is being moved. {key_columns}: k0, k1, …, as many as the widest primary key.
-- They have no type, so that a key is kept as it is in its table.

-- AUTOINCREMENT: a seq is never given out twice, also after its entry was deleted.
CREATE TABLE IF NOT EXISTS ringshard_change_log (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  leg INTEGER NOT NULL,
  table_name TEXT NOT NULL,
  {key_columns}
);

CREATE TABLE IF NOT EXISTS ringshard_checkpoint (
  table_name TEXT PRIMARY KEY,
  last_key BLOB,
  complete INTEGER NOT NULL
) WITHOUT ROWID;
