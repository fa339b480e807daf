# Reads how many steps to run from each line of stdin, runs them in one durable workflow, and answers with the
# nanoseconds that took. The argument is the address of DBOS's system database.
import sys
import time

from dbos import DBOS

DBOS(config={"name": "bench", "system_database_url": sys.argv[1], "log_level": "ERROR", "run_admin_server": False})


@DBOS.step()
def step(number):
    return {"note": "replay is visible then", "number": number}


@DBOS.workflow()
def work(count):
    for number in range(count):
        step(number)


DBOS.launch()
for line in sys.stdin:
    begun = time.perf_counter_ns()
    work(int(line))
    print(time.perf_counter_ns() - begun, flush=True)
