// Items: everything that is remembered, and one item with its history.
import { html, useState, useEffect, Fragment } from "../lib.js";
import { ask, get, isFile, ofMemory, post, withCursor, embedded } from "../api.js";
import { Asked, Badge, Button, Dialog, Empty, Fact, Failed, Head, Item, Receipt, Room, slotsByItem, useAsked, useDoing } from "../parts.js";
import { Text, cut, day, decimal, time } from "../text.js";

const PAGE = 50;

export function Items(props) {
  return props.arg == null ? html`<${All} ...${props} />` : html`<${One} ...${props} key=${props.arg} />`;
}

function All({ memory, slots, go, version }) {
  const [wanted, setWanted] = useState({});
  const filter = Object.entries(wanted).filter(([, value]) => value !== "" && value != null);
  const written = filter.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&");
  const path = `${ofMemory(memory)}/items${written && `?${written}`}`;
  const set = (name) => (event) => setWanted({ ...wanted, [name]: event.target.value.trim() });
  return html`<${Head} title="Items" says="Everything that is remembered, word for word, in the order in which it came." />
    ${!isFile && html`<form class="filters" onSubmit=${(e) => e.preventDefault()} aria-label="Filter">
      <label>Speaker <input onChange=${set("speaker")} /></label>
      <label>Room <select onChange=${set("slot")}><option value="">any</option>${slots.map((slot) => html`<option value=${slot.number}>${slot.name ?? `Room ${slot.number}`}</option>`)}</select></label>
      <label>From <input type="date" onChange=${set("from")} /></label>
      <label>To <input type="date" onChange=${set("to")} /></label>
    </form>`}
    <${Pages} key=${path} ...${{ path, slots, go, version }} />`;
}

