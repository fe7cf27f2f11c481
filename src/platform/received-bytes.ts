/** The bytes that a client may send at any time without a request for them, and how many more each second. */
const burstBytes = 256 * 1024;
const bytesPerSecond = 16 * 1024;
/** What a request accounts for besides its body: its line, headers and trailers, which are bounded to 16 KiB each. */
const bytesOfRequest = 32 * 1024;
/** A client may send one byte for each so many that it gets. WINDOW_UPDATE frames, for example, follow the bytes of answers. */
const sentPerByte = 8;
/** The most bytes of TLS for each byte of content. A frame of 13 bytes takes 35 in a record of its own. */
const tlsBytesPerByte = 8;

/** What the bytes of a connection are at one moment: of content in each direction, and received below TLS. */
export type ByteCounts = { received: number; sent: number; receivedBelowTls: number };

/** The account of a connection's bytes. */
export type ByteAccount = {
  /** How many more bytes the client may send now without a request for them. */
  left: number;
  /** Requests since the last look. */
  requests: number;
  /** Bytes of bodies that are still to come. Their own bounds apply to them. */
  bodyBytes: number;
  seen: { received: number; sent: number; at: number };
};

/** Opens the account of a new connection. @param now a monotonic time in ms */
export function openByteAccount(now: number): ByteAccount {
  return { left: burstBytes, requests: 0, bodyBytes: 0, seen: { received: 0, sent: 0, at: now } };
}

/**
 * Whether a client has sent more than its requests and their bodies account for. Every protocol has bytes that carry neither and cost the
 * server time: blank lines before a request, requests after the last one that is read, HTTP/2 frames of all types but DATA and HEADERS, key
 * updates of TLS. So the bound is on what is left when all else is taken away.
 */
export function isOverdrawn(account: ByteAccount, { received, sent, receivedBelowTls }: ByteCounts, now: number): boolean {
  const { seen } = account;
  const more = received - seen.received;
  const ofBodies = Math.min(account.bodyBytes, more);
  const earned =
    account.requests * bytesOfRequest + (sent - seen.sent) / sentPerByte + ((now - seen.at) / 1_000) * bytesPerSecond - (more - ofBodies);
  account.left = Math.min(burstBytes, account.left + earned);
  account.bodyBytes -= ofBodies;
  account.requests = 0;
  account.seen = { received, sent, at: now };
  return account.left < 0 || receivedBelowTls > burstBytes + received * tlsBytesPerByte;
}
