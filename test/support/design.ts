import { readdirSync, readFileSync } from "node:fs";

const web = new URL("../../web/", import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, web), "utf8");

/** The stylesheets below web/, by path. */
export function stylesheets(): Map<string, string> {
  const paths = readdirSync(web, { recursive: true, encoding: "utf8" });
  return new Map(paths.filter((path) => path.endsWith(".css") && !path.includes("node_modules")).map((path) => [path, read(path)]));
}

/** A component of web/parts with the first sentence about it. */
type Component = { name: string; file: string; about: string };

/** The components of web/parts. @throws Error for one without a docstring */
export function components(): Component[] {
  const files = readdirSync(new URL("parts/", web)).filter((name) => name.endsWith(".tsx"));
  const found = files.flatMap((file) =>
    [...read(`parts/${file}`).matchAll(/(?:\/\*\*((?:(?!\*\/).)*)\*\/\n)?export function ([A-Z]\w*)/gs)].map(([, about, name = ""]) => {
      if (about === undefined) throw new Error(`${name} of ${file} has no docstring`);
      const text = about.replaceAll(/\s*\n \* ?/g, " ").trim();
      return { name, file, about: /^.*?[.](?= |$)/s.exec(text)?.[0] ?? text };
    }),
  );
  return found.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** The tokens of theme.css: value, value in dark colours, and what it is for. */
function tokens(): { name: string; value: string; dark: string; about: string }[] {
  const [, light = "", dark = ""] =
    /:root \{(.*?)\n\}.*?:root\[data-mantine-color-scheme="dark"\] \{(.*?)\n\}/s.exec(read("frame/theme.css")) ?? [];
  const values = (block: string) => [...block.matchAll(/^ {2}(--[\w-]+): ([^;]+);(?: \/\* (.*) \*\/)?$/gm)];
  const inDark = new Map(values(dark).map(([, name, value]) => [name, value]));
  return values(light).map(([, name = "", value = "", about = ""]) => ({ name, value, dark: inDark.get(name) ?? "", about }));
}

const table = (head: string[], rows: string[][]): string =>
  [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
const code = (text: string): string => (text === "" ? "" : `\`${text}\``);

/** The lists of docs/design.md, which come from the code. */
export function lists(): Record<string, string> {
  const all = tokens();
  const isColour = ({ value }: { value: string }): boolean => value.startsWith("#");
  const rows = (start: string): string[][] =>
    all.filter(({ name }) => name.startsWith(start)).map(({ name, value }) => [code(name), value]);
  return {
    colours: table(
      ["token", "light", "dark", "for"],
      all.filter(isColour).map(({ name, value, dark, about }) => [code(name), code(value), code(dark), about]),
    ),
    type: table(["token", "size"], rows("--type-")),
    spaces: table(["token", "size"], rows("--space-")),
    components: table(
      ["component", "file", "what it is"],
      components().map(({ name, file, about }) => [code(name), `[${file}](../web/parts/${file})`, about]),
    ),
  };
}
