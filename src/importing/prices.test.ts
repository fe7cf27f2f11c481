import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { currencyInHeader, isAmbiguous, readPrice } from "./prices.ts";

const euros = { currency: "EUR" };
/** What becomes of a cell in a column of prices in euros: the price, or words of the reason. */
const cells: Record<string, string | RegExp> = {
  "12": "1200 EUR",
  "1.234,50": "123450 EUR",
  "1,234.50": "123450 EUR",
  "1 234,50": "123450 EUR",
  "1\u202F234,5 €": "123450 EUR",
  "1'234.50": "123450 EUR",
  "1.234.567,8": "123456780 EUR",
  "1,00,000.50": "10000050 EUR",
  "€ 12": "1200 EUR",
  "12,-": "1200 EUR",
  "12,– €": "1200 EUR",
  ".5": "50 EUR",
  "0.500": "50 EUR",
  "０１２．５０": "1250 EUR",
  "0": "0 EUR",
  "CHF 50.-": "5000 CHF",
  "Fr. 50": "5000 CHF",
  "US$ 12.5": "1250 USD",
  "12 usd": "1200 USD",
  "3 450 zł": "345000 PLN",
  "¥1,200 JPY": "1200 JPY",
  "JPY 1,200": "1200 JPY",
  "KWD 1.5": "1500 KWD",
  "JPY 12.5": /more decimals than JPY/,
  "1.234": /may be 1\.234 or 1234/,
  "1,234": /may be 1\.234 or 1234/,
  "EUR 12.500": /may be 12\.500 or 12500/,
  $12: /is not in EUR/,
  "12.345,678": /more decimals than EUR/,
  "12.3456": /more decimals than EUR/,
  "12⁹⁰": /not an amount/,
  "1½": /not an amount/,
  "-12": /not an amount/,
  "(12.00)": /not an amount/,
  "12-": /not an amount/,
  "100-150": /not an amount/,
  "1 23": /not an amount/,
  "12.50.60": /not an amount/,
  "1.234'567": /not an amount/,
  "012,345.60": /not an amount/,
  "1.2E+3": /not an amount/,
  "12.": /not an amount/,
  "12 €/kg": /not an amount/,
  "12 EUR $": /not an amount/,
  "ab 12 €": /not an amount/,
  free: /not an amount/,
  "99999999999999": /too high/,
  ["9".repeat(1_000)]: /not an amount/,
};

for (const [cell, expected] of Object.entries(cells))
  test(`the cell ${cell.slice(0, 20)} of prices in euros is ${expected instanceof RegExp ? "refused" : expected}`, () => {
    const price = readPrice(cell, euros);
    if (expected instanceof RegExp) assert.match("reason" in price ? price.reason : JSON.stringify(price), expected);
    else assert.deepEqual(price, { amount: Number(expected.slice(0, -4)), currency: expected.slice(-3) });
  });

test("a mark of several currencies is that of the column, and without one it is refused", () => {
  assert.deepEqual(readPrice("$12.50", { currency: "CAD" }), { amount: 1250, currency: "CAD" });
  assert.deepEqual(readPrice("kr. 50", { currency: "DKK" }), { amount: 5000, currency: "DKK" });
  for (const cell of ["$12", "12", "kr 12", "Rs.500"]) assert.ok("reason" in readPrice(cell, {}), cell);
});

test("a cell that can be read in two ways is read as the mapping says, and no other cell is", () => {
  assert.deepEqual(readPrice("1.234", { ...euros, decimal: "comma" }), { amount: 123400, currency: "EUR" });
  assert.ok("reason" in readPrice("1.234", { ...euros, decimal: "point" }));
  assert.deepEqual(readPrice("12.50", { ...euros, decimal: "comma" }), { amount: 1250, currency: "EUR" });
  assert.equal(isAmbiguous("1.234", euros), true);
  assert.equal(isAmbiguous("1.234", { ...euros, decimal: "comma" }), false);
  assert.equal(isAmbiguous("1,234", { currency: "JPY" }), false);
  assert.equal(isAmbiguous("1,234.00", euros), false);
});

test("an amount as programs write it in any locale is read as that amount or refused", () => {
  const locales = ["en-US", "de-DE", "fr-FR", "de-CH", "en-IN", "pl-PL", "es-ES", "it-IT", "nl-NL", "pt-BR", "sv-SE", "da-DK"];
  const written = fc.tuple(
    fc.integer({ min: 0, max: 10 ** 12 }),
    fc.constantFrom(...locales),
    fc.constantFrom("EUR", "USD", "CHF", "SEK", "JPY"),
  );
  let read = 0;
  fc.assert(
    fc.property(written, fc.boolean(), ([amount, locale, currency], isMarked) => {
      const digits = currency === "JPY" ? 0 : 2;
      const style = isMarked ? ({ style: "currency", currency } as const) : { minimumFractionDigits: digits };
      const price = readPrice(new Intl.NumberFormat(locale, style).format(amount / 10 ** digits), { currency });
      if ("reason" in price) return;
      read += 1;
      assert.deepEqual(price, { amount, currency });
    }),
    { numRuns: 500 },
  );
  assert.ok(read > 400, `${read} of 500`);
});

test("the name of a column says the currency only if it names one", () => {
  const headers = ["Price (EUR)", "Preis in €", "price_usd", "cena zł", "PRICE ALL", "Top price", "Price $", "Price EUR/USD"];
  assert.deepEqual(headers.map(currencyInHeader), ["EUR", "EUR", "USD", "PLN", undefined, undefined, undefined, undefined]);
});
