import { randomBytes } from "node:crypto";
import { connect } from "node:net";

/** A TLS 1.2 hello (RFC 5246, 7.4.1.2) whose server name (RFC 6066, 3) is any bytes, as no TLS library would send it; null: none. */
export function clientHello(serverName: Buffer | null): Buffer {
  const name = serverName === null ? [] : [extension(0, sized(2, Buffer.concat([Buffer.of(0), sized(2, serverName)])))];
  const extensions = Buffer.concat([
    ...name,
    extension(10, sized(2, Buffer.from("0017", "hex"))), // secp256r1
    extension(11, sized(1, Buffer.of(0))),
    extension(13, sized(2, Buffer.from("040308040401", "hex"))), // ECDSA and RSA with SHA-256
  ]);
  const ciphers = sized(2, Buffer.from("c02bc02c", "hex")); // ECDHE_ECDSA with AES-GCM
  const hello = Buffer.concat([Buffer.of(3, 3), randomBytes(32), Buffer.of(0), ciphers, Buffer.of(1, 0), sized(2, extensions)]);
  return Buffer.concat([Buffer.of(22, 3, 1), sized(2, Buffer.concat([Buffer.of(1), sized(3, hello)]))]);
}

const extension = (type: number, content: Buffer): Buffer => Buffer.concat([Buffer.of(0, type), sized(2, content)]);

function sized(lengthBytes: number, content: Buffer): Buffer {
  const length = Buffer.alloc(lengthBytes);
  length.writeUIntBE(content.length, 0, lengthBytes);
  return Buffer.concat([length, content]);
}

export type HelloReply = "certificate" | "alert" | "closed";

/** Sends bytes and returns how the server begins its reply: with its hello and certificate, with an alert, or not at all. */
export function sendHello(port: number, bytes: Buffer): Promise<HelloReply> {
  const { promise, resolve } = Promise.withResolvers<HelloReply>();
  const socket = connect(port, "127.0.0.1", () => socket.write(bytes));
  socket
    .on("data", ([type]: Buffer) => {
      resolve(type === 22 ? "certificate" : "alert");
      socket.destroy();
    })
    .on("error", () => undefined)
    .on("close", () => resolve("closed"));
  return promise;
}
