// Parts that several views are made of.
import { html, useState, useEffect, useRef, useCallback } from "./lib.js";
import { Problem, key } from "./api.js";
import { Text, day, many, number, plain, cut } from "./text.js";

// What comes of asking: { value, error, busy, again }.
export function useAsked(doing, what) {
  const [state, setState] = useState({ busy: true });
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    let isWanted = true;
    setState((before) => ({ ...before, busy: true, error: undefined }));
    Promise.resolve()
      .then(doing)
      .then((value) => isWanted && setState({ value, busy: false }))
      .catch((error) => isWanted && setState((before) => ({ value: before.value, error, busy: false })));
    return () => { isWanted = false; };
  }, [...what, turn]);
  return { ...state, again: useCallback(() => setTurn((before) => before + 1), []) };
}

// A change that a button begins: { run, busy, error, done }.
export function useDoing(doing) {
  const [state, setState] = useState({});
  const run = async (...given) => {
    setState({ busy: true });
    try {
      const value = await doing(...given);
      setState({ done: value ?? true });
      return value;
    } catch (error) {
      setState({ error });
      return undefined;
    }
  };
  return { ...state, run, clear: () => setState({}) };
}

function enterAnother() {
  key.drop();
  location.reload();
}

export function Failed({ error, atDoor }) {
  if (!error) return null;
  const isOurs = error instanceof Problem;
  if (!isOurs) console.error(error);
  return html`<div class="note bad" role="alert">
    <strong>${isOurs ? error.title : "This page has a fault"}.</strong>
    ${" "}<${Text} text=${error.message} />
    ${error.status === 401 && !atDoor && html` <button type="button" class="button link" onClick=${enterAnother}>Enter another key</button>`}
    ${error.allowed && html` <span class="soft">Allowed: <${Text} text=${error.allowed} /></span>`}
  </div>`;
}

export function Asked({ asked, children, what = "it" }) {
  if (asked.error) return html`<${Failed} error=${asked.error} />`;
  if (asked.value === undefined) return html`<p class="soft" role="status">Looking ${what} up …</p>`;
  return children(asked.value);
}

export function Head({ title, says, children }) {
  return html`<header class="head">
    <div><h1 tabindex="-1">${title}</h1>${says && html`<p class="lead">${says}</p>`}</div>
    ${children && html`<div class="acts">${children}</div>`}
  </header>`;
}

export function Button({ kind = "", busy, children, ...more }) {
  return html`<button type="button" class=${`button ${kind}`} aria-busy=${busy ? "true" : undefined}
    disabled=${busy || more.disabled} ...${more}>${children}</button>`;
}

export const Empty = ({ children }) => html`<p class="empty">${children}</p>`;
export const Fact = ({ name, children }) => html`<div class="fact"><dt>${name}</dt><dd>${children}</dd></div>`;

export function Badge({ kind = "", children }) {
  return html`<span class=${`badge ${kind}`}>${children}</span>`;
}

export const hue = (slot) => `var(--s${(slot ?? 7) % 8})`;
export const nameOf = (slots, slot) => slots?.find((one) => one.number === slot)?.name ?? null;

export function Room({ slot, slots, go }) {
  if (slot == null) return html`<span class="soft">no room</span>`;
  const name = nameOf(slots, slot);
  return html`<a class="room" href=${go("rooms", slot)}><i style=${{ background: hue(slot) }} aria-hidden="true"></i>
    ${name ? html`<${Text} text=${cut(name, 28)} />` : `Room ${slot}`}</a>`;
}

export function Meter({ value, most, label, colour = "var(--accent)" }) {
  const share = most ? Math.min(1, value / most) : 0;
  return html`<div class="meter" role="img" aria-label=${label}>
    <i style=${{ width: `${share * 100}%`, background: colour }}></i></div>`;
}

export function Table({ caption, columns, rows }) {
  return html`<div class="scroll" tabindex="0" role="region" aria-label=${caption}><table>
    <caption class="hidden">${caption}</caption>
    <thead><tr>${columns.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
    <tbody>${rows.map((row) => html`<tr>${row.map((cell, n) =>
      n === 0 ? html`<th scope="row">${cell}</th>` : html`<td>${cell}</td>`)}</tr>`)}</tbody>
  </table></div>`;
}

export function AsTable({ says = "The same as a table", ...table }) {
  return html`<details class="as-table"><summary>${says}</summary><${Table} ...${table} /></details>`;
}

// A question before what cannot be taken back; Escape and the way back to the button are the browser's.
export function Dialog({ title, open, close, children }) {
  const dialog = useRef(null);
  useEffect(() => {
    if (open && !dialog.current.open) dialog.current.showModal();
    if (!open && dialog.current.open) dialog.current.close();
  }, [open]);
  return html`<dialog ref=${dialog} onClose=${close} aria-label=${title}>${open && html`<h2>${title}</h2>${children}`}</dialog>`;
}

export function Item({ item, slots, slotOf, go, more }) {
  return html`<article class="item">
    <a class="item-text" href=${go("items", item.id)}><${Text} text=${cut(item.text, 400)} quoted /></a>
    <p class="meta">
      ${item.speaker && html`<span class="who"><${Text} text=${item.speaker} /></span>`}
      <span>${day(item.at)}</span>
      ${slotOf && html`<${Room} slot=${slotOf[item.id]} slots=${slots} go=${go} />`}
      ${more}
      <span class="id">${item.id}</span>
    </p>
  </article>`;
}

export function slotsByItem(slots) {
  const found = {};
  for (const slot of slots) for (const id of slot.evidence) found[id] = slot.number;
  return found;
}

export function Receipt({ receipt }) {
  const parts = [
    ["items", receipt.evidence],
    ["rooms that held them", receipt.slots],
    ["answers that had their text", receipt.contexts],
    ["certificates", receipt.certificates],
    ["successions", receipt.successions],
    ["situations", receipt.situations],
  ].filter(([, ids]) => ids.length);
  if (!parts.length) return html`<p>Nothing was there to be forgotten.</p>`;
  return html`<dl class="facts">${parts.map(([name, ids]) =>
    html`<${Fact} name=${name}>${ids.length > 12 ? `${ids.slice(0, 12).join(", ")} and ${many(ids.length - 12, "more", "more")}` : ids.join(", ")}<//>`)}</dl>`;
}

export function announce(text) {
  const place = document.getElementById("told");
  if (place) place.textContent = plain(text);
}

export { number };
