import type { PetStatus } from "./mapping-schema.ts";
import { valueKey } from "./mapping.ts";

/*
 * The statuses that words in imported files stand for, in English, German, French, Spanish, Italian, Dutch, Portuguese and Polish. A value gets a
 * status only if all that it says agrees: an animal that is not for sale must never be offered.
 */

/** The ways in which an animal leaves. As a status, each is `sold`. */
export type Departure = "sold" | "adopted" | "outcome";
type WordMeaning = PetStatus | Departure | "unclear";

/** Words and phrases without accents. Longer phrases are read first, so that `ready for adoption` is not read as `adoption`. */
const phrases: Record<WordMeaning, string> = {
  available: `
    available; available for adoption; available now; for sale; for adoption; ready for adoption; up for adoption; in stock; adoptable; active;
    verfugbar; auf lager; vorratig; zu verkaufen; zu vermitteln; zur vermittlung; abzugeben; lieferbar;
    disponible; disponibles; a vendre; a adopter; a l adoption; en stock;
    en venta; a la venta; en adopcion; se vende;
    disponibile; disponibili; in vendita; in adozione; adottabile;
    beschikbaar; te koop; ter adoptie; op voorraad;
    disponivel; a venda; para adocao; em estoque;
    dostepny; dostepna; dostepne; na sprzedaz; do adopcji; do sprzedania`,
  pending: `
    pending; adoption pending; pending adoption; sale pending; reserved; reservation; on hold; hold; medical hold; foster; fostered; in foster; foster care; in foster care;
    foster to adopt;
    reserviert; vorgemerkt; ausstehend; pflegestelle; auf pflegestelle;
    reserve; reservee; en attente; en famille d accueil;
    reservado; reservada; pendiente; en acogida;
    riservato; riservata; prenotato; prenotata; in attesa; in affido;
    gereserveerd; in optie; in behandeling; gastgezin;
    pendente; em lar temporario;
    zarezerwowany; zarezerwowana; zarezerwowane; oczekujacy; oczekujaca`,
  // Sold or dead: what no animal comes back from.
  sold: `
    sold; sold out; died; died in shelter; died at shelter; died off shelter; dead; deceased; doa; dead on arrival; euthanasia; euthanized; euthanised; euth; death; decease; passed away; put to sleep; put down; perished;
    verkauft; ausverkauft; verstorben; gestorben; tot; eingeschlafert; tod; todesdatum; todestag; sterbedatum;
    vendu; vendue; vendus; vendues; decede; decedee; mort; morte; euthanasie; euthanasiee; deces;
    vendido; vendida; fallecido; fallecida; muerto; muerta; eutanasia; muerte; fallecimiento; defuncion;
    venduto; venduta; deceduto; deceduta; morto; morta; soppresso; soppressa; decesso;
    verkocht; uitverkocht; overleden; dood; geeuthanaseerd; overlijden; overlijdensdatum; sterfdatum;
    falecido; falecida; obito; falecimento; sacrificado; sacrificada;
    sprzedany; sprzedana; sprzedane; zmarly; zmarla; zmarl; uspiony; uspiona; smierc; smierci; zgon; zgonu; eutanazja; nie zyje`,
  // What an animal may come back from.
  adopted: `
    adopted; gone; rehomed; returned to owner; return to owner; rto; reclaimed; redeemed; missing; stolen; escaped; rto adopt;
    vermittelt; adoptiert; entlaufen; adopte; adoptee; adoptado; adoptada; adottato; adottata; geadopteerd; adotado; adotada; adoptowany; adoptowana; adoptowane`,
  // What says as a value that an animal has left, and as the name of a column perhaps only where it is from, as in `Rescue: yes`.
  outcome: `
    adoption; transferred; transfer; transport; returned to rescue; return to rescue; return to wild habitat; shelter neuter return; trap neuter release;
    trap neuter return; community cat; homefirst; rescue; rescued; released; released to wild; disposal; lost in care; relocate; duplicate;
    abgegeben; transfere; transferee; trasladado; trasladada; trasferito; trasferita; overgeplaatst; transferido; transferida`,
  // Words that a known word must not make clear.
  unclear: `
    not; no; non; nope; never; none; un; t; cannot; false; falsch; faux; falso; no longer;
    cancelled; canceled; failed; return; returned; storniert; annule; annulee; anulado; annullato; geannuleerd; cancelado; anulowany; nein; nee; without; except; ineligible; unavailable; inactive; unadoptable; unsold; indisponible; unreserved;
    nicht; nicht mehr; kein; keine; nie; noch nicht; unverkauflich; ne; pas; plus; sans; jamais; ya; sin; nunca; ninguno; indisponibile; piu; mai; senza;
    niet; geen; nooit; nao; sem; indisponivel; nie; bez; niedostepny; niedostepna; niedostepne; nieaktywny; or; oder; ou; lub; maybe; unknown; unbekannt`,
};

