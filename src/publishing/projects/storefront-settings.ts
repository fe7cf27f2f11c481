import { Nullable, Text } from "../../platform/http/schemas.ts";
import { Type, type Static } from "../../platform/json-schema.ts";
import { invalidAt } from "../../platform/problem.ts";
import { holdHoursMax, reservationTextMax } from "../storefront/reservation-settings.ts";
import { heroAnimal, pageLimits, parseStorefront, type StorefrontSettings } from "../storefront/settings.ts";
import type { Manifest } from "./content.ts";

/** The live storefront, for the dashboard's form. */
export const ShownStorefront = Type.Object({
  settings: Nullable(Type.String({ description: "JSON: the name and the settings." })),
  startPage: Type.Boolean({
    description: "Whether the live deployment has an `index.html`, which is served instead of the shop's first page.",
  }),
  logo: Nullable(Type.String({ description: "The bytes of the logo in base64; null without one that was uploaded here." })),
});

const { countMax, slugMax, titleMax, textMax } = pageLimits;
const optional = (lengthMax: number) => Type.Optional(Nullable(Text("", 0, lengthMax)));

/** The settings that stay if a request leaves them out, because pages of earlier releases do not know them. An empty text or list removes one. */
const laterFields = {
  theme: optional(20),
  timeZone: optional(60),
  hero: Type.Optional(
    Nullable(
      Text(
        "The picture at the top: `none`, `animals/ID` for the first photo of an animal, or `animals/ID/photos/ID` for another one.",
        0,
        200,
      ),
    ),
  ),
  social: Type.Optional(
    Nullable(Type.Array(Text("", 0, 200), { maxItems: 100, description: "Addresses of the shop at social networks." })),
  ),
  pages: Type.Optional(
    Nullable(
      Type.Array(
        Type.Object(
          { slug: Text("", 0, slugMax), title: Text("", 0, titleMax), text: Text("Markdown.", 0, textMax) },
          { additionalProperties: false },
        ),
        { maxItems: countMax, description: "Pages of the shop's own, each at `/pages/` and its slug." },
      ),
    ),
  ),
};

const laterNames = Object.keys(laterFields) as (keyof typeof laterFields)[];

const shopName = Text("The name of the shop.", 1, 200);
const shopHours = Type.Array(Type.Object({ days: Text("", 0, 100), time: Text("", 0, 100) }, { additionalProperties: false }), {
  maxItems: 100,
  description: "Such as `Mon – Fri` with the time `9 – 18`.",
});

/** The fields that agents can change too. */
const commonFields = {
  colour: Type.Optional(Nullable(Type.String({ maxLength: 7, description: "Six hexadecimal digits, as in `#0b6b58`." }))),
  tagline: optional(200),
  about: optional(2_000),
  email: optional(200),
  phone: optional(50),
  address: optional(500),
  replacesStartPage: Type.Optional(
    Nullable(Type.Boolean({ description: "Removes the `index.html` of the live deployment. The shop's first page is served instead." })),
  ),
};

/** The values of the dashboard's form. */
export const WrittenStorefront = Type.Object(
  {
    ...laterFields,
    ...commonFields,
    name: shopName,
    hours: shopHours,
    reservations: Type.Optional(
      Nullable(
        Type.Object(
          {
            enabled: Type.Optional(Nullable(Type.Boolean({ description: "" }))),
            holdHours: Type.Optional(Nullable(Type.Integer({ minimum: 1, maximum: holdHoursMax, description: "" }))),
            text: Type.Optional(Nullable(Text("", 0, reservationTextMax))),
          },
          {
            additionalProperties: false,
            description: "Whether visitors may reserve, for how long a unit is held, and the words above the form. What is left out stays.",
          },
        ),
      ),
    ),
  },
  { additionalProperties: false },
);

/** A change of a storefront by an agent. */
export const StorefrontPatch = Type.Object(
  { name: Type.Optional(Nullable(shopName)), ...commonFields, hours: Type.Optional(Nullable(shopHours)) },
  { additionalProperties: false },
);

const shownText = Nullable(Type.String());

/** A storefront as agents see it. */
export const Storefront = Type.Object({
  name: Type.String(),
  colour: Type.String(),
  tagline: shownText,
  about: shownText,
  email: shownText,
  phone: shownText,
  address: shownText,
  hours: shopHours,
  startPage: ShownStorefront.properties.startPage,
  url: Type.String({ description: "Where visitors find it." }),
});

/** The first page of a storefront, for a frame. */
export const StorefrontPreview = Type.Object({ html: Type.String({ description: "A document without scripts." }) });

/** A shop as it is stored with a deployment. */
export type StoredStorefront = { name: string | undefined; settings: StorefrontSettings };
export type NamedStorefront = StoredStorefront & { name: string };

