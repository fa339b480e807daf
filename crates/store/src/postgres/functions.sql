-- Version 2: the two statements of a change, whose plans the server keeps for any client. No table differs.
-- Locks a project until the commit, and tells its counters.
CREATE FUNCTION leftoff.take(_project int, OUT _cursor bigint, OUT _numbers bigint, OUT _signs bigint)
  LANGUAGE plpgsql AS $$
BEGIN
  SELECT cursor, numbers INTO _cursor, _numbers FROM leftoff.projects WHERE project=_project FOR NO KEY UPDATE;
  _signs := coalesce((SELECT counter FROM leftoff.signs WHERE project=_project), 0);
END $$;
-- Stores a change of a session: counters, the session's row, its events and its snapshot, unless that is NULL. A caller that holds
-- the project's row passes neither signs nor a wait. Any other is refused if the counters are not the expected ones, and waits for
-- the row for so many milliseconds: it may call this without a transaction of its own, for which it could set a limit.
CREATE FUNCTION leftoff.keep(_project int, _session bigint, _cursor bigint, _numbers bigint, _turn bigint, _version bigint,
  _updated bigint, _head bytea, _times bigint[], _actors text[], _kinds text[], _bodies text[], _commands text[],
  _ordinals bigint[], _salts bytea[], _hashes bytea[], _links bytea[], _notes text[], _fold bigint, _body text,
  _signs bigint, _wait bigint)
  RETURNS void LANGUAGE plpgsql AS $$
DECLARE _count int := cardinality(_times);
BEGIN
  IF _wait IS NOT NULL THEN
    PERFORM set_config('lock_timeout', _wait::text, true);
  END IF;
  UPDATE leftoff.projects SET cursor=_cursor+_count, numbers=greatest(numbers, _numbers)
    WHERE project=_project AND cursor=_cursor;
  IF NOT FOUND THEN
    RAISE serialization_failure USING MESSAGE = 'another transaction has changed the project';
  END IF;
  IF _signs <> coalesce((SELECT counter FROM leftoff.signs WHERE project=_project), 0) THEN
    RAISE serialization_failure USING MESSAGE = 'somebody has changed something beside the log';
  END IF;
  UPDATE leftoff.sessions SET updated_at=_updated, version=_version+_count, turn=coalesce(_turn, turn), head=_head
    WHERE project=_project AND number=_session;
  INSERT INTO leftoff.events(project, session, version, cursor, at, actor, kind, body, command, ordinal, salt, hash, link, note)
    SELECT _project, _session, _version+n, _cursor+n, x.at, x.actor, x.kind, x.body, x.command, x.ordinal, x.salt, x.hash,
      x.link, x.note
    FROM unnest(_times, _actors, _kinds, _bodies, _commands, _ordinals, _salts, _hashes, _links, _notes) WITH ORDINALITY
      AS x(at, actor, kind, body, command, ordinal, salt, hash, link, note, n);
  IF _body IS NOT NULL THEN
    INSERT INTO leftoff.snapshots(project, session, fold_version, version, body)
      VALUES(_project, _session, _fold, _version+_count, _body)
      ON CONFLICT(project, session) DO UPDATE SET fold_version=excluded.fold_version, version=excluded.version,
        body=excluded.body;
  END IF;
END $$;
