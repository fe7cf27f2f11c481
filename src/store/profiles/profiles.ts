import type { Transaction } from "../../platform/db/database.ts";
import { forPrograms, Id, named, Nullable, OwnId, Text, writtenBack } from "../../platform/http/schemas.ts";
import { Type, type Static } from "../../platform/json-schema.ts";
import { byId, invalidAt, unknownReference } from "../../platform/problem.ts";
import { Facts, FactsInput, FactsPatch } from "./facts.ts";

/** The most photos of one pet. */
export const photosMax = 10;
/** The highest price, in minor units: the largest safe integer. */
export const amountMax = Number.MAX_SAFE_INTEGER;

export const description = Text("A text for buyers.", 0, 5_000);
export const price = named(
  "Price",
  Type.Object(
    {
      amount: Type.Integer({ format: "int64", minimum: 0, maximum: amountMax, description: "In minor units: 4900 is 49.00 EUR." }),
      currency: Type.String({ minLength: 3, maxLength: 3, pattern: "^[A-Z]{3}$", description: "ISO 4217, such as `EUR`." }),
    },
    { additionalProperties: false },
  ),
);
const alt = Text("What the photo shows, for people who cannot see it.", 0, 500);

const Focus = named(
  "Focus",
  Type.Object(
    {
      x: Type.Integer({ minimum: 0, maximum: 100, description: "Percent from the left edge." }),
      y: Type.Integer({ minimum: 0, maximum: 100, description: "Percent from the top edge." }),
    },
    { additionalProperties: false, description: "The point that stays in view where the photo is cropped." },
  ),
);
type Focus = Static<typeof Focus>;

const PhotoSource = named(
  "PhotoSource",
  Type.Object({ url: Type.String(), type: Type.String(), width: Type.Integer(), height: Type.Integer() }, { additionalProperties: false }),
);

const id = Id("Unique identifier assigned on upload.");
const shown = {
  width: Type.Integer({ description: "Width in pixels of the picture at `url`." }),
  height: Type.Integer(),
  url: Type.String({ description: "The largest WebP picture." }),
  sources: Type.Array(PhotoSource, { description: "The photo in each format and size." }),
};
export const Photo = named(
  "Photo",
  Type.Object({ id, alt, focus: forPrograms(Type.Optional(Focus)), ...shown }, { additionalProperties: false }),
);
export type Photo = Static<typeof Photo>;

/** Fields of a photo that only answers set. They are accepted and ignored, because clients may send back what they read. */
const sentBack = {
  width: forPrograms(Type.Optional(Nullable(Type.Integer()))),
  height: forPrograms(Type.Optional(Nullable(Type.Integer()))),
  url: forPrograms(Type.Optional(Nullable(Type.String({ maxLength: 2_000 })))),
  sources: forPrograms(Type.Optional(Nullable(Type.Array(PhotoSource, { maxItems: 20 })))),
};

/** A photo in a list that a client writes. */
const PhotoOrder = named(
  "PhotoOrder",
  Type.Object(
    {
      id: Id("A photo of the profile."),
      alt: Type.Optional(Nullable(Text("If it is left out, the alternative text stays as it is.", 0, 500))),
      focus: forPrograms(Type.Optional(Nullable(Focus))),
      ...sentBack,
    },
    { additionalProperties: false },
  ),
);
const photoOrders = Type.Array(PhotoOrder, {
  maxItems: photosMax,
  description: "The photos to keep, in display order; all others are deleted. If this field is left out, all photos stay as they are.",
});

export const Profile = named(
  "Profile",
  Type.Object(
    {
      petId: Id("The pet that it describes."),
      description: Type.Optional(description),
      price: Type.Optional(price),
      facts: Type.Optional(Facts),
      photos: Type.Array(Photo, { description: "In display order." }),
    },
    { additionalProperties: false },
  ),
);
export type Profile = Static<typeof Profile>;
export type Price = Static<typeof price>;

const ProfileInput = named(
  "ProfileInput",
  Type.Object(
    {
      description: Type.Optional(description),
      price: Type.Optional(price),
      facts: forPrograms(Type.Optional(FactsInput)),
      photos: Type.Optional(photoOrders),
    },
    { additionalProperties: false },
  ),
);
export const WrittenProfile = writtenBack(ProfileInput, { petId: OwnId("petId") });

const pricePatch = named(
  "PricePatch",
  Type.Object(
    { amount: Type.Optional(Nullable(price.properties.amount)), currency: Type.Optional(Nullable(price.properties.currency)) },
    { additionalProperties: false, description: "Members that are left out stay as they are." },
  ),
);
type PricePatch = Static<typeof pricePatch>;

const ProfilePatch = named(
  "ProfilePatch",
  Type.Object(
    {
      description: Type.Optional(Nullable(description)),
      price: Type.Optional(Nullable(pricePatch)),
      facts: forPrograms(Type.Optional(Nullable(FactsPatch))),
      photos: Type.Optional(photoOrders),
    },
    { additionalProperties: false },
  ),
);

export const WrittenProfilePatch = writtenBack(ProfilePatch, { petId: OwnId("petId") });

export const ProfilePath = Type.Object({ petId: Id("The pet's identifier.") });
export const PhotoPath = Type.Object({ petId: Id("The pet's identifier."), photoId: Id("The photo's identifier.") });
export const PhotoQuery = Type.Object({ alt: Type.Optional(alt) });

