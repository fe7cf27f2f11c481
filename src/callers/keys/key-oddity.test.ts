import assert from "node:assert/strict";
import { test } from "node:test";
import { keyOddity } from "./key-oddity.ts";

const key = `psk_${"a1B2c3".repeat(6)}`;

test("the form of a key that is refused is described, and no part of the key is repeated", () => {
  const odd: [authorization: string, says: RegExp][] = [
    [`Bearer\t${key}`, /a tab/],
    [`Bearer: ${key}`, /a colon/],
    [`Bearer=${key}`, /equals sign/],
    [`Bearer${key}`, /no space/],
    [`Bearer Bearer ${key}`, /twice/],
    [`Bearer "${key}"`, /quotation marks/],
    [`Bearer '${key}'`, /quotation marks/],
    [`Bearer <${key}>`, /brackets/],
    [`bearer  "${key}`, /quotation marks/],
    [`"Bearer ${key}"`, /quotation marks/],
    [`Bearer \u00e2\u0080\u009c${key}\u00e2\u0080\u009d`, /quotation marks/],
    [`Bearer ${key}\u00e2\u0080\u008b`, /invisible/],
    [`Bearer \u00ef\u00bb\u00bf${key}`, /invisible/],
    [`Bearer\u00a0${key}`, /invisible/],
    [`Bearer\u00c2\u00a0${key}`, /invisible/],
    [key, /without a scheme/],
    ["Bearer", /no key/],
    ["Bearer ", /no key/],
    ["", /empty/],
    [`Token ${key}`, /another scheme/],
    [`Bearer ${key.slice(0, 20)} ${key.slice(20)}`, /a space within/],
    [`Bearer ${key.slice(0, 39)}`, /too short/],
    [`Bearer ${key}a`, /too long/],
    [`Bearer ${key.toUpperCase()}`, /psk_ or psp_/],
    [`Bearer ${key},`, /no key has/],
  ];
  for (const [authorization, says] of odd) {
    const text = keyOddity({ authorization }) ?? "";
    assert.match(text, says, JSON.stringify(authorization));
    assert.ok(!text.includes(key.slice(4, 12)));
  }
  for (const authorization of [`Bearer ${key}`, `bearer   ${key}`, undefined]) assert.equal(keyOddity({ authorization }), undefined);
  assert.match(keyOddity({ "x-api-key": `Bearer ${key}` }) ?? "", /without Bearer/);
  assert.match(keyOddity({ "x-api-key": `"${key}"` }) ?? "", /quotation marks/);
  assert.equal(keyOddity({ "x-api-key": key }), undefined);
});
