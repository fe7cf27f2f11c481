import { besideStatus, departureOf, isUnclear, saysStatus, statusOf, wordsOf, type Departure } from "./status-words.ts";

/** The fields that a column is chosen for. */
export const guessedFields = ["id", "name", "category", "status", "description", "price", "photos", "stock"] as const;
export type GuessedField = (typeof guessedFields)[number];

/**
 * The words of headers that name each field, the most specific first, in the languages of European spreadsheets. They are whole words without
 * accents.
 */
const fieldWords: Record<GuessedField, string[]> = {
  id: "id sheltercode number no nr num nummer numero code codice codigo kod sku ref reference identifier kennung numer".split(" "),
  name: "name title tiername rufname hundename katzenname nom nombre nome naam navn namn imie nazwa".split(" "),
  category:
    "category categories species specie kategorie kategorien categorie categoria categorias tierart espece especes especie especies soort diersoort gattung tiergattung rodzaj gatunek kategoria type kind art class tipo typ breed rasse race raza razza ras raca rasa group".split(
      " ",
    ),
  status:
    "status availability outcome verfugbarkeit disponibilite disponibilidad disponibilita zustand statut etat estado stato disponibilidade dostepnosc stan".split(
      " ",
    ),
  description:
    "description beschreibung descripcion descrizione omschrijving beschrijving descricao opis bio biography steckbrief about body text story".split(
      " ",
    ),
  price:
    "price preis verkaufspreis prix precio prezzo prijs preco cena schutzgebuhr fee gebuhr tarif tarifa tariffa tarief amount betrag montant importe importo bedrag kwota".split(
      " ",
    ),
  photos:
    "photo photos picture pictures image images foto fotos bild bilder fotografia fotografias imagen imagenes immagine immagini imagem imagens afbeelding afbeeldingen zdjecie zdjecia img pic pics".split(
      " ",
    ),
  stock:
    "stock quantity qty inventory bestand lagerbestand lager menge anzahl quantite cantidad existencias quantita giacenza scorte voorraad aantal quantidade estoque ilosc zapas magazynowy pieces pcs stuck stueck stk units".split(
      " ",
    ),
};
/** Words that say no more than that a column is about the animals. */
const subjectWords = new Set(
  "animal animals pet pets tier tiere animaux mascota mascotas animale animali dier dieren zwierze zwierzeta dog cat hund katze current the of de des del di der das la le el".split(
    " ",
  ),
);
/** Words that leave the meaning of a field's word as it is, such as `in` and `EUR` in `Price in EUR`. */
const neutralWords: Partial<Record<GuessedField, Set<string>>> = {
  price: new Set("in eur euro usd gbp chf cad aud nzd sek nok dkk pln czk huf variant adoption".split(" ")),
  photos: new Set("url urls link links src address web http https 0 1 2 3 4 5 6 7 8 9 10 main large".split(" ")),
  stock: new Set("in auf on hand en na variant item stan a total count".split(" ")),
};
/** Words of columns about something else, whatever other words are beside them. */
const foreignWords = new Set(
  `shelter owner insurance breeder vet veterinarian contact person customer client staff user agent finder microchip chip tag kennel cage street city town zip postal
  county country state location address phone mail email file photo image picture video url link date time day month year age born birth dob color colour coat sex
  gender size weight price intake sub subtype reason cause condition medical spay neuter altered health secondary previous previously former formerly earlier prior last past ever
  before vorher zuvor avant antes prima eerder wczesniej total count planned expected old parent mother father mutter vater madre padre mere pere moeder vader matka ojciec sibling litter group tierheim besitzer halter farbe datum alter
  preis foto bild proprietaire couleur prix precio color dueno colore prezzo padrone eigenaar kleur prijs cor preco wlasciciel kolor cena
  cost costs purchase wholesale einkaufs einkaufspreis ek achat compra acquisto inkoop zakup discount rabatt deposit shipping cents cent pence minor min max minimum maximum alt thumbnail sold ordered reserved verkauft`.split(
    /\s+/,
  ),
);
/** The score of a header without a word of the field, where the values alone can show the field. */
const byContentAlone = 0.45;
/** The fields that values alone can show. */
const fieldsOfContent = new Set<GuessedField>(["status", "price", "photos"]);
/** The score of a header such as "Adopted?" or "For sale", whose values say whether that is so. */
const byStatusWord = 0.8;
/** How much the score falls with each place in a field's list of words. */
const placeCost = 0.015;

/** How well a header names a field, from 0 to 1: less for each word that says something else. */
export function headerScore(field: GuessedField, name: string): number {
  const words = wordsIn(name);
  const [rank = -1] = words
    .map((word) => fieldWords[field].indexOf(word))
    .filter((place) => place >= 0)
    .toSorted((a, b) => a - b);
  const own = new Set(fieldWords[field]);
  const neutral = neutralWords[field];
  const others = words.filter((word) => !own.has(word) && !subjectWords.has(word) && !neutral?.has(word));
  // A word for something else, as in “owner name”, lowers the score more than an unknown word.
  const foreign = others.filter((word) => foreignWords.has(word)).length;
  if (field === "status" && rank < 0 && isAboutStatus(name) && !words.some((word) => dateWords.has(word))) return byStatusWord;
  if (rank < 0) return !fieldsOfContent.has(field) || (field !== "status" && foreign > 0) ? 0 : byContentAlone;
  return (1 - placeCost * rank) * 0.75 ** (others.length - foreign) * 0.25 ** foreign;
}

