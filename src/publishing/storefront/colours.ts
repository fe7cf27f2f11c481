type Rgb = [red: number, green: number, blue: number];

/** White or black: one of them has a contrast of at least 4.58 to any colour (WCAG 2.2, 1.4.3, asks for 4.5). */
export function textOn(colour: string): "#ffffff" | "#000000" {
  const background = luminance(parse(colour));
  return contrast(1, background) >= contrast(0, background) ? "#ffffff" : "#000000";
}

/** The contrast of two luminances. */
function contrast(a: number, b: number): number {
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
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
