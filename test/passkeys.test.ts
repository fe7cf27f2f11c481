import assert from "node:assert/strict";
import { hash, randomBytes } from "node:crypto";
import { Writable } from "node:stream";
import { test, type TestContext } from "node:test";
import { pino } from "pino";
import type { Page } from "playwright-core";
import sql from "sql-template-tag";
import { openService } from "../src/app/service.ts";
import { loadSettings } from "../src/app/settings.ts";
import { insertPasskey, passkeyWarning } from "../src/callers/members/passkeys.store.ts";
import { relyingPartyOf } from "../src/callers/members/passkeys.ts";
import { systemClock } from "../src/platform/clock.ts";
import type { Database } from "../src/platform/db/database.ts";
import { stage } from "./support/browser.ts";
import { newMember, openBrowser } from "./support/dashboard.ts";
import { temporaryFolder } from "./support/folder.ts";
import type { Failure } from "./support/models.ts";
import { assertAccessible, visit } from "./support/pages.ts";
import { freePort } from "./support/ports.ts";
import { edgeOfItsOwn, startService } from "./support/service.ts";
import { cookieOf, password, visitSignedIn } from "./support/signed-in.ts";

const port = await freePort();
const origin = `http://localhost:${port}`;
const [browser, service] = await stage(() => startService({ env: { PORT: String(port), PUBLIC_URL: origin } }));
/** The flag of authenticator data that says so (Web Authentication, 6.1). */
const userVerified = 0x04;
const section = (page: Page) => page.getByRole("region", { name: "Second step" });

/** A page with an authenticator, such as a phone's, whose user it has verified or not. */
async function open(t: TestContext, email: string, isUserVerified = true) {
  const { cookie } = await newMember(service, { account: service.accountId, email, role: "owner", password }, origin);
  const visited = await visit(t, browser, `${origin}/dashboard/account`, {
    storageState: { cookies: [cookieOf(origin, cookie)], origins: [] },
  });
  const { page, devtools: devices } = visited;
  await devices.send("WebAuthn.enable");
  const options = { protocol: "ctap2", transport: "internal", hasResidentKey: true, hasUserVerification: true, isUserVerified } as const;
  const { authenticatorId } = await devices.send("WebAuthn.addVirtualAuthenticator", { options });
  await section(page).waitFor();
  return { page, devices, authenticatorId };
}

async function addPasskey(page: Page): Promise<void> {
  await section(page).getByRole("button", { name: "Add a passkey" }).click();
  await page.getByLabel("Name of the passkey").fill("Laptop");
  await page.getByRole("dialog").getByRole("button", { name: "Add a passkey" }).click();
}

/** The bodies and cookies of calls as the page sends them. */
async function recorded(page: Page, path: string, act: () => Promise<void>) {
  const [request] = await Promise.all([page.waitForRequest((sent) => sent.url().endsWith(`/dashboard/v1${path}`)), act()]);
  await request.response();
  return { body: request.postDataJSON() as Record<string, string>, cookie: (await request.allHeaders())["cookie"] ?? "" };
}

/** Sends a call as any program could. */
const send = (path: string, body: unknown, cookie: string) => openBrowser(service, origin).ask<Failure>("POST", path, body, { cookie });

