// Splits: the rooms as they parted in time, and the certificates by which they did.
import { html, useEffect, useState, Fragment } from "../lib.js";
import { every, get, isFile, ofMemory, post } from "../api.js";
import { Asked, Badge, Button, Dialog, Empty, Fact, Failed, Head, Room, AsTable, announce, hue, nameOf, useAsked, useDoing } from "../parts.js";
import { Text, cut, day, decimal, many, moment, percent, plain } from "../text.js";

export function Splits(props) {
  return props.arg == null ? html`<${All} ...${props} />` : html`<${One} ...${props} key=${props.arg} />`;
}

function All({ memory, slots, go, version }) {
  const path = ofMemory(memory);
  const asked = useAsked(async () => {
    const [certificates, items, answers] = await Promise.all(["certificates", "items", "answers"].map((what) => every(`${path}/${what}`)));
    return { certificates: certificates.records, items: items.records, isCut: items.more || answers.more, answers: answers.records };
  }, [memory, version]);
  return html`<${Head} title="Splits" says="A room is split only where a certificate says that two questions cannot both be served by it. Each can be replayed, and taken back." />
    <${Asked} asked=${asked} what="the splits">${(found) => html`
      <${Tree} ...${found} slots=${slots} go=${go} />
      <section><h2>Certificates</h2>${found.certificates.length ? html`<div class="list">${[...found.certificates].reverse().map((one) => html`<${Row} key=${one.id} one=${one} slots=${slots} go=${go} />`)}</div>`
        : html`<${Empty}>No conflict was certified. Rooms are split by what feedback proves, not by topic.<//>`}</section>`}<//>`;
}

const stateOf = (one) => (one.undone ? "taken back" : one.decision === "split" ? "split" : "suppressed");
const kindOf = (one) => (one.undone ? "" : one.decision === "split" ? "good" : "warn");

function Row({ one, slots, go }) {
  return html`<article class="item"><h3><a href=${go("splits", one.id)}>${one.redacted ? html`${one.id}, of which the text is forgotten`
      : html`<${Text} text=${cut(one.queries[0], 80)} /> <span class="soft">and</span> <${Text} text=${cut(one.queries[1], 80)} />`}</a></h3>
    <p class="meta"><${Badge} kind=${kindOf(one)}>${stateOf(one)}<//>
      <span><${Room} slot=${one.slot} slots=${slots} go=${go} />${one.new_slot != null && html` → <${Room} slot=${one.new_slot} slots=${slots} go=${go} />`}</span>
      <span class="num">loses ${decimal(one.radius)}, allowed ${decimal(one.threshold)}</span><span>${one.regime}</span><span class="id">${one.id}</span></p></article>`;
}

// How the tree is laid out: names of rooms stand beside their lanes, and where there is no place, above them.
const BROAD = { wide: 900, left: 132, lane: 46, first: 34, bend: 34, marks: 8, isNarrow: false };
const NARROW = { wide: 340, left: 8, lane: 54, first: 50, bend: 18, marks: 4, isNarrow: true };
const narrow = matchMedia("(max-width: 720px)");

function useLayout() {
  const [isNarrow, setNarrow] = useState(narrow.matches);
  useEffect(() => {
    const look = () => setNarrow(narrow.matches);
    narrow.addEventListener("change", look);
    return () => narrow.removeEventListener("change", look);
  }, []);
  return isNarrow ? NARROW : BROAD;
}

// When a split came about is when the later of its two questions was asked.
function splitsOf(certificates, answers, from, to) {
  const at = new Map(answers.map((one) => [one.id, moment(one.at)]));
  return certificates.map((one, n) => {
    const known = one.pair.map((id) => at.get(id)).filter((value) => !Number.isNaN(value) && value !== undefined);
    return { one, at: known.length ? Math.max(...known) : from + ((to - from) * (n + 1)) / (certificates.length + 1), isKnown: known.length > 0 };
  });
}

