import { connectionLimits, type ConnectionLimits } from "../../platform/connections.ts";
import type { Http1Limits } from "../../platform/http/http1.ts";
import type { BodyLimits } from "./bodies.ts";
import type { Http2Limits } from "./http2-bounds.ts";

/** Bounds everything that a client can make the edge hold or wait for. */
export type EdgeLimits = BodyLimits &
  ConnectionLimits &
  Http2Limits &
  Http1Limits & {
    handshakeTimeoutMs: number;
    /** A client may reset this many streams at once, and then this many a second; beyond that its connection is closed (CVE-2023-44487). */
    streamResetBurst: number;
    streamResetsPerSecond: number;
    /** Memory that one HTTP/2 session may take, in MB. */
    sessionMegabytesMax: number;
    /** Each context takes about 30 KB outside the heap. */
    secureContextsMax: number;
  };

export const edgeLimits: EdgeLimits = {
  ...connectionLimits,
  headerBytesMax: 16 * 1024,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 20_000,
  keepAliveTimeoutMs: 15_000,
  handshakeTimeoutMs: 10_000,
  timeoutCheckMs: 2_000,
  sessionsMax: { address: 128, all: 2_000 },
  streamsMax: { session: 100, address: 512, all: 1_500 },
  unsentBytesMax: { session: 256 * 1024, address: 2 * 1024 * 1024, all: 16 * 1024 * 1024 },
  pieceBytes: { min: 1024, max: 64 * 1024 },
  streamRefusalsMax: 5,
  streamResetBurst: 200,
  streamResetsPerSecond: 33,
  sessionMegabytesMax: 4,
  secureContextsMax: 3_500,
  hotBytesMax: 64 * 1024 * 1024,
  hotFileBytesMax: 256 * 1024,
  openFilesMax: 1_000,
};
