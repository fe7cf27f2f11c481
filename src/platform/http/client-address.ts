import type { FastifyRequest } from "fastify";
import { forwardedAddress } from "../addresses.ts";

/**
 * The address that a request comes from: the socket's, or the last one that trusted proxies name in `X-Forwarded-For`. Where
 * they name something that is no address, the one before it, which named it.
 */
export function clientAddress(request: FastifyRequest): string {
  const { ips } = request;
  if (ips === undefined) return request.ip;
  return ips.map(forwardedAddress).findLast((address) => address !== undefined) ?? request.ip;
}
