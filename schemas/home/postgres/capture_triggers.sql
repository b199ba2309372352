-- Notes the changes of one table. Made once, since making a trigger waits for the writers of the table.
CREATE TRIGGER ringshard_log AFTER INSERT OR UPDATE OR DELETE ON {home}.{table}
FOR EACH ROW EXECUTE FUNCTION {home}.ringshard_log_{id}();
