// The frame: which memory, which view, and who may do what.
import { html, render, useCallback, useEffect, useRef, useState, Fragment } from "./lib.js";
import { Problem, embedded, every, get, isFile, key, ofMemory } from "./api.js";
import { Button, Empty, Failed, announce, useAsked } from "./parts.js";
import { Text, cut, number, plain } from "./text.js";
import { Ask } from "./views/ask.js";
import { Rooms } from "./views/rooms.js";
import { Items } from "./views/items.js";
import { Answers } from "./views/answers.js";
import { Choices } from "./views/choices.js";
import { Splits } from "./views/splits.js";
import { Budget } from "./views/budget.js";
import { Live, useEvents } from "./views/live.js";
import { Health } from "./views/health.js";
import { Keys } from "./views/keys.js";

const VIEWS = [
  ["ask", "Ask", Ask], ["rooms", "Rooms", Rooms], ["items", "Items", Items], ["answers", "Answers", Answers], ["choices", "Choices", Choices],
  ["splits", "Splits", Splits], ["budget", "Budget", Budget], ["live", "Live", Live], ["health", "Health", Health], ["keys", "Keys", Keys],
];
const OF_A_SERVER = ["live", "keys"];
const NAMES = VIEWS.filter(([name]) => !(isFile && OF_A_SERVER.includes(name)));

// An address is #/memory/view/what?more, each part written so that it may hold any character.
function placeIn(address) {
  const [path, query] = address.replace(/^#\/?/, "").split("?");
  const [memory, view, arg] = path.split("/").map(readPart);
  return { memory: memory || null, view: view || "ask", arg: arg ?? null, query: new URLSearchParams(query ?? "") };
}

function readPart(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return "";
  }
}

function usePlace() {
  const [place, setPlace] = useState(placeIn(location.hash));
  useEffect(() => {
    const look = () => setPlace(placeIn(location.hash));
    addEventListener("hashchange", look);
    return () => removeEventListener("hashchange", look);
  }, []);
  return place;
}

function addressOf(memory, view, arg, query) {
  const parts = [memory, view, arg].filter((part) => part != null).map((part) => encodeURIComponent(part));
  return `#/${parts.join("/")}${query ? `?${new URLSearchParams(query)}` : ""}`;
}

const THEME = "demem-theme";

function useTheme() {
  const [theme, setTheme] = useState(() => saved(THEME) ?? "");
  useEffect(() => {
    if (theme) document.documentElement.dataset.theme = theme;
    else delete document.documentElement.dataset.theme;
    keep(THEME, theme);
  }, [theme]);
  return [theme, setTheme];
}

// A file that is opened by itself may have nowhere to keep things.
function saved(name) {
  try { return localStorage.getItem(name); } catch { return null; }
}

function keep(name, value) {
  try { localStorage.setItem(name, value); } catch { /* then it is for now alone */ }
}

function Page() {
  const place = usePlace();
  const memories = useAsked(async () => {
    const [found, own] = await Promise.all([every("/v1/memories", 1000), get("/v1/key")]);
    return { ...found, scopes: own.scopes };
  }, []);
  const [theme, setTheme] = useTheme();
  const { busy, error } = memories;
  // The door stays where it is while a key is tried, so that nobody's typing loses its field.
  const isShut = useRef(false);
  if (!busy) isShut.current = error instanceof Problem && error.status === 401;
  if (isShut.current) return html`<${Door} error=${key.get() ? error : null} again=${memories.again} />`;
  if (error) return html`<main class="alone" id="main"><${Failed} error=${error} /><${Button} onClick=${memories.again}>Try again<//></main>`;
  if (!memories.value) return html`<main class="alone" id="main"><p class="soft" role="status">Opening …</p></main>`;
  const names = memories.value.records.map((one) => one.memory_id);
  const memory = place.memory ?? names[0] ?? null;
  return html`<a class="skip" href="#main" onClick=${skip}>To the content</a>
    <div class="frame"><${Side} ...${{ names, more: memories.value.more, memory, place, theme, setTheme }} />
      <main id="main" tabindex="-1">${memory === null ? html`<${Nothing} />` : html`<${OneMemory} key=${memory} memory=${memory} place=${place} scopes=${memories.value.scopes} />`}</main></div>
    <div id="told" class="hidden" role="status" aria-live="polite"></div>`;
}

function skip(event) {
  event.preventDefault();
  document.getElementById("main").focus();
}

