#!/usr/bin/env python3
"""Measures `mw serve`: viewers of a chatty task, and requests for the list at the same time.

    tools/web_load.py path/to/mw [--viewers 200] [--rate 500] [--seconds 20] [--tasks 200]

It uses a home of its own and prints a table. The client is one process of Python, so it takes CPU from the server.
"""

import argparse
import asyncio
import json
import os
import subprocess
import tempfile
import time
from pathlib import Path

TOKEN = "token-for-the-measurement"


async def ask(port, path):
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 22)
    writer.write(f"GET /api/v1{path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {TOKEN}\r\n\r\n".encode())
    return reader, writer


async def body(reader):
    head = await reader.readuntil(b"\r\n\r\n")
    status = int(head.split()[1])
    length = next(int(line.split(b":")[1]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length"))
    return status, await reader.readexactly(length)


async def view(port, task, counts, stop):
    reader, writer = await ask(port, f"/tasks/{task}/output/stream")
    while not stop.is_set():
        try:
            part = await asyncio.wait_for(reader.read(1 << 18), 1)
        except TimeoutError:
            continue
        if not part:
            break
        counts["bytes"] += len(part)
    writer.close()


async def request_lists(port, rate, seconds, connections=16):
    times = []
    due = asyncio.Queue()
    end = time.monotonic() + seconds

    async def worker():
        reader, writer = await ask(port, "/tasks?limit=50")
        await body(reader)
        while (begin := await due.get()) is not None:
            request = f"GET /api/v1/tasks?limit=50 HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {TOKEN}\r\n\r\n"
            writer.write(request.encode())
            status, _ = await body(reader)
            assert status == 200, status
            times.append(time.monotonic() - begin)
        writer.close()

    workers = [asyncio.create_task(worker()) for _ in range(connections)]
    begin = next_due = time.monotonic()
    while (now := time.monotonic()) < end:
        while next_due <= now:
            due.put_nowait(next_due)
            next_due += 1 / rate
        await asyncio.sleep(0.005)
    late = due.qsize()
    while not due.empty():
        due.get_nowait()
    for _ in workers:
        due.put_nowait(None)
    await asyncio.gather(*workers)
    return sorted(times), len(times) / (time.monotonic() - begin), late


def memory(pid):
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return {line.split(":")[0]: int(line.split()[1]) // 1024 for line in lines if line.startswith(("VmRSS", "VmHWM"))}


async def measure(arguments, port, pid, task):
    idle = memory(pid)["VmRSS"]
    counts, stop = {"bytes": 0}, asyncio.Event()
    viewers = [asyncio.create_task(view(port, task, counts, stop)) for _ in range(arguments.viewers)]
    await asyncio.sleep(2)
    sent, begin = counts["bytes"], time.monotonic()
    times, rate, late = await request_lists(port, arguments.rate, arguments.seconds)
    throughput = (counts["bytes"] - sent) / (time.monotonic() - begin) / 1e6
    loaded = memory(pid)
    stop.set()
    await asyncio.gather(*viewers)
    at = lambda share: times[min(len(times) - 1, int(len(times) * share))] * 1000
    print("| | |\n|---|---|")
    print(f"| viewers of one log, which gets 1000 lines a second | {arguments.viewers} |")
    print(f"| sent to them | {throughput:.1f} MB/s |")
    print(f"| requests for a list of 50 tasks out of {arguments.tasks} | {rate:.0f}/s of {arguments.rate}/s wanted |")
    print(f"| time until the answer, from when the request was due | median {at(0.5):.1f} ms, p95 {at(0.95):.1f} ms, p99 {at(0.99):.1f} ms |")
    print(f"| not sent in time | {late} |")
    print(f"| memory (RSS) | {idle} MiB idle, {loaded['VmRSS']} MiB under load, {loaded['VmHWM']} MiB at most |")
    print(f"| load average of the machine, CPUs | {os.getloadavg()[0]:.1f}, {os.cpu_count()} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mw", type=Path)
    parser.add_argument("--viewers", type=int, default=200)
    parser.add_argument("--rate", type=int, default=500)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--tasks", type=int, default=200)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        environment = {**os.environ, "MEANWHILE_HOME": f"{home}/state", "MEANWHILE_TOKEN": TOKEN}
        environment.pop("MEANWHILE_SESSION", None)
        mw = lambda *words: subprocess.run([arguments.mw, *words], env=environment, check=True, capture_output=True, text=True).stdout
        for _ in range(arguments.tasks):
            mw("start", "-q", "true")
        script = "while :; do for i in 1 2 3 4 5 6 7 8 9 10; do echo a line of a chatty task, number $i; done; sleep 0.01; done"
        task = mw("start", "-q", script).strip()
        server = subprocess.Popen([arguments.mw, "serve", "--port", "0", "--json"], env=environment, stdout=subprocess.PIPE, text=True)
        try:
            port = int(json.loads(server.stdout.readline())["url"].rsplit(":", 1)[1])
            asyncio.run(measure(arguments, port, server.pid, task))
        finally:
            server.terminate()
            server.wait()
            mw("kill", task)


main()
