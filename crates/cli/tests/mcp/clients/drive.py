"""Drives `mw mcp` with the official Python SDK: drive.py MW MODE TRANSPORT PLACE.

MODE is `legacy` (2025-11-25) or `auto` (2026-07-28), TRANSPORT `stdio` or `http`. Everything runs in the home that the
environment names; PLACE is a folder for files. Every step asserts; the last line says how many steps there were.
"""

import atexit
import json
import os
import signal
import subprocess
import sys
import time
from contextlib import asynccontextmanager
from typing import Any, Literal

import anyio
import httpx2
import mcp_types as types
from mcp import Client, StdioServerParameters
from mcp.client import ClientExtension, ResultClaim
from mcp.client.streamable_http import streamable_http_client

MW, MODE, TRANSPORT, PLACE = sys.argv[1:5]
TOKEN = "a-token-for-python"
SOON = 90
MODERN = MODE == "auto"


class Web:
    """A server over HTTP that can be killed and started again on the same port."""

    def __init__(self) -> None:
        self.port = "0"
        self.start()
        atexit.register(self.kill)

    def start(self) -> None:
        env = dict(os.environ, MEANWHILE_TOKEN=TOKEN)
        self.process = subprocess.Popen(
            [MW, "mcp", "--structured", "--http", self.port, "--json"], env=env, stdout=subprocess.PIPE
        )
        self.url = json.loads(self.process.stdout.readline())["url"]
        self.port = self.url.split(":")[2].split("/")[0]

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


@asynccontextmanager
async def client(web: Web | None = None, **options: Any):
    if TRANSPORT == "stdio":
        server = StdioServerParameters(command=MW, args=["mcp", "--structured"], env=dict(os.environ))
        async with Client(server, mode=MODE, **options) as session:
            yield session
        return
    own = web or Web()

    async def name_the_task(request: httpx2.Request) -> None:
        # The SDK sets this header only for the methods it implements, not for the Tasks extension.
        body = json.loads(request.content or b"{}")
        if body.get("method", "").startswith("tasks/"):
            request.headers["Mcp-Name"] = body["params"]["taskId"]

    hooks = {"request": [name_the_task]}
    try:
        headers = {"Authorization": f"Bearer {TOKEN}"}
        async with httpx2.AsyncClient(headers=headers, timeout=60, event_hooks=hooks) as http:
            async with Client(streamable_http_client(own.url, http_client=http), mode=MODE, **options) as session:
                yield session
    finally:
        if web is None:
            own.kill()


def text(result: types.CallToolResult) -> str:
    return "\n".join(block.text for block in result.content)


def notified_tasks(result: types.CallToolResult) -> list[str]:
    blocks = [block.text for block in result.content if block.text.startswith("<task-notification")]
    return [block.split("<task-id>")[1].split("</task-id>")[0] for block in blocks]


async def background(session: Client, script: str, heard: list[str] | None = None, **arguments: Any) -> str:
    """Starts a task; notifications that come with the reply are added to `heard`."""
    result = await session.call_tool("shell", {"command": script, "run_in_background": True, **arguments})
    assert not result.is_error, text(result)
    if heard is not None:
        heard.extend(notified_tasks(result))
    return result.structured_content["task_id"]


async def until(what: str, probe) -> Any:
    begun = time.monotonic()
    while time.monotonic() - begun < SOON:
        found = await probe()
        if found:
            return found
        await anyio.sleep(0.02)
    raise AssertionError(f"still not: {what}")


def gate(name: str) -> tuple[str, str]:
    path = os.path.join(PLACE, name)
    return path, f"while [ ! -e '{path}' ]; do sleep 0.02; done"


def opened(path: str) -> None:
    open(path, "w").close()


async def lists_tools(session: Client) -> None:
    names = {tool.name for tool in (await session.list_tools()).tools}
    assert {"shell", "task_output", "task_wait", "task_stop", "task_list", "task_input", "task_clear"} <= names, names
    assert "2026-07-28" == session.protocol_version if MODERN else session.protocol_version == "2025-11-25"


async def waits_for_a_task(session: Client) -> None:
    task = await background(session, "sleep 0.2; echo out; exit 3")
    waited = await session.call_tool("task_wait", {"task_ids": [task]})
    assert waited.structured_content["tasks"][0]["exit_code"] == 3, text(waited)
    after = await session.call_tool("task_list", {})
    assert notified_tasks(after) == [], text(after)


