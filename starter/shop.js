// Lists the available animals of a shop. There is no build step: change this file as you like and deploy the folder again.

const url = contentOf("petstore-url");
const key = contentOf("petstore-key");
const animalsAtOnce = 24;
const typingPauseMs = 300;
const timeoutMs = 15_000;
/** The longest automatic wait; beyond it the page shows a button to try again. */
const waitMsMax = 120_000;

const form = document.getElementById("search");
const input = document.getElementById("q");
const list = document.getElementById("list");
const status = document.getElementById("status");
const more = document.getElementById("more");
const again = document.getElementById("again");
const template = document.getElementById("animal");

/** Aborts the requests of the previous search. */
let running = new AbortController();
/** The next page to show, if there is one. */
let nextPage;
/** The page that failed, for the button that tries again. */
let failedPage;
/** No requests are sent before this time (ms): ignoring the limit can get the visitor's address banned. */
let waitUntil = 0;
let refusals = 0;
let typingTimer;
/** Category names by id, read a page at a time until all shown animals have theirs. */
const categories = { names: new Map(), next: new URL(`${url}/v1/categories?limit=100`) };

input.value = new URLSearchParams(location.search).get("q") ?? "";
form.addEventListener("submit", (event) => {
  event.preventDefault();
  void search();
});
input.addEventListener("input", () => {
  clearTimeout(typingTimer);
  typingTimer = setTimeout(() => void search(), typingPauseMs);
});
more.addEventListener("click", () => void show(nextPage));
again.addEventListener("click", () => void show(failedPage));
void search();

/** Starts a new search for the field's text, and puts the text into the page's address. */
function search() {
  clearTimeout(typingTimer);
  const name = input.value.trim();
  history.replaceState(null, "", name === "" ? location.pathname : `?${new URLSearchParams({ q: name })}`);
  list.replaceChildren();
  nextPage = undefined;
  const first = new URL(`${url}/v1/pets`);
  first.search = new URLSearchParams({ status: "available", limit: animalsAtOnce, ...(name !== "" && { q: name }) });
  return show(first);
}

/** Appends a page of animals to the list. */
async function show(page) {
  running.abort();
  running = new AbortController();
  const { signal } = running;
  more.hidden = true;
  again.hidden = true;
  say("Looking …");
  try {
    const { body: animals, next } = await get(page, signal);
    nextPage = next;
    const isNextPage = list.children.length > 0;
    const cards = animals.map(cardOf);
    list.append(...cards.map(({ card }) => card));
    say(summary());
    more.hidden = next === undefined;
    // The pressed button is hidden now, so the focus moves to the first new animal.
    if (isNextPage) cards[0]?.heading.focus();
    await nameCategories(cards, signal);
  } catch (error) {
    if (signal.aborted) return;
    failedPage = page;
    again.hidden = false;
    say(error instanceof Refusal || error instanceof LimitReached ? error.message : unreachable(error));
  }
}

/** Builds a card. Stored text is inserted as text, never as HTML. */
function cardOf({ name, categoryId }) {
  const card = template.content.firstElementChild.cloneNode(true);
  const heading = card.querySelector("h2");
  const category = card.querySelector(".category");
  heading.textContent = name;
  heading.tabIndex = -1;
  card.querySelector(".initial").textContent = [...name.matchAll(/[\p{L}\p{N}]/gu)][0]?.[0].toUpperCase() ?? "·";
  category.textContent = categories.names.get(categoryId) ?? "";
  return { card, heading, category, categoryId };
}

/** Fills in the animals' categories. If that fails, the list stays usable, and the next page tries again. */
async function nameCategories(cards, signal) {
  const unnamed = () => cards.some(({ categoryId }) => !categories.names.has(categoryId));
  try {
    while (unnamed() && categories.next) {
      const { body, next } = await get(categories.next, signal);
      for (const { id, name } of body) categories.names.set(id, name);
      categories.next = next;
    }
  } catch (error) {
    if (signal.aborted) throw error;
  }
  for (const { category, categoryId } of cards) category.textContent = categories.names.get(categoryId) ?? "";
  say(summary());
}

/** Fetches a page of a list. Returns its rows and the address of the next page. Waits as long as the service asks. */
async function get(address, signal) {
  for (;;) {
    await waitForLimit(signal);
    const response = await fetch(address, {
      headers: { Authorization: `Bearer ${key}` },
      credentials: "omit",
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    });
    if (response.status === 429) {
      const seconds = Math.max(Number(response.headers.get("Retry-After")) || 1, 2 ** Math.min(refusals, 6));
      refusals += 1;
      // The service tells all visitors to wait until the same time; a random part spreads their requests.
      waitUntil = Date.now() + (seconds + Math.random()) * 1000;
      continue;
    }
    if (!response.ok) throw new Refusal(response.status);
    refusals = 0;
    return { body: await response.json(), next: nextOf(response) };
  }
}

async function waitForLimit(signal) {
  const ms = waitUntil - Date.now();
  if (ms <= 0) return;
  if (ms > waitMsMax) throw new LimitReached(waitUntil);
  say(`Many people are looking right now. The list continues in ${Math.ceil(ms / 1000)} seconds.`);
  await new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(new DOMException("Another search has begun.", "AbortError"));
    });
  });
}

/** The address of the next page, from the Link header (RFC 8288). Other origins are ignored, so that the key goes nowhere else. */
function nextOf(response) {
  const target = /<([^>]*)>\s*;\s*rel="?next"?/.exec(response.headers.get("Link") ?? "")?.[1];
  const next = target === undefined ? undefined : new URL(target, response.url);
  return next?.origin === new URL(url).origin ? next : undefined;
}

function summary() {
  const count = list.children.length;
  const name = input.value.trim();
  if (count === 0)
    return name === "" ? "No animal is for sale at the moment." : `No animal that is for sale has a name beginning with “${name}”.`;
  if (nextPage) return `The first ${count} animals`;
  return count === 1 ? "One animal" : `${count} animals`;
}

function unreachable(error) {
  if (error.name === "TimeoutError") return "The shop takes too long to answer. Try again in a moment.";
  return "The shop cannot be reached. Check your connection, then try again.";
}

function say(text) {
  status.textContent = text;
}

function contentOf(name) {
  return document.querySelector(`meta[name="${name}"]`).content;
}

/** The service refused the request. */
class Refusal extends Error {
  constructor(code) {
    const forOwner =
      "This page’s key is no longer accepted. If the shop is yours, create a new publishable key and put it into index.html.";
    super(code === 401 || code === 403 ? forOwner : `The shop cannot answer right now (${code}). Try again in a moment.`);
  }
}

/** The shop's limit is reached for longer than the page waits. */
class LimitReached extends Error {
  constructor(until) {
    const at = new Date(until).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
    super(`So many people have looked that the shop has reached its limit. Come back after ${at}.`);
  }
}
