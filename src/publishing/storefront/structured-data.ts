import { decimalAmount } from "../../platform/currencies.ts";
import { factRows } from "./facts.ts";
import { logoPath } from "./layout.ts";
import { jsonMarkup, type Markup, markup } from "./markup.ts";
import { openingData } from "./opening.ts";
import { pathOf } from "./parts.ts";
import type { Shop, ShownAnimal, ShownCategory } from "./storefront.ts";

const availability = { available: "InStock", pending: "LimitedAvailability", sold: "SoldOut" };

function jsonLd(data: object): Markup {
  return markup`<script type="application/ld+json">
    ${jsonMarkup({ "@context": "https://schema.org", ...data })}
  </script>`;
}

/** The shop, as search engines read it. */
export function storeData(shop: Shop): Markup {
  const { name, origin, settings } = shop;
  const { about, contact, hours, social } = settings;
  const { email, phone, address } = contact;
  const logo = logoPath(shop);
  const opening = openingData(hours);
  return jsonLd({
    "@type": "PetStore",
    name,
    url: `${origin}/`,
    ...(about && { description: about }),
    ...(logo && { logo: origin + logo, image: origin + logo }),
    ...(email && { email }),
    ...(phone && { telephone: phone }),
    ...(address && { address }),
    ...(opening && { openingHoursSpecification: opening }),
    ...(social && { sameAs: social }),
  });
}

/** An animal, as search engines read it. */
export function productData(
  { origin, name: seller }: Shop,
  { id, name, description, price, facts, photos, status }: ShownAnimal,
  category: ShownCategory | undefined,
): Markup {
  const url = `${origin}/animals/${id}`;
  const images = photos.flatMap((photo) => pathOf(photo) ?? []);
  const properties = factRows(facts).map((row) => ({ "@type": "PropertyValue", ...row }));
  const offers = price !== null && {
    offers: {
      "@type": "Offer",
      url,
      price: decimalAmount(price),
      priceCurrency: price.currency,
      availability: `https://schema.org/${availability[status]}`,
      seller: { "@type": "PetStore", name: seller },
    },
  };
  return jsonLd({
    "@type": "Product",
    name,
    sku: String(id),
    url,
    ...(category && { category: category.name }),
    ...(description !== null && { description }),
    ...(properties.length > 0 && { additionalProperty: properties }),
    ...(images.length > 0 && { image: images.map((path) => origin + path) }),
    ...offers,
  });
}
