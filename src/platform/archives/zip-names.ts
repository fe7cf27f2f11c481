const upperHalf =
  "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00A0";
const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * Decodes the name of an entry of a zip file. Names are UTF-8 if a flag or field says so, or if they are valid UTF-8, which macOS does not mark;
 * else of code page 437, as the format's specification says. Tools of Windows write backslashes between folders.
 *
 * @param unicode the name in UTF-8 that a field has in addition
 */
export function zipNameOf(raw: Uint8Array, name: { isUtf8: boolean; isFromDos: boolean; unicode: Uint8Array | undefined }): string {
  const text = utf8.decode(name.unicode ?? raw);
  const isMarked = name.isUtf8 || name.unicode !== undefined;
  const decoded = !isMarked && text.includes("\uFFFD") ? codePage437(raw) : text;
  return name.isFromDos || !decoded.includes("/") ? decoded.replaceAll("\\", "/") : decoded;
}

function codePage437(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => (byte < 0x80 ? String.fromCharCode(byte) : upperHalf[byte - 0x80])).join("");
}
