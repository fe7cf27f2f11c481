import assert from "node:assert/strict";
import { test } from "node:test";
import { readColumns, type Columns } from "./columns.ts";
import { guessMapping, type Guess } from "./guess.ts";
import { rowsOf as rowsIn } from "./inspect.ts";
import { openFile, parseMapping } from "./local-files.ts";
import { readSource } from "./source.ts";

const root = new URL("../../", import.meta.url).pathname;

async function* rowsOf(lines: readonly string[]) {
  for (const [index, line] of lines.entries()) yield { line: index + 1, cells: line.split(",") };
}

const columnsOf = (...lines: string[]): Promise<Columns> => readColumns(rowsOf(lines));
const guessOf = async (...lines: string[]): Promise<Guess> => {
  const guess = guessMapping((await columnsOf(...lines)).columns);
  assert.ok(guess);
  return guess;
};
/** The columns of a guess: id, name, category, status. */
const chosen = ({ mapping: { id, name, category, status } }: Guess) => [id, name.columns[0], category.columns[0], status?.columns[0]];

test("the guess for the shelter's file reads every animal with an outcome as the mapping written by hand does, and none without one", async () => {
  const file = `${root}examples/longbeach-sample.csv`;
  const guess = guessMapping((await readColumns(rowsIn(await openFile(file)))).columns);
  assert.ok(guess);
  assert.deepEqual(guess.unsure, []);
  parseMapping(JSON.stringify(guess.mapping), "the guess");
  const byHand = await readSource(rowsIn(await openFile(file)), await mappingOf("examples/longbeach.mapping.json"), file);
  const ours = await readSource(rowsIn(await openFile(file)), guess.mapping, file);
  assert.deepEqual(
    ours.rows.map(({ pet: { profile: _facts, ...pet } }) => pet),
    byHand.rows.map(({ pet }) => pet).filter(({ status }) => status !== "available"),
  );
});

async function mappingOf(path: string) {
  const { readFile } = await import("node:fs/promises");
  return parseMapping(await readFile(`${root}${path}`, "utf8"), path);
}

test("headers are recognized by their whole words, in any spelling", async () => {
  for (const header of [
    "petId,petName,species,availability",
    "Pet ID,Pet name,Species,Availability",
    "PET_ID,PET_NAME,SPECIES,AVAILABILITY",
    "Animal #,ANIMALNAME,Kind of animal,PetStatus",
    "Nr.,Tiername,Tierart,Verfügbarkeit",
    "Numéro,Nom,Espèce,Statut",
    "Codice,Nome,Specie,Stato",
    "Nummer,Naam,Diersoort,Status",
  ]) {
    const guess = await guessOf(header, "1,Rex,Dog,For sale", "2,Tom,Cat,On hold", "3,Bo,Dog,For sale");
    assert.deepEqual(chosen(guess), header.split(","), header);
    assert.deepEqual(guess.mapping.status?.values, { "for sale": "available", "on hold": "pending" });
    assert.deepEqual(guess.unsure, [], header);
  }
});

test("the column that fits best gets the field, not the first with a word of it", async () => {
  for (const [header, rows, expected] of [
    ["Shelter Name,Name,Species", ["North,Rex,Dog", "North,Tom,Cat", "North,Bo,Dog"], [undefined, "Name", "Species", undefined]],
    ["Name,Type,Species", ["Rex,Stray,Dog", "Tom,Owner,Cat", "Bo,Stray,Dog"], [undefined, "Name", "Species", undefined]],
    [
      "ID,Name,Species,InsuranceStatus,PetStatus",
      ["1,Rex,Dog,paid,sold", "2,Tom,Cat,open,available", "3,Bo,Dog,paid,sold"],
      ["ID", "Name", "Species", "PetStatus"],
    ],
    [
      "animal_id,animal_name,animal_type,outcome_subtype,outcome_type",
      ["A1,Rex,dog,,euthanasia", "A2,Tom,cat,web,adoption", "A3,Bo,dog,,died"],
      ["animal_id", "animal_name", "animal_type", "outcome_type"],
    ],
    ["Kennel No,Name,Animal No", ["1,Rex,A1", "1,Tom,A2", "2,Bo,A3"], ["Animal No", "Name", undefined, undefined]],
    [
      "Code,Name,Breed,City,State",
      ["1,Rex,Pug,Long Beach,CA", "2,Tom,Tabby,Dallas,TX", "3,Bo,Pug,Reno,NV"],
      ["Code", "Name", "Breed", undefined],
    ],
  ] as const) {
    assert.deepEqual(chosen(await guessOf(header, ...rows)), expected, header);
  }
});

