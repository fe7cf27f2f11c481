/**
 * A client that makes full TLS handshakes, eight at a time, each with the next name of a list. It fails if a handshake fails. It is a
 * separate process, because a handshake costs a client as much as a server.
 */
import { once } from "node:events";
import { connect } from "node:tls";

const [port, count, ...names] = process.argv.slice(2);
const atOnce = 8;
/** Debian's Caddy and nginx support no newer key exchange, and all servers must use the same one. */
const ecdhCurve = "X25519:P-256";
let begun = 0;

async function shake(): Promise<void> {
  while (begun < Number(count)) {
    const servername = names[begun++ % names.length] ?? "";
    const socket = connect({ host: "127.0.0.1", port: Number(port), servername, rejectUnauthorized: false, ecdhCurve });
    await once(socket, "secureConnect");
    socket.destroy();
  }
}

await Promise.all(Array.from({ length: atOnce }, shake));
