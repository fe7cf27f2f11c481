import { ServerResponse, STATUS_CODES, type IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { Writable } from "node:stream";
import { systemClock } from "../clock.ts";

/** A response with private fields of Node's, which only this file uses. */
type Inner = ServerResponse & { _header: string | null; _keepAliveTimeout: number };

/** A control character could end a header and begin another; a character beyond Latin-1 would be cut to one of those. */
const forbidden = /[^\t\x20-\x7e\x80-\xff]/;

/** Names that are not written with one capital in each word. */
const shownNames = new Map([
  ["etag", "ETag"],
  ["www-authenticate", "WWW-Authenticate"],
]);

/** A header as a line of a head, with its name as it is documented. @throws TypeError if the value cannot be sent (RFC 9110, 5.5) */
export function headerLine(name: string, value: string | number): string {
  if (typeof value === "string" && forbidden.test(value)) throw new TypeError(`the header ${name} has a character that cannot be sent`);
  return `${shownName(name)}: ${value}\r\n`;
}

/** A name of the code, which are few. Names in lower case are capitalised, because some clients look for the documented form only. */
function shownName(name: string): string {
  let shown = shownNames.get(name);
  if (shown === undefined) {
    shown = name.replaceAll(/(?:^|-)[a-z]/g, (begin) => begin.toUpperCase());
    shownNames.set(name, shown);
  }
  return shown;
}

/**
 * Writes the head of an answer. `lines` has each header as a line that ends with CRLF. Every value must have been checked for characters that
 * cannot be sent.
 *
 * Node sends the text in its private field `_header`. Setting it saves the check of each name and value, a fifth of the time of a small
 * answer (decision 0067). Only ordinary answers are written this way: HTTP/1.1 on a connection that stays open, without a header that something
 * else has set. All others go through `writeHead`, and so does every answer if this release of Node does not send the field as expected.
 */
export function writeHead(request: IncomingMessage, response: ServerResponse, status: number, lines: string): void {
  if (sendsField && response.shouldKeepAlive && request.httpVersionMinor === 1 && response.getHeaderNames().length === 0) {
    writeField(response, status, lines);
  } else {
    response.writeHead(status, pairsOf(lines));
  }
}

function writeField(response: ServerResponse, status: number, lines: string): void {
  response.statusCode = status;
  // oxlint-disable-next-line no-underscore-dangle -- Node's own name
  (response as Inner)._header = (statusLines.get(status) ?? statusLine(status)) + lines + end(response);
}

/** The latest end of a head, kept until the second of its date is over, and the keep-alive time (ms) that it states. */
let kept = { ms: -1, lines: "" };

/** The last lines of a head, as Node writes them: the date, and how long the connection stays open while it is idle. */
function end(response: ServerResponse): string {
  // oxlint-disable-next-line no-underscore-dangle -- Node's own name
  const ms = (response as Inner)._keepAliveTimeout;
  if (kept.ms === ms) return kept.lines;
  const now = new Date(systemClock());
  if (kept.ms < 0) setTimeout(() => (kept = { ms: -1, lines: "" }), 1_000 - now.getUTCMilliseconds()).unref();
  const timeout = `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(ms / 1_000)}\r\n\r\n`;
  kept = { ms, lines: `Date: ${now.toUTCString()}\r\n${timeout}` };
  return kept.lines;
}

function pairsOf(lines: string): string[] {
  return lines.split("\r\n").flatMap((line) => {
    const colon = line.indexOf(": ");
    return colon < 0 ? [] : [line.slice(0, colon), line.slice(colon + 2)];
  });
}

const statusLines = new Map<number, string>();

function statusLine(status: number): string {
  const line = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n`;
  statusLines.set(status, line);
  return line;
}

/** Whether Node sends the field, with the same bytes that `writeHead` makes from the same headers. */
export const sendsField = isFieldSent();

function isFieldSent(): boolean {
  const lines = "X-Request-Id: 1\r\nContent-Length: 2\r\n";
  const sent = (write: (response: ServerResponse) => void): string => {
    const response = new ServerResponse({ method: "GET", httpVersionMajor: 1, httpVersionMinor: 1 } as IncomingMessage);
    // oxlint-disable-next-line no-underscore-dangle -- Node's own name
    (response as Inner)._keepAliveTimeout = 5_000;
    const pieces: string[] = [];
    const socket = new Writable({
      decodeStrings: false,
      write: (piece: string, _encoding, done) => {
        pieces.push(piece);
        done();
      },
    });
    response.assignSocket(socket as Socket);
    write(response);
    response.end("{}", "latin1");
    return pieces.join("").replace(/Date: .{29}\r\n/, "");
  };
  const plain = sent((response) => response.writeHead(200, pairsOf(lines)));
  return (
    sent((response) => writeField(response, 200, lines)) === plain &&
    plain.endsWith("Connection: keep-alive\r\nKeep-Alive: timeout=5\r\n\r\n{}")
  );
}
