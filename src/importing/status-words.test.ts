import assert from "node:assert/strict";
import { test } from "node:test";
import { statusOf } from "./status-words.ts";

const values = {
  available: [
    "Available",
    "AVAILABLE ",
    "available now",
    "Available for adoption",
    "Adoptable",
    "Ready for Adoption",
    "For sale",
    "In stock",
    "Active",
    "Verfügbar",
    "zu verkaufen",
    "disponible",
    "À vendre",
    "en venta",
    "Disponibile",
    "in vendita",
    "Beschikbaar",
    "te koop",
    "Disponível",
    "Dostępny",
    "na sprzedaż",
  ],
  pending: [
    "Pending",
    "On Hold",
    "adoption pending",
    "Foster",
    "Foster to Adopt",
    "Reserviert",
    "Réservé",
    "Reservado",
    "Prenotato",
    "Gereserveerd",
    "Zarezerwowany",
  ],
  sold: [
    "Sold",
    "SOLD!",
    "Adopted",
    "Return to Owner",
    "Euthanasia",
    "Died",
    "Transfer",
    "Trap, Neuter, Release",
    "verkauft",
    "Vermittelt",
    "vendu",
    "Décédé",
    "Vendido",
    "adoptada",
    "Venduto",
    "Overleden",
    "Falecido",
    "Sprzedany",
    "Zmarły",
    "Nie żyje",
    "passed away",
    "Fecha de muerte",
  ],
} as const;

for (const status of ["available", "pending", "sold"] as const)
  test(`values that say ${status} are read in eight languages`, () => {
    for (const value of values[status]) assert.equal(statusOf(value), status, value);
  });

test("a value that negates, contradicts or leaves open what it says has no status", () => {
  for (const value of [
    "Not Available",
    "Isn\u02BCt available",
    "Isn’t available",
    "UNAVAILABLE",
    "Inactive",
    "Unadoptable",
    "no longer available",
    "Not for sale",
    "not sold",
    "Never adopted",
    "Non disponible",
    "plus disponible",
    "nicht verfügbar",
    "Nicht mehr zu verkaufen",
    "keine Reservierung",
    "no disponible",
    "ya no disponible",
    "non disponibile",
    "Niet beschikbaar",
    "não disponível",
    "niedostępny",
    "nie sprzedany",
    "Sold / available",
    "available or pending",
    "Reserved or sold",
    "disponible, vendu",
  ])
    assert.equal(statusOf(value), undefined, value);
});

test("“available” beside an unknown word or sign does not offer an animal", () => {
  for (const value of [
    "Available soon",
    "Was available",
    "Available from 2027",
    "Available: false",
    "Available=0",
    "Available (passed away)",
    "Active - quarantine",
    "in-active",
    "Pre-adoptable",
    "aren’t available",
    "Available?",
    "❌ Available",
    "!available",
    "Bald verfügbar",
    "Verfügbar: nein",
    "bientôt disponible",
    "próximamente disponible",
    "presto disponibile",
    "binnenkort beschikbaar",
    "Beschikbaar: nee",
    "em breve disponível",
    "wkrótce dostępny",
  ])
    assert.equal(statusOf(value), undefined, value);
  for (const value of ["Available - now!", "✅ Available", "(available)", "ist verfügbar", "Disponible: sí", "is available for adoption"])
    assert.equal(statusOf(value), "available", value);
});

test("a status that is negated or taken back is none", () => {
  for (const value of [
    "cannot be adopted",
    "wasn't adopted",
    "Adoption cancelled",
    "failed adoption",
    "Adopted (returned)",
    "Verkauft: nein",
  ])
    assert.equal(statusOf(value), undefined, value);
});

test("an empty or unknown value has no status, and neither has a word that only contains a known one", () => {
  for (const value of ["", " ", "?", "purple", "Availableness", "Oldsold", "Soldier", "Unknown", "0", `sold ${"x ".repeat(1_000)}`])
    assert.equal(statusOf(value), undefined, value);
});
