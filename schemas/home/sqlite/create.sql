-- Who a shard's home is: its one row is the truth about ownership.
CREATE TABLE ringshard_home (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  format INTEGER NOT NULL,
  keyspace TEXT NOT NULL,
  shard INTEGER NOT NULL,
  role TEXT NOT NULL CHECK (role IN ('owner', 'mirror')),
  leg INTEGER NOT NULL,
  peer TEXT NOT NULL,
  move_id TEXT NOT NULL,
  mover TEXT NOT NULL,
  certificate TEXT NOT NULL
);