/** The address of a photo on the web. */
export const PhotoUrl = (about: string) =>
  Type.String({
    minLength: 1,
    maxLength: 2_000,
    pattern: "^https?://[^\\x00-\\x20]*$",
    description: about,
    "x-text": "must be an address that begins with https:// or http://",
  });
export const PhotoAddress = Type.Object(
  { url: PhotoUrl("The address of the picture, such as `https://shop.example/rex.jpg`."), alt: Type.Optional(alt) },
  { additionalProperties: false },
);

/** A price after a merge patch (RFC 7396). @throws Problem `invalid_request` if the result lacks a member */
export function patchPrice(current: Price | null, patch: PricePatch | null | undefined): Price | null {
  if (patch === undefined) return current;
  if (patch === null) return null;
  const { amount = null, currency = null } = { ...current, ...patch };
  if (amount === null) throw invalidAt("body.price.amount", "is required");
  if (currency === null) throw invalidAt("body.price.currency", "is required");
  return { amount, currency };
}

/** The fields of a photo that clients write. `focus` is null until somebody chooses one. */
export type PhotoFields = { id: number; alt: string; focus: Focus | null };

/** A photo in a PUT or PATCH. Fields that it leaves out keep their values, and `focus: null` removes the focus. */
export type WantedPhoto = { id: number; alt?: string | null; focus?: Focus | null };

/**
 * Returns the photos of a profile after a write that lists them in `wanted`.
 *
 * @throws Problem `unknown_reference` for a photo that the profile does not have, `invalid_request` for a photo listed twice
 */
export function orderPhotos(current: readonly PhotoFields[], wanted: readonly WantedPhoto[]): PhotoFields[] {
  const currentById = new Map(current.map((photo) => [photo.id, photo]));
  const seen = new Set<number>();
  return wanted.map(({ id: photoId, alt: text, focus }, index) => {
    const known = currentById.get(photoId);
    if (known === undefined) throw unknownReference(`body.photos[${index}].id`, byId("photo", photoId));
    if (seen.has(photoId)) throw invalidAt(`body.photos[${index}].id`, "is listed twice");
    seen.add(photoId);
    return { id: photoId, alt: text ?? known.alt, focus: focus === undefined ? known.focus : focus && { x: focus.x, y: focus.y } };
  });
}

/** One form of a photo, which is a published file in one format and size. */
type StoredForm = { type: string; width: number; height: number; hash: string };
export type StoredPhoto = PhotoFields & { forms: StoredForm[] };

/** A profile with the version that its ETag shows. */
export type StoredProfile = {
  petId: number;
  description: string | null;
  price: Price | null;
  facts: Facts | null;
  photos: StoredPhoto[];
  version: number;
};

/** What a deleted profile has left. */
export const emptyProfile: Pick<StoredProfile, "description" | "price" | "facts" | "photos"> = {
  description: null,
  price: null,
  facts: null,
  photos: [],
};

/** Returns the URL at which visitors see one form of a photo. */
export type UrlOf = (form: StoredForm) => string;

/** A profile as the API shows it. */
export function shownProfile({ petId, description: text, price: cost, facts, photos }: StoredProfile, urlOf: UrlOf): Profile {
  return {
    petId,
    ...(text !== null && { description: text }),
    ...(cost !== null && { price: cost }),
    ...(facts !== null && { facts }),
    photos: photos.map((one) => shownPhoto(one, urlOf)),
  };
}

export function shownPhoto({ id: photoId, alt: text, focus, forms }: StoredPhoto, urlOf: UrlOf): Photo {
  const sources = forms.map((form) => ({ url: urlOf(form), type: form.type, width: form.width, height: form.height }));
  const largest = sources.findLast(({ type }) => type === "image/webp") ?? sources.at(-1)!;
  return { id: photoId, alt: text, ...(focus && { focus }), width: largest.width, height: largest.height, url: largest.url, sources };
}

/** Prepares and stores photos. */
export type PhotoService = {
  receive: (uploader: Uploader, body: AsyncIterable<Buffer>) => Promise<ReceivedPhoto>;
  /** Encodes a picture as `receive` does, but stores nothing. */
  rehearse: (uploader: Uploader, body: AsyncIterable<Buffer>) => Promise<ReceivedPhoto>;
  /** @throws Problem `storage_limit_reached` */
  claim: (tx: Transaction, accountId: number, photoId: number, received: ReceivedPhoto) => Promise<void>;
  finish: (received: ReceivedPhoto) => void;
  urlOf: UrlOf;
  /** Returns the outline that stands for each animal without a photo, by words about it: the `d` of an SVG path in a square of 64. */
  outlinesOf: (words: readonly string[]) => Promise<string[]>;
};

/** Downloads a file and passes its bytes to `use`. An error with `isFinal` will recur, so trying again is useless. */
export type FetchPicture = <T>(
  url: string,
  accountId: number,
  stopping: AbortSignal,
  use: (body: AsyncIterable<Buffer>) => Promise<T>,
) => Promise<T>;

/** Downloads a photo for a request. @throws Problem `invalid_request` with the reason if it cannot be fetched; `unavailable` */
export type PhotoFetchServices = {
  fetchPhoto: <T>(accountId: number, url: string, use: (body: AsyncIterable<Buffer>) => Promise<T>) => Promise<T>;
};
type Uploader = { accountId: number; hasGone: () => boolean };
export type ReceivedPhoto = {
  fingerprint: string;
  width: number;
  height: number;
  forms: (StoredForm & { bytes: number })[];
  isStored: boolean;
};