function Tree({ certificates, items, answers, isCut, slots, go }) {
  const layout = useLayout();
  const { wide, left, first, bend, isNarrow } = layout;
  const times = [...items, ...answers].map((one) => moment(one.at)).filter((value) => !Number.isNaN(value));
  if (!slots.length || times.length < 2) return null;
  const from = Math.min(...times);
  const to = Math.max(...times);
  const x = (value) => left + ((value - from) / Math.max(1, to - from)) * (wide - left - 24);
  const splits = splitsOf(certificates, answers, from, to);
  const order = laneOrder(slots);
  const lane = new Map(order.map((slot, n) => [slot.number, first + n * layout.lane]));
  const tall = first + (order.length - 1) * layout.lane + 20;
  const slotOf = Object.fromEntries(slots.flatMap((slot) => slot.evidence.map((id) => [id, slot.number])));
  const openedBy = new Map(splits.filter(({ one }) => one.decision === "split" && !one.undone).map((split) => [split.one.new_slot, split]));
  const says = `${many(slots.length, "room")} from ${day(new Date(from).toISOString())} to ${day(new Date(to).toISOString())}; ${many(openedBy.size, "split")} in force`;
  return html`<section class="card"><div class="row"><h2>The rooms in time</h2>
      <ul class="legend"><li><i class="dot"></i>an item</li><li><i class="diamond"></i>a split</li><li><i class="diamond hollow"></i>suppressed or taken back</li></ul></div>
    <div class="scroll" tabindex="0" role="region" aria-label="The rooms in time"><svg class=${isNarrow ? "tree" : "tree is-wide"} viewBox=${`0 0 ${wide} ${tall}`} role="group" aria-label=${says}>
      <${Axis} ...${{ from, to, x, tall, most: layout.marks }} />
      ${order.map((slot) => {
        const y = lane.get(slot.number);
        const split = openedBy.get(slot.number);
        const start = split ? x(split.at) : left;
        const parent = split && lane.get(split.one.slot);
        return html`<g style=${{ "--hue": hue(slot.number) }} class="lane">
          ${split && parent !== undefined && html`<path class="branch" d=${`M${start - bend},${parent} C${start - bend * 0.3},${parent} ${start - bend * 0.7},${y} ${start},${y}`} />`}
          <line x1=${Math.min(start, ...since(slot, items, x))} x2=${start} y1=${y} y2=${y} class="room-before" />
          <line x1=${start} x2=${wide - 16} y1=${y} y2=${y} class="room-line" />
          <text x="0" y=${isNarrow ? y - 12 : y + 4}>${cut(plain(nameOf(slots, slot.number) ?? `Room ${slot.number}`), 18)}</text>
        </g>`;
      })}
      ${items.map((item) => lane.has(slotOf[item.id]) && !Number.isNaN(moment(item.at)) && html`<circle cx=${x(moment(item.at)) + jitter(item.id)} cy=${lane.get(slotOf[item.id])} r="3.2" style=${{ fill: hue(slotOf[item.id]) }} class="said-then" />`)}
      ${splits.map(({ one, at }) => lane.has(one.slot) && html`<${Diamond} x=${markOf(one, x(at), splits, layout)} y=${lane.get(one.slot)} ...${{ one, go }} />`)}
    </svg></div>
    <p class="soft">Items stand when they were said, splits when the later of the two questions was asked. An item that moved in a split is shown where it is now.${isCut && " Of this memory the first 2,000 items and answers are drawn."}</p>
    <${AsTable} caption="Splits in time" columns=${["Certificate", "When", "From", "To", "State"]}
      rows=${splits.map(({ one, at, isKnown }) => [html`<a href=${go("splits", one.id)}>${one.id}</a>`, isKnown ? day(new Date(at).toISOString()) : "not known", `Room ${one.slot}`, one.new_slot == null ? "–" : `Room ${one.new_slot}`, stateOf(one)])} />
  </section>`;
}

// Where the items of a room begin; those that a split brought along were said before it.
const since = (slot, items, x) => items.filter((item) => slot.evidence.includes(item.id)).map((item) => x(moment(item.at))).filter((value) => !Number.isNaN(value));

// A split stands where its branch leaves the room; of others at one time each has a place of its own.
function markOf(one, x, splits, { wide, bend }) {
  if (one.decision === "split" && !one.undone) return x - bend;
  const beside = splits.filter((other) => other.one.slot === one.slot && (other.one.decision !== "split" || other.one.undone));
  return Math.min(x, wide - 24) - 13 * (beside.length - 1 - beside.findIndex((other) => other.one === one));
}

