// Ask: what would be read for a question, and why.
import { html, useState, useEffect } from "../lib.js";
import { get, post, isFile, embedded, ofMemory, onceOnly } from "../api.js";
import { Asked, Badge, Button, Empty, Failed, Head, Meter, Room, AsTable, announce, useAsked, useDoing } from "../parts.js";
import { Text, cut, day, decimal, many, number, percent, signed } from "../text.js";
import { GROUPS, SAYS, grouped } from "../features.js";

const SUGGESTED = 8;

export function Ask({ memory, slots, go, query: given, settings, can }) {
  const asked = given.get("q") ?? "";
  const limit = Number(given.get("limit")) || settings.read_limit;
  const [words, setWords] = useState(asked);
  useEffect(() => setWords(asked), [asked]);
  const look = (event) => {
    event.preventDefault();
    if (words.trim()) location.hash = go("ask", null, { q: words.trim() });
  };
  return html`
    <${Head} title="Ask" says="See what this memory would put before a model for a question, and what each line owes its place to." />
    ${isFile ? html`<${Questions} go=${go} asked=${asked} />` : html`
      <form class="ask" role="search" onSubmit=${look}>
        <label class="hidden" for="question">Question</label>
        <input id="question" type="search" value=${words} onInput=${(e) => setWords(e.target.value)}
          placeholder="Ask about anything that was said" autocomplete="off" />
        <button class="button main" type="submit">Ask</button>
      </form>`}
    ${asked ? html`<${Found} key=${asked} ...${{ memory, slots, go, asked, limit, settings, can }} />`
      : !isFile && html`<${Suggested} ...${{ memory, slots, go }} />`}`;
}

function Questions({ go, asked }) {
  return html`<p class="soft">This page was written to a file, so it shows the questions that were asked before.</p>
    <${Chips} queries=${embedded.questions} go=${go} asked=${asked} />`;
}

// Some of what was asked before, so that there is something to begin with.
function Suggested({ memory, slots, go }) {
  const asked = useAsked(() => get(`${ofMemory(memory)}/answers`), [memory]);
  if (!slots.length) return html`<${Empty}>There is nothing in this memory yet, so nothing to ask about.<//>`;
  return html`<p class="soft">Nothing is changed by asking.</p>
    <${Asked} asked=${asked} what="questions">${({ records }) => {
      const queries = [...new Set(records.map((one) => one.query).filter(Boolean))].slice(-SUGGESTED);
      return queries.length > 0 && html`<h2>Asked before</h2><${Chips} ...${{ queries, go }} />`;
    }}<//>`;
}

function Chips({ queries, go, asked }) {
  return html`<ul class="chips">${queries.map((query) => html`<li>
    <a href=${go("ask", null, { q: query })} aria-current=${query === asked ? "true" : undefined}><${Text} text=${query} /></a></li>`)}</ul>`;
}

function Found({ memory, slots, go, asked, limit, settings, can }) {
  const found = useAsked(() => post(`${ofMemory(memory)}/weigh`, { query: asked, limit }), [memory, asked, limit]);
  useEffect(() => {
    if (found.value) announce(`${many(found.value.reading.lines.length, "line")} read`);
  }, [found.value]);
  return html`<${Asked} asked=${found} what="it">${(weighed) => html`
    <div class=${found.busy ? "found is-busy" : "found"}>
      <${Verdict} ...${{ weighed, slots, go }} />
      ${!isFile && can("write", "feedback") && html`<${Answering} ...${{ memory, asked, go }} />`}
      <div class="split">
        <${Lines} ...${{ weighed, slots, go }} />
        <aside class="beside">
          <${Put} ...${{ reading: weighed.reading, asked, settings, go }} />
          <${LeftOut} ...${{ weighed, asked, go }} />
        </aside>
      </div>
    </div>`}<//>`;
}

