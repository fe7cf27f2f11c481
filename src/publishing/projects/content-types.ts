import mime from "mime";

const unknownType = "application/octet-stream";
const textOutsideText =
  /^(?:application\/(?:[\w.-]+\+)?(?:json|xml)|application\/(?:wasm|rtf|javascript)|image\/(?:svg\+xml|bmp|vnd\.microsoft\.icon)|font\/(?:ttf|otf))$/;

/**
 * Returns the Content-Type of a published path, from its extension alone: the bytes are never sniffed, so a browser runs a file only if
 * its owner named it as a page or script. Text is UTF-8; an unknown extension is `application/octet-stream`.
 */
export function contentTypeOf(path: string): string {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const type = (name.includes(".", 1) && mime.getType(name)) || unknownType;
  return type.startsWith("text/") ? `${type}; charset=utf-8` : type;
}

/** Whether brotli and gzip are worth their time on this Content-Type. Images, video, archives and WOFF are compressed already. */
export function isCompressible(contentType: string): boolean {
  const [type = ""] = contentType.split(";", 1);
  return type.startsWith("text/") || textOutsideText.test(type) || type.endsWith("+json");
}
