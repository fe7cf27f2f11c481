import errors from "../../docs/guides/errors.md?raw";
import idempotency from "../../docs/guides/idempotency.md?raw";
import limits from "../../docs/guides/limits.md?raw";
import paging from "../../docs/guides/paging.md?raw";
import webhooks from "../../docs/guides/webhooks.md?raw";

/** A guide of the reference. `title` is the heading of its Markdown, and `text` the rest. */
export type Guide = { name: string; title: string; text: string };

/** The guides by the name in their address, in the order of the navigation. */
export const guides: Guide[] = Object.entries({ errors, paging, idempotency, limits, webhooks }).map(([name, markdown]) => {
  const end = markdown.indexOf("\n");
  return { name, title: markdown.slice(2, end), text: markdown.slice(end).trim() };
});
