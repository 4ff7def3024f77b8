"""What an agent in Python usually does: asyncio with pipes, the output copied into a file, the state in memory.

One request a line on standard input, one reply a line: start SCRIPT, wait ID, kill ID, many COUNT AT_ONCE SCRIPT.
"""

import asyncio
import os
import signal
import sys

DIRECTORY = sys.argv[1]
tasks = []


async def copy(stream, log):
    while data := await stream.read(65536):
        log.write(data)


async def follow(process, log):
    await asyncio.gather(copy(process.stdout, log), copy(process.stderr, log))
    log.close()
    return await process.wait()


async def start(script):
    log = open(f"{DIRECTORY}/{len(tasks)}.log", "wb", buffering=0)
    process = await asyncio.create_subprocess_exec(
        "/bin/sh", "-c", script, start_new_session=True, stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE)
    tasks.append((process.pid, asyncio.create_task(follow(process, log))))
    return len(tasks) - 1


async def kill(number):
    pid, ended = tasks[number]
    os.killpg(pid, signal.SIGKILL)
    return await ended


async def many(count, at_once, script):
    left = iter(range(count))

    async def lane():
        for _ in left:
            await tasks[await start(script)][1]

    await asyncio.gather(*(lane() for _ in range(at_once)))
    return "done"


async def reply_to(line):
    name, rest = line.split(" ", 1)
    if name == "start":
        return await start(rest)
    if name == "wait":
        return await tasks[int(rest)][1]
    if name == "kill":
        return await kill(int(rest))
    count, at_once, script = rest.split(" ", 2)
    return await many(int(count), int(at_once), script)


async def main():
    requests = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(requests), sys.stdin)
    while line := await requests.readline():
        print(await reply_to(line.decode().rstrip("\n")), flush=True)


asyncio.run(main())
