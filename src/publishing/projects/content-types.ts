import mime from "mime";

const unknownType = "application/octet-stream";
const textOutsideText =
  /^(?:application\/(?:[\w.-]+\+)?(?:json|xml)|application\/(?:wasm|rtf|javascript)|image\/(?:svg\+xml|bmp|vnd\.microsoft\.icon)|font\/(?:ttf|otf))$/;

/** The types of well-known names (RFC 8615) without an extension. */
const wellKnown: Record<string, string> = {
  ...Object.fromEntries(
    (
      "apple-app-site-association openid-configuration oauth-authorization-server oauth-protected-resource gpc nodeinfo passkey-endpoints webauthn " +
      "matrix/client matrix/server privacy-sandbox-attestations related-website-set assetlinks"
    )
      .split(" ")
      .map((name) => [name, "application/json"]),
  ),
  webfinger: "application/jrd+json",
  "host-meta": "application/xrd+xml",
  "api-catalog": "application/linkset+json",
};

/**
 * Returns the Content-Type of a published path, from its extension alone: the bytes are never sniffed, so a browser runs a file only if
 * its owner named it as a page or script. Text is UTF-8; an unknown extension is `application/octet-stream`.
 */
export function contentTypeOf(path: string): string {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const type = wellKnownType(path) ?? ((name.includes(".", 1) && mime.getType(name)) || unknownType);
  return type.startsWith("text/") ? `${type}; charset=utf-8` : type;
}

function wellKnownType(path: string): string | undefined {
  const folder = ".well-known/";
  if (!path.startsWith(folder)) return undefined;
  const name = path.slice(folder.length);
  return Object.hasOwn(wellKnown, name) ? wellKnown[name] : undefined;
}

/** Whether brotli and gzip are worth their time on this Content-Type. Images, video, archives and WOFF are compressed already. */
export function isCompressible(contentType: string): boolean {
  const [type = ""] = contentType.split(";", 1);
  return type.startsWith("text/") || textOutsideText.test(type) || type.endsWith("+json");
}
