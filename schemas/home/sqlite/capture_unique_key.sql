-- For each further unique key of a table. INSERT OR REPLACE and UPDATE OR REPLACE delete the rows that are in the way and
-- fire no DELETE trigger for them, so those rows are noted before. Noting one that stays does no harm.
DROP TRIGGER IF EXISTS ringshard_collide_insert_{id}_{unique_key};
CREATE TRIGGER ringshard_collide_insert_{id}_{unique_key} BEFORE INSERT ON {table}
BEGIN
  INSERT INTO ringshard_change_log (leg, table_name, {key_columns})
  SELECT home.leg, {table_text}, {other_key} FROM ringshard_home AS home CROSS JOIN {table} AS other
  WHERE home.peer <> '' AND {same_values};
END;
DROP TRIGGER IF EXISTS ringshard_collide_update_{id}_{unique_key};
CREATE TRIGGER ringshard_collide_update_{id}_{unique_key} BEFORE UPDATE ON {table}
WHEN {values_changed}
BEGIN
  INSERT INTO ringshard_change_log (leg, table_name, {key_columns})
  SELECT home.leg, {table_text}, {other_key} FROM ringshard_home AS home CROSS JOIN {table} AS other
  WHERE home.peer <> '' AND {same_values} AND ({other_row});
END;
