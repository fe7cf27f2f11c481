import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { petstore } from "../support/commands.ts";
import { newMember } from "../support/dashboard.ts";
import type { Pet } from "../support/models.ts";
import { openPlatform, type Platform } from "../support/platform.ts";
import { made } from "../support/shop.ts";

const examples = fileURLToPath(new URL("../../examples/", import.meta.url));
export const sample = join(examples, "longbeach-sample.csv");
const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
/** When the pictures are taken, so that they are the same each time. */
export const now = Date.UTC(2026, 5, 15, 12, 40, 24);
/** What people see in the address bar, wherever the service listens. */
export const publicUrl = "http://localhost:8080";

export type Shop = {
  platform: Platform;
  account: number;
  key: string;
  /** Of somebody who is signed in to the dashboard. */
  cookie: string;
  project: number;
  /** The address of the shop's published page. */
  site: string;
};

const storefront = {
  tagline: "A home for every animal",
  about: "We look after animals until they find their people. Come by, and take your time.",
  contact: { email: "hello@happy-paws.shop", phone: "+1 562 555 0100", address: "12 Ocean Avenue, Long Beach" },
  hours: [{ days: "Tue – Sun", time: "10 – 18" }],
  reservations: { enabled: true },
};

/** A service with a shop in it that has had a busy hour: the animals of `examples/`, prices, stock, orders, a storefront and a domain. */
export async function openShop(): Promise<Shop> {
  const env = { PUBLIC_URL: publicUrl, PLATFORM_DOMAIN: "petstore.localhost", EDGE_PUBLIC_HTTP_PORT: "8081" };
  const platform = await openPlatform({ env });
  platform.time.now = now - dayMs;
  const { service } = platform;
  const { account, key } = await service.administration["accounts.create"]({ name: "Happy Paws", plan: "pro" });
  const folder = await mkdtemp(join(tmpdir(), "petstore-pictures-"));
  const command = async (...words: string[]) => {
    const { code, out, error } = await petstore({ ...service, key }, ...words);
    assert.equal(code, 0, error);
    return out;
  };
  const mapping = join(examples, "longbeach.mapping.json");
  await command("import", sample, "--mapping", mapping, "--state", join(folder, "state.json"), "--rejects", join(folder, "rejects.csv"));
  await stock(platform, key);

  const page = join(folder, "page");
  const started = await command("init", page, "--account", String(account.id), "--name", "Happy Paws", "--url", publicUrl, "--json");
  const shop = await mkdtemp(join(folder, "shop-"));
  await writeFile(join(shop, "petstore.json"), JSON.stringify({ name: "Happy Paws", storefront }));
  await command("projects", "create", "happy-paws", "--name", "Happy Paws");
  const deployed = await command("deploy", shop, "--project", "happy-paws", "--json");
  await rm(folder, { recursive: true });
  await haveABusyHour(platform, [key, (JSON.parse(started) as { key: string }).key]);
  const project = (await made<{ id: number }[]>(service, "GET", "/projects", undefined, key))[0]?.id ?? 0;
  await platform.addDomain(project, "www.happy-paws.shop", key);
  await service.publishing.idle();
  const owner = { account: account.id, email: "owner@happy-paws.shop", role: "owner", password: "a good long password" };
  const { cookie } = await newMember(service, owner, publicUrl);
  return { platform, account: account.id, key, cookie, project, site: (JSON.parse(deployed) as { url: string }).url };
}

/** Prices and counts of some animals that are not sold, and orders for a few of them. */
async function stock({ service }: Platform, key: string): Promise<void> {
  const pets = await made<Pet[]>(service, "GET", "/pets?sort=-name&limit=100", undefined, key);
  const counted = pets.filter(({ status }, place) => status !== "sold" || place % 2 === 0);
  for (const [place, { id }] of counted.entries()) {
    await made(service, "PUT", `/pets/${id}/profile`, { price: { amount: 4_900 + ((place * 7_300) % 24_500), currency: "USD" } }, key);
    await made(service, "PUT", `/store/inventory/${id}`, { quantity: 1 + ((place * 3) % 4) }, key);
    if (place % 3 === 2) continue;
    const shipDate = new Date(now + (place + 1) * dayMs).toISOString();
    await made(service, "POST", "/store/orders", { petId: id, shipDate, complete: place % 6 === 1 }, key);
  }
}

/** Sixty minutes of real requests, the clock moving on between them; in two of them more than the plan allows. */
async function haveABusyHour({ service, time }: Platform, keys: [secret: string, publishable: string]): Promise<void> {
  const paths = ["/pets?limit=20", "/pets?status=available", "/categories", "/store/inventory", "/pets?q=lu", "/store/orders"];
  for (let minute = 59; minute >= 0; minute--) {
    time.now = now - minute * minuteMs;
    const requests = minute === 21 || minute === 22 ? 320 : Math.round(105 + 70 * Math.sin(minute / 8) + ((minute * 37) % 23));
    for (let sent = 0; sent < requests; sent += 40) {
      const batch = Array.from({ length: Math.min(40, requests - sent) }, (_, place) => (sent + place) % requests);
      await Promise.all(
        batch.map((place) => {
          const isVisitor = place % 8 === 0;
          return service.ask("GET", paths[isVisitor ? 1 : place % paths.length] ?? "", { key: keys[isVisitor ? 1 : 0] });
        }),
      );
    }
  }
}