async def is_notified_once(session: Client) -> None:
    heard: list[str] = []
    tasks = {await background(session, f"sleep 0.{number}; exit {number}", heard) for number in range(1, 4)}

    async def all_notified() -> bool:
        heard.extend(notified_tasks(await session.call_tool("task_list", {"status": "pending"})))
        return set(heard) >= tasks

    await until("all ends are notified", all_notified)
    heard.extend(notified_tasks(await session.call_tool("task_list", {})))
    assert len(heard) == len(tasks), heard


async def pages_through_output(session: Client) -> None:
    task = await background(session, "seq 1 4000")
    await session.call_tool("task_wait", {"task_ids": [task]})
    whole, more = "", True
    while more:
        page = (await session.call_tool("task_output", {"task_id": task})).structured_content
        whole, more = whole + page["output"], page["more"]
    assert whole == "".join(f"{number}\n" for number in range(1, 4001))
    found = await session.call_tool("task_output", {"task_id": task, "pattern": "^3999$"})
    assert "3999" in text(found), text(found)


async def stops_a_task(session: Client) -> None:
    task = await background(session, "sleep 600 & sleep 600")
    stopped = await session.call_tool("task_stop", {"task_ids": [task]})
    assert stopped.structured_content["tasks"][0]["status"] == "cancelled", text(stopped)


async def types_into_a_task(session: Client) -> None:
    task = await background(session, "read line; echo got $line", pty=True)
    await session.call_tool("task_input", {"task_id": task, "text": "this"})
    await session.call_tool("task_wait", {"task_ids": [task]})
    output = await session.call_tool("task_output", {"task_id": task, "offset": 0})
    assert "got this" in text(output), text(output)


async def reads_resources(session: Client) -> None:
    task = await background(session, "echo in a resource")
    await session.call_tool("task_wait", {"task_ids": [task]})
    uris = {str(resource.uri) for resource in (await session.list_resources()).resources}
    assert f"meanwhile://tasks/{task}/output" in uris, uris
    read = await session.read_resource(f"meanwhile://tasks/{task}/output", cache_mode="bypass")
    assert read.contents[0].text == "in a resource\n", read


async def hears_progress_during_a_wait(session: Client) -> None:
    path, wait = gate("progress")
    task = await background(session, wait)
    heard: list[str] = []

    async def progress(_: float, __: float | None, message: str | None) -> None:
        heard.append(message or "")
        opened(path)

    waited = await session.call_tool("task_wait", {"task_ids": [task]}, progress_callback=progress)
    assert not waited.structured_content["timed_out"] and heard and task in heard[0], (text(waited), heard)


async def a_cancelled_wait_harms_nothing(session: Client) -> None:
    path, wait = gate("cancelled-wait")
    task = await background(session, f"{wait}; exit 4")
    with anyio.move_on_after(0.5):
        await session.call_tool("task_wait", {"task_ids": [task]})
    listed = await session.call_tool("task_list", {"status": "running"})
    assert task in text(listed), text(listed)
    opened(path)
    waited = await session.call_tool("task_wait", {"task_ids": [task]})
    assert waited.structured_content["tasks"][0]["exit_code"] == 4, text(waited)


async def a_cancelled_command_is_ended(session: Client) -> None:
    path = os.path.join(PLACE, "cancelled-command")
    with anyio.move_on_after(SOON) as scope:

        async def stop_it() -> None:
            async def written() -> bool:
                return os.path.exists(path) and os.path.getsize(path) > 0

            await until("the command runs", written)
            scope.cancel()

        async with anyio.create_task_group() as group:
            group.start_soon(stop_it)
            await session.call_tool("shell", {"command": f"sleep 600 & echo $! $$ > '{path}'; wait"})
    pids = [int(pid) for pid in open(path).read().split()]

    async def gone() -> bool:
        def runs(pid: int) -> bool:
            try:
                with open(f"/proc/{pid}/stat") as stat:
                    return stat.read().rsplit(")", 1)[1].split()[0] != "Z"
            except OSError:
                return False

        return not any(runs(pid) for pid in pids)

    await until("the whole tree has ended", gone)


async def answers_two_hundred_calls_at_once(session: Client) -> None:
    results: dict[int, str] = {}

    async def one(number: int) -> None:
        result = await session.call_tool("shell", {"command": f"echo number {number}"})
        results[number] = result.structured_content["output"]

    async with anyio.create_task_group() as group:
        for number in range(200):
            group.start_soon(one, number)
    assert results == {number: f"number {number}\n" for number in range(200)}


