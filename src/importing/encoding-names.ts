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