function Verdict({ weighed, slots, go }) {
  const { route, reading } = weighed;
  const probability = reading.probability;
  const says = reading.settled
    ? "Known: this was asked before, and a line proved right."
    : route.adequate ? "Known: the memory seems to hold this." : "Not known: the memory does not seem to hold this.";
  return html`<section class=${`verdict ${route.adequate || reading.settled ? "good" : "warn"}`} aria-label="Whether it is known">
    <div class="verdict-says"><strong>${says}</strong>
      <p class="meta"><span>Goes to <${Room} slot=${route.slot} slots=${slots} go=${go} /></span>
      ${reading.recognised > 0 && html`<span>Asked before with ${percent(reading.recognised)} probability:
        ${reading.decisions.slice(0, 3).map((id) => html` <a href=${go("answers", id)}>${id}</a>`)}</span>`}
      ${reading.unranked && html`<span>The reranker failed: <${Text} text=${reading.unranked} /></span>`}</p>
    </div>
    <div class="odds"><b>${percent(probability)}</b> <span class="small">likely held</span>
      <${Meter} value=${probability} most=${1} label=${`Probability ${percent(probability)}`}
        colour=${route.adequate || reading.settled ? "var(--good)" : "var(--warn)"} /></div>
  </section>`;
}

function Lines({ weighed, slots, go }) {
  const slotOf = Object.fromEntries(slots.flatMap((slot) => slot.evidence.map((id) => [id, slot.number])));
  const lines = weighed.reading.lines.map((line, n) => ({ line, parts: weighed.parts[n] }));
  lines.sort((one, other) => other.line.score - one.line.score);
  if (!lines.length) return html`<section><h2>Lines</h2><${Empty}>Nothing that bears on it fits the limit.<//></section>`;
  const scale = scaleOf(lines);
  return html`<section aria-labelledby="lines"><div class="row"><h2 id="lines">Lines, the best first</h2></div>
    <${Legend} lines=${lines} />
    <ol class="lines">${lines.map((one, n) => html`<${Line} key=${`${one.line.evidence.id}:${one.line.start}`} ...${{ ...one, place: n + 1, scale, slots, slotOf, go }} />`)}</ol>
  </section>`;
}

// One scale for all lines, so that their bars can be compared.
function scaleOf(lines) {
  let below = 0;
  let above = 0.1;
  for (const { parts } of lines) {
    const values = grouped(parts).map((group) => group.value);
    below = Math.min(below, values.filter((value) => value < 0).reduce((a, b) => a + b, 0));
    above = Math.max(above, values.filter((value) => value > 0).reduce((a, b) => a + b, 0));
  }
  return { below, above };
}

function Legend({ lines }) {
  const used = GROUPS.filter((group) => lines.some(({ parts }) => grouped(parts).some((one) => one.name === group.name)));
  return html`<ul class="legend" aria-label="What the colours of the bars mean">${used.map((group) =>
    html`<li><i style=${{ background: group.colour }}></i>${group.name}</li>`)}<li><i class="upright"></i>the score</li></ul>
    <p class="soft small">What adds stands right of the line, what takes away, paler, left of it.</p>`;
}

