import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { isReady, servedAt, servingOf, type ServingContext, type NameState } from "./serving.ts";

const now = 1_000;
const certified: NameState = { status: "verified", redirect: null, certificateId: 1, certificateExpiresAt: now + 1 };
const to = (hostname: string) => ({ to: hostname, status: 301 as const });

test("visitors can be sent to a name that is verified, does not redirect and has a certificate that has not expired", () => {
  assert.equal(isReady(certified, true, now), true);
  assert.equal(isReady({ ...certified, certificateExpiresAt: now }, true, now), false);
  assert.equal(isReady({ ...certified, status: "failing" }, true, now), false);
  assert.equal(isReady({ ...certified, status: "pending" }, true, now), false);
  assert.equal(isReady({ ...certified, redirect: to("b.example") }, true, now), false);
});

test("a name without a certificate is ready only if the service orders none, and one whose certificate has expired is not ready even then", () => {
  const plain = { ...certified, certificateId: null, certificateExpiresAt: null };
  assert.deepEqual([isReady(plain, true, now), isReady(plain, false, now)], [false, true]);
  assert.equal(isReady({ ...certified, certificateExpiresAt: now }, false, now), false);
});

const name = fc.constantFrom("a", "b", "c");
const contexts: fc.Arbitrary<ServingContext> = fc.record({
  isPaid: fc.boolean(),
  primary: fc.option(name, { nil: null }),
  redirectToPrimary: fc.boolean(),
  isReady: fc.func(fc.boolean()),
});

test("under any configuration, a verified name of a paid plan serves the site or redirects to another name that is ready", () => {
  const names = fc.record({ context: contexts, hostname: name, target: fc.option(name, { nil: null }) });
  fc.assert(
    fc.property(names, ({ context, hostname, target }) => {
      // The primary name does not redirect, and no name redirects to itself: the rules for changes ensure this.
      const redirect = target === null || target === hostname || context.primary === hostname ? null : to(target);
      const serving = servingOf({ hostname, status: "verified", redirect }, context);
      if (!context.isPaid) return assert.equal(serving.what, "nothing");
      assert.notEqual(serving.what, "nothing");
      if (serving.what !== "redirect") return;
      assert.notEqual(serving.to, hostname);
      assert.ok(serving.to === context.primary || context.isReady(serving.to));
    }),
  );
});

test("the address on the platform serves the site, or redirects to the primary name", () => {
  fc.assert(
    fc.property(contexts, (context) => {
      const serving = servedAt("shop.platform", null, context);
      if (context.redirectToPrimary && context.primary !== null) {
        assert.deepEqual(serving, { what: "redirect", to: context.primary, status: 308, because: "redirect_to_primary" });
      } else assert.deepEqual(serving, { what: "site", canonical: context.primary });
    }),
  );
});
