// Adds the token to every request of the conformance suite, which has no option for it.
import http from "node:http";
import { createRequire } from "node:module";

const require = createRequire(process.env.MW_TEST_UNDICI);
const undici = require(process.env.MW_TEST_UNDICI);
const bearer = `Bearer ${process.env.MW_TEST_TOKEN}`;

const plain = globalThis.fetch;
globalThis.fetch = (input, init = {}) => {
  const headers = new Headers(init.headers ?? (input instanceof Request ? input.headers : undefined));
  if (!headers.has("authorization")) headers.set("authorization", bearer);
  return plain(input, { ...init, headers });
};

const request = http.request;
http.request = (options, ...rest) =>
  request({ ...options, headers: { authorization: bearer, ...options.headers } }, ...rest);

// The suite's own undici is used where a header is sent that fetch forbids.
const add = (headers) => {
  if (Array.isArray(headers)) return [...headers, "authorization", bearer];
  return { ...(headers ?? {}), authorization: bearer };
};
const agent = new undici.Agent().compose((dispatch) => (options, handler) =>
  dispatch({ ...options, headers: add(options.headers) }, handler));
undici.setGlobalDispatcher(agent);
