#!/usr/bin/env python3
"""What a confinement adds to a start: starts with and without it take turns.

usage: tools/confinement_cost.py path/to/mw [starts of each kind]
"""

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

MW = os.path.abspath(sys.argv[1])
STARTS = int(sys.argv[2]) if len(sys.argv) > 2 else 250
WARM_UP = 10
CLEAR_EVERY = 50

# Both are judged; the setting decides whether the command is confined.
KINDS = {
    "a model's start, not confined": (["start", "true"], {"MEANWHILE_SESSION": "s", "MEANWHILE_CONFINE_MODELS": "false"}),
    "a model's start, reads only": (["start", "true"], {"MEANWHILE_SESSION": "s"}),
    "a model's start, project and loopback": (["start", "./code"], {"MEANWHILE_SESSION": "s"}),
    "a user's start, not confined": (["start", "true"], {}),
    "a user's start, --confine project": (["start", "--confine", "project", "true"], {}),
}


def milliseconds(words: list[str], env: dict[str, str], place: str) -> float:
    begun = time.perf_counter()
    subprocess.run([MW, *words], env=env, cwd=place, stdout=subprocess.DEVNULL, check=True)
    return (time.perf_counter() - begun) * 1000


def main() -> None:
    place = tempfile.mkdtemp(prefix="mw-cost-")
    project, home = os.path.join(place, "project"), os.path.join(place, "home")
    for path in (project, home):
        os.mkdir(path)
    subprocess.run(["git", "init", "-q", project], check=True)
    # A program that policy does not know.
    shutil.copy("/bin/true", os.path.join(project, "code"))
    env = {"PATH": os.environ["PATH"], "HOME": home, "MEANWHILE_HOME": os.path.join(place, "state"),
           "MEANWHILE_MODE": "safe", "MEANWHILE_QUEUE_MAX_RUNNING": "100"}
    samples: dict[str, list[float]] = {name: [] for name in KINDS}
    try:
        for turn in range(STARTS + WARM_UP):
            for name, (words, added) in KINDS.items():
                took = milliseconds(words, {**env, **added}, project)
                if turn >= WARM_UP:
                    samples[name].append(took)
            if turn % CLEAR_EVERY == 0:
                subprocess.run([MW, "clear", "--finished"], env=env, cwd=project, stdout=subprocess.DEVNULL, check=False)
        print(f"{STARTS} starts of each kind, load average {os.getloadavg()[0]:.1f}\n")
        print("| | best | p50 | p95 | p50, times that without |\n|---|---|---|---|---|")
        base = 1.0
        for name, values in samples.items():
            values.sort()
            middle = statistics.median(values)
            base = middle if name.endswith("not confined") else base
            p95 = values[int(len(values) * 0.95)]
            print(f"| {name} | {values[0]:.2f} ms | {middle:.2f} ms | {p95:.2f} ms | {middle / base:.2f} |")
    finally:
        shutil.rmtree(place, ignore_errors=True)


main()
