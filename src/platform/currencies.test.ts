import assert from "node:assert/strict";
import { test } from "node:test";
import { decimalAmount, formatPrice, isCurrency, minorDigits } from "./currencies.ts";

test("only codes of currencies in capitals count as such", () => {
  for (const code of ["EUR", "USD", "CHF", "JPY"]) assert.ok(isCurrency(code), code);
  for (const text of ["", "eur", "EU", "EURO", "QQQ", "€", " EUR"]) assert.ok(!isCurrency(text), text);
});

test("an amount has as many decimals as its currency", () => {
  assert.deepEqual(["EUR", "JPY", "KWD", "QQQ", "€", ""].map(minorDigits), [2, 0, 3, 2, 2, 2]);
  const amounts = { EUR: "1234.50", JPY: "123450", KWD: "123.450" };
  for (const [currency, text] of Object.entries(amounts)) assert.equal(decimalAmount({ amount: 123_450, currency }), text);
  assert.equal(decimalAmount({ amount: 5, currency: "EUR" }), "0.05");
});

test("a price is written as people of a locale write it", () => {
  assert.equal(formatPrice({ amount: 123_450, currency: "EUR" }, "en"), "€1,234.50");
  assert.equal(formatPrice({ amount: 123_450, currency: "EUR" }, "de"), "1.234,50\u00A0€");
  assert.equal(formatPrice({ amount: 123_450, currency: "JPY" }, "en"), "¥123,450");
});
