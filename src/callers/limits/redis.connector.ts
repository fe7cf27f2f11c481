import { connect } from "node:net";
import { connect as connectTls } from "node:tls";
import { AbstractConnector, type RedisOptions } from "iovalkey";

/**
 * Connects to Redis, with TLS where the URL is `rediss://`. The client's own connector listens to the first error of a socket
 * only: a second one, such as TLS may raise while it closes, would end the process. It also waits for the other side before it
 * gives up a socket, and with it the commands that a silent Redis does not answer.
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
    // from a rediss:// URL alone, `tls` is true
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
