-- The tables of the demonstration: accounts whose every change is an entry.
CREATE TABLE account (
  id INTEGER PRIMARY KEY,
  owner TEXT NOT NULL,
  version INTEGER NOT NULL,
  balance INTEGER NOT NULL
);

CREATE TABLE entry (
  account_id INTEGER NOT NULL REFERENCES account (id) ON DELETE CASCADE,
  number INTEGER NOT NULL,
  amount INTEGER NOT NULL,
  note TEXT,
  PRIMARY KEY (account_id, number)
);

-- Deleted and inserted again by each write.
CREATE TABLE last_seen (
  account_id INTEGER PRIMARY KEY REFERENCES account (id) ON DELETE CASCADE,
  version INTEGER NOT NULL
);

CREATE INDEX entry_by_amount ON entry (amount);
