/** One pixel that shows what is behind it. */
const noPicture = "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7";

/** Where a preview finds what its page names by paths of the site. */
type PreviewSources = {
  /** The address of the photos of animals. */
  photosOrigin: string;
  /** The shop's own pictures by their path, as `data:` URLs; undefined for one that the preview cannot show. */
  pictures: ReadonlyMap<string, string | undefined>;
};

/**
 * Returns a rendered page as a document for a frame of the dashboard (decision 0127): without scripts, and inert, so that no link or form in it works.
 * Its photos come from `photosOrigin`, its fonts from the dashboard's own `/fonts/`.
 */
export function framedPage(page: string, { photosOrigin, pictures }: PreviewSources): string {
  const plain = withoutScripts(page)
    .replace("<body>", "<body inert>")
    .replaceAll(/\/photos\/(?=[0-9a-f]{64}\.(?:webp|avif)\b)/g, () => `${photosOrigin}/photos/`);
  return [...pictures].reduce((text, [path, source = noPicture]) => text.replaceAll(`src="${path}"`, () => `src="${source}"`), plain);
}

const scriptEnd = "</script>";

function withoutScripts(page: string): string {
  const [before = "", ...scripts] = page.split("<script");
  return before + scripts.map((text) => (text.includes(scriptEnd) ? text.slice(text.indexOf(scriptEnd) + scriptEnd.length) : "")).join("");
}
