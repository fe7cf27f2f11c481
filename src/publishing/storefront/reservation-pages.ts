import { pageOf, telephone } from "./layout.ts";
import { inlineSource, markup, Markup } from "./markup.ts";
import { type FormErrors, type FormValues, lengths, trapName } from "./reservation-forms.ts";
import { styleFor } from "./sheet.ts";
import type { RenderedPage, Shop, ShownAnimal } from "./storefront.ts";

const sheet = `.ask{max-width:38rem;padding-block:1.5rem 3rem}.ask h1{font-size:clamp(1.7rem,1.3rem + 1.6vw,2.4rem)}
.ask label{display:block;margin-top:1.1rem;font-weight:600}.ask .hint{margin:0;color:var(--quiet);font-weight:400}
.ask input,.ask textarea{display:block;width:100%;min-height:2.75rem;margin-top:.3rem;padding:.55rem .8rem;border:1px solid var(--quiet);border-radius:.6rem;background:var(--card);color:inherit;font:inherit}
.ask textarea{min-height:7rem;resize:vertical}.ask [aria-invalid]{border:2px solid light-dark(#b3261e,#f2b8b5)}
.ask .wrong{margin:.3rem 0 0;color:light-dark(#b3261e,#f2b8b5);font-weight:600}.ask .told{padding:1rem 1.2rem;border-left:4px solid var(--brand);background:var(--tint);white-space:pre-line}
.ask button,.ask .button{margin-top:1.5rem}.ask .trap{position:absolute;left:-200vw}.ask dl{display:grid;grid-template-columns:auto 1fr;gap:.3rem 1.2rem}.ask dt{color:var(--quiet)}.ask dd{margin:0}`;

const style = markup`<style>${new Markup(sheet)}</style>`;

/** Makes a page of a reservation: private, of no cache, in no search engine, and the address of which no link gives away. */
function reservationPage(shop: Shop, status: number, title: string, main: Markup): RenderedPage {
  const text = pageOf(shop, {
    title: `${title} · ${shop.name}`,
    description: `${title} at ${shop.name}.`,
    path: undefined,
    head: style,
    main,
  }).text;
  const policy = styleFor(shop.settings).policy.replace("style-src ", `style-src ${inlineSource(sheet)} `);
  return {
    status,
    type: "text/html; charset=utf-8",
    etag: "",
    coding: undefined,
    body: Buffer.from(text),
    headers: { "Content-Security-Policy": policy, "X-Robots-Tag": "noindex" },
  };
}

/** A form to show. `problem`: what is wrong with the whole form, such as that it was sent too soon. */
export type FormView = { animal: ShownAnimal; holds: boolean; token: string; values: FormValues; errors: FormErrors; problem?: string };

/** The page of the form. Shows the error beside each field and keeps what was written, without JavaScript. */
export function formPage(shop: Shop, status: number, { animal, holds, token, values, errors, problem }: FormView): RenderedPage {
  const { reservations } = shop.settings;
  const title = holds ? `Reserve ${animal.name}` : `Ask about ${animal.name}`;
  const wrong = Object.keys(errors) as (keyof FormValues)[];
  const count = wrong.length;
  // the first invalid field gets the focus, so that screen readers announce its error at once
  const focused = (Object.keys(lengths) as (keyof FormValues)[]).find((name) => errors[name] !== undefined);
  const stateOf = (name: keyof FormValues): Markup => {
    const describedBy = [
      ...(wrong.includes(name) ? [`${name}-wrong`] : []),
      ...(name === "email" || name === "phone" ? ["contact-hint"] : []),
    ];
    return markup`${wrong.includes(name) && markup` aria-invalid="true"`}${describedBy.length > 0 && markup` aria-describedby="${describedBy.join(" ")}"`}${name === focused && " autofocus"}`;
  };
  const field = (
    name: keyof FormValues,
    label: string,
    type: string,
    autocomplete: string,
  ): Markup => markup`<label for="${name}">${label}</label>
    <input id="${name}" name="${name}" type="${type}" value="${values[name]}" maxlength="${lengths[name]}" autocomplete="${autocomplete}" ${name === "name" && markup`required`} ${stateOf(name)} />
    ${wrongOf(name, errors)}`;
  const main = markup`<div class="wide ask">
    <nav class="crumbs" aria-label="Breadcrumb"><a href="/">All animals</a> / <a href="/animals/${animal.id}">${animal.name}</a></nav>
    <h1>${title}</h1>
    <p>${holds ? `We hold ${animal.name} for you for ${periodOf(reservations?.holdHours ?? 0)}. It costs nothing, and you can cancel it. You can also just ask us a question.` : `Write to us about ${animal.name}. This holds nothing: we get back to you.`}</p>
    ${reservations?.text !== undefined && markup`<p class="told">${reservations.text}</p>`}
    ${(problem !== undefined || count > 0) && markup`<p class="wrong" role="alert">${problem ?? (count === 1 ? "Please check one field." : `Please check ${count} fields.`)}</p>`}
    <form method="post" action="/animals/${animal.id}/reserve">
      <input type="hidden" name="token" value="${token}" />
      <input type="hidden" name="holds" value="${holds ? "yes" : "no"}" />
      ${field("name", "Your name", "text", "name")}
      ${field("email", "Email", "email", "email")}
      ${field("phone", "Telephone", "tel", "tel")}
      <p class="hint" id="contact-hint">An email address or a telephone number is enough.</p>
      <label for="note">${holds ? "Your question or message (optional)" : "Your question"}</label>
      <textarea id="note" name="note" maxlength="${lengths.note}" ${stateOf("note")}>${values.note}</textarea>
      ${wrongOf("note", errors)}
      <div class="trap" aria-hidden="true">
        <label for="${trapName}">Leave this empty</label>
        <input id="${trapName}" name="${trapName}" type="text" tabindex="-1" autocomplete="off" />
      </div>
      <p class="hint">${shop.name} uses what you write here to answer you, and deletes it afterwards.</p>
      <button>${holds ? `Reserve ${animal.name}` : "Send"}</button>
      ${holds && markup`<button class="button second" name="ask" value="yes">Only ask</button>`}
    </form>
  </div>`;
  return reservationPage(shop, status, status === 200 ? title : `Please check: ${title}`, main);
}

