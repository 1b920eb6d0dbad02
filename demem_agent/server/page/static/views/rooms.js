// Rooms: the slots, what each has taken in, and how full its summary is.
import { html, useState, Fragment } from "../lib.js";
import { ask, every, ofMemory, post, isFile } from "../api.js";
import { Asked, Badge, Button, Dialog, Empty, Fact, Failed, Head, Item, Meter, Room, AsTable, hue, useAsked, useDoing } from "../parts.js";
import { Text, cut, many, number, percent } from "../text.js";

const nameFor = (slot) => (slot.name ? slot.name : `Room ${slot.number}`);
const nameIn = (slots, number) => nameFor(slots.find((slot) => slot.number === number) ?? { number });

export function Rooms(props) {
  if (props.arg == null) return html`<${Plan} ...${props} />`;
  const slot = props.slots.find((one) => String(one.number) === props.arg);
  if (!slot) return html`<${Head} title="No such room" /><${Empty}>It may have been merged. <a href=${props.go("rooms")}>All rooms</a><//>`;
  return html`<${OneRoom} ...${props} slot=${slot} key=${slot.number} />`;
}

function Plan({ slots, go, settings }) {
  const most = settings.slot_limit;
  const free = settings.slots - slots.length;
  const rows = slots.map((slot) => [nameFor(slot), number(slot.evidence.length), `${number(slot.size)} of ${number(most)}`, number(slot.contexts.length), slot.parent == null ? "–" : nameIn(slots, slot.parent)]);
  return html`<${Head} title="Rooms" says=${`${slots.length} of at most ${settings.slots} are open. Each has a summary of at most ${number(most)} ${settings.unit}, whatever comes in.`} />
    ${slots.length === 0 && html`<${Empty}>There is nothing in this memory yet.<//>`}
    <ul class="rooms">${slots.map((slot) => html`<li key=${slot.number}><a class="card room-card" href=${go("rooms", slot.number)} style=${{ "--hue": hue(slot.number) }}>
      <span class="row"><strong><${Text} text=${nameFor(slot)} /></strong>${slot.pinned && html`<${Badge}>pinned<//>`}
        ${slot.parent != null && html`<span class="soft small">split from <${Text} text=${cut(nameIn(slots, slot.parent), 24)} /></span>`}</span>
      <span class="meta"><span>${many(slot.evidence.length, "item")}</span><span>${many(slot.contexts.length, "answer")}</span></span>
      <${Meter} value=${slot.size} most=${most} colour=${hue(slot.number)} label=${`Summary: ${number(slot.size)} of ${number(most)} ${settings.unit}`} />
      <span class="meta num"><span>${number(slot.size)} of ${number(most)} ${settings.unit}</span><span>${percent(slot.size / most)}</span></span>
      <span class="summary-start">${linesOf(slot.summary).slice(0, 3).map((line) => html`<span><${Text} text=${short(line)} quoted /></span>`)}</span>
    </a></li>`)}
    ${Array.from({ length: Math.min(Math.max(free, 0), 12) }, (_, n) => html`<li key=${`free${n}`} class="free"><span>free</span></li>`)}</ul>
    <${AsTable} caption="Rooms" columns=${["Room", "Items", `Summary, ${settings.unit}`, "Answers", "Split from"]} rows=${rows} />`;
}

// On a card there is no place for the note of which times a line speaks of.
const short = (line) => line.replace(/^([^[\]]{0,24}, )?\[[^\]]*\] /, "$1");
export const linesOf = (summary) => summary.split("\n").map((line) => line.replace(/^- /, "")).filter(Boolean);

function OneRoom({ memory, slot, slots, go, settings, can, changed }) {
  const path = ofMemory(memory);
  const items = useAsked(() => isFile
    ? every(`${path}/items`).then(({ records }) => ({ records: records.filter((item) => slot.evidence.includes(item.id)) }))
    : every(`${path}/items?slot=${slot.number}`), [memory, slot.number, slot.revision]);
  const [isMerging, setMerging] = useState(false);
  const pinning = useDoing(() => ask("PATCH", `${path}/slots/${slot.number}`, { pinned: !slot.pinned }).then(changed));
  const mayChange = !isFile && can("write");
  const others = slots.filter((one) => one.number !== slot.number);
  return html`<p class="back"><a href=${go("rooms")}>Rooms</a></p>
    <${Head} title=${html`<span class="swatch" style=${{ background: hue(slot.number) }} aria-hidden="true"></span><${Text} text=${nameFor(slot)} />`}
      says=${slot.author ? html`The summary was written by <${Text} text=${slot.author} />.` : "The summary is made of excerpts: nothing in it was made up."}>
      ${mayChange && html`<${Fragment}>
        <${Button} busy=${pinning.busy} onClick=${pinning.run}>${slot.pinned ? "Unpin" : "Pin"}<//>
        <${Button} disabled=${!others.length} onClick=${() => setMerging(true)}>Merge …<//><//>`}
    <//>
    <${Failed} error=${pinning.error} />
    <dl class="facts wide">
      <${Fact} name="Number">${slot.number}<//>
      <${Fact} name="Items">${number(slot.evidence.length)}<//>
      <${Fact} name="Answers given from it">${number(slot.contexts.length)}<//>
      <${Fact} name="Split from">${slot.parent == null ? "nothing" : html`<${Room} slot=${slot.parent} slots=${slots} go=${go} />`}<//>
    </dl>
    ${mayChange && html`<${Naming} ...${{ path, slot, changed }} />`}
    <section class="card"><h2>Summary</h2>
      <${Meter} value=${slot.size} most=${settings.slot_limit} colour=${hue(slot.number)} label=${`${number(slot.size)} of ${number(settings.slot_limit)} ${settings.unit}`} />
      <p class="meta num"><span>${number(slot.size)} of ${number(settings.slot_limit)} ${settings.unit}</span></p>
      ${slot.summary ? html`<ul class="quotes">${linesOf(slot.summary).map((line) => html`<li><${Text} text=${line} quoted /></li>`)}</ul>` : html`<${Empty}>It is empty.<//>`}
    </section>
    <section><h2>Items</h2>
      <${Asked} asked=${items} what="items">${(found) => found.records.length
        ? html`<div class="list">${found.records.map((item) => html`<${Item} key=${item.id} item=${item} go=${go}
            more=${slot.cover.includes(item.id) && html`<${Badge}>in the summary<//>`} />`)}</div>`
        : html`<${Empty}>No items.<//>`}<//>
    </section>
    <${Merging} open=${isMerging} close=${() => setMerging(false)} ...${{ path, slot, others, changed, go }} />`;
}

function Naming({ path, slot, changed }) {
  const [name, setName] = useState(slot.name ?? "");
  const naming = useDoing(() => ask("PATCH", `${path}/slots/${slot.number}`, { name: name.trim() || null }).then(changed));
  return html`<form class="inline" onSubmit=${(e) => { e.preventDefault(); naming.run(); }}>
    <label for="room-name">Name</label>
    <input id="room-name" value=${name} maxlength="80" onInput=${(e) => setName(e.target.value)} placeholder="none" />
    <button class="button small" type="submit" disabled=${naming.busy || name.trim() === (slot.name ?? "")}>Save</button>
    <${Failed} error=${naming.error} /></form>`;
}

function Merging({ open, close, path, slot, others, changed, go }) {
  const [into, setInto] = useState(others[0]?.number ?? 0);
  const merging = useDoing(async () => {
    await post(`${path}/slots/${slot.number}/merge`, { into: Number(into) });
    close();
    location.hash = go("rooms", into);
    changed();
  });
  return html`<${Dialog} title=${`Merge ${nameFor(slot)}`} open=${open} close=${close}>
    <p>All that is in it moves, and it is closed. Splits between the two count as taken back.</p>
    <p><label>Into <select value=${into} onChange=${(e) => setInto(e.target.value)}>${others.map((one) =>
      html`<option value=${one.number}>${nameFor(one)}</option>`)}</select></label></p>
    <${Failed} error=${merging.error} />
    <div class="acts"><${Button} onClick=${close}>Leave it<//><${Button} kind="main" busy=${merging.busy} onClick=${merging.run}>Merge<//></div>
  <//>`;
}