test("a passkey signs in alone, its answer works once, and the password then takes a second step", async (t) => {
  const email = "passkey@shop.example";
  const { page, devices, authenticatorId } = await open(t, email);
  const registration = await recorded(page, "/passkeys", () => addPasskey(page));
  const codes = page.getByRole("dialog", { name: "Your recovery codes" });
  await codes.getByRole("listitem").first().waitFor();
  assert.equal(await codes.getByRole("listitem").count(), 10);
  await codes.getByRole("button", { name: "I have saved them" }).click();
  await section(page).getByRole("heading", { name: "Laptop" }).waitFor();
  await assertAccessible(page);
  const { credentials } = await devices.send("WebAuthn.getCredentials", { authenticatorId });
  const [credential] = credentials;
  assert.deepEqual([credentials.length, credential?.isResidentCredential, credential?.rpId], [1, true, "localhost"]);
  assert.ok(!atob(credential?.userHandle ?? "").includes(email));
  assert.equal(atob(credential?.userHandle ?? "").length, 32, "random bytes");
  assert.equal((await send("/passkeys", registration.body, registration.cookie)).status, 401, "a challenge is answered once");

  const half = await openBrowser(service, origin).ask<{ secondFactors: string[] }>("POST", "/sign-in", { email, password });
  assert.deepEqual([half.status, half.body.secondFactors], [202, ["passkey", "recoveryCode"]]);

  await page.getByRole("button", { name: "Sign out" }).click();
  const button = page.getByRole("button", { name: "Sign in with a passkey" });
  const signIn = await recorded(page, "/sign-in/passkey", () => button.click());
  await section(page).waitFor();
  const cookie = signIn.cookie;
  assert.equal((await send("/sign-in/passkey", signIn.body, cookie)).status, 401, "replayed");
  assert.equal((await send("/sign-in/passkey", signIn.body, "")).status, 401, "in another browser");
  const other = await openBrowser(service, origin).ask("POST", "/sign-in/passkey/options", {});
  const fresh = other.headers.getSetCookie()[0]?.split(";")[0] ?? "";
  assert.equal((await send("/sign-in/passkey", signIn.body, fresh)).status, 401, "for another challenge");
  assert.equal((await send("/sign-in/passkey", signIn.body, registration.cookie)).status, 401, "for a challenge of another purpose");

  // a copy of the device, whose counter is behind
  await page.getByRole("button", { name: "Sign out" }).click();
  await service.db.write((tx) => tx.query(sql`UPDATE passkeys SET counter = 1000`));
  await button.click();
  await page.getByText("This passkey does not sign in here.").waitFor();
  await service.db.write((tx) => tx.query(sql`UPDATE passkeys SET counter = 0`));
  await button.click();
  await section(page).getByRole("button", { name: "Remove Laptop" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove the passkey" }).click();
  await section(page).getByRole("heading", { name: "Laptop" }).waitFor({ state: "detached" });
  assert.equal((await openBrowser(service, origin).ask("POST", "/sign-in", { email, password })).status, 200);
});

test("a device that does not verify its user makes no passkey", async (t) => {
  const { page } = await open(t, "unverified@shop.example", false);
  await addPasskey(page);
  await page.getByText("No passkey was added: the device refused, or you cancelled.").waitFor();
});

test("a passkey made for another member, origin or host is refused", async (t) => {
  const { page } = await open(t, "honest@shop.example");
  const { body, cookie } = await recorded(page, "/passkeys", async () => {
    await page.route("**/dashboard/v1/passkeys", (route) => route.abort());
    await addPasskey(page);
  }).catch(() => assert.fail("the page sent no passkey"));
  const thief = await newMember(service, { account: service.accountId, email: "thief@shop.example", role: "owner", password }, origin);
  const challenge = cookie.split("; ").find((pair) => pair.startsWith("petstore-passkey=")) ?? "";
  const foreign = await thief.ask<Failure>("POST", "/passkeys", body, { cookie: `${thief.cookie}; ${challenge}` });
  assert.equal(foreign.status, 401, "the challenge of another member");

  const clientData = JSON.parse(Buffer.from(body["clientDataJSON"] ?? "", "base64url").toString()) as Record<string, unknown>;
  const sealed = Buffer.from(JSON.stringify({ ...clientData, origin: "https://evil.example" })).toString("base64url");
  assert.equal((await send("/passkeys", { ...body, clientDataJSON: sealed }, cookie)).status, 400, "another origin");
  const attestation = Buffer.from(body["attestationObject"] ?? "", "base64url");
  const hostAt = attestation.indexOf(hash("sha256", "localhost", "buffer"));
  assert.ok(hostAt > 0);
  const flagsAt = hostAt + 32;
  attestation[flagsAt] = (attestation[flagsAt] ?? 0) & ~userVerified;
  const unverified = { ...body, attestationObject: attestation.toString("base64url") };
  assert.equal((await send("/passkeys", unverified, cookie)).status, 400, "of a device that did not verify its user");
  attestation[flagsAt] = (attestation[flagsAt] ?? 0) | userVerified;
  hash("sha256", "evil.example", "buffer").copy(attestation, hostAt);
  assert.equal(
    (await send("/passkeys", { ...body, attestationObject: attestation.toString("base64url") }, cookie)).status,
    400,
    "another host",
  );
  assert.equal((await send("/passkeys", body, cookie)).status, 201, "as it was made");
  await service.db.write((tx) => tx.query(sql`UPDATE passkeys SET rp_id = 'old.example'`));
  assert.equal(
    await passkeyWarning(service.db, origin),
    "1 passkey was made for another host than localhost and does not work: PUBLIC_URL has changed",
  );
  await page.reload();
  await section(page).getByText("Made for old.example: it does not work at this address.").waitFor();
});

test("an answer whose device did not verify its user signs nobody in, even if a page asked it not to", async (t) => {
  const { page, devices, authenticatorId } = await open(t, "careless@shop.example");
  await addPasskey(page);
  await page.getByRole("button", { name: "I have saved them" }).click();
  await section(page).getByRole("heading", { name: "Laptop" }).waitFor();
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.route("**/dashboard/v1/sign-in/passkey/options", async (route) => {
    const response = await route.fetch();
    const { options } = (await response.json()) as { options: string };
    await route.fulfill({ response, json: { options: options.replace('"required"', '"discouraged"') } });
  });
  await devices.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified: false });
  const button = page.getByRole("button", { name: "Sign in with a passkey" });
  const { body } = await recorded(page, "/sign-in/passkey", () => button.click());
  assert.equal((Buffer.from(body["authenticatorData"] ?? "", "base64url")[32] ?? 0) & userVerified, 0);
  await page.getByText("This passkey does not sign in here.").waitFor();
});

