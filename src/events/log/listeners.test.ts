import assert from "node:assert/strict";
import { test } from "node:test";
import { openBounds } from "../../platform/bounds.ts";
import { openFeed } from "./feed.ts";
import { openListeners } from "./listeners.ts";

function openCounted({ liveNodes = 1 } = {}) {
  const bounds = openBounds();
  const listeners = openListeners(openFeed(), () => liveNodes, bounds);
  const sum = (name: string, label?: string) =>
    bounds
      .metrics()
      .find((metric) => metric.name === name)!
      .samples.filter(({ labels }) => label === undefined || labels?.["reason"] === label)
      .reduce((total, { value }) => total + value, 0);
  return { listeners, sum };
}

test("an account has at most 20 streams and 100 requests that wait, shared by the nodes, and a closed one makes room", () => {
  const { listeners, sum } = openCounted();
  for (const [kind, most, figure, reason] of [
    ["stream", 20, "petstore_event_streams_open", "event_streams"],
    ["wait", 100, "petstore_long_polls_open", "long_polls"],
  ] as const) {
    const own = Array.from({ length: most }, () => listeners.listen(kind, 1));
    assert.throws(() => listeners.listen(kind, 1), { code: "unavailable", message: /^This account has too many/ });
    listeners.listen(kind, 2);
    assert.deepEqual([sum(figure), sum("petstore_bound_refusals_total", reason)], [most + 1, 1]);
    own[0]!.close();
    own[0]!.close();
    assert.equal(sum(figure), most);
    listeners.listen(kind, 1);
  }
  const { listeners: shared } = openCounted({ liveNodes: 4 });
  for (let i = 0; i < 5; i++) shared.listen("stream", 1);
  assert.throws(() => shared.listen("stream", 1), { code: "unavailable" });
});

test("all accounts together have at most 2,000 streams and 5,000 requests that wait on a node", () => {
  for (const [kind, most] of [
    ["stream", 2_000],
    ["wait", 5_000],
  ] as const) {
    const { listeners } = openCounted();
    for (let i = 0; i < most; i++) listeners.listen(kind, i);
    assert.throws(() => listeners.listen(kind, most), { code: "unavailable", message: /^There are too many/ });
  }
});
