// Health: how the memory stands against its bounds.
import { html } from "../lib.js";
import { get, isFile, ofMemory } from "../api.js";
import { Asked, Badge, Button, Fact, Failed, Head, Meter, Receipt, AsTable, Empty, useAsked, useDoing } from "../parts.js";
import { Text, many, number, sizes, time } from "../text.js";

export function Health({ memory, settings, version }) {
  const path = ofMemory(memory);
  const asked = useAsked(async () => {
    const [health, receipts] = await Promise.all([get(`${path}/health`), get(`${path}/receipts`)]);
    return { health, receipts: receipts.records };
  }, [memory, version]);
  const checking = useDoing(() => get(`${path}/check`));
  return html`<${Head} title="Health" says="How this memory stands against its bounds.">
      ${!isFile && html`<${Button} busy=${checking.busy} onClick=${checking.run}>Check every invariant<//>`}<//>
    <${Failed} error=${checking.error} />
    ${checking.done && html`<p class="note good" role="status">Every invariant holds.</p>`}
    <${Asked} asked=${asked} what="it">${({ health, receipts }) => html`
      <div class="tiles">
        <${Tile} name="Items" value=${health.items} most=${health.most_items} unit="" />
        <${Tile} name="Rooms" value=${health.slots.length} most=${health.most_slots} unit="" />
        <${Tile} name="Storage" value=${health.storage.used} most=${health.storage.limit} unit=${health.storage.unit} />
        <${Tile} name="Answers" value=${health.answers} most=${null} unit="" />
      </div>
      ${health.damaged.length > 0 && html`<p class="note bad">Rows that could not be read: ${health.damaged.join(", ")}</p>`}
      ${health.uncounted && html`<p class="note warn">${health.uncounted}</p>`}
      ${health.owes_erasure && html`<p class="note warn">Text that was forgotten may still be in the file; the next write that can takes it out.</p>`}
      <${Stored} storage=${health.storage} />
      <dl class="facts wide">
        <${Fact} name="Memory"><${Text} text=${health.memory_id} /><//>
        <${Fact} name="Kept / hidden">${number(health.kept)} / ${number(health.hidden)}<//>
        <${Fact} name="Forgotten">${many(health.forgotten, "item")}<//>
        <${Fact} name="Conflicts waiting">${number(health.pending)} for a room, ${number(health.untested)} to be tested<//>
        <${Fact} name="When full">${health.when_full}<//>
        <${Fact} name="Kept for">${health.keep_days == null ? "no bound" : many(health.keep_days, "day")}<//>
        <${Fact} name="Encoder"><${Text} text=${health.encoder || "none yet"} /><//>
        <${Fact} name="On disk">${health.on_disk == null ? "in RAM" : sizes(health.on_disk)}<//>
        <${Fact} name="In RAM">about ${sizes(health.resident)}<//>
        <${Fact} name="Last write">${health.changed ? `${time(health.changed)} UTC` : "not known"}<//>
      </dl>
      <section class="card"><h2>Settings</h2><dl class="facts">${Object.entries(settings).map(([name, value]) => html`<${Fact} name=${html`<code>${name}</code>`}>${settingOf(value)}<//>`)}</dl></section>
      <section class="card"><h2>Forgotten by itself</h2>${receipts.length ? receipts.slice(-20).reverse().map((receipt) => html`<${Receipt} receipt=${receipt} />`)
        : html`<${Empty}>Nothing had to go for want of room or for its age.<//>`}</section>
    `}<//>`;
}

function settingOf(value) {
  if (value === null) return "none";
  if (typeof value !== "object") return String(value);
  return Object.entries(value).map(([name, one]) => `${name} ${one ?? "none"}`).join(", ");
}

function Tile({ name, value, most, unit }) {
  return html`<section class="card tile"><h2>${name}</h2><p class="big num">${number(value)}</p>
    ${most == null ? html`<p class="soft">${unit ? `${unit}, ` : ""}no bound</p>` : html`<${Meter} value=${value} most=${most} label=${`${number(value)} of ${number(most)}`} /><p class="soft num">of ${number(most)} ${unit}</p>`}</section>`;
}

const PARTS = [["evidence", "items"], ["contexts", "answers"], ["certificates", "certificates"], ["names", "names of rooms"], ["situations", "situations"], ["actions", "actions"]];

function Stored({ storage }) {
  const rows = PARTS.map(([name, says], n) => ({ says, value: storage[name], colour: `var(--s${n})` })).filter((row) => row.value);
  if (!rows.length) return null;
  let at = 0;
  const says = rows.map((row) => `${row.says} ${number(row.value)}`).join(", ");
  return html`<section class="card"><h2>What the storage is for</h2>
    <svg class="bars" viewBox="0 0 600 16" preserveAspectRatio="none" role="img" aria-label=${`${says} ${storage.unit}`}>${rows.map((row) => {
      const x = at;
      const wide = (row.value / storage.used) * 600;
      at += wide;
      return html`<rect x=${x} width=${Math.max(1, wide - 1)} y="0" height="14" rx="1.5" style=${{ fill: row.colour }} />`;
    })}</svg>
    <ul class="legend">${rows.map((row) => html`<li><i style=${{ background: row.colour }}></i>${row.says} <span class="num soft">${number(row.value)}</span></li>`)}</ul>
    <${AsTable} caption="What the storage is for" columns=${["What", storage.unit]} rows=${rows.map((row) => [row.says, number(row.value)])} />
  </section>`;
}