const Nothing = () => html`<h1>No memory yet</h1><p class="lead">A memory is there as soon as a program makes one, such as</p>
  <pre class="reading">curl -X PUT ${location.origin}/v1/memories/ana</pre><p><${Button} onClick=${() => location.reload()}>Look again<//></p>`;

function Door({ error, again }) {
  const [written, setWritten] = useState("");
  const enter = (event) => {
    event.preventDefault();
    key.set(written.trim());
    setWritten("");
    again();
  };
  return html`<main class="alone" id="main"><h1>This server needs a key</h1><p class="soft">It is kept for this tab alone. <code>demem keys create</code> makes one.</p>
    <form class="ask" onSubmit=${enter}><label class="hidden" for="key">Key</label>
      <input id="key" type="password" autocomplete="off" spellcheck="false" placeholder="dm_…" value=${written} onInput=${(e) => setWritten(e.target.value)} />
      <button class="button main" type="submit" disabled=${!written.trim()}>Enter</button></form><${Failed} error=${error} atDoor /></main>`;
}

function Side({ names, more, memory, place, theme, setTheme }) {
  const shown = names.includes(memory) || memory === null ? names : [memory, ...names];
  const choose = (event) => { location.hash = addressOf(event.target.value, place.view); };
  return html`<header class="side"><p class="brand"><i aria-hidden="true"><b></b><b></b><b></b></i>DeMem</p>
    ${shown.length > 0 && html`<label class="picker"><span class="soft">Memory</span>
      <select value=${memory} onChange=${choose}>${shown.map((name) => html`<option value=${name}>${cut(plain(name), 60)}</option>`)}</select></label>`}
    ${more && html`<p class="soft small">and more; name one in the address</p>`}
    ${memory !== null && html`<nav aria-label="Views"><ul>${NAMES.map(([name, title]) => html`<li><a href=${addressOf(memory, name)} aria-current=${place.view === name ? "page" : undefined}>${title}</a></li>`)}</ul></nav>`}
    <div class="foot"><label class="picker"><span class="soft">Look</span><select value=${theme} onChange=${(e) => setTheme(e.target.value)}>
      <option value="">as the system</option><option value="light">light</option><option value="dark">dark</option></select></label>
      ${isFile ? html`<p class="soft small">Written on ${embedded.written}, read only.</p>` : key.get() && html`<${Button} kind="small" onClick=${() => { key.drop(); location.reload(); }}>Forget the key<//>`}</div>
  </header>`;
}

function OneMemory({ memory, place, scopes }) {
  const [turn, setTurn] = useState(0);
  // What changed a memory is looked at anew; the server decides what a key may do, whatever is shown.
  const changed = useCallback(() => setTurn((before) => before + 1), []);
  const asked = useAsked(async () => {
    const [about, slots] = await Promise.all([get(ofMemory(memory)), get(`${ofMemory(memory)}/slots`)]);
    return { about, slots: slots.records };
  }, [memory, turn]);
  const live = useEvents(memory, !isFile && Boolean(asked.value), changed);
  const go = useCallback((view, arg, query) => addressOf(memory, view, arg, query), [memory]);
  const found = VIEWS.find(([name]) => name === place.view);
  useEffect(() => {
    document.querySelector("nav [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
    document.title = `${found ? found[1] : "DeMem"} · ${plain(memory)}`;
    scrollTo(0, 0);
    if (found) announce(found[1]);
    if (document.activeElement === document.body) document.querySelector("main h1")?.focus({ preventScroll: true });
  }, [place.view, place.arg]);
  if (asked.error && !asked.value) return html`<h1>${cut(plain(memory), 60)}</h1><${Failed} error=${asked.error} />`;
  if (!asked.value) return html`<p class="soft" role="status">Opening …</p>`;
  if (!found) return html`<h1>No such view</h1><p>This page has none of that name. <a href=${go("ask")}>Ask</a> is the first one.</p>`;
  const { about, slots } = asked.value;
  const can = (...any) => any.some((scope) => scopes.includes(scope));
  const view = { memory, slots, settings: about.settings, version: `${about.version} ${turn}`, arg: place.arg, query: place.query, go, changed, live, can, scopes };
  return html`<${Fragment}><p class="where"><${Text} text=${cut(memory, 60)} /> · <span class="num">${number(about.items)}</span> items</p><${Failed} error=${asked.error} /><${found[2]} ...${view} /><//>`;
}

render(html`<${Page} />`, document.getElementById("page"));
