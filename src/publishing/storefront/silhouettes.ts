import { type Markup, markup } from "./markup.ts";

/** The shapes of animals without a photo, in a square of 64, and the words in a category's name that choose them. */
const shapes: { name: string; words: string[]; path: string }[] = [
  {
    name: "fish",
    words: ["fish", "fishes", "goldfish", "aquarium", "aquatics", "koi", "guppy", "guppies", "fische", "fisch", "poissons", "peces"],
    path: "M6 32c6-10 16-16 27-16 7 0 12 3 16 8l9-7c1.500 5 1.500 25 0 30l-9-7c-4 5-9 8-16 8-11 0-21-6-27-16zm13-5a3 3 0 1 0 .01 0z",
  },
  {
    name: "cat",
    words: ["cat", "cats", "kitten", "kittens", "kitty", "katze", "katzen", "kater", "chat", "chats", "gato", "gatos"],
    path: "M12 9c5 2 9 5 11.500 8.500a26 26 0 0 1 17 0C43 14 47 11 52 9c2 7 2 13 1 18 1.300 2.500 2 5.300 2 8 0 12-10 20-23 20S9 47 9 35c0-2.700.7-5.500 2-8-1-5-1-11 1-18zm12 22a3 4 0 1 0 .01 0zm16 0a3 4 0 1 0 .01 0zm-11 11h6l-3 3.500z",
  },
  {
    name: "rabbit",
    words: ["rabbit", "rabbits", "bunny", "bunnies", "hare", "kaninchen", "hase", "hasen", "lapins", "lapin", "conejos"],
    path: "M24 4c5 0 8 9 8 18 0-9 3-18 8-18 6 0 7 13 3 22 5 3.500 8 8.500 8 14 0 11-8.500 18-19 18s-19-7-19-18c0-5.500 3-10.500 8-14-4-9-3-22 3-22zm1 31a2.700 3.200 0 1 0 .01 0zm14 0a2.700 3.200 0 1 0 .01 0zm-10 9h6l-3 3.500z",
  },
  {
    name: "rodent",
    words: [
      "rodent",
      "rodents",
      "hamster",
      "hamsters",
      "guinea",
      "mouse",
      "mice",
      "rat",
      "rats",
      "gerbil",
      "gerbils",
      "chinchilla",
      "chinchillas",
      "ferret",
      "ferrets",
      "meerschweinchen",
      "nager",
      "nagetiere",
      "small",
    ],
    path: "M16 10c5 0 9 3 10.500 7.200a26 26 0 0 1 11 0A11 11 0 0 1 59 21c0 5-3 9-7.500 10.500.3 1.300.5 2.600.5 4C52 48 43 56 32 56S12 48 12 35.500c0-1.400.2-2.700.5-4A11 11 0 0 1 16 10zm9 21a2.700 3.200 0 1 0 .01 0zm14 0a2.700 3.200 0 1 0 .01 0zm-7 9c3 0 4.500 1.300 4.500 2.800S34 46 32 46s-4.500-1.700-4.500-3.200S29 40 32 40z",
  },
  {
    name: "bird",
    words: [
      "bird",
      "birds",
      "parrot",
      "parrots",
      "budgie",
      "budgies",
      "canary",
      "canaries",
      "parakeet",
      "parakeets",
      "cockatiel",
      "cockatiels",
      "chicken",
      "chickens",
      "hens",
      "ducks",
      "poultry",
      "finches",
      "vogel",
      "vögel",
      "papageien",
      "wellensittiche",
      "oiseaux",
      "aves",
    ],
    path: "M5 53l13-12c-2-3-3-6-3-9C15 20 24 11 35 11c6.500 0 12 3.500 14 9l10 4-9.500 4C50 43 40 53 26 53zm34-33a2.600 2.600 0 1 0 .01 0z",
  },
  {
    name: "turtle",
    words: ["turtle", "turtles", "tortoise", "tortoises", "schildkröten", "schildkröte", "tortues", "tortugas"],
    path: "M8 38c0-13 9-22 20-22s20 9 20 22c1-5 3-9 7-9 4 0 6 3 6 6s-3 6-8 6h-3l2 8h-8l-2-6H18l-2 6H8l2-7-6-2zm47-5a1.600 1.600 0 1 0 .01 0z",
  },
  {
    name: "snake",
    words: ["snake", "snakes", "reptile", "reptiles", "lizard", "lizards", "gecko", "geckos", "schlangen", "reptilien", "echsen"],
    path: "M17 12h15c10 0 16 5 16 12s-6 12-15 12h-9c-3 0-4 1-4 3s1.500 3 4 3h31c3 0 3 10 0 10H23c-9 0-15-5-15-13s6-13 15-13h10c3 0 5-1 5-3s-2-3-5-3H19c-8 0-12-3-12-5s4-3 10-3zm-1 2.500a1.600 1.600 0 1 0 .01 0z",
  },
  {
    name: "horse",
    words: ["horse", "horses", "pony", "ponies", "donkeys", "pferde", "ponys", "chevaux", "caballos"],
    path: "M28 6l6 6c10 3 15 10 18 20l6 10c2 3 0 9-4 10-3 1-6-.5-8-3l-9-5c-3 6-2 10 2 15H13c-3-20 0-37 15-46zm13 19a2.400 2.400 0 1 0 .01 0z",
  },
  {
    name: "dog",
    words: ["dog", "dogs", "puppy", "puppies", "hund", "hunde", "welpe", "welpen", "chien", "chiens", "perro", "perros"],
    path: "M20 12c3.500-2 7.500-3 12-3s8.500 1 12 3c8-1 14 6 14 15 0 8-3 14-7 14-1 0-2-.4-2.800-1C46 50 40 56 32 56s-14-6-16.200-16c-.8.6-1.800 1-2.800 1-4 0-7-6-7-14 0-9 6-16 14-15zm5 15a2.800 3.200 0 1 0 .01 0zm14 0a2.800 3.200 0 1 0 .01 0zm-7 10c-3 0-5 1.400-5 3.200S29.500 44 32 44s5-2 5-3.800S35 37 32 37z",
  },
];

const paw =
  "M14 29a5.600 7.500 0 1 0 .01 0zm11-13a5.900 8.200 0 1 0 .01 0zm14 0a5.900 8.200 0 1 0 .01 0zm11 13a5.600 7.500 0 1 0 .01 0zM32 30c-8 0-16 9-16 17 0 5 3.700 8 8.300 8 3 0 5-1.400 7.700-1.400s4.700 1.400 7.700 1.400c4.600 0 8.300-3 8.300-8 0-8-8-17-16-17z";

const byWord = new Map(shapes.flatMap(({ words, path }) => words.map((word) => [word, path] as const)));

/** The picture of an animal without a photo, chosen by words about it, such as its category's name. */
export function silhouetteOf(words: string): Markup {
  return shapeOf(outlineOf(words));
}

/** The outline of that picture: the `d` of an SVG path in a square of 64, with the fill rule `evenodd`. */
export function outlineOf(words: string): string {
  const found = words
    .toLowerCase()
    .split(/[^\p{L}]+/u)
    .find((word) => byWord.has(word));
  return found === undefined ? paw : byWord.get(found)!;
}

/** The sign of a shop without a logo. */
export const pawSign = shapeOf(paw);

function shapeOf(path: string): Markup {
  return markup`<svg viewBox="0 0 64 64" fill="currentColor" fill-rule="evenodd" aria-hidden="true"><path d="${path}" /></svg>`;
}
