-- Who a shard's home is: its one row is the truth about ownership. {home}: the home's schema.
CREATE TABLE {home}.ringshard_home (
  id BIGINT PRIMARY KEY CHECK (id = 1),
  format BIGINT NOT NULL,
  keyspace TEXT NOT NULL,
  shard BIGINT NOT NULL,
  role TEXT NOT NULL CHECK (role IN ('owner', 'mirror')),
  leg BIGINT NOT NULL,
  peer TEXT NOT NULL,
  move_id TEXT NOT NULL,
  mover TEXT NOT NULL,
  certificate TEXT NOT NULL
);
