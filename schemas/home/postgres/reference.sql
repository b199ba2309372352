-- Reference tables are written by their loader, never beside a shard's rows. {home}: the reference home's schema.
CREATE FUNCTION {home}.ringshard_reference_guard() RETURNS trigger
LANGUAGE plpgsql SET search_path TO pg_catalog, pg_temp AS $ringshard$
BEGIN
  IF current_setting('ringshard.reference', true) IS DISTINCT FROM 'on'
     AND current_setting('ringshard.applying', true) IS DISTINCT FROM 'on' THEN
    RAISE EXCEPTION USING ERRCODE = 'RS002',
      MESSAGE = 'ringshard: table ' || TG_TABLE_NAME || ' is reference data, which is not written from a shard''s home';
  END IF;
  RETURN NULL;
END $ringshard$;
