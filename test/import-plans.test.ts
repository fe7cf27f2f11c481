import assert from "node:assert/strict";
import { openAsBlob } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { chunksOf } from "../client/chunks.ts";
import { inspectFile, rowsOf, type InputFile } from "../src/importing/inspect.ts";
import { planMapping, questionsOf, type MappingPlan } from "../src/importing/mapping-plan.ts";
import { readSource } from "../src/importing/source.ts";
import { runCommand } from "./support/commands.ts";
import { temporaryFolder } from "./support/folder.ts";

const corpus = fileURLToPath(new URL("fixtures/imports/", import.meta.url));
const files = (await readdir(corpus)).toSorted();

/** The columns of a plan: id, name, category and status. */
const chosen = ({ mapping: { id, name, category, status } }: MappingPlan) => [id, name.columns[0], category.columns[0], status?.columns[0]];
/** The shapes of real files: their columns, and what is asked about. */
const expected: Record<string, { columns: (string | undefined)[]; asks?: RegExp }> = {
  "asm3.csv": { columns: ["SHELTERCODE", "ANIMALNAME", "SPECIESNAME", "ANIMALSTATUS"], asks: /“Not available for adoption” \(1 row\)/ },
  "austin-outcomes.csv": { columns: ["Animal ID", "Name", "Animal Type", "Outcome Type"] },
  "dallas.csv": { columns: ["Animal Id", "Animal Breed", "Animal Type", "Outcome Type"], asks: /the name/ },
  "german-spreadsheet.csv": { columns: ["Nr", "Tiername", "Tierart", "Zustand"], asks: /“nicht verfügbar” \(1 row\)/ },
  "insured.csv": { columns: [undefined, "Name", "Species", "PetStatus"] },
  "king-county.csv": { columns: ["Animal_ID", "Animal_Name", "Animal_Type", "Record_Type"], asks: /“FOUND” \(1 row\), “LOST”/ },
  "seattle-licences.csv": { columns: ["License Number", "Animal's Name", "Species", undefined] },
  "shelterluv.csv": { columns: ["ID", "Name", "Type", "Status"], asks: /“Healthy In Home” \(1 row\)/ },
  "sonoma.csv": { columns: ["Animal ID", "Name", "Type", "Outcome Type"] },
  "spreadsheet-ids.csv": { columns: ["id", "name", "species", "status"] },
  "zuerich-hundenamen.csv": { columns: [undefined, "HundenameText", undefined, undefined] },
};

/** What the page shows of a file, by the functions that its worker calls. */
async function onPage(path: string) {
  const blob = await openAsBlob(path);
  const read = async (at: number, count: number) => new Uint8Array(await blob.slice(at, at + count).arrayBuffer());
  const file: InputFile = { name: path, bytes: () => chunksOf(blob.stream()), access: { size: blob.size, read }, isForPage: true };
  const { columns, guess, format } = await inspectFile(file);
  assert.ok(guess);
  const { rows, rejects } = await readSource(rowsOf(file, format), guess.mapping, path);
  const reasons = rejects.map(({ line, reason }) => `${line} ${reason}`);
  return { plan: planMapping(columns, guess.mapping), questions: questionsOf(columns, guess), created: rows.length, reasons };
}

test("every file of the corpus is expected", () => {
  assert.deepEqual(files, Object.keys(expected));
});

for (const file of files)
  test(`the command makes the same plan for ${file} as the page, and asks the same`, async (t) => {
    const folder = temporaryFolder(t);
    const path = join(corpus, file);
    const page = await onPage(path);
    const { columns, asks } = expected[file]!;
    assert.deepEqual(chosen(page.plan), columns);
    assert.match(page.questions.join("; "), asks ?? /^$/);
    const records = ["--rejects", join(folder, "rejects.csv"), "--state", join(folder, "state.json")];
    const { code, out, error } = await runCommand(["import", path, "--dry-run", "--json", ...records], {});
    if (asks) {
      assert.equal(code, 2, out);
      for (const question of page.questions) assert.ok(error.includes(JSON.stringify(question).slice(1, -1)), error);
      const mapping = join(folder, "mapping.json");
      assert.equal((await runCommand(["import", path, "--write-mapping", mapping], {})).code, 0);
      const isOpen = page.plan.statuses.some(({ status }) => status === undefined);
      const { code: again, error: refused } = await runCommand(["import", path, "--mapping", mapping, "--dry-run", ...records], {});
      assert.equal(again, isOpen ? 2 : 0, refused);
      if (isOpen) assert.match(refused, /status\.values\..* must be one of available, pending, sold, reject/);
    } else {
      const report = JSON.parse(out) as { plan: MappingPlan; created: number; rejected: number };
      assert.deepEqual(report.plan, JSON.parse(JSON.stringify(page.plan)));
      assert.deepEqual([report.created, report.rejected], [page.created, page.reasons.length]);
    }
  });

test("ids that a spreadsheet has changed are refused with the reason, and all others are text", async () => {
  const { created, reasons } = await onPage(join(corpus, "spreadsheet-ids.csv"));
  assert.equal(created, 2, "007 and 7 are two animals");
  assert.deepEqual(
    reasons.map((reason) => reason.replace(/; format.*/, "")),
    [
      "2 the id “9.85E+14”: a spreadsheet has shortened it",
      "3 the id “1,234”: a spreadsheet has grouped the digits of it",
      "4 the id “12.0”: a spreadsheet has added decimals to it",
    ],
  );
});
