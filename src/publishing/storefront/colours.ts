type Rgb = [red: number, green: number, blue: number];

const pageLight: Rgb = [250, 249, 246];
const pageDark: Rgb = [33, 35, 40];
/** WCAG 2.2, 1.4.3, asks for 4.5. */
const contrastMin = 4.6;

/** Returns the shop's colour for light and dark pages, shifted until it is readable there, and the colour of text on it. */
export function shades(colour: string): { light: string; dark: string; onLight: string; onDark: string } {
  const base = parse(colour);
  const light = shift(base, [0, 0, 0], pageLight);
  const dark = shift(base, [255, 255, 255], pageDark);
  return { light: format(light), dark: format(dark), onLight: textOn(light), onDark: textOn(dark) };
}

function shift(colour: Rgb, towards: Rgb, background: Rgb): Rgb {
  for (let share = 0; share <= 1; share += 0.04) {
    const mixed = colour.map((value, index) => Math.round(value + (towards[index]! - value) * share)) as Rgb;
    if (contrast(mixed, background) >= contrastMin) return mixed;
  }
  return towards;
}

function textOn(background: Rgb): string {
  return contrast([255, 255, 255], background) >= contrast([16, 20, 24], background) ? "#ffffff" : "#101418";
}

function contrast(a: Rgb, b: Rgb): number {
  const [darker, lighter] = [luminance(a), luminance(b)].toSorted((one, other) => one - other) as [number, number];
  return (lighter + 0.05) / (darker + 0.05);
}

function luminance(colour: Rgb): number {
  const [red, green, blue] = colour.map((value) => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  }) as Rgb;
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function parse(colour: string): Rgb {
  return [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16)) as Rgb;
}

function format(colour: Rgb): string {
  return `#${colour.map((value) => value.toString(16).padStart(2, "0")).join("")}`;
}
