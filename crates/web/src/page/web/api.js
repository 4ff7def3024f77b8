// Requests to the server.

const ROOT = "/api/v1";

/** An error of the API, with its hint. */
export class ApiError extends Error {
  constructor(problem) {
    super(problem.hint ? `${problem.detail}; ${problem.hint}` : problem.detail);
    this.status = problem.status;
    this.code = problem.code;
  }

  /** Whether this browser must sign in again. */
  get isSignedOut() {
    return this.status === 401 || this.code === "foreign_page";
  }
}

async function answered(path, options) {
  const headers = { "X-Meanwhile": localStorage.getItem("key") ?? "", ...options?.headers };
  const response = await fetch(ROOT + path, { credentials: "same-origin", ...options, headers });
  if (response.ok) return response;
  const isProblem = response.headers.get("content-type")?.startsWith("application/problem+json");
  const problem = isProblem ? await response.json() : { detail: (await response.text()).trim() || response.statusText };
  throw new ApiError({ status: response.status, ...problem });
}

function query(parameters) {
  const given = Object.entries(parameters ?? {}).filter(([, value]) => value !== undefined && value !== null && value !== "");
  return given.length ? `?${new URLSearchParams(given)}` : "";
}

export const get = async (path, parameters) => (await answered(path + query(parameters))).json();

export const post = async (path, body) =>
  (await answered(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body ?? {}) })).json();

/** Follows server-sent events. An `EventSource` cannot send the key. */
export class EventStream {
  #abort = new AbortController();

  /** Calls `on[name](data, id)` for each event, and `on.lost()` when the stream ends or cannot be read, unless it was closed. */
  constructor(path, parameters, on) {
    this.#read(path + query(parameters), on).catch(() => {}).then(() => { if (!this.#abort.signal.aborted) on.lost(); });
  }

  close() {
    this.#abort.abort();
  }

  async #read(path, on) {
    const { signal } = this.#abort;
    const { body } = await answered(path, { signal, headers: { Accept: "text/event-stream" } });
    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    let since = performance.now();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      // The page must draw and follow the user also while there is always more to read. A hidden one draws nothing, and its
      // timers are slow.
      if (!document.hidden && performance.now() - since > 12) {
        await new Promise((resolve) => { setTimeout(resolve); });
        since = performance.now();
      }
      const frames = (rest + value).split("\n\n");
      rest = frames.pop();
      for (const frame of frames) {
        // Each field of our frames is one line.
        const fields = Object.fromEntries(frame.split("\n").map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)]));
        if (fields.event && !signal.aborted) on[fields.event]?.(JSON.parse(fields.data), fields.id);
      }
    }
  }
}
