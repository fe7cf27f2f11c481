import type { App } from "../platform/http/app.ts";
import { headerLines, type Exchange } from "../platform/http/exchange.ts";
import { addPage } from "../platform/http/router.ts";
import { openStaticText, sendStaticFile, type StaticFile } from "../platform/http/static-files.ts";
import { apiOperations } from "./operations.ts";
import { apiCatalogue, guidePath, guides, llmsText, operationPath, referenceTexts, type ReferenceText } from "./reference-texts.ts";
import type { Settings } from "./settings.ts";
import { sendPage, type Web } from "./web.ts";

/** The headers of documents that every origin may read. */
export const openToAll = headerLines({ "Access-Control-Allow-Origin": "*", "Cache-Control": "no-cache" });
const markdownType = "text/markdown; charset=utf-8";
const catalogueType = 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"';

/**
 * Adds the reference for readers without JavaScript: each page in Markdown and within the web application's shell, `/llms.txt`, and the
 * catalogue of the API. Each text is made at its first request, and then kept: there is one for each operation and guide.
 */
export function addDocuments(app: Pick<App, "add">, settings: Pick<Settings, "getPetSunset" | "publicUrl">, web: Web | undefined): void {
  const { publicUrl } = settings;
  const files = new Map<string, StaticFile>();
  let pages: Map<string, ReferenceText> | undefined;
  const texts = async (): Promise<Map<string, ReferenceText>> => {
    const { descriptionOf } = await import("./description.ts");
    return (pages ??= referenceTexts(descriptionOf(settings)));
  };

  function addDocument(path: string, type: string, make: () => Promise<string>): void {
    addPage(app, path, { hosts: "any" }, async (exchange) => {
      const file = files.get(path) ?? (await openStaticText(type, await make()));
      files.set(path, file);
      sendStaticFile(exchange, file, openToAll);
    });
  }

  addDocument("/llms.txt", "text/plain; charset=utf-8", async () => llmsText(publicUrl, (await texts()).values()));
  addDocument("/.well-known/api-catalog", catalogueType, async () => apiCatalogue(publicUrl));
  const paths = ["/reference", ...apiOperations.map(({ operationId }) => operationPath(operationId)), ...guides.map(guidePath)];
  for (const path of paths) {
    addDocument(`${path}.md`, markdownType, async () => (await texts()).get(path)?.markdown ?? "");
    if (web) addPage(app, path, {}, (exchange) => sendPrerendered(exchange, web, path));
  }

  if (web) addPage(app, "/reference/all", {}, (exchange) => sendPrerendered(exchange, web, "/reference")); // it begins like the overview

  async function sendPrerendered(exchange: Exchange, shell: Web, path: string): Promise<void> {
    const made = files.get(path) ?? (await prerender(shell, path));
    files.set(path, made);
    sendPage(exchange, { ...shell, page: made });
  }

  async function prerender({ page }: Web, path: string): Promise<StaticFile> {
    const [{ prerendered }, all] = await Promise.all([import("./reference-texts.ts"), texts()]);
    const text = all.get(path);
    return text ? openStaticText(page.type, prerendered(page.body.toString(), text, publicUrl)) : page;
  }
}
