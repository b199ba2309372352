-- The triggers of one table: made once, since making one waits for the writers of the table.
CREATE TRIGGER ringshard_log AFTER INSERT OR UPDATE OR DELETE ON {home}.{table}
FOR EACH ROW EXECUTE FUNCTION {home}.ringshard_log_{id}();
CREATE TRIGGER ringshard_no_truncate BEFORE TRUNCATE ON {home}.{table}
FOR EACH STATEMENT EXECUTE FUNCTION {home}.ringshard_no_truncate();