test("a member renames a passkey, and nobody else does", async (t) => {
  const { page } = await open(t, "renaming@shop.example");
  await addPasskey(page);
  await page.getByRole("button", { name: "I have saved them" }).click();
  await section(page).getByRole("button", { name: "Rename Laptop" }).click();
  const dialog = page.getByRole("dialog", { name: "Rename the passkey" });
  await dialog.getByLabel("Name of the passkey").fill("  ");
  await dialog.getByRole("button", { name: "Rename", exact: true }).click();
  await dialog.locator("input[name=name][aria-invalid=true]").waitFor();
  await assertAccessible(page);
  await dialog.getByLabel("Name of the passkey").fill(" Bella’s laptop ");
  const { cookie } = await recorded(page, "/factors", () => dialog.getByRole("button", { name: "Rename", exact: true }).click());
  await section(page).getByRole("heading", { name: "Bella’s laptop", exact: true }).waitFor();
  const own = openBrowser(service, origin);
  const [passkey] = (await own.ask<{ passkeys: { id: string }[] }>("GET", "/factors", undefined, { cookie })).body.passkeys;
  const thief = await newMember(service, { account: service.accountId, email: "renamer@shop.example", role: "owner", password }, origin);
  assert.equal((await thief.ask("PATCH", `/passkeys/${passkey?.id}`, { name: "Mine" })).status, 404);
  for (const name of ["", "x".repeat(101)]) {
    assert.equal((await own.ask("PATCH", `/passkeys/${passkey?.id}`, { name }, { cookie })).status, 400);
  }
  await page.reload();
  await section(page).getByRole("heading", { name: "Bella’s laptop", exact: true }).waitFor();
});

/** Adds passkeys to a member without a device. */
async function fillPasskeys(db: Database, email: string, count: number, rpId: string): Promise<void> {
  const [member] = await db.query<{ account_id: number; id: number }>(sql`SELECT account_id, id FROM members WHERE email_key = ${email}`);
  const who = { accountId: Number(member?.account_id), memberId: Number(member?.id), userHandle: randomBytes(32).toString("base64url") };
  await db.write(async (tx) => {
    for (let i = 0; i < count; i++) {
      const stored = {
        ...who,
        id: randomBytes(16).toString("base64url"),
        publicKey: "",
        counter: 0,
        rpId,
        transports: [],
        name: `Key ${i}`,
      };
      assert.ok(await insertPasskey(tx, stored, Date.now()));
    }
  });
}

