# Reads how many checkpoints to put from each line of stdin, stores them durably, and answers with the nanoseconds that took.
# The argument is the path of a SQLite database, or the address of a PostgreSQL server.
import sys
import time

from langgraph.checkpoint.base import empty_checkpoint


def opened(where):
    if where.startswith("postgres"):
        from langgraph.checkpoint.postgres import PostgresSaver

        return PostgresSaver.from_conn_string(where)
    from langgraph.checkpoint.sqlite import SqliteSaver

    return SqliteSaver.from_conn_string(where)


with opened(sys.argv[1]) as saver:
    saver.setup()
    if not sys.argv[1].startswith("postgres"):
        durability = [saver.conn.execute(f"PRAGMA {name}").fetchone()[0] for name in ("journal_mode", "synchronous")]
        assert durability == ["wal", 2], f"not as durable as leftoff: {durability}"
    config = {"configurable": {"thread_id": "bench", "checkpoint_ns": ""}}
    step = 0
    for line in sys.stdin:
        begun = time.perf_counter_ns()
        for _ in range(int(line)):
            checkpoint = empty_checkpoint()
            checkpoint["channel_values"] = {"note": "replay is visible then"}
            config = saver.put(config, checkpoint, {"source": "loop", "step": step}, {})
            step += 1
        print(time.perf_counter_ns() - begun, flush=True)