/** Words for yes. */
export const yesWords = new Set("yes true ja wahr oui vrai si verdadero vero waar sim verdadeiro tak prawda".split(" "));
/** Words that may stand beside those of `available` without changing their meaning. */
const fillers = new Set([
  ...yesWords,
  ..."is are now today currently immediately ist jetzt sofort est es esta ahora sono ora adesso nu agora jest sa teraz and und et y e en i the a".split(
    " ",
  ),
]);
/** Signs that may change the meaning of a value, as in `!available`, `available?` and `❌ available`. */
const signs = /^\s*!|[?¿=¬]|(?![✓✔☑✅🟢])\p{So}/u;

const readings = new Map<string, WordMeaning>();
for (const [reading, text] of Object.entries(phrases) as [WordMeaning, string][])
  for (const phrase of text.split(";")) readings.set(wordsOf(phrase).join(" "), reading);
const longest = Math.max(...Array.from(readings.keys(), (phrase) => phrase.split(" ").length));
/** The most words of a value that are read. */
const wordsMax = 20;

/**
 * The status that a value stands for. Undefined if it has no known word, negates one, or has words for several statuses; and for an empty
 * value, because nothing in it says that the animal is for sale. Nor is an animal for sale
 * that is `available soon`: beside an unknown word, `available` is no status.
 */
export function statusOf(value: string): PetStatus | undefined {
  const words = wordsOf(value);
  if (words.length > wordsMax) return undefined;
  const found = new Set<PetStatus | "unclear">();
  let isUnderstood = !signs.test(value);
  for (const { reading, word } of readingsOf(words)) {
    if (reading !== undefined) found.add(isDeparture(reading) ? "sold" : reading);
    else if (!fillers.has(word)) isUnderstood = false;
  }
  const [only] = found;
  if (only === "unclear" || (only === "available" && !isUnderstood)) return undefined;
  return found.size === 1 ? only : undefined;
}

/**
 * How words say that an animal leaves, the clearest way of several. Undefined if they do not say it, or also say something else, as in “never sold”.
 */
export function departureOf(words: readonly string[]): Departure | undefined {
  const found = new Set(readingsOf(words).map(({ reading }) => reading));
  if (found.has("unclear") || found.has("available")) return undefined;
  return (["sold", "adopted", "outcome"] as const).find((one) => found.has(one));
}

function isDeparture(reading: WordMeaning): reading is Departure {
  return reading === "sold" || reading === "adopted" || reading === "outcome";
}

/** Whether words negate or leave open what is beside them. */
export function isUnclear(words: readonly string[]): boolean {
  return readingsOf(words).some(({ reading }) => reading === "unclear");
}

/** The words beside those that say a status, such as `date` in “Date of death”. */
export function besideStatus(words: readonly string[]): string[] {
  return readingsOf(words).flatMap(({ reading, word }) => (reading === undefined || reading === "unclear" ? [word] : []));
}

/** Whether some of these words say a status, as in a header. */
export function saysStatus(words: readonly string[]): boolean {
  return readingsOf(words).some(({ reading }) => reading !== undefined && reading !== "unclear");
}

/** The phrases of words, and the first word of each. Longer phrases are read first. */
function readingsOf(words: readonly string[]): { reading: WordMeaning | undefined; word: string }[] {
  const read: { reading: WordMeaning | undefined; word: string }[] = [];
  for (let from = 0; from < words.length;) {
    const [length, reading] = phraseAt(words, from);
    read.push({ reading, word: words[from]! });
    from += length;
  }
  return read;
}

/** The longest known phrase that begins at a word, or the word alone. */
function phraseAt(words: readonly string[], from: number): [length: number, reading: WordMeaning | undefined] {
  for (let length = Math.min(longest, words.length - from); length > 0; length--) {
    const reading = readings.get(words.slice(from, from + length).join(" "));
    if (reading !== undefined) return [length, reading];
  }
  return [1, undefined];
}

/** The words of a value, without accents and in lower case. */
export function wordsOf(text: string): string[] {
  const plain = valueKey(text)
    .normalize("NFD")
    .replaceAll(/\p{M}+/gu, "")
    .replaceAll("ł", "l")
    .replaceAll("ß", "ss")
    .replaceAll("ø", "o");
  // U+02B9 to U+02BD are letters by Unicode, which people write as apostrophes.
  return plain.split(/(?:[^\p{L}\p{N}]|[\u02B9-\u02BD])+/u).filter((word) => word !== "");
}
