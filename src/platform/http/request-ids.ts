import { randomBytes } from "node:crypto";

const process = randomBytes(6).toString("base64url");
let count = 0;

/** An id for `X-Request-Id` and the log: unique over restarts and nodes by its random part, cheap by its counter. */
export function nextRequestId(): string {
  count += 1;
  return `${process}-${count.toString(36)}`;
}