async def hears_of_changes() -> None:
    updated: list[str] = []

    async def on_message(message: Any) -> None:
        uri = getattr(getattr(message, "params", None), "uri", None)
        if uri is not None:
            updated.append(str(uri))

    async with client(message_handler=on_message) as session:
        path, wait = gate("changes")
        task = await background(session, f"{wait}; echo more")
        uri = f"meanwhile://tasks/{task}"
        if MODERN:
            async with session.listen(resource_subscriptions=[uri]) as changes:
                opened(path)
                with anyio.fail_after(SOON):
                    async for change in changes:
                        assert str(change.uri) == uri, change
                        break
            return
        await session.subscribe_resource(uri)
        opened(path)

        async def heard() -> bool:
            return uri in updated

        await until("the change is notified", heard)
        await session.unsubscribe_resource(uri)


class Created(types.Result):
    result_type: Literal["task"] = "task"
    task_id: str


class AnyResult(types.Result):
    model_config = {"extra": "allow"}


class Tasks(ClientExtension):
    """The Tasks extension, which the SDK does not implement."""

    identifier = "io.modelcontextprotocol/tasks"

    def __init__(self, between) -> None:
        self.between, self.created = between, 0

    def claims(self):
        return [ResultClaim(result_type="task", model=Created, resolve=self.resolve)]

    async def resolve(self, created: Created, context) -> types.CallToolResult:
        self.created += 1

        async def look() -> dict[str, Any]:
            request = types.Request[dict[str, Any], str](method="tasks/get", params={"taskId": created.task_id})
            return (await context.session.send_request(request, AnyResult)).model_dump(by_alias=True)

        first = await look()
        assert first["status"] == "working", first
        await self.between()

        async def over() -> dict[str, Any] | None:
            state = await look()
            return state if state["status"] != "working" else None

        state = await until("the task has ended", over)
        assert state["status"] == "completed", state
        return types.CallToolResult.model_validate(state["result"])


async def follows_a_task() -> None:
    """A command in the foreground becomes a task; over HTTP the server is killed and started again in between."""
    path, wait = gate("task")
    web = Web() if TRANSPORT == "http" else None

    async def between() -> None:
        if web is not None:
            web.kill()
            web.start()
        opened(path)

    tasks = Tasks(between)
    async with client(web, extensions=[tasks]) as session:
        result = await session.call_tool("shell", {"command": f"{wait}; echo at last; exit 5"})
        assert tasks.created == 1, "no task was made"
        assert result.structured_content["exit_code"] == 5, text(result)
        assert "at last" in text(result), text(result)
        quick = await session.call_tool("shell", {"command": "echo quick"})
        assert tasks.created == 1 and "quick" in text(quick), text(quick)


async def asks_its_user() -> None:
    """A command that needs approval asks the user of the host, who denies it and then approves it."""
    os.environ["MEANWHILE_MODE"] = "safe"
    path = os.path.join(PLACE, "precious")
    asked: list[str] = []

    async def answer(_: Any, request: types.ElicitRequestParams) -> types.ElicitResult:
        asked.append(request.message)
        # As long as a person takes to read it; what comes sooner is no person's word.
        await anyio.sleep(0.7)
        return types.ElicitResult(action="decline" if len(asked) == 1 else "accept", content={})

    async with client(elicitation_callback=answer) as session:
        opened(path)
        refused = await session.call_tool("shell", {"command": f"rm '{path}' # no"})
        assert refused.is_error and "denied by a person" in text(refused), text(refused)
        assert os.path.exists(path)
        done = await session.call_tool("shell", {"command": f"rm '{path}' # yes"})
        assert not done.is_error, text(done)
        assert not os.path.exists(path)
    assert len(asked) == 2 and asked[0].startswith("Run it? deletes "), asked


async def main() -> None:
    shared = [
        lists_tools,
        waits_for_a_task,
        is_notified_once,
        pages_through_output,
        stops_a_task,
        types_into_a_task,
        reads_resources,
        hears_progress_during_a_wait,
        a_cancelled_wait_harms_nothing,
        a_cancelled_command_is_ended,
        answers_two_hundred_calls_at_once,
    ]
    alone = [hears_of_changes, asks_its_user] + ([follows_a_task] if MODERN else [])
    async with client() as session:
        for step in shared:
            print(step.__name__, flush=True)
            await step(session)
    for step in alone:
        print(step.__name__, flush=True)
        await step()
    print(f"{len(shared) + len(alone)} steps done")


anyio.run(main)
