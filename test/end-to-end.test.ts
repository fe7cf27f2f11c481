import assert from "node:assert/strict";
import { test } from "node:test";
import { goOnWithPro, makeKey, reachTheLimit, seeItOnUsage } from "./end-to-end/access.ts";
import {
  addDomain,
  deployByCommand,
  dropSite,
  redirectApex,
  removeDomain,
  setRightRecord,
  setWrongRecord,
} from "./end-to-end/publishing.ts";
import { findNothingToTry, tryAnOperation } from "./end-to-end/reference.ts";
import { openScene } from "./end-to-end/scene.ts";
import { choosePassword, importPets, orderOneTooMany, orderTheOnlyOne } from "./end-to-end/store.ts";
import { tokenIn } from "./support/dashboard.ts";

test("a shop's first day", async (t) => {
  const scene = await openScene(t);
  const { step, service, petstore } = scene;
  let key = "";

  await step("the link that the first start printed signs the owner in, who sets an email and a password", () => choosePassword(scene));
  await step("a file of animals is mapped by a guess, previewed and imported", () => importPets(scene));
  await step("the one unit of an animal is ordered", () => orderTheOnlyOne(scene));
  await step("a second order of it is refused in words, and is not made", () => orderOneTooMany(scene));

  await step("a key is made, and shown this once", async () => void (key = await makeKey(scene)));
  await step("on the plan Free it is answered sixty times in a minute, then refused, as the page Usage shows", async () => {
    await petstore(key, "accounts", "set-plan", "1", "--plan", "free");
    await seeItOnUsage(scene, await reachTheLimit(scene, key));
  });
  await step("on the plan Pro it is answered again at once", () => goOnWithPro(scene, key));

  await step("a project is made, and served as soon as its folder is dropped on the page", () => dropSite(scene));
  await step("the command deploys it anew, and the page shows that by itself", () => deployByCommand(scene, key));
  await step("a domain is added, and the record to create is shown", () => addDomain(scene));
  await step("a wrong record is shown as it was found, beside what is expected", () => setWrongRecord(scene));
  await step("the right record brings a certificate, and the site is served over HTTPS", () => setRightRecord(scene));
  await step("a second domain redirects to it with the status that was chosen", () => redirectApex(scene));
  await step("a domain that is removed is refused at once", () => removeDomain(scene));

  await step("the reference sends an operation for real, and shows the answer, the limits and the curl command", () =>
    tryAnOperation(scene, key),
  );
  await step("of GET /store/orders nothing can be tried", () => findNothingToTry(scene));

  await step("the service stops when it is asked to, and has logged no error and no secret", async () => {
    service.server.kill("SIGTERM");
    assert.equal(await service.server.ended, 0);
    assert.equal(service.server.err(), "");
    const lines = service.server.log();
    assert.deepEqual(
      lines.filter(({ level }) => level >= 50),
      [],
    );
    const later = lines.filter(({ msg }) => msg !== "first start");
    for (const secret of [key, service.key, tokenIn(service.link), "a good long password"])
      assert.ok(!JSON.stringify(later).includes(secret), `${secret} is in the log`);
  });
});
