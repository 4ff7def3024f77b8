#!/usr/bin/env python3
"""Makes the pictures of `mw top` and `mw chat` in docs/ from a real run in tmux.

    tools/pictures.py path/to/mw

Needs tmux and Python, nothing else. Everything runs in a home and a tmux server of its own, which are gone afterwards.
"""

import html
import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import unicodedata

CELL_WIDTH, CELL_HEIGHT, FONT_SIZE = 8.4, 18, 14
BACKGROUND, FOREGROUND = "#0d1117", "#d7dde3"
BASIC = ["#3b4252", "#ff7b72", "#6bc46d", "#e3b341", "#6cb6ff", "#d29bff", "#56d4dd", "#d7dde3",
         "#6e7681", "#ffa198", "#8ddb8c", "#f2cc60", "#96d0ff", "#e2c5ff", "#7ee7ef", "#ffffff"]

TESTS = r"""
g=$(printf '\033[32m'); r=$(printf '\033[31m'); y=$(printf '\033[33m'); b=$(printf '\033[1m'); n=$(printf '\033[0m')
for c in shop-model shop-store shop-web; do echo "${g}${b}   Compiling${n} $c v0.4.1"; sleep 0.2; done
echo "${y}${b}warning${n}${b}: unused variable: \`rate\`${n}"
echo "${g}${b}    Finished${n} \`test\` profile in 0.61s"
i=0
for t in adds_items counts_coins rounds_to_cents ships_abroad refuses_empty_carts applies_vouchers keeps_order \
         survives_a_restart sends_receipts; do
  i=$((i+1))
  if [ $i = 3 ]; then s="${r}FAILED${n}"; else s="${g}ok${n}"; fi
  echo "[$i/14] test cart::$t ... $s"; sleep 0.25
done
exec sleep 600
"""


def colour_256(number):
    if number < 16:
        return BASIC[number]
    if number >= 232:
        level = 8 + 10 * (number - 232)
        return f"#{level:02x}{level:02x}{level:02x}"
    number -= 16
    steps = [0, 95, 135, 175, 215, 255]
    return "#%02x%02x%02x" % (steps[number // 36], steps[number // 6 % 6], steps[number % 6])


def apply(style, values):
    numbers = [int(value or 0) for value in re.split("[;:]", values)]
    while numbers:
        number = numbers.pop(0)
        if number == 0:
            style.clear()
        elif number in (1, 2, 7):
            style[{1: "bold", 2: "dim", 7: "reversed"}[number]] = True
        elif number == 22:
            style.pop("bold", None), style.pop("dim", None)
        elif number == 27:
            style.pop("reversed", None)
        elif number in (38, 48):
            kind = numbers.pop(0)
            if kind == 5:
                value = colour_256(numbers.pop(0))
            else:
                value = "#%02x%02x%02x" % tuple(numbers[:3])
                del numbers[:3]
            style["fg" if number == 38 else "bg"] = value
        elif number in (39, 49):
            style.pop("fg" if number == 39 else "bg", None)
        elif 30 <= number <= 37 or 90 <= number <= 97:
            style["fg"] = BASIC[number - 30 if number < 90 else number - 82]
        elif 40 <= number <= 47 or 100 <= number <= 107:
            style["bg"] = BASIC[number - 40 if number < 100 else number - 92]


def runs(line, style):
    """Cuts a line into stretches of one style: text, style, first column, number of columns."""
    found, column = [], 0
    for part in re.split("(\x1b\\[[0-9;:]*m)", line):
        if part.startswith("\x1b"):
            apply(style, part[2:-1])
            continue
        width = sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in part)
        if width:
            found.append((part, dict(style), column, width))
            column += width
    return found


def to_svg(text, columns, rows, title):
    width, height = columns * CELL_WIDTH + 16, rows * CELL_HEIGHT + 16
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" role="img">',
        f"<title>{html.escape(title)}</title>",
        f'<rect width="100%" height="100%" rx="6" fill="{BACKGROUND}"/>',
        f'<g font-family="ui-monospace, \'DejaVu Sans Mono\', Menlo, Consolas, monospace" font-size="{FONT_SIZE}">',
    ]
    style = {}
    for row, line in enumerate(text.split("\n")[:rows]):
        for run, look, column, count in runs(line, style):
            fg, bg = look.get("fg", FOREGROUND), look.get("bg")
            if look.get("reversed"):
                fg, bg = bg or BACKGROUND, fg
            x, y, span = 8 + column * CELL_WIDTH, 8 + row * CELL_HEIGHT, count * CELL_WIDTH
            if bg:
                parts.append(f'<rect x="{x:.1f}" y="{y}" width="{span + 0.3:.1f}" height="{CELL_HEIGHT}" fill="{bg}"/>')
            if run.strip():
                extra = ' font-weight="bold"' if look.get("bold") else ""
                extra += ' opacity="0.7"' if look.get("dim") else ""
                parts.append(f'<text xml:space="preserve" x="{x:.1f}" y="{y + 14}" textLength="{span:.1f}" '
                             f'lengthAdjust="spacingAndGlyphs" fill="{fg}"{extra}>{html.escape(run)}</text>')
    return "\n".join(parts + ["</g>", "</svg>", ""])


