import { writeFileSync } from "node:fs";
import { pageOf } from "../src/platform/http/paging.ts";

/** Animals on a page of a list. */
const limit = 20;
export const pagePath = `/pets?limit=${limit}`;
const pagesMax = 5_000;

/** For wrk: each request is for a random one of `animals`. */
export function anyRead(animals: number): string {
  return `request = function() return wrk.format(nil, "/v1/pets/" .. math.random(${animals})) end`;
}

/** For wrk: each order is for a random one of `animals`. */
export function anyOrder(animals: number): string {
  return `
    wrk.method = "POST"; wrk.headers["Content-Type"] = "application/json"
    request = function() return wrk.format(nil, "/v1/store/orders", nil, '{"petId":' .. math.random(${animals}) .. ',"quantity":1}') end`;
}

/** For wrk: each request is for a random page of the list of `animals`, whose ids begin with 1. Writes the paths of the pages into a file. */
export function anyPage(animals: number, file: string): string {
  const count = Math.min(pagesMax, animals / limit - 1);
  const each = Math.floor(animals / limit / count);
  const query = { limit, sort: "id" };
  const pathAfter = (id: number): string => {
    const rows = Array.from({ length: limit + 1 }, () => id);
    const { headers } = pageOf("/pets", query, rows, (row) => [row]);
    return /<([^>]+)>/.exec(headers["link"] ?? "")?.[1] ?? "";
  };
  writeFileSync(file, Array.from({ length: count }, (_, i) => pathAfter(i * each * limit)).join("\n"));
  return `
    local paths = {}
    for line in io.lines("${file}") do paths[#paths + 1] = line end
    request = function() return wrk.format(nil, paths[math.random(#paths)]) end`;
}