/** An encoded and stored logo that no deployment has yet. */
export type ReceivedLogo = {
  fingerprint: string;
  width: number;
  height: number;
  forms: { type: string; width: number; height: number; hash: string; bytes: number }[];
};

const startPage = "index.html";
const extensions: Record<string, string> = { "image/webp": "webp", "image/png": "png" };
/** The names of the files that are made from an uploaded logo. */
const madePath = /^shop-(?:logo|icon)-[0-9a-f]{16}\.(?:webp|png)$/;

export const hasStartPage = (manifest: Manifest): boolean => manifest.has(startPage);

/** Whether a file was made from an uploaded logo. */
export const isMadeLogo = (path: string | undefined): path is string => path !== undefined && madePath.test(path);

/** Returns the storefront with the form's values. Settings that the form does not have, such as the logo, stay. @throws Problem `invalid_request` */
export function withForm(stored: StoredStorefront | undefined, form: Static<typeof WrittenStorefront>): NamedStorefront {
  const { name, colour, tagline, about, email, phone, address, hours } = form;
  const before: Partial<StorefrontSettings> = stored?.settings ?? {};
  const refuse = (why: string): never => {
    const [, path = "", ...message] = why.split("`"); // "`storefront.contact.email` must …"
    const [field = ""] = path.replace(/^storefront\.(?:contact\.)?/, "").split(/[.[]/, 1);
    const [, place, part] = /^storefront\.pages\[(\d+)\]\.(\w+)/.exec(path) ?? [];
    const where = place === undefined ? "" : `page ${Number(place) + 1}: its ${part} `;
    throw invalidAt(`body.${field}`, where + message.join("`").trim().replace(/\.$/, ""));
  };
  const reservations = form.reservations ? withChanges(before.reservations, form.reservations) : before.reservations;
  const later = Object.fromEntries(laterNames.map((field) => [field, form[field] ?? before[field]]));
  const shown = { ...later, colour, tagline, about, contact: { email, phone, address }, hours, reservations };
  const { logo, logoSize, icon, action } = before;
  const settings = { ...parseStorefront(shown, refuse), logo, logoSize, icon, action };
  // no field of the form uploads a picture for the top, so it can only keep the one that the owner deployed
  if (settings.hero !== before.hero && settings.hero !== undefined && settings.hero !== "none" && heroAnimal(settings.hero) === undefined)
    throw invalidAt("body.hero", "must be `none`, `animals/ID` or `animals/ID/photos/ID`");
  return { name: name.trim(), settings };
}

/** Merges the given settings of reservations; null, as a form sends it, changes none. */
function withChanges(
  before: StorefrontSettings["reservations"],
  given: NonNullable<Static<typeof WrittenStorefront>["reservations"]>,
): object {
  const entries = Object.entries(given).filter(([, value]) => value !== null && value !== undefined);
  return { enabled: false, ...before, ...Object.fromEntries(entries) };
}

/** The values of the form for a storefront. `projectName` is the name of a shop without one. */
export function formOf(stored: StoredStorefront | undefined, projectName: string) {
  const { colour = null, tagline = null, about = null, contact, hours: times = [] } = stored?.settings ?? {};
  const { email = null, phone = null, address = null } = contact ?? {};
  return { name: stored?.name ?? projectName, colour, tagline, about, email, phone, address, hours: times };
}

/** Returns the storefront after a merge patch (RFC 7396) by an agent. @throws Problem `invalid_request` */
export function patchStorefront(
  stored: StoredStorefront | undefined,
  patch: Static<typeof StorefrontPatch>,
  projectName: string,
): StoredStorefront {
  const { name, hours: times, ...form } = { ...formOf(stored, projectName), ...patch };
  return withForm(stored, { ...form, name: name ?? projectName, hours: times ?? [] });
}

export function withoutStartPage(manifest: Manifest): Manifest {
  return new Map([...manifest].filter(([path]) => path !== startPage));
}

/** Sets the logo, or removes it. Removes the files of an earlier uploaded logo; the owner's own files stay. */
export function withLogo(
  { manifest, stored }: { manifest: Manifest; stored: StoredStorefront },
  received: ReceivedLogo | undefined,
): { manifest: Manifest; stored: StoredStorefront } {
  const files: Manifest = new Map([...manifest].filter(([path]) => !isMadeLogo(path)));
  const settings: StorefrontSettings = { ...stored.settings, logo: undefined, logoSize: undefined, icon: undefined };
  for (const { type, hash, bytes } of received?.forms ?? []) {
    const use = type === "image/png" ? "icon" : "logo";
    const path = `shop-${use}-${hash.slice(0, 16)}.${extensions[type]}`;
    files.set(path, { hash, size: bytes, type, encodings: {} });
    settings[use] = path;
  }
  if (received) settings.logoSize = { width: received.width, height: received.height };
  return { manifest: files, stored: { ...stored, settings } };
}
