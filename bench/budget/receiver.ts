/** Accepts webhooks in a separate process. Prints its address, and reports to its parent how many messages have come. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

let received = 0;
const server = createServer((request, response) => {
  request.resume().on("end", () => {
    received += 1;
    response.writeHead(204).end();
  });
});
process.on("message", () => process.send!(received)).on("disconnect", () => process.exit());
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
