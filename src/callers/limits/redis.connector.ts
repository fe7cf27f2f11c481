import { connect } from "node:net";
import { connect as connectTls } from "node:tls";
import { AbstractConnector, type RedisOptions } from "iovalkey";

/**
 * Connects to Redis, with TLS where the URL is `rediss://`. The client's own connector hears the first error of a socket
 * only: a second one, such as TLS may have while it closes, would end the process.
 */
export class RedisConnector extends AbstractConnector {
  readonly #options: RedisOptions;

  constructor(options: unknown) {
    const own = options as RedisOptions;
    super(own.disconnectTimeout ?? 0);
    this.#options = own;
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
}