class Stage:
    """A home with tasks in it, and a terminal that shows them."""

    def __init__(self, mw):
        self.directory = tempfile.mkdtemp(prefix="mw-")
        self.mw = mw
        self.work = os.path.join(self.directory, "shop")
        self.programs = os.path.join(self.directory, "bin")
        os.makedirs(self.work)
        os.makedirs(self.programs)
        self.env = dict(os.environ, MEANWHILE_HOME=os.path.join(self.directory, "home"), COLORTERM="truecolor")
        self.env["PATH"] = self.programs + ":" + self.env["PATH"]
        self.env.pop("NO_COLOR", None)

    def run(self, *words):
        return subprocess.run([self.mw, *words], env=self.env, cwd=self.work, check=False, capture_output=True, text=True)

    def tmux(self, *words):
        socket = os.path.join(self.directory, "tmux")
        done = subprocess.run(["tmux", "-S", socket, *words], env=self.env, cwd=self.work, check=False,
                              capture_output=True, text=True)
        return done.stdout

    def fill(self):
        start = lambda *words: self.run("start", *words)
        start("--name", "lint", "echo 0 warnings")
        start("--description", "migrate the database", "echo 12 tables; exit 2")
        start("--name", "docs", "--batch", "release", "echo built 214 pages; sleep 0.4")
        start("rsync -a build/ staging:/srv/shop")
        start("--name", "index", "sleep 600")
        time.sleep(0.6)
        self.run("kill", "index")
        self.program("npm", "echo listening on 18321; exec python3 -u -m http.server 18321")
        self.program("cargo", TESTS)
        start("--name", "dev-server", "npm run dev")
        start("--description", "watch the assets", "while :; do for i in $(seq 9999); do :; done; sleep 0.1; done")
        start("--name", "tests", "cargo test")

    def program(self, name, script):
        """Puts a program on the path that looks like another."""
        with open(os.path.join(self.programs, name), "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\n" + script)
        os.chmod(file.name, 0o755)

    def show(self, columns, rows, *words):
        self.tmux("new-session", "-d", "-x", str(columns), "-y", str(rows), self.mw, *words, "--theme", "dark")
        self.tmux("set", "-g", "status", "off")

    def picture(self, path, columns, rows, title):
        text = self.tmux("capture-pane", "-e", "-p", "-N")
        with open(path, "w", encoding="utf-8") as file:
            file.write(to_svg(text, columns, rows, title))

    def end(self):
        self.tmux("kill-server")
        self.run("kill", "--all")
        shutil.rmtree(self.directory, ignore_errors=True)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    docs = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "docs")
    stage = Stage(os.path.abspath(sys.argv[1]))
    try:
        stage.fill()
        stage.show(100, 28, "top")
        time.sleep(4)
        stage.picture(os.path.join(docs, "tui.svg"), 100, 28,
                      "mw top: a list of tasks with their state, time, processors, memory, progress and ports; below it "
                      "the coloured log of the selected one.")
        stage.tmux("send-keys", "3")
        time.sleep(1)
        stage.picture(os.path.join(docs, "tui-timeline.svg"), 100, 28,
                      "mw top with its timeline: a bar for every run of every listed task.")
    finally:
        stage.end()
    stage = Stage(os.path.abspath(sys.argv[1]))
    try:
        chat(stage, docs)
    finally:
        stage.end()


# What the model of the chat says, one answer for each request: text, and the call of a tool.
ANSWERS = [
    ("I'll start the tests in the background so we can keep talking.",
     ("shell", {"command": "cargo test", "run_in_background": True})),
    ("They are running; I'll tell you when they finish. Anything else?", None),
    ("## Two ways\n- **round half up**, as required by law for prices\n- round half to even, as banks do\n\n"
     "```rust\nlet cents = (amount * 100.0).round() as i64;\n```", None),
    ("The tests are done: **1 failed**, `rounds_to_cents`. The test expects half up, so I'll fix the rounding.", None),
]


class Model(http.server.BaseHTTPRequestHandler):
    """A model that says what it is told to, in the stream format of OpenAI."""
    answers = iter(ANSWERS)

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        text, call = next(Model.answers)
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        deltas = [{"role": "assistant", "content": word + " "} for word in text.split(" ")]
        if call:
            function = {"name": call[0], "arguments": json.dumps(call[1])}
            deltas.append({"tool_calls": [{"index": 0, "id": "call_1", "type": "function", "function": function}]})
        for delta in deltas:
            self.chunk({"choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
        self.chunk({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls" if call else "stop"}]})
        self.wfile.write(b"data: [DONE]\n\n")

    def chunk(self, value):
        value.update(id="1", object="chat.completion.chunk", created=1, model="scripted")
        self.wfile.write(b"data: " + json.dumps(value).encode() + b"\n\n")

    def log_message(self, *_):
        pass


def chat(stage, docs):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    stage.env.update(OPENAI_BASE_URL=f"http://127.0.0.1:{server.server_port}/v1", OPENAI_API_KEY="none",
                     MEANWHILE_AGENT_MODEL="openai/scripted")
    stage.program("cargo", TESTS.replace("exec sleep 600", "exit 101"))
    stage.show(100, 30, "chat")
    time.sleep(2)
    for words, pause in [("run the tests, please", 1.5), ("how do we round prices, by the way?", 5)]:
        stage.tmux("send-keys", words, "Enter")
        time.sleep(pause)
    stage.picture(os.path.join(docs, "chat.svg"), 100, 30,
                  "mw chat: a task was started in the background, the chat went on, a banner says that it ended, and the "
                  "agent reports by itself.")


if __name__ == "__main__":
    main()
