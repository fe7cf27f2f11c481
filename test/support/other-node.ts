/**
 * Preloaded into a process, makes its Node one of a later release: `OTHER_NODE=field` keeps the head of an answer in another field than
 * `_header`, and `OTHER_NODE=bytes` writes a header more. A service whose answers depended on the field would send none, or others than Node's.
 */
import { OutgoingMessage } from "node:http";

/* oxlint-disable no-underscore-dangle -- Node's own names */
type Inner = { _header: string | null; _storeHeader: (this: OutgoingMessage, firstLine: string, headers: unknown) => void };

const node = OutgoingMessage.prototype as unknown as Inner;
const storeHeader = node._storeHeader;

if (process.env["OTHER_NODE"] === "field") {
  const heads = new WeakMap<object, string | null>();
  let isNode = false;
  Object.defineProperty(node, "_header", {
    get(this: object) {
      return heads.get(this) ?? null;
    },
    set(this: object, head: string | null) {
      if (isNode || head === null) heads.set(this, head);
    },
  });
  node._storeHeader = function (firstLine, headers) {
    isNode = true;
    storeHeader.call(this, firstLine, headers);
    isNode = false;
  };
}

if (process.env["OTHER_NODE"] === "bytes") {
  node._storeHeader = function (firstLine, headers) {
    storeHeader.call(this, `${firstLine}X-New: 1\r\n`, headers);
  };
}
