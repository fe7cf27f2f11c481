import assert from "node:assert/strict";
import { test } from "node:test";
import { contradictionReader } from "./departures.ts";
import type { Mapping } from "./mapping-schema.ts";

const mapping: Mapping = { name: { columns: ["Name"] }, category: { columns: [], default: "Dogs" }, status: { columns: ["Status"] } };

const listOf = (text: string): string[] => text.split(";").map((one) => one.trim());

/** Why a row contradicts itself that says `Active`, and `value` in a column of this name. */
const reasonOf = (header: string, value: string, changed: Partial<Mapping> = {}): string | undefined =>
  contradictionReader({ ...mapping, ...changed }, ["Name", "Status", header])(["Rex", "Active", value])?.reason;

test("a column that says yes to a death or a departure contradicts “available”, in eight languages", () => {
  for (const header of listOf(`
    Deceased; Is deceased?; is_dead; ISDECEASED; isSold; Died; DOA; Put to sleep; Died in shelter; Sold; SOLD?; Adopted; Animal adopted;
    Deceased (Y/N); Returned to owner; Rehomed; Verstorben; Verkauft; Vermittelt?; Tier verstorben; Décédé; Vendue; Adopté;
    Fallecido; Vendido; Adoptada; Deceduto; Venduta; Adottato; Overleden; Verkocht; Geadopteerd; Falecida; Adotado; Zmarły;
    Sprzedany; Adoptowana; Nie żyje`))
    for (const value of ["Yes", "yes - last week", "TRUE", "1", "x", "Y", "ja", "Oui", "Sí", "sì", "sim", "Tak", "✓", "2024-05-01"])
      assert.equal(reasonOf(header, value), `“${header}” says “${value}”, but “Status” says “Active”`);
});

test("the day of a death or a sale contradicts “available”, in the notations of spreadsheets", () => {
  for (const header of listOf(`
    Date of death; DECEASEDDATE; DATEOFDEATH; died_on; Sold on; Sale date; Verstorben am; Sterbedatum; Verkaufsdatum;
    Date de décès; Vendu le; Fecha de muerte; Data del decesso; Overlijdensdatum; Verkocht op; Data do óbito; Data śmierci`)) {
    const days = ["2024-05-01", "01.05.2024", "5/1/24", "1 May 2024", "2024", "20240501", "45413", "2024-05-01T10:30:00Z", "14:30"];
    for (const value of days) assert.ok(reasonOf(header, value), `${header}: ${value}`);
    for (const value of ["", "0000-00-00", "1899-12-30", "1970-01-01", "00:00", "not before 2027", "-"])
      assert.equal(reasonOf(header, value), undefined, `${header}: ${value}`);
  }
});

test("a value that says no, or nothing clear, does not contradict “available”", () => {
  for (const header of ["Deceased", "Sold", "Adopted", "Verstorben", "Outcome"])
    for (const value of [...listOf("; No; false; 0; n/a; N; nein; Unknown; -; ?; none; yes/no; not sold; Maria; 3"), "x".repeat(200)])
      assert.equal(reasonOf(header, value), undefined, `${header}: ${value}`);
});

test("an outcome that says how an animal left contradicts “available”, and a column that denies it does as well", () => {
  assert.equal(reasonOf("Outcome type", "Euthanasia"), "“Outcome type” says “Euthanasia”, but “Status” says “Active”");
  for (const value of ["Adoption", "Died", "Return to Owner", "verkauft"]) assert.ok(reasonOf("Outcome", value), value);
  for (const value of ["Foster", "Available", "Yes", "Adoption pending"]) assert.equal(reasonOf("Outcome", value), undefined, value);
  assert.equal(reasonOf("Adoption status", "Adopted"), "“Adoption status” says “Adopted”, but “Status” says “Active”");
  for (const header of ["Available", "For sale", "Verfügbar", "Disponible"]) {
    assert.ok(reasonOf(header, "No"), header);
    assert.equal(reasonOf(header, "Yes"), undefined, header);
  }
  assert.equal(reasonOf("In stock", "0"), undefined, "that is the stock");
});

test("the day of an earlier stay does not contradict “available”: the animal came back", () => {
  for (const header of ["Outcome Date", "Adoption date", "Adopted on", "Date adopted", "Vermittlungsdatum", "Adopté le", "Transfer date"])
    for (const value of ["2024-05-01", "5/1/24 10:30", "45413"]) assert.equal(reasonOf(header, value), undefined, `${header}: ${value}`);
});

test("a plan, a trait and another's death do not contradict “available”", () => {
  for (const header of listOf(`
    Previously adopted; Adopted before; Total sold; Owner deceased; Mother deceased; Not deceased; Never sold; Units sold; Number sold; Sold price; On sale;
    Sale; Adoption; Rescue; Rescued; Transport; Community cat; Adoption fee; Foster; InFoster; Chip status; Adoption pending;
    Available or sold; Date of birth; Intake date; Vet check passed; Cause of death; Published; Notes`))
    for (const value of ["Yes", "1", "2024-05-01"]) assert.equal(reasonOf(header, value), undefined, `${header}: ${value}`);
});

test("a column that the mapping uses or ignores does not count", () => {
  assert.ok(reasonOf("Sold", "Yes"));
  assert.equal(reasonOf("Sold", "Yes", { ignore: ["Sold"] }), undefined);
  assert.equal(reasonOf("Sold", "Yes", { description: { columns: ["Sold"] } }), undefined);
});

test("the reason says what makes the animal available if no cell does", () => {
  assert.equal(
    contradictionReader(mapping, ["Name", "Status", "Deceased"])(["Rex", "", "Yes"])?.reason,
    "“Deceased” says “Yes”, but “Status” is empty",
  );
  const { status: _status, ...statusless } = mapping;
  assert.equal(
    contradictionReader(statusless, ["Name", "Deceased"])(["Rex", "Yes"])?.reason,
    "“Deceased” says “Yes”, but without a status column every animal is available",
  );
});
