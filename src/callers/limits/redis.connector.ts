import { connect } from "node:net";
import { connect as connectTls } from "node:tls";
import { AbstractConnector, type RedisOptions } from "iovalkey";

/**
 * Connects to Redis, with TLS if the URL is `rediss://`. Replaces the client's own connector for two reasons. That one handles
 * only the first error of a socket: a second one, which TLS may raise while it closes, would end the process. And when it
 * disconnects, it waits until Redis closes the connection too, so commands to a Redis that hangs would never be rejected.
 */
export class RedisConnector extends AbstractConnector {
  readonly #options: RedisOptions;

  constructor(options: unknown) {
    super(0);
    this.#options = options as RedisOptions;
  }

  async connect() {
    const { host, port, tls } = this.#options;
    const to = { host: host ?? "localhost", port: Number(port) };
    // `tls` is `true` if only the URL asks for TLS, and an object if there is a `ca`.
    const stream = tls ? connectTls({ ...to, ...tls }) : connect(to);
    stream.on("error", (error) => (this.firstError ??= error));
    this.stream = stream;
    return stream;
  }

  override disconnect(): void {
    this.connecting = false;
    this.stream?.destroy();
  }
}
