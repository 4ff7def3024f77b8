// Requests to the server.

const ROOT = "/api/v1";

/** An error of the API, with its hint. */
export class ApiError extends Error {
  constructor(problem) {
    super(problem.hint ? `${problem.detail}; ${problem.hint}` : problem.detail);
    this.status = problem.status;
    this.code = problem.code;
  }
}

async function sent(path, options) {
  const response = await fetch(ROOT + path, { credentials: "same-origin", ...options });
  if (response.ok) return response.json();
  const isProblem = response.headers.get("content-type")?.startsWith("application/problem+json");
  const problem = isProblem ? await response.json() : { detail: (await response.text()).trim() || response.statusText };
  throw new ApiError({ status: response.status, ...problem });
}

function query(parameters) {
  const given = Object.entries(parameters ?? {}).filter(([, value]) => value !== undefined && value !== null && value !== "");
  return given.length ? `?${new URLSearchParams(given)}` : "";
}

export const get = (path, parameters) => sent(path + query(parameters));

export const post = (path, body) =>
  sent(path, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-Meanwhile": "1" },
    body: JSON.stringify(body ?? {}),
  });

export const streamUrl = (path, parameters) => ROOT + path + query(parameters);
