import assert from "node:assert/strict";
import type { Locator } from "playwright-core";

/** Drops a file or a folder of this machine on a place of a page, as a person does from a file manager. */
export async function drop(path: string, place: Locator): Promise<void> {
  await place.scrollIntoViewIfNeeded();
  const box = await place.boundingBox();
  assert.ok(box);
  const page = place.page();
  const devtools = await page.context().newCDPSession(page);
  const data = { items: [], files: [path], dragOperationsMask: 1 };
  for (const type of ["dragEnter", "dragOver", "drop"] as const)
    await devtools.send("Input.dispatchDragEvent", { type, x: box.x + 5, y: box.y + 5, data });
  await devtools.detach();
}
