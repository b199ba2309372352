CREATE TRIGGER ringshard_reference BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON {home}.{table}
FOR EACH STATEMENT EXECUTE FUNCTION {home}.ringshard_reference_guard();
