/**
 * The encodings in which a text file can be read, the most likely first. Those of the Encoding Standard have its names, and `TextDecoder` reads them;
 * the standard's windows-1252 and windows-1254 include ISO-8859-1 and ISO-8859-9.
 */
export const encodings = [
  ...(["utf-8", "utf-16le", "utf-16be"] as const),
  ...(["windows-1252", "windows-1250", "windows-1251", "windows-1253", "windows-1254", "windows-1255", "windows-1256"] as const),
  ...(["windows-1257", "windows-1258", "windows-874", "shift_jis", "euc-jp", "gb18030", "big5", "euc-kr"] as const),
  ...(["macintosh", "x-mac-cyrillic", "cp437", "cp850", "cp852", "ibm866", "koi8-r", "koi8-u"] as const),
  ...(["iso-8859-2", "iso-8859-3", "iso-8859-4", "iso-8859-5", "iso-8859-6", "iso-8859-7", "iso-8859-8"] as const),
  ...(["iso-8859-10", "iso-8859-13", "iso-8859-14", "iso-8859-15", "iso-8859-16"] as const),
] as const;
export type Encoding = (typeof encodings)[number];

export type Decoder = Pick<TextDecoder, "decode">;

/** The characters of the bytes 128 to 255 in the DOS code pages, which the Encoding Standard lacks. */
const codePages: Partial<Record<Encoding, string>> = {
  cp437:
    "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00A0",
  cp850:
    "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u00AD±‗¾¶§÷¸°¨·¹³²■\u00A0",
  cp852:
    "ÇüéâäůćçłëŐőîŹÄĆÉĹĺôöĽľŚśÖÜŤťŁ×čáíóúĄąŽžĘę¬źČş«»░▒▓│┤ÁÂĚŞ╣║╗╝Żż┐└┴┬├─┼Ăă╚╔╩╦╠═╬¤đĐĎËďŇÍÎě┘┌█▄ŢŮ▀ÓßÔŃńňŠšŔÚŕŰýÝţ´\u00AD˝˛ˇ˘§÷¸°¨˙űŘř■\u00A0",
};

/** Names that are in use beside those of the Encoding Standard. */
const otherNames: Record<string, Encoding> = {
  macroman: "macintosh",
  "mac-roman": "macintosh",
  maccyrillic: "x-mac-cyrillic",
  utf16: "utf-16le",
  utf16le: "utf-16le",
  utf16be: "utf-16be",
  cp874: "windows-874",
  cp932: "shift_jis",
  cp936: "gb18030",
  gbk: "gb18030",
  cp949: "euc-kr",
  cp950: "big5",
};

/** Returns the encoding with a name, such as `windows-1251`, `cp1251`, `latin1` or `IBM850`; undefined if there is none. */
export function encodingNamed(name: string): Encoding | undefined {
  const lower = name.trim().toLowerCase();
  const own = otherNames[lower] ?? lower.replace(/^(?:ibm|dos-?|cp-)?(437|850|852)$/, "cp$1");
  return encodings.find((encoding) => encoding === own) ?? encodings.find((encoding) => encoding === standardName(own));
}

function standardName(label: string): string | undefined {
  try {
    const { encoding } = new TextDecoder(label);
    return encoding === "gbk" ? "gb18030" : encoding;
  } catch {
    return undefined;
  }
}

/** Returns a decoder, which throws where bytes are no character of the encoding. */
export function strictDecoder(encoding: Encoding): Decoder {
  const upper = codePages[encoding];
  if (upper === undefined) return new TextDecoder(encoding, { fatal: true });
  const letters = Array.from({ length: 128 }, (_, byte) => String.fromCharCode(byte)).concat(...upper);
  return { decode: (bytes) => Array.from((bytes as Uint8Array | undefined) ?? [], (byte) => letters[byte]).join("") };
}

/** Decodes bytes; a replacement character stands for those that are no character of the encoding. */
export function decodeLeniently(bytes: Uint8Array, encoding: Encoding): string {
  return (encoding in codePages ? strictDecoder(encoding) : new TextDecoder(encoding)).decode(bytes);
}

/**
 * Whether text that was decoded has characters that no spreadsheet writes: most windows code pages leave a few bytes out, which become control
 * characters. UTF-8 and UTF-16 may say them on purpose.
 */
export function hasUnusedBytes(text: string, encoding: Encoding): boolean {
  return !encoding.startsWith("utf-") && /[\u0080-\u009F]/.test(text);
}
