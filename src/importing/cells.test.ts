import assert from "node:assert/strict";
import { test } from "node:test";
import { idProblem } from "./cells.ts";

test("what a spreadsheet made of an id is refused, in the spellings of all languages", () => {
  for (const id of ["9.85E+14", "9,85E+14", "9.85e14", "1,234", "1.234.567", "1\u00A0234", "12.0", "12,00"])
    assert.match(idProblem(id) ?? "", /spreadsheet/, id);
  for (const id of ["#N/A", "#REF!", "#VALUE!", "#NAME?", "#DIV/0!", "#NUM!", "#NULL!", "#NV", "#BEZUG!", "#WERT!", "########"])
    assert.match(idProblem(id) ?? "", /an error in place of/, id);
  for (const id of ["12-Jan", "Jan-12", "12. Jan", "01. Mrz", "3-Dez", "janv-12"]) assert.match(idProblem(id) ?? "", /made a date of/, id);
});

test("other ids are text as they are", () => {
  for (const id of [
    "007",
    "7",
    "A-12.34",
    "1.234",
    "1E5",
    "12-345",
    "#12",
    "985112345678900",
    "J-12",
    "2024-01-05",
    "Jan",
    "1.2.3",
    "Jana-12",
  ])
    assert.equal(idProblem(id), undefined, id);
});