// Children stand below the room that they were split from.
function laneOrder(slots) {
  const order = [];
  const add = (slot) => {
    if (order.includes(slot)) return;
    order.push(slot);
    slots.filter((one) => one.parent === slot.number).forEach(add);
  };
  const known = new Set(slots.map((slot) => slot.number));
  slots.filter((slot) => slot.parent == null || !known.has(slot.parent)).forEach(add);
  slots.forEach(add);
  return order;
}

const jitter = (id) => ((Number(id.slice(1)) * 37) % 11) - 5;

function Diamond({ x, y, one, go }) {
  const isInForce = one.decision === "split" && !one.undone;
  const says = `${one.id}: ${stateOf(one)}`;
  return html`<a href=${go("splits", one.id)} aria-label=${says}><path class=${isInForce ? "diamond" : "diamond hollow"} d=${`M${x},${y - 7} l7,7 l-7,7 l-7,-7 z`}><title>${says}</title></path></a>`;
}

const MONTH = 30.44 * 86400e3;

function Axis({ from, to, x, tall, most }) {
  const months = Math.max(1, (to - from) / MONTH);
  const step = Math.max(1, Math.ceil(months / most));
  const first = new Date(from);
  const marks = [];
  for (let n = 0; n <= months + step; n += step) {
    const at = Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + (n === 0 ? 0 : n), 1);
    if (at >= from && at <= to) marks.push(at);
  }
  return marks.map((at) => html`<g class="tick"><line x1=${x(at)} x2=${x(at)} y1="20" y2=${tall} /><text x=${x(at)} y="12" text-anchor="middle">${day(new Date(at).toISOString()).slice(2)}</text></g>`);
}

function One({ memory, arg: id, slots, go, can, version, changed }) {
  const path = `${ofMemory(memory)}/certificates/${encodeURIComponent(id)}`;
  const asked = useAsked(() => get(path), [path, version]);
  const [isUndoing, setUndoing] = useState(false);
  const replaying = useDoing(async () => {
    await post(`${path}/replay`);
    announce("The certificate is sound");
  });
  const undoing = useDoing(async () => {
    await post(`${path}/undo`);
    setUndoing(false);
    changed();
  });
  return html`<p class="back"><a href=${go("splits")}>Splits</a></p>
    <${Asked} asked=${asked} what="the certificate">${(one) => html`
      <${Head} title=${html`<span class="soft">Certificate</span> ${one.id}`} says=${saysOf(one)}>
        <${Fragment}>${!one.redacted && html`<${Button} busy=${replaying.busy} onClick=${replaying.run}>Replay<//>`}
        ${!isFile && can("write") && !one.undone && one.decision === "split" && html`<${Button} onClick=${() => setUndoing(true)}>Take back …<//>`}<//>
      <//>
      <${Failed} error=${replaying.error} />
      ${replaying.done && html`<p class="note good" role="status">Sound: worked out again from its numbers, it comes to the same.</p>`}
      <div class="pair">${[0, 1].map((n) => html`<section class="card"><p class="soft">${n ? "Second" : "First"} question, <a href=${go("answers", one.pair[n])}>${one.pair[n]}</a></p>
        <h2>${one.redacted ? "forgotten" : html`<${Text} text=${one.queries[n]} />`}</h2><p class="meta"><span>judged by ${one.channels[n]}</span></p></section>`)}</div>
      <${Drawn} one=${one} />
      <dl class="facts wide">
        <${Fact} name="State"><${Badge} kind=${kindOf(one)}>${stateOf(one)}<//>${one.saturated && " all rooms were open"}${one.pinned && " the room was pinned"}${one.undivided && " there was nothing to divide"}<//>
        <${Fact} name="From"><${Room} slot=${one.slot} slots=${slots} go=${go} /><//>
        ${one.new_slot != null && html`<${Fact} name="Opened"><${Room} slot=${one.new_slot} slots=${slots} go=${go} /><//>`}
        <${Fact} name="Regime">${one.regime}<//>
        <${Fact} name="Scorers">${one.scorers.join(", ")}<//>
        <${Fact} name="Digest"><code>${one.digest.slice(0, 16)}</code><//>
      </dl>
      <p class="soft">Conditions: <${Text} text=${one.conditions} /></p>
      <${Dialog} title=${`Take back ${one.id}?`} open=${isUndoing} close=${() => setUndoing(false)}>
        <p>What is in the room that it opened goes back, and that room is closed. The certificate stays in the list as taken back.</p>
        <${Failed} error=${undoing.error} />
        <div class="acts"><${Button} onClick=${() => setUndoing(false)}>Leave it<//><${Button} kind="main" busy=${undoing.busy} onClick=${undoing.run}>Take it back<//></div><//>
    `}<//>`;
}