test("a column whose values are statuses is the status, whatever its header says", async () => {
  const guess = await guessOf("Name,Species,Situation", "Rex,Dog,for sale", "Tom,Cat,sold", "Bo,Dog,reserved");
  assert.deepEqual(chosen(guess), [undefined, "Name", "Species", "Situation"]);
});

test("a column whose header is a status word, or the date of a departure, is asked about: its animals are not simply for sale", async () => {
  for (const header of ["available", "Adopted", "Is sold?", "forSale", "Verkauft", "Disponible", "reserved", "In stock"]) {
    const { mapping } = await guessOf(`id,name,species,${header}`, "1,Rex,Dog,yes", "2,Tom,Cat,no", "3,Bo,Dog,yes");
    assert.deepEqual(mapping.status, { columns: [header], values: {} }, header);
  }
  const { mapping: counted } = await guessOf("id,name,species,In stock", "1,Rex,Dog,2", "2,Tom,Cat,0", "3,Bo,Dog,1");
  assert.deepEqual([counted.stock, counted.status], [{ column: "In stock" }, undefined]);
  for (const header of ["Date of Death", "Outcome Date", "Adoption date", "sold_on", "Verkauft am", "Sterbedatum"]) {
    const days = Array.from({ length: 90 }, (_, day) => `${day},Rex ${day},Dog,${day % 3 ? "" : `2026-01-${day}`}`);
    const { mapping, unsure } = await guessOf(`id,name,species,${header}`, ...days);
    assert.deepEqual([mapping.status, unsure], [undefined, ["status"]], header);
  }
  for (const header of ["Adoption fee note", "Units sold", "Sale price", "Microchip status", "Foster parent", "Date of birth", "Adopted"]) {
    const { mapping, unsure } = await guessOf(`id,name,species,${header}`, "1,Rex,Dog,", "2,Tom,Cat,", "3,Bo,Dog,");
    assert.deepEqual([mapping.status, unsure], [undefined, []], header);
  }
});

test("the guess says which fields it is unsure about", async () => {
  const two = await guessOf("Name,Species,Status,Availability", "Rex,Dog,sold,sold", "Tom,Cat,sold,for sale", "Bo,Dog,for sale,sold");
  assert.deepEqual(two.unsure, ["status"]);
  const texts = Array.from({ length: 61 }, (_, i) => `Animal ${i},Dog,word ${i}`);
  assert.deepEqual((await guessOf("Name,Species,Status", ...texts)).unsure, ["status"], "too many values to be a status");
  assert.deepEqual((await guessOf("Anrede,Tierart", "Rex,Hund", "Tom,Katze")).unsure, ["name"], "no header names it");
});

test("a value gets a status only if it says clearly what it is; an empty cell has none", async () => {
  const guess = await guessOf("Name,Status", "Rex,sold", "Tom,purple", "Bo,", "Kim,Not available");
  assert.deepEqual(guess.mapping.status?.values, { sold: "sold" });
});

test("an animal with an outcome of unknown words has left; one without an outcome is asked about", async () => {
  const guess = await guessOf("Name,Outcome type", "Rex,Barn placement", "Tom,", "Bo,Foster", "Kim,Unknown");
  assert.deepEqual(guess.mapping.status?.values, { "barn placement": "sold", foster: "pending" });
});

test("a column that names the category is used even if few rows have one, and never if none has", async () => {
  assert.deepEqual(chosen(await guessOf("id,name,species", "1,Rex,Dog", "2,Tom,", "3,Bo,"))[2], "species");
  assert.deepEqual(chosen(await guessOf("id,name,species", "1,Rex,", "2,Tom,", "3,Bo,"))[2], undefined);
  assert.deepEqual(chosen(await guessOf("id,name,species,type", "1,Rex,Dog,", "2,Tom,Cat,Stray", "3,Bo,Dog,"))[2], "species");
});

test("a column becomes the id only if its header says so", async () => {
  assert.equal((await guessOf("name,species", "Rex,Dog")).mapping.id, undefined);
  assert.equal((await guessOf("Name,Nr.,Tierart", "Rex,1,Hund", "Tom,2,Katze")).mapping.id, "Nr.");
});

test("a file with only names gets one category that can be changed; a file without a header gets no guess", async () => {
  assert.deepEqual(await guessOf("Name", "Rex"), {
    mapping: { name: { columns: ["Name"], transforms: ["strip-stars"] }, category: { columns: [], default: "Other" } },
    unsure: [],
  });
  assert.equal(guessMapping([]), undefined);
  assert.equal(guessMapping((await columnsOf("", "Rex")).columns), undefined);
});

