import { connect } from "node:net";
import { connect as connectTls } from "node:tls";
import { AbstractConnector, type RedisOptions } from "iovalkey";

/**
 * Connects to Redis, with TLS if the URL is `rediss://`. The client's own connector handles only the first error of a socket. A
 * second one, which TLS may raise while it closes, would end the process. It also waits until Redis closes its side: the
 * commands that a silent Redis does not answer would wait as long.
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
