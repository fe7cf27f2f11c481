import { hkdfSync } from "node:crypto";

export const ticketPeriodMs = 12 * 60 * 60 * 1000;

/**
 * The 48 bytes that session tickets are sealed with. All nodes derive the same from their secret and the time, with nothing to exchange,
 * and another every twelve hours, so that a ticket is of no use to whoever learns a later key.
 */
export function ticketKeys(secret: Buffer, now: number): Buffer {
  const period = Math.floor(now / ticketPeriodMs);
  return Buffer.from(hkdfSync("sha256", secret, "", `petstore edge session tickets ${period}`, 48));
}
