import type { BodyLimits } from "./bodies.ts";

/** The bounds of everything that a stranger can make the edge hold or wait for. Times in milliseconds. */
export type EdgeLimits = BodyLimits & {
  /** Of each listener; those above it are closed at once. */
  connectionsMax: number;
  headerBytesMax: number;
  /** From the first byte of a request to the end of its headers. */
  headersTimeoutMs: number;
  /** From the first byte of a request to its last. */
  requestTimeoutMs: number;
  /** Between two requests. */
  keepAliveTimeoutMs: number;
  /** Without a byte in either direction: a reader that has stopped, an HTTP/2 session that does nothing. */
  idleTimeoutMs: number;
  handshakeTimeoutMs: number;
  /** How often the two request time-outs are looked at. */
  timeoutCheckMs: number;
  streamsMax: number;
  /** Streams that a client may reset at once, and then each second, before its connection is closed (CVE-2023-44487). */
  streamResetBurst: number;
  streamResetsPerSecond: number;
  /** Memory that one HTTP/2 session may take, in MB. */
  sessionMegabytesMax: number;
  /** Each takes about 30 KB outside of the heap. */
  secureContextsMax: number;
};

export const edgeLimits: EdgeLimits = {
  connectionsMax: 10_000,
  headerBytesMax: 16 * 1024,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 20_000,
  keepAliveTimeoutMs: 15_000,
  idleTimeoutMs: 60_000,
  handshakeTimeoutMs: 10_000,
  timeoutCheckMs: 2_000,
  streamsMax: 100,
  streamResetBurst: 200,
  streamResetsPerSecond: 33,
  sessionMegabytesMax: 4,
  secureContextsMax: 3_500,
  hotBytesMax: 64 * 1024 * 1024,
  hotFileBytesMax: 256 * 1024,
  openFilesMax: 1_000,
};