/** The words of headers that name each fact of a profile, in the same languages. */
const factWords = {
  species: "species tierart espece especes especie especies specie soort diersoort gatunek".split(" "),
  breed: "breed breeds rasse race raza razza ras raca rasa".split(" "),
  sex: "sex gender geschlecht sexe genre sexo genero sesso geslacht plec".split(" "),
  born: "born birth birthday dob geboren geburt geburtsdatum geburtstag naissance nacimiento nascita nascimento geboortedatum geboorte urodzenia".split(
    " ",
  ),
  colour: "colour color farbe fellfarbe couleur colore kleur cor kolor".split(" "),
  size: "size grosse taille tamano taglia grootte maat tamanho wielkosc rozmiar".split(" "),
};
export type FactName = keyof typeof factWords;
export const factNames = Object.keys(factWords) as FactName[];
/** Words that may stand beside that of any fact without changing its meaning. Words of dates may stand beside that of a birth. */
const neutralOfFacts = new Set("primary main coat fur m f w".split(" "));

/** Whether a header names a fact and says nothing else. */
export function namesFact(fact: FactName, name: string): boolean {
  const words = wordsIn(name);
  const isNeutral = (word: string): boolean =>
    subjectWords.has(word) || neutralOfFacts.has(word) || (fact === "born" && (dateWords.has(word) || word === "jahr"));
  const own = new Set<string>(factWords[fact]);
  return words.some((word) => own.has(word)) && words.every((word) => own.has(word) || isNeutral(word));
}

/** Whether a header has a word for a field. */
export function hasWordOf(field: GuessedField, name: string): boolean {
  return wordsIn(name).some((word) => fieldWords[field].includes(word));
}

/** Whether a header says that its column shows which animals can be sold, as "Status", "Adopted" and "Date of death" do. */
export function isAboutStatus(name: string): boolean {
  const words = wordsIn(name);
  if (statusOf(words.join(" ")) === "available") return true; // such as "In stock"
  const others = besideStatus(words).filter((word) => !dateWords.has(word));
  return (
    (saysStatus(words) || words.some((word) => fieldWords.status.includes(word) || departureWords.has(word))) &&
    !others.some((word) => foreignWords.has(word) || otherFieldWords.has(word))
  );
}
const dateNouns =
  "date time day month year datum todesdatum todestag sterbedatum overlijdensdatum sterfdatum verkaufsdatum vermittlungsdatum fecha data dia jour".split(
    " ",
  );
/** Words that make a header one of days, as in `Sold on`. */
export const dateWords = new Set([...dateNouns, ..."am on at le el il op em dnia".split(" ")]);
const saleWords = new Set("sale verkauf verkaufsdatum vente venta vendita venda verkoop sprzedaz sprzedazy".split(" "));
const departureWords = new Set([...saleWords, ..."vermittlungsdatum departure exit abgang outcome".split(" ")]);
const otherFieldWords = new Set((["price", "photos", "stock", "description"] as const).flatMap((field) => fieldWords[field]));

/**
 * How a header says that its animals have left, as “Deceased”, “Sold on”, “Adopted?” and “Outcome” do. Undefined for those about something else, and for a
 * negation. “Sale date” is the day of a sale, and “Sale” may be an offer.
 */
export function departureInHeader(name: string): Departure | undefined {
  const words = wordsIn(name);
  if (!isAboutStatus(name) || hasWordOf("id", name) || isUnclear(words)) return undefined;
  const isSale = words.some((word) => saleWords.has(word)) && words.some((word) => dateNouns.includes(word));
  return departureOf(words) ?? (isSale ? "sold" : words.some((word) => departureWords.has(word)) ? "outcome" : undefined);
}

/** Whether a header names a currency column. */
export function namesCurrency(name: string): boolean {
  return wordsIn(name).some((word) => currencyWords.has(word));
}
const currencyWords = new Set("currency wahrung waehrung devise moneda valuta moeda waluta".split(" "));

const knownWords = new Set([...Object.values(fieldWords).flat(), ...subjectWords, ...foreignWords]);
const isKnown = (word: string): boolean => knownWords.has(word) || saysStatus([word]);

/** The words of a header: `animal_id`, `Animal ID`, `animalId` and `ANIMALID` have the same, and `Animal #` has those of `animal number`. */
export function wordsIn(header: string): string[] {
  const spaced = header
    .replaceAll(/(\p{Ll})(\p{Lu})/gu, "$1 $2")
    .replaceAll(/(\p{L})(\d)/gu, "$1 $2")
    .replaceAll(/\bdateof(?=\p{L})/giu, "date of ")
    .replaceAll(/#|№|\bn[º°]/giu, " number ");
  return wordsOf(spaced).flatMap((word) => (isKnown(word) ? [word] : (compound(word) ?? [word])));
}

const compoundCharactersMax = 40;

/** Splits a word into two known ones, as in ANIMALNAME, INSURANCESTATUS or ISSOLD. */
function compound(word: string): string[] | undefined {
  if (word.startsWith("is") && saysStatus([word.slice(2)])) return ["is", word.slice(2)];
  for (let at = 3; at <= Math.min(word.length, compoundCharactersMax) - 2; at++) {
    const parts = [word.slice(0, at), word.slice(at)];
    if (parts.every(isKnown)) return parts;
  }
  return undefined;
}
