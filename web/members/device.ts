/** Browsers and systems by their tokens in User-Agent; the most specific first, because others imitate them. */
const browsers: [RegExp, string][] = [
  [/\bEdgA?\//, "Edge"],
  [/\bOPR\//, "Opera"],
  [/\bFirefox\/|\bFxiOS\//, "Firefox"],
  [/\bChrome\/|\bCriOS\//, "Chrome"],
  [/\bSafari\//, "Safari"],
  [/^curl\//, "curl"],
];
const systems: [RegExp, string][] = [
  [/\biPhone\b|\biPad\b/, "iOS"],
  [/\bAndroid\b/, "Android"],
  [/\bWindows\b/, "Windows"],
  [/\bMac OS X\b|\bMacintosh\b/, "macOS"],
  [/\bCrOS\b/, "ChromeOS"],
  [/\bLinux\b/, "Linux"],
];

/** The browser and the system that a User-Agent claims; undefined if unknown. */
export function deviceOf(userAgent: string): { browser: string | undefined; system: string | undefined } {
  const first = (names: [RegExp, string][]) => names.find(([form]) => form.test(userAgent))?.[1];
  return { browser: first(browsers), system: first(systems) };
}
