import { valueKey, type PetStatus } from "./mapping.ts";

/*
 * The statuses that words in imported files stand for, in English, German, French, Spanish, Italian, Dutch, Portuguese and Polish. A value gets a
 * status only if all that it says agrees: an animal that is not for sale must never be offered.
 */

/** Words and phrases without accents. Longer phrases are read first, so that `ready for adoption` is not read as `adoption`. */
const phrases: Record<PetStatus | "unclear", string> = {
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
  sold: `
    sold; sold out; adopted; adoption; gone; rehomed; transferred; transfer; transport; returned to owner; return to owner; returned to rescue; return to rescue; rto;
    return to wild habitat; shelter neuter return; trap neuter release; trap neuter return; community cat; homefirst; reclaimed; redeemed;
    rescue; rescued; released; released to wild; died; dead; deceased; disposal; doa; dead on arrival; euthanasia; euthanized; euthanised; euth; missing; stolen; escaped;
    lost in care; relocate; rto adopt; duplicate;
    verkauft; ausverkauft; vermittelt; adoptiert; verstorben; gestorben; tot; eingeschlafert; entlaufen; abgegeben;
    vendu; vendue; vendus; adopte; adoptee; decede; decedee; mort; morte; euthanasie; euthanasiee; transfere; transferee;
    vendido; vendida; adoptado; adoptada; fallecido; fallecida; muerto; muerta; eutanasia; trasladado; trasladada;
    venduto; venduta; adottato; adottata; deceduto; deceduta; morto; morta; soppresso; trasferito; trasferita;
    verkocht; uitverkocht; geadopteerd; overleden; geeuthanaseerd; overgeplaatst;
    adotado; adotada; falecido; falecida; transferido; transferida;
    sprzedany; sprzedana; sprzedane; adoptowany; adoptowana; zmarly; zmarla; uspiony; uspiona`,
  // Words that a known word must not make clear.
  unclear: `
    not; no; non; nope; never; none; un; t; cannot; false; falsch; faux; falso; no longer;
    cancelled; canceled; failed; return; returned; storniert; annule; annulee; anulado; annullato; geannuleerd; cancelado; anulowany; nein; nee; without; except; ineligible; unavailable; inactive; unadoptable; unsold; indisponible; unreserved;
    nicht; nicht mehr; kein; keine; nie; noch nicht; unverkauflich; ne; pas; plus; sans; jamais; ya; sin; nunca; ninguno; indisponibile; piu; mai; senza;
    niet; geen; nooit; nao; sem; indisponivel; nie; bez; niedostepny; niedostepna; niedostepne; nieaktywny; or; oder; ou; lub; maybe; unknown; unbekannt`,
};

/** Words that may stand beside those of `available` without changing their meaning. */
const fillers = new Set(
  "is are now today currently immediately yes ist jetzt sofort ja est oui es esta ahora si sono ora adesso nu sim agora jest sa teraz tak and und et y e en i the a".split(
    " ",
  ),
);
/** Signs that may change the meaning of a value, as in `!available`, `available?` and `❌ available`. */
const signs = /^\s*!|[?¿=¬]|(?![✓✔☑✅🟢])\p{So}/u;

type Reading = PetStatus | "unclear";

const readings = new Map<string, Reading>();
for (const [reading, text] of Object.entries(phrases) as [Reading, string][])
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
  const found = new Set<Reading>();
  let isUnderstood = !signs.test(value);
  for (let from = 0; from < words.length;) {
    const [length, reading] = phraseAt(words, from);
    if (reading !== undefined) found.add(reading);
    else if (!fillers.has(words[from]!)) isUnderstood = false;
    from += length;
  }
  const [only] = found;
  if (only === "unclear" || (only === "available" && !isUnderstood)) return undefined;
  return found.size === 1 ? only : undefined;
}

/** Whether some of these words say a status, as in a header. */
export function saysStatus(words: readonly string[]): boolean {
  return words.some((_, from) => ![undefined, "unclear"].includes(phraseAt(words, from)[1]));
}

/** The longest known phrase that begins at a word, or the word alone. */
function phraseAt(words: readonly string[], from: number): [length: number, reading: Reading | undefined] {
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
