"""poller.py SESSION SECONDS: what a plain Python sampler of a session costs.

Ten times a second it lists /proc and reads the stat and status files of every
process of the session, with a sleep in between. Prints the share of a core that
it took, the readings made and the readings expected.
"""
import os
import sys
import time

PAGE = os.sysconf("SC_PAGE_SIZE")
INTERVAL = 0.1


def read_stat(pid):
    with open(f"/proc/{pid}/stat", "rb") as f:
        text = f.read()
    return text[text.rindex(b")") + 2:].split()


def read_status(pid):
    with open(f"/proc/{pid}/status") as f:
        return dict(line.rstrip("\n").split(":\t", 1) for line in f if ":\t" in line)


def reading(session):
    ticks = pages = threads = processes = 0
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            stat = read_stat(name)
            if int(stat[3]) != session:
                continue
            status = read_status(name)
        except (FileNotFoundError, ProcessLookupError):
            continue
        ticks += int(stat[11]) + int(stat[12])
        pages += int(stat[21])
        threads += int(status["Threads"])
        processes += 1
    return time.monotonic(), ticks, pages * PAGE, threads, processes


def main():
    session, seconds = int(sys.argv[1]), float(sys.argv[2])
    rows = []
    begun, cpu = time.monotonic(), time.process_time()
    while time.monotonic() - begun < seconds:
        rows.append(reading(session))
        time.sleep(INTERVAL)
    took, cpu = time.monotonic() - begun, time.process_time() - cpu
    print(cpu / took * 100, len(rows), round(took / INTERVAL), min(r[4] for r in rows))


main()