function wrongOf(name: keyof FormValues, errors: FormErrors): Markup | undefined {
  return errors[name] === undefined ? undefined : markup`<p class="wrong" id="${name}-wrong">${errors[name]}</p>`;
}

/** What a visitor sees of a reservation. `holds`: whether it holds a unit; an enquiry holds none. `animal`: its name, if the shop still has it. */
export type ShownReservation = {
  state: "open" | "accepted" | "refused" | "lapsed" | "cancelled";
  holds: boolean;
  animal: { id: number; name: string } | undefined;
  /** In ms since the Unix epoch. */
  lapsesAt: number | null;
  mayCancel: boolean;
  /** Whether the visitor has the animal: the order is complete. */
  isCollected: boolean;
};

const headings: Record<ShownReservation["state"] | "collected", [held: string, asked: string]> = {
  open: ["is reserved for you", "Your message has arrived"],
  accepted: ["is yours to collect", "Your message was answered"],
  refused: ["is not reserved any more", "Your message was closed"],
  lapsed: ["is not reserved any more", "Your message was closed"],
  cancelled: ["is not reserved any more", "You withdrew your message"],
  collected: ["was handed over", "Your message was answered"],
};
const endings: Partial<Record<keyof typeof headings, string>> = {
  refused: "The shop could not keep the reservation.",
  lapsed: "The reservation expired.",
  cancelled: "You cancelled the reservation.",
  collected: "You have collected it, so the reservation is over.",
};

/**
 * What a visitor sees behind the link: the state of the reservation, until when it holds, what the shop says about collecting, how to reach it, and the
 * button that cancels it. `path`: the page's own, for the button with which visitors email themselves its address.
 */
export function statusPage(shop: Shop, path: string, shown: ShownReservation): RenderedPage {
  const { holds, animal, lapsesAt, mayCancel, isCollected } = shown;
  const name = animal?.name ?? "The animal";
  const state = isCollected ? "collected" : shown.state;
  const [held, asked] = headings[state];
  const title = holds ? `${name} ${held}` : asked;
  const what = holds ? "reservation" : "message";
  const main = markup`<div class="wide ask">
    <h1>${title}</h1>
    ${holds && state === "open" && lapsesAt !== null && markup`<p>We hold ${name} for you until <strong>${timeOf(shop, lapsesAt)}</strong>.</p>`}
    ${holds && state === "accepted" && markup`<p>The shop has confirmed it. It waits for you.</p>`}
    ${!holds && state === "open" && markup`<p>The shop will get back to you about ${name}.</p>`}
    ${holds && endings[state] !== undefined && markup`<p>${endings[state]}</p>`}
    ${mayCancel && holds && shop.settings.reservations?.text !== undefined && markup`<p class="told">${shop.settings.reservations.text}</p>`}
    ${
      mayCancel &&
      markup`<p>Keep the address of this page: it is the only way to see or cancel your ${what}, and we send no email. Anybody who has it can do so too.</p>
      <p><a class="button" href="mailto:?subject=${encodeURIComponent(`${title} · ${shop.name}`)}&body=${encodeURIComponent(`${shop.origin}/${path}`)}">Email yourself the address</a></p>`
    }
    ${reachOf(shop)}
    ${
      mayCancel &&
      markup`<form method="post">
      <input type="hidden" name="cancel" value="yes" />
      <button class="button second">Cancel the ${what}</button>
    </form>`
    }
    <p>${animal !== undefined && markup`<a href="/animals/${animal.id}">${animal.name}</a> · `}<a href="/">See all animals</a></p>
  </div>`;
  return reservationPage(shop, 200, title, main);
}

/** A page that says why nothing was reserved. */
export function refusedPage(shop: Shop, status: number, title: string, text: string): RenderedPage {
  const main = markup`<div class="wide ask">
    <h1>${title}</h1>
    <p>${text}</p>
    ${reachOf(shop)}
    <p><a class="button" href="/">See all animals</a></p>
  </div>`;
  return reservationPage(shop, status, title, main);
}

function reachOf({ settings: { contact } }: Shop): Markup | undefined {
  const { email, phone } = contact;
  if (email === undefined && phone === undefined) return undefined;
  const [call, write] = [
    phone !== undefined && markup`<a href="${telephone(phone)}">${phone}</a>`,
    email !== undefined && markup`<a href="mailto:${email}">${email}</a>`,
  ];
  return markup`<p>You can reach us at ${call}${phone !== undefined && email !== undefined && " or "}${write}.</p>`;
}

function periodOf(hours: number): string {
  if (hours % 24 === 0 && hours > 48) return `${hours / 24} days`;
  return hours === 1 ? "one hour" : `${hours} hours`;
}

/** A time in the shop's time zone, or in UTC, which it then names. */
function timeOf({ settings }: Shop, time: number): string {
  const { timeZone = "UTC" } = settings;
  const format = new Intl.DateTimeFormat("en-GB", {
    weekday: "long",
    day: "numeric",
    month: "long",
    hour: "2-digit",
    minute: "2-digit",
    timeZone,
  });
  return timeZone === "UTC" ? `${format.format(time)} UTC` : format.format(time);
}
