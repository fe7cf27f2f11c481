import { measureServer, requestSteps, type Requests } from "./requests.ts";
import { operationOn, requestText, type OwnService } from "./service.ts";
import { asParts, type Whole } from "./whole.ts";

const limit = 20;

/** The budget of a read of any of `animals` pets. */
export function readWhole(service: OwnService, animals: number): Promise<Whole> {
  const next = (): string => requestText(service, "GET", `/pets/${1 + Math.floor(Math.random() * animals)}`);
  return wholeOf(service, { method: "GET", path: "/pets/1", operationId: "getPet", next }, "read of any of 100,000 pets: `GET /pets/{id}`");
}

/** The budget of a page of 20 pets, any of the first thousand pages. */
export async function pageWhole(service: OwnService): Promise<Whole> {
  const paths = await pathsOf(service, 1_000);
  const next = (): string => requestText(service, "GET", paths[Math.floor(Math.random() * paths.length)]!);
  return wholeOf(service, { method: "GET", path: paths[1]!, operationId: "listPets", next }, "page of 20 of them: `GET /pets?limit=20`");
}

async function pathsOf({ ask }: OwnService, count: number): Promise<string[]> {
  const paths: string[] = [];
  for (let path: string | undefined = `/pets?limit=${limit}`; path !== undefined && paths.length < count;) {
    paths.push(path);
    const answer = await ask("GET", path);
    await answer.arrayBuffer();
    path = /<\/v1([^>]+)>; rel="next"/.exec(answer.headers.get("link") ?? "")?.[1];
  }
  return paths;
}

async function wholeOf(service: OwnService, requests: Requests, name: string): Promise<Whole> {
  const { steps, parts, measureWith } = await requestSteps(service, requests);
  const rows = measureWith(operationOn(service.db, service.settings, requests.operationId));
  return {
    name,
    us: measureServer(service.app.server, requests),
    steps: [...steps, { what: "the rows, with the statement that reads them", us: rows }],
    parts: asParts(parts),
    rounds: 120,
    close: async () => undefined,
  };
}
