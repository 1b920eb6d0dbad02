// Live: what happens to the memory, as it happens. Events have names and numbers, no text.
import { html, useEffect, useState } from "../lib.js";
import { listen, ofMemory } from "../api.js";
import { Badge, Empty, Failed, Head } from "../parts.js";
import { many } from "../text.js";

const MOST = 200;
const WAIT = 2000;
const TOGETHER = 500;
const SAYS = {
  ingest: "an item was remembered", ingest_many: "items were remembered", ingest_messages: "messages were remembered", sync: "a list was brought up to date",
  answer: "a question was answered", answered: "an answer was recorded", feedback: "something was told of an answer", decide: "an action was chosen", decided: "a choice was recorded",
  forget: "items were forgotten", forget_item: "an item was forgotten", update: "an item was changed", mark_item: "an item was marked", supersede: "an item took the place of another",
  change_slot: "a room was named or pinned", merge_slot: "a room was merged", undo: "something was taken back", undo_certificate: "a split was taken back", put_memory: "the memory was made",
  import: "the memory was imported", summarise: "summaries were written", take_notes: "notes were taken", share: "rooms were shared",
  elsewhere: "another process changed it", resync: "something was missed: all is looked at anew", gone: "the memory is gone",
};

// Listens as long as the page shows a memory, so that other views are up to date as well.
export function useEvents(memory, isOn, changed) {
  const [state, setState] = useState({ events: [], isOn: false });
  useEffect(() => {
    if (!memory || !isOn) return undefined;
    const stop = new AbortController();
    setState({ events: [], isOn: false });
    const soon = together(changed);
    const tell = (event) => {
      setState((before) => ({ ...before, events: [{ ...event, at: new Date() }, ...before.events].slice(0, MOST) }));
      soon.call();
    };
    keepOn(memory, tell, (more) => setState((before) => ({ ...before, ...more })), stop.signal, soon.call);
    return () => {
      stop.abort();
      soon.drop();
    };
  }, [memory, isOn]);
  return state;
}

// Many changes at once are looked up once.
function together(doing) {
  let timer = null;
  const now = () => {
    timer = null;
    doing();
  };
  return { call: () => { timer ??= setTimeout(now, TOGETHER); }, drop: () => clearTimeout(timer) };
}

// Listens again whenever the connection ends; what was missed meanwhile is looked at anew.
async function keepOn(memory, tell, set, signal, missed) {
  for (let turn = 0; !signal.aborted; turn += 1) {
    try {
      if (turn) missed();
      await listen(`${ofMemory(memory)}/events`, tell, signal, () => set({ isOn: true, error: undefined }));
      set({ isOn: false });
    } catch (error) {
      if (signal.aborted) return;
      set({ isOn: false, error });
      if (error.status && error.status < 500 && error.status !== 429) return;
    }
    await new Promise((resolve) => setTimeout(resolve, WAIT));
  }
}

export function Live({ live }) {
  return html`<${Head} title="Live" says="What happens to this memory, as it happens: by name and number, never with text.">
      <span role="status">${live.isOn ? html`<${Badge} kind="good">listening<//>` : html`<${Badge} kind="warn">not connected<//>`}</span><//>
    ${!live.isOn && html`<${Failed} error=${live.error} />`}
    ${live.events.length === 0 ? html`<${Empty}>Nothing yet. Whatever is remembered, asked or told now appears here.<//>` : html`
      <p class="soft">${many(live.events.length, "operation")} since this page was opened.</p>
      <ol class="events" aria-live="polite">${live.events.map((event, n) => html`<li key=${`${event.id ?? "n"}-${live.events.length - n}`}>
        <time class="num">${event.at.toTimeString().slice(0, 8)}</time><code>${event.operation}</code><span>${SAYS[event.operation] ?? ""}</span><span class="id">${event.id ? `no. ${event.id}` : ""}</span></li>`)}</ol>`}`;
}
