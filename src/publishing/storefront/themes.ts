import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Theme } from "./settings.ts";

/** A typeface of a theme. `fallback` makes a font of the system as wide and as high, so that nothing moves when the typeface arrives. */
type Face = { family: string; weight: string; fallback: string; subsets: Record<Subset, string> };
type Subset = "latin" | "latin-ext";
/** A font file, served below `/fonts/` at an address that changes with its bytes. */
type FontFile = { path: string; bytes: Buffer };

const found = (specifier: string): string => fileURLToPath(specifier);

const figtree: Face = {
  family: "Figtree",
  weight: "300 900",
  fallback:
    'src:local("Arial"),local("Liberation Sans"),local("Roboto");size-adjust:100.6%;ascent-override:94.4%;descent-override:24.9%;line-gap-override:0%',
  subsets: {
    latin: found(import.meta.resolve("@fontsource-variable/figtree/files/figtree-latin-wght-normal.woff2")),
    "latin-ext": found(import.meta.resolve("@fontsource-variable/figtree/files/figtree-latin-ext-wght-normal.woff2")),
  },
};

const fraunces: Face = {
  family: "Fraunces",
  weight: "600",
  fallback:
    'src:local("Georgia"),local("Liberation Serif"),local("Noto Serif");size-adjust:108.7%;ascent-override:90%;descent-override:23.5%;line-gap-override:0%',
  subsets: {
    latin: found(import.meta.resolve("@fontsource/fraunces/files/fraunces-latin-600-normal.woff2")),
    "latin-ext": found(import.meta.resolve("@fontsource/fraunces/files/fraunces-latin-ext-600-normal.woff2")),
  },
};

const baloo: Face = {
  family: "Baloo 2",
  weight: "600",
  fallback:
    'src:local("Arial"),local("Liberation Sans"),local("Roboto");size-adjust:100.1%;ascent-override:107.7%;descent-override:52.3%;line-gap-override:0%',
  subsets: {
    latin: found(import.meta.resolve("@fontsource/baloo-2/files/baloo-2-latin-600-normal.woff2")),
    "latin-ext": found(import.meta.resolve("@fontsource/baloo-2/files/baloo-2-latin-ext-600-normal.woff2")),
  },
};

/** The characters of each subset, as the packages of the typefaces split them. */
const ranges: Record<Subset, string> = {
  latin:
    "U+0000-00FF,U+0131,U+0152-0153,U+02BB-02BC,U+02C6,U+02DA,U+02DC,U+0304,U+0308,U+0329,U+2000-206F,U+20AC,U+2122,U+2191,U+2193,U+2212,U+2215,U+FEFF,U+FFFD",
  "latin-ext":
    "U+0100-02BA,U+02BD-02C5,U+02C7-02CC,U+02CE-02D7,U+02DD-02FF,U+0304,U+0308,U+0329,U+1D00-1DBF,U+1E00-1E9F,U+1EF2-1EFF,U+2020,U+20A0-20AB,U+20AD-20C0,U+2113,U+2C60-2C7F,U+A720-A7FF",
};

type Look = { heading: Face; body: Face; tokens: string };

/** The themes: their typefaces, and the values that the style sheet reads. Colours are for light and dark pages. */
const looks: Record<Theme, Look> = {
  modern: {
    heading: figtree,
    body: figtree,
    tokens:
      "--page:light-dark(#fff,#111316);--card:light-dark(#fff,#1a1d21);--line:light-dark(#e3e5e8,#2f343a);--text:light-dark(#14181d,#f0f1f2);--quiet:light-dark(#59626d,#a6aeb8);--round:1rem;--pill:.75rem;--heading-weight:800;--tracking:-.03em;--leading:1.08;--hero-shape:1.5rem",
  },
  classic: {
    heading: fraunces,
    body: figtree,
    tokens:
      "--page:light-dark(#fbf8f2,#161412);--card:light-dark(#fffdf9,#201d1a);--line:light-dark(#e4dccd,#3a342d);--text:light-dark(#231d17,#f2ede6);--quiet:light-dark(#665c50,#b5aa9c);--round:.25rem;--pill:.25rem;--heading-weight:600;--tracking:-.015em;--leading:1.12;--hero-shape:50vw 50vw .25rem .25rem",
  },
  playful: {
    heading: baloo,
    body: figtree,
    tokens:
      "--page:light-dark(color-mix(in srgb,var(--brand) 5%,#fff),color-mix(in srgb,var(--brand) 5%,#141318));--card:light-dark(#fff,#211f27);--line:light-dark(#e9e3ea,#3a3643);--text:light-dark(#211a2b,#f3f0f6);--quiet:light-dark(#61586d,#b3aabf);--round:1.75rem;--pill:99rem;--heading-weight:600;--tracking:-.01em;--leading:1.05;--hero-shape:47% 53% 44% 56%/54% 46% 54% 46%",
  },
};

const files = new Map<string, FontFile>();

/** Returns the font file at a path of the site; undefined if no theme has it. */
export function fontAt(path: string): Buffer | undefined {
  if (files.size === 0) for (const face of [figtree, fraunces, baloo]) for (const subset of subsetsOf(face)) fileOf(face, subset);
  return files.get(path)?.bytes;
}

/** The paths of the fonts that most pages of a theme need, for the browser to load at once. */
export function preloads(theme: Theme): string[] {
  const { heading, body } = looks[theme];
  return [...new Set([heading, body])].map((face) => fileOf(face, "latin").path);
}

/** The part of the style sheet in which themes differ. */
export function themeSheet(theme: Theme): string {
  const { heading, body, tokens } = looks[theme];
  const faces = [...new Set([heading, body])].map(facesOf).join("\n");
  const names = (face: Face): string => `"${face.family}","${face.family} Fallback",system-ui,sans-serif`;
  return `${faces}\n:root{${tokens};--heading:${names(heading)};--body:${names(body)}}`;
}

function facesOf(face: Face): string {
  const { family, weight, fallback } = face;
  const own = subsetsOf(face).map(
    (subset) =>
      `@font-face{font-family:"${family}";font-weight:${weight};font-display:swap;src:url(/${fileOf(face, subset).path}) format("woff2");unicode-range:${ranges[subset]}}`,
  );
  return [...own, `@font-face{font-family:"${family} Fallback";${fallback}}`].join("\n");
}

const subsetsOf = ({ subsets }: Face): Subset[] => Object.keys(subsets) as Subset[];

/** Reads a font once, for the first page that needs it. */
function fileOf({ family, subsets }: Face, subset: Subset): FontFile {
  const file = subsets[subset];
  const known = [...files.values()].find(({ path }) => path.startsWith(prefixOf(family, subset)));
  if (known !== undefined) return known;
  const bytes = readFileSync(file);
  const path = `${prefixOf(family, subset)}${createHash("sha256").update(bytes).digest("hex").slice(0, 12)}.woff2`;
  files.set(path, { path, bytes });
  return { path, bytes };
}

const prefixOf = (family: string, subset: Subset): string => `fonts/${family.toLowerCase().replaceAll(" ", "-")}.${subset}.`;