// A list that was begun stays as it is, whatever comes in, until it is asked for anew.
function Pages({ path, slots, go, version }) {
  const [shown, setShown] = useState(version);
  const [records, setRecords] = useState([]);
  const [next, setNext] = useState(null);
  const loading = useDoing(async (cursor) => {
    const page = await get(withCursor(path, cursor, PAGE));
    setRecords((before) => (cursor ? [...before, ...page.records] : page.records));
    setNext(page.next);
  });
  useEffect(() => { loading.run(null); }, [shown]);
  const slotOf = slotsByItem(slots);
  return html`<${Failed} error=${loading.error} />
    ${version !== shown && html`<p class="note">The memory has changed since. <${Button} kind="link" onClick=${() => setShown(version)}>Look anew<//></p>`}
    ${loading.done && !records.length && html`<${Empty}>${path.includes("?") ? "No item is of these." : "Nothing was remembered yet."}<//>`}
    <div class="list">${records.map((item) => html`<${Item} key=${item.id} ...${{ item, slots, slotOf, go }} />`)}</div>
    ${next && html`<p class="more"><${Button} busy=${loading.busy} onClick=${() => loading.run(next)}>Show more<//></p>`}`;
}

function One({ memory, arg: id, slots, go, can, version, changed }) {
  const path = `${ofMemory(memory)}/items/${encodeURIComponent(id)}`;
  const [isForgetting, setForgetting] = useState(false);
  const [receipt, setReceipt] = useState(null);
  const asked = useAsked(async () => {
    if (receipt) return null;
    const [item, history, marks] = await Promise.all([itemOf(memory, path, id), historyOf(path), get(`${ofMemory(memory)}/marks`)]);
    const mark = marks.records.find((one) => one.evidence_id === id) ?? { kept: false, hidden: false };
    return { item, history: history.records, mark };
  }, [path, version]);
  const marking = useDoing((told) => ask("PATCH", path, told).then(changed));
  if (receipt) {
    return html`<p class="back"><a href=${go("items")}>Items</a></p><${Head} title=${`${id} is forgotten`} says="It is erased, with every text that came from it. This receipt has ids alone." />
      <section class="card" role="status"><h2>Receipt</h2><${Receipt} receipt=${receipt} /></section>`;
  }
  return html`<p class="back"><a href=${go("items")}>Items</a></p>
    <${Asked} asked=${asked} what="the item">${(found) => found && html`<${Fragment}>
      <${Head} title=${html`<span class="soft">Item</span> ${id}`}>
        ${!isFile && html`<${Fragment}>
          ${can("write") && html`<${Button} aria-pressed=${String(found.mark.kept)} busy=${marking.busy} onClick=${() => marking.run({ kept: !found.mark.kept })}>${found.mark.kept ? "Kept" : "Keep"}<//>
          <${Button} aria-pressed=${String(found.mark.hidden)} busy=${marking.busy} onClick=${() => marking.run({ hidden: !found.mark.hidden })}>${found.mark.hidden ? "Hidden" : "Hide"}<//>`}
          ${can("forget") && html`<${Button} kind="danger" onClick=${() => setForgetting(true)}>Forget …<//>`}<//>`}
      <//>
      <${Failed} error=${marking.error} />
      <blockquote class="whole"><${Text} text=${found.item.text} quoted /></blockquote>
      ${found.mark.hidden && html`<p class="note warn">It is hidden: in no reading, answer or summary.</p>`}
      <${Facts} item=${found.item} slot=${slotsByItem(slots)[id]} ...${{ slots, go }} />
      <${History} versions=${found.history} id=${id} go=${go} />
      <${Forgetting} open=${isForgetting} close=${() => setForgetting(false)} path=${path} id=${id} several=${found.history.length > 1}
        forgotten=${(given) => { setReceipt(given); changed(); }} />
    <//>`}<//>`;
}

async function itemOf(memory, path, id) {
  if (!isFile) return get(path);
  const { records } = await get(`${ofMemory(memory)}/items`);
  return records.find((item) => item.id === id) ?? get(path);
}

const historyOf = (path) => (isFile && !embedded.answers[`${path}/history`] ? { records: [] } : get(`${path}/history`));

function Facts({ item, slot, slots, go }) {
  const beside = Object.entries(item.metadata ?? {});
  return html`<dl class="facts wide">
    <${Fact} name="Said by">${item.speaker ? html`<${Text} text=${item.speaker} />` : "nobody named"}<//>
    <${Fact} name="When">${time(item.at)}<//>
    <${Fact} name="Room"><${Room} slot=${slot} slots=${slots} go=${go} /><//>
    ${item.session && html`<${Fact} name="Conversation"><${Text} text=${item.session} /><//>`}
    ${item.source && html`<${Fact} name="Source"><${Text} text=${item.source} /><//>`}
    ${item.source_id && html`<${Fact} name="The caller's id"><${Text} text=${item.source_id} /><//>`}
    ${item.trust < 1 && html`<${Fact} name="Trust">${decimal(item.trust)}<//>`}
    ${item.made_from.length > 0 && html`<${Fact} name="Note made from">${item.made_from.map((one) => html`<a href=${go("items", one)}>${one}</a> `)}<//>`}
    ${beside.map(([name, value]) => html`<${Fact} name=${html`<${Text} text=${name} />`}><${Text} text=${typeof value === "string" ? value : JSON.stringify(value)} /><//>`)}
  </dl>`;
}

const HOW = { found: "found when it came in", told: "told by somebody", updated: "remembered in its place", judged: "judged by what both say" };

function History({ versions, id, go }) {
  if (versions.length < 2) return html`<section><h2>History</h2><p class="soft">Nothing has taken its place, and it has taken the place of nothing.</p></section>`;
  return html`<section><h2>History</h2><p class="soft">What took the place of what, old to new.</p>
    <ol class="history">${versions.map((version) => html`<li class=${version.holds ? "holds" : "past"} aria-current=${version.evidence.id === id ? "true" : undefined}>
      <a class="item-text" href=${go("items", version.evidence.id)}><${Text} text=${cut(version.evidence.text, 300)} quoted /></a>
      <p class="meta"><span>${day(version.evidence.at)}</span>
        ${version.holds ? html`<${Badge} kind="good">holds<//>` : html`<${Badge}>holds no longer<//>`}
        ${version.replaces.map((one) => html`<span>in the place of ${one.old[0]}, ${HOW[one.how] ?? one.how}, confidence ${decimal(one.confidence)}${one.undone ? ", taken back" : ""}${one.reason ? `: ${one.reason}` : ""}</span>`)}
        <span class="id">${version.evidence.id}</span></p></li>`)}</ol></section>`;
}

function Forgetting({ open, close, path, id, several, forgotten }) {
  const [versions, setVersions] = useState(false);
  const forgetting = useDoing(async () => {
    const receipt = await ask("DELETE", versions ? `${path}?versions=true` : path);
    close();
    forgotten(receipt);
  });
  return html`<${Dialog} title=${`Forget ${id}?`} open=${open} close=${close}>
    <p>It is erased for good: the item, and every summary, answer and certificate that has its text. You get a receipt of what went.</p>
    ${several && html`<p><label class="check"><input type="checkbox" checked=${versions} onChange=${(e) => setVersions(e.target.checked)} /> and all versions of it</label></p>`}
    <${Failed} error=${forgetting.error} />
    <div class="acts"><${Button} onClick=${close}>Leave it<//><${Button} kind="danger solid" busy=${forgetting.busy} onClick=${forgetting.run}>Forget for good<//></div>
  <//>`;
}