function Line({ line, parts, place, scale, slots, slotOf, go }) {
  const item = line.evidence;
  const shown = item.text.slice(line.start, line.end);
  return html`<li class="line">
    <span class="place" aria-hidden="true">${place}</span>
    <div>
      <a class="item-text" href=${go("items", item.id)}><${Text} text=${shown} quoted /></a>
      <p class="meta">
        ${item.speaker && html`<span class="who"><${Text} text=${item.speaker} /></span>`}
        <span>${day(item.at)}</span>
        <${Room} slot=${slotOf[item.id]} slots=${slots} go=${go} />
        ${line.again.length > 0 && html`<span>said ${line.again.length + 1} times</span>`}
        ${line.more > 0 && html`<span>and ${line.more} more like this</span>`}
        ${line.superseded.length > 0 && html`<${Badge} kind="warn">holds no longer<//>`}
        <span class="id">${item.id}</span>
      </p>
      <${Parts} ...${{ parts, scale, score: line.score, probability: line.probability }} />
    </div>
  </li>`;
}

function Parts({ parts, scale, score, probability }) {
  const groups = grouped(parts);
  if (!groups.length) return null;
  const rows = Object.entries(parts).sort((one, other) => Math.abs(other[1]) - Math.abs(one[1]));
  return html`<div class="parts">
    <${Bars} groups=${groups} scale=${scale} score=${score} />
    <details><summary><span class="num">Score ${decimal(score)}</span> · bears on it: ${percent(probability)}</summary>
      <table class="tight"><caption class="hidden">What the score is made of</caption>
        <thead><tr><th scope="col">Feature</th><th scope="col">what it says</th><th scope="col" class="num">adds</th></tr></thead>
        <tbody>${rows.map(([name, value]) => html`<tr><th scope="row"><code>${name}</code></th><td>${SAYS[name] ?? ""}</td>
          <td class=${value < 0 ? "num less" : "num"}>${signed(value)}</td></tr>`)}</tbody></table>
    </details></div>`;
}

const WIDE = 600;
const TALL = 12;

function Bars({ groups, scale, score }) {
  const span = scale.above - scale.below;
  const x = (value) => ((value - scale.below) / span) * WIDE;
  let right = 0;
  let left = 0;
  const bars = groups.map((group) => {
    const from = group.value > 0 ? right : left + group.value;
    if (group.value > 0) right += group.value;
    else left += group.value;
    return html`<rect x=${x(from)} width=${Math.max(0.5, x(from + Math.abs(group.value)) - x(from) - 1)} y="0" height=${TALL} rx="1.5"
      style=${{ fill: group.colour }} opacity=${group.value > 0 ? 1 : 0.45}><title>${`${group.name} ${signed(group.value)}`}</title></rect>`;
  });
  const says = groups.map((group) => `${group.name} ${signed(group.value)}`).join(", ");
  return html`<svg class="bars" viewBox=${`0 0 ${WIDE} ${TALL + 4}`} preserveAspectRatio="none" role="img" aria-label=${`Score ${decimal(score)}: ${says}`}>
    ${bars}<line x1=${x(0)} x2=${x(0)} y1="0" y2=${TALL + 4} class="axis" /><line x1=${x(score)} x2=${x(score)} y1="-1" y2=${TALL + 4} class="mark" />
  </svg>`;
}

function Put({ reading, asked, settings, go }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(reading.text);
    setCopied(true);
  };
  const change = (event) => { location.hash = go("ask", null, { q: asked, limit: event.target.value }); };
  const most = Math.max(settings.read_limit * 2, reading.limit, 400);
  return html`<section class="card" aria-labelledby="put"><div class="row"><h2 id="put">As it is put in</h2>
      ${navigator.clipboard && html`<${Button} kind="small" onClick=${copy}>${copied ? "Copied" : "Copy"}<//>`}</div>
    <p class="meta"><span class="num">${number(reading.size)} of ${number(reading.limit)} ${reading.unit}</span></p>
    <${Meter} value=${reading.size} most=${reading.limit} label=${`${number(reading.size)} of ${number(reading.limit)} ${reading.unit} used`} />
    ${!isFile && html`<label class="slider">Limit
      <input type="range" min="100" max=${most} step="50" value=${reading.limit} onChange=${change} /></label>`}
    ${reading.text ? html`<pre class="reading" tabindex="0" aria-label="The reading"><${Text} text=${reading.text} /></pre>`
      : html`<${Empty}>An empty text.<//>`}
  </section>`;
}

function LeftOut({ weighed, asked, go }) {
  const left = weighed.reading.left_out;
  const rows = left.best.map((line) => [html`<${Text} text=${cut(line.evidence.text.slice(line.start, line.end), 90)} />`, decimal(line.score), percent(line.probability)]);
  return html`<section class="card" aria-labelledby="left"><h2 id="left">Left out</h2>
    ${left.lines === 0 ? html`<p>Nothing for want of room.</p>` : html`
      <p>${many(left.lines, "more line")} for want of room.
      ${left.next_limit != null && html` The next comes in at <a href=${go("ask", null, { q: asked, limit: left.next_limit })}>a limit of ${number(left.next_limit)}</a>.`}</p>
      <ol class="left">${left.best.map((line) => html`<li><a href=${go("items", line.evidence.id)}><${Text} text=${cut(line.evidence.text.slice(line.start, line.end), 110)} quoted /></a></li>`)}</ol>
      <${AsTable} says="With their scores" caption="Lines that were left out" columns=${["Line", "Score", "Bears on it"]} rows=${rows} />`}
    ${left.unrelated > 0 && html`<p class="soft">${many(left.unrelated, "line")} below the floor, which no limit brings in.</p>`}
    ${weighed.reading.withheld.length > 0 && html`<p class="soft">${many(weighed.reading.withheld.length, "item")} left out since it no longer holds:
      ${weighed.reading.withheld.map((id) => html` <a href=${go("items", id)}>${id}</a>`)}</p>`}
  </section>`;
}

function Answering({ memory, asked, go }) {
  const answering = useDoing(() => post(`${ofMemory(memory)}/answer`, { query: asked }));
  const answer = answering.done;
  if (!answer) {
    return html`<div class="answering"><${Button} onClick=${answering.run} busy=${answering.busy}>Answer from memory<//>
      <span class="soft">It is kept among the answers, so that you can say whether it is right.</span><${Failed} error=${answering.error} /></div>`;
  }
  return html`<section class="card answer" aria-label="The answer">
    <p class="answer-text">${answer.text ? html`<${Text} text=${answer.text} quoted />` : "Nothing that was read answers this."}</p>
    <p class="meta">${answer.known ? html`<${Badge} kind="good">known<//>` : html`<${Badge} kind="warn">not known<//>`}
      <span>rests on ${answer.evidence.length ? answer.evidence.map((id) => html` <a href=${go("items", id)}>${id}</a>`) : "nothing"}</span>
      <span class="id">${answer.id}</span></p>
    <${Judging} memory=${memory} id=${answer.id} go=${go} />
  </section>`;
}

export function Judging({ memory, id, go, after }) {
  const [isCorrecting, setCorrecting] = useState(false);
  const [words, setWords] = useState("");
  const telling = useDoing(async (told) => {
    const report = await post(`${ofMemory(memory)}/feedback`, { answer: id, ...told }, onceOnly());
    after?.();
    return report;
  });
  if (telling.done) return html`<${Learned} report=${telling.done} go=${go} />`;
  const correct = (event) => {
    event.preventDefault();
    if (words.trim()) telling.run({ correction: words.trim() });
  };
  return html`<div class="judging"><span class="soft">Is it right?</span>
    <${Button} kind="small" busy=${telling.busy} onClick=${() => telling.run({ thumbs: true })}>Right<//>
    <${Button} kind="small" busy=${telling.busy} onClick=${() => telling.run({ thumbs: false })}>Wrong<//>
    <${Button} kind="small" aria-expanded=${isCorrecting ? "true" : "false"} onClick=${() => setCorrecting(!isCorrecting)}>Correct it …<//>
    ${isCorrecting && html`<form class="inline" onSubmit=${correct}>
      <label class="hidden" for=${`right-${id}`}>What is right</label>
      <input id=${`right-${id}`} value=${words} placeholder="What is right" onInput=${(e) => setWords(e.target.value)} />
      <button class="button small main" type="submit" disabled=${telling.busy}>Tell it</button></form>`}
    <${Failed} error=${telling.error} /></div>`;
}

function Learned({ report, go }) {
  const certificate = report.certificate;
  return html`<p class="note" role="status">Noted: <span class="num">${decimal(report.reward)}</span> by ${report.channel}.
    ${report.remembered && html` The correction is remembered as <a href=${go("items", report.remembered)}>${report.remembered}</a>.`}
    ${certificate && html` It came to a certificate: <a href=${go("splits", certificate.id)}>${certificate.id}</a>, ${certificate.decision}.`}
    ${report.failed && html` The tests could not be finished: <${Text} text=${report.failed} />`}</p>`;
}