test("a member has ten passkeys; an eleventh is refused in plain words, also if its device was asked before the tenth", async (t) => {
  const email = "many@shop.example";
  const { page } = await open(t, email);
  await fillPasskeys(service.db, email, 9, "localhost");
  const { body, cookie } = await recorded(page, "/passkeys", async () => {
    await page.route("**/dashboard/v1/passkeys", (route) => route.abort());
    await addPasskey(page);
  }).catch(() => assert.fail("the page sent no passkey"));
  await fillPasskeys(service.db, email, 1, "localhost");
  const late = await send("/passkeys", body, cookie);
  assert.deepEqual([late.status, late.body.message], [400, "A member has at most 10 passkeys: remove one first."]);
  await page.unroute("**/dashboard/v1/passkeys");
  await page.reload();
  await section(page).getByRole("button", { name: "Remove Key 8" }).waitFor();
  await addPasskey(page);
  await page.getByRole("alert").getByText("A member has at most 10 passkeys: remove one first.").waitFor();
  const { passkeys } = (await openBrowser(service, origin).ask<{ passkeys: unknown[] }>("GET", "/factors", undefined, { cookie })).body;
  assert.equal(passkeys.length, 10);
});

test("passkeys are offered over HTTPS and on localhost, for the host of PUBLIC_URL", () => {
  assert.deepEqual(relyingPartyOf("https://pets.example:8443"), { id: "pets.example", origin: "https://pets.example:8443" });
  assert.deepEqual(relyingPartyOf("http://localhost:8080"), { id: "localhost", origin: "http://localhost:8080" });
  for (const url of ["http://pets.example", "https://192.0.2.1", "https://[2001:db8::1]", "http://127.0.0.1:8080", "http://[::1]:8080"]) {
    assert.equal(relyingPartyOf(url), undefined, url);
  }
});

test("a start at another host than that of the passkeys warns in one line", async (t) => {
  const folder = temporaryFolder(t);
  const lines: string[] = [];
  const stream = new Writable({ write: (chunk, _encoding, done) => (lines.push(String(chunk)), done()) });
  const start = (host: string) => {
    const settings = loadSettings({ PORT: "0", DATA_DIR: folder, PUBLIC_URL: `https://${host}`, ...edgeOfItsOwn });
    return openService(settings, { clock: systemClock, log: pino({ level: "warn" }, stream) });
  };
  const first = await start("old.example");
  const { account } = await first.administration["accounts.create"]({ name: "A", plan: "pro" });
  await first.administration["members.invite"]({ account: account.id, email: "a@shop.example" });
  await fillPasskeys(first.db, "a@shop.example", 2, "old.example");
  await first.close();
  const warnings = () => lines.filter((line) => line.includes("passkeys were made for another host"));
  await (await start("old.example")).close();
  assert.deepEqual(warnings(), []);
  await (await start("new.example")).close();
  assert.equal(warnings().length, 1);
  assert.match(warnings()[0] ?? "", /2 passkeys were made for another host than new\.example and do not work: PUBLIC_URL has changed/);
});

test("at an IP address there are no passkeys, and the page says why", async (t) => {
  const plain = await startService({ env: { PUBLIC_URL: "http://127.0.0.1:8080" } });
  t.after(() => plain.close());
  const { page } = await visitSignedIn(t, browser, plain, "/dashboard/account");
  await section(page).getByText("Passkeys work only if this dashboard has an https:// address with a domain name.").waitFor();
  assert.equal(await section(page).getByRole("button", { name: "Add a passkey" }).count(), 0);
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("textbox", { name: "Password", exact: true }).waitFor();
  assert.equal(await page.getByRole("button", { name: "Sign in with a passkey" }).count(), 0);
  const member = await newMember(plain, { account: plain.accountId, email: "ip@shop.example", role: "owner", password });
  const { passkeysAvailable } = (await member.ask<{ passkeysAvailable: boolean }>("GET", "/factors")).body;
  assert.equal(passkeysAvailable, false);
  for (const path of ["/passkeys/options", "/sign-in/passkey/options"]) {
    const refused = await member.ask<Failure>("POST", path, path.startsWith("/sign-in") ? {} : undefined);
    assert.deepEqual([refused.status, refused.body.code], [400, "invalid_request"]);
  }
});
