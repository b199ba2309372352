-- What can not be followed is refused: of a table, and of each partition.
CREATE TRIGGER ringshard_no_truncate BEFORE TRUNCATE ON {home}.{table}
FOR EACH STATEMENT EXECUTE FUNCTION {home}.ringshard_no_truncate();