function saysOf(one) {
  return `Whatever one room holds of what was tried, one of the two questions loses at least ${decimal(one.radius)} of 1; allowed is ${decimal(one.threshold)}.`;
}

const NAMES = { current: "the room as it was", "split first": "a room for the first", "split second": "a room for the second" };

function Drawn({ one }) {
  return html`<section class="card"><h2>What was tried</h2>
    <p class="soft">For each content of a room: how well it would serve both questions. A point is what one scorer gave, a bar how far the true score may be from it. The loss counts from the best that the question got anywhere.</p>
    ${one.candidates.map((candidate) => html`<${Candidate} candidate=${candidate} one=${one} key=${candidate.name} />`)}
    <${AsTable} caption="What was tried" columns=${["Content", "First: score", "First: loss", "Second: score", "Second: loss"]}
      rows=${one.candidates.map((c) => [NAMES[c.name] ?? c.name, range(c, 0), decimal(c.losses[0]), range(c, 1), decimal(c.losses[1])])} />
  </section>`;
}

const range = (candidate, n) => `${decimal(candidate.lower[n])} to ${decimal(candidate.upper[n])}`;

function Candidate({ candidate, one }) {
  return html`<div class="candidate"><h3>${NAMES[candidate.name] ?? candidate.name} <span class="soft">${candidate.cover.slice(0, 8).join(", ")}${candidate.cover.length > 8 ? " …" : ""}</span></h3>
    ${[0, 1].map((n) => html`<div class="tried">
      <div class="tried-answer"><span class="soft">${n ? "second" : "first"}</span> ${candidate.answers[n] ? html`<${Text} text=${cut(candidate.answers[n], 160)} quoted />` : html`<span class="soft">no answer</span>`}</div>
      <${Envelope} candidate=${candidate} n=${n} threshold=${one.threshold} />
    </div>`)}</div>`;
}

const SPAN = 300;

function Envelope({ candidate, n, threshold }) {
  const x = (value) => 6 + value * (SPAN - 12);
  const [lower, upper, loss] = [candidate.lower[n], candidate.upper[n], candidate.losses[n]];
  const isTooMuch = loss > threshold;
  const says = `Score ${decimal(lower)} to ${decimal(upper)}; loss ${decimal(loss)}, ${isTooMuch ? "more than" : "within"} the ${decimal(threshold)} allowed`;
  return html`<svg class="envelope" viewBox=${`0 0 ${SPAN} 62`} role="img" aria-label=${says}>
    <line x1=${x(0)} x2=${x(1)} y1="14" y2="14" class="rail" /><line x1=${x(lower)} x2=${x(upper)} y1="14" y2="14" class="within" />
    ${candidate.scores[n].map((score) => html`<circle cx=${x(score)} cy="14" r="4" class="score" />`)}
    <text x=${x(0)} y="31">score 0</text><text x=${x(1)} y="31" text-anchor="end">1</text>
    <rect x=${x(0)} y="40" width=${SPAN - 12} height="8" rx="2" class="rail-box" /><rect x=${x(0)} y="40" width=${Math.max(0.5, loss * (SPAN - 12))} height="8" rx="2" class=${isTooMuch ? "loss too-much" : "loss"} />
    <line x1=${x(threshold)} x2=${x(threshold)} y1="36" y2="52" class="mark" /><text x=${x(0)} y="61">loss ${decimal(loss)}</text><text x=${x(1)} y="61" text-anchor="end">${percent(threshold)} allowed</text>
  </svg>`;
}