test("a column whose header names a fact and nothing else becomes that fact, if the fact can have each of its values", async () => {
  for (const header of [
    "Name,Category,Species,Breed,Sex,Date of birth,Colour,Size",
    "pet_name,category,species,breed,gender,DOB,primary_color,size",
    "Tiername,Kategorie,Tierart,Rasse,Geschlecht,Geburtsdatum,Fellfarbe,Größe",
    "Nom,Catégorie,Espèce,Race,Sexe,Date de naissance,Couleur,Taille",
    "Nombre,Categoría,Especie,Raza,Sexo,Fecha de nacimiento,Color,Tamaño",
    "Naam,Categorie,Diersoort,Ras,Geslacht,Geboortedatum,Kleur,Maat",
  ]) {
    const row = (name: string, born: string) => `${name},Dogs,Dog,Pug,Female,${born},Black,Small`;
    const { mapping, unsure } = await guessOf(header, row("Rex", "2024-05-17"), row("Tom", "2019"), row("Bo", ""));
    const { species, breed, sex, born, colour, size } = mapping.facts ?? {};
    const columns = [mapping.name, mapping.category, species, breed, sex, born, colour, size].map((field) => field?.columns[0]);
    assert.deepEqual([columns, unsure], [header.split(","), []], header);
    const inOtherForm = await guessOf(header, row("Rex", "2024-05-17"), row("Tom", "17/05/2024"));
    assert.deepEqual([inOtherForm.mapping.facts?.born, inOtherForm.mapping.facts?.sex?.columns.length], [undefined, 1], header);
    const long = await guessOf(header, row("Rex", "2024"), `Tom,Dogs,Dog,Pug,${"Female ".repeat(20)},2024,Black,Small`);
    assert.deepEqual([long.mapping.facts?.sex, long.mapping.facts?.born?.columns.length], [undefined, 1], header);
  }
  for (const header of ["Sex at intake", "Owner sex", "Sibling breed", "Born in", "Kennel size", "Secondary color", "Age", "Sexed"]) {
    const { mapping } = await guessOf(`Name,Species,${header}`, "Rex,Dog,2019", "Tom,Cat,2020", "Bo,Dog,2021");
    assert.equal(mapping.facts, undefined, header);
  }
});

test("descriptions, prices, photos and stock are recognized in eight languages, and columns about something else are not", async () => {
  for (const header of [
    "Name,Description,Price,Photo,Stock",
    "Tiername,Beschreibung,Verkaufspreis,Bild 1,Lagerbestand",
    "Nom,Description,Prix de vente,Photos,Quantité en stock",
    "Nombre,Descripción,Precio,Imagen,Existencias",
    "Nome,Descrizione,Prezzo,Immagine,Giacenza",
    "Naam,Omschrijving,Prijs,Foto,Voorraad",
    "Nome,Descrição,Preço,Imagem,Quantidade",
    "Imię,Opis,Cena,Zdjęcie,Stan magazynowy",
  ]) {
    const row = (name: string, price: string, stock: number) => `${name},A friendly animal,${price},https://a.example/${name}.jpg,${stock}`;
    const { mapping, unsure } = await guessOf(header, row("Rex", "12.50 EUR", 1), row("Tom", "EUR 9.00", 1), row("Bo", "100 EUR", 3));
    const { name, description, price, photos, stock } = mapping;
    const columns = [name.columns[0], description?.columns[0], price?.column, photos?.columns[0], (stock as { column: string }).column];
    assert.deepEqual(columns, header.split(","));
    assert.deepEqual(unsure, [], header);
  }
  for (const [header, value] of [
    ["Cost price", "12.50 EUR"],
    ["Einkaufspreis", "12.50 EUR"],
    ["Price in cents", "1250"],
    ["Photo", "rex.jpg"],
    ["Website", "https://a.example/rex"],
    ["Photo count", "3"],
    ["Units sold", "3"],
    ["Stock no", "A-1"],
    ["Price", "on request"],
    ["Fee", "0.00"],
  ] as const) {
    const { mapping } = await guessOf(`Name,Species,${header}`, `Rex,Dog,${value}`, `Tom,Cat,${value}`, `Bo,Dog,${value}`);
    assert.deepEqual([mapping.price, mapping.photos, mapping.stock], [undefined, undefined, undefined], header);
  }
});
