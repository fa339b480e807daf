// Keeps the page up to date, copies texts, and gives the search a key. The page works without it.
"use strict";

let stream = null;
let lastId = null;
let loading = false;
let again = false;

// One stream a tab, only while the tab is seen: a browser has few connections to one server.
function listen() {
  if (stream || document.hidden) return;
  const session = document.body.dataset.session || "";
  const since = lastId === null ? "" : "&last-event-id=" + encodeURIComponent(lastId);
  stream = new EventSource("/events?session=" + encodeURIComponent(session) + since);
  stream.addEventListener("changed", (event) => {
    lastId = event.lastEventId;
    refresh();
  });
  stream.addEventListener("open", () => live("live"));
  stream.addEventListener("error", () => live("not connected; trying again"));
}

function quiet() {
  if (stream) stream.close();
  stream = null;
}

function live(text) {
  const place = document.getElementById("live");
  if (place && place.textContent !== text) place.textContent = text;
}

// Fetches the page again and puts its main part in place; what the reader opened, typed or focused stays.
async function refresh() {
  if (loading) {
    again = true;
    return;
  }
  loading = true;
  try {
    const answer = await fetch(location.href, { headers: { Accept: "text/html" }, cache: "no-store" });
    if (answer.ok) swap(new DOMParser().parseFromString(await answer.text(), "text/html"));
    else live("the server answered " + answer.status);
  } catch {
    live("not connected; trying again");
  }
  loading = false;
  if (again) {
    again = false;
    refresh();
  }
}

function swap(page) {
  const before = document.querySelector("main");
  const after = page.querySelector("main");
  if (!before || !after || before.innerHTML === after.innerHTML) return;
  if (before.contains(document.activeElement) && document.activeElement.matches("input, textarea")) {
    document.activeElement.addEventListener("blur", refresh, { once: true });
    return;
  }
  const open = new Set([...before.querySelectorAll("details[open][id]")].map((details) => details.id));
  const focus = before.contains(document.activeElement) ? document.activeElement.id : "";
  before.replaceWith(document.importNode(after, true));
  for (const details of document.querySelectorAll("details[id]")) {
    if (open.has(details.id)) details.open = true;
  }
  if (focus) document.getElementById(focus)?.focus();
  document.title = page.title;
  live("updated " + new Date().toLocaleTimeString());
}

async function copy(button) {
  const from = document.getElementById(button.dataset.copy);
  const text = from ? from.textContent : button.dataset.text;
  const label = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    // Without leave for the clipboard the text is selected: the reader copies it.
    if (from) getSelection().selectAllChildren(from);
    button.textContent = "Selected: press Ctrl+C";
  }
  setTimeout(() => (button.textContent = label), 2000);
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-copy], [data-text]");
  if (button) copy(button);
});

document.addEventListener("keydown", (event) => {
  if (event.target.matches("input, textarea, select") || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "/") {
    event.preventDefault();
    document.getElementById("search")?.focus();
  }
});

document.addEventListener("visibilitychange", () => (document.hidden ? quiet() : listen()));
addEventListener("pagehide", quiet);
addEventListener("pageshow", listen);
listen();
