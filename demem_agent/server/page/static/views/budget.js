// Budget: of questions that were judged right, for how many is what they rest on read at which limit.
import { html, useRef, useState, useEffect } from "../lib.js";
import { embedded, every, isFile, ofMemory, post } from "../api.js";
import { Button, Empty, Failed, Head, AsTable, announce, useAsked, Asked, useDoing } from "../parts.js";
import { Text, cut, decimal, many, number, percent } from "../text.js";

const MOST = 40;
const SHARES = [0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1, 1.5];

export function Budget({ memory, settings, version, go }) {
  const asked = useAsked(() => every(`${ofMemory(memory)}/answers`).then(({ records }) => questionsOf(records)), [memory, version]);
  return html`<${Head} title="Budget" says="How much of a limit your own questions need: of those that were judged right, for how many is what they rest on read." />
    <${Asked} asked=${asked} what="the answers">${(questions) => questions.length
      ? html`<${Curve} ...${{ memory, settings, questions, go }} key=${memory} />`
      : html`<${Empty}>No answer that rests on something was judged right yet. Ask, and say what is right.<//>`}<//>`;
}

// Each question once, by its last answer that was worth at least half.
function questionsOf(answers) {
  const found = new Map();
  for (const one of answers) {
    const worth = one.rewards.length ? one.rewards.at(-1) : 0;
    const rests = one.kept.length ? one.kept : one.supports;
    if (worth >= 0.5 && rests.length && one.query) found.set(one.query, { query: one.query, rests });
  }
  const known = [...found.values()].filter(({ query }) => !isFile || embedded.questions.includes(query));
  return known.slice(-MOST);
}

const limitsOf = (settings) => isFile ? embedded.limits : SHARES.map((share) => Math.max(1, Math.round(settings.read_limit * share)));

function Curve({ memory, settings, questions, go }) {
  const [points, setPoints] = useState(null);
  const [done, setDone] = useState(0);
  const stop = useRef(null);
  const limits = limitsOf(settings);
  useEffect(() => () => stop.current?.abort(), []);
  useEffect(() => { if (isFile) measuring.run(); }, []);
  const measuring = useDoing(async () => {
    stop.current = new AbortController();
    const { signal } = stop.current;
    const found = [];
    setDone(0);
    for (const limit of limits) {
      const missed = [];
      for (const { query, rests } of questions) {
        const reading = await post(`${ofMemory(memory)}/read`, { query, limit }, { signal });
        const read = new Set(reading.evidence.map((item) => item.id));
        if (!rests.every((id) => read.has(id))) missed.push(query);
        setDone((before) => before + 1);
      }
      found.push({ limit, share: 1 - missed.length / questions.length, missed });
      setPoints([...found]);
    }
    announce("Measured");
  });
  const total = limits.length * questions.length;
  const isStopped = measuring.error?.name === "AbortError";
  return html`
    ${!isFile && html`<div class="answering"><${Button} kind="main" busy=${measuring.busy} onClick=${measuring.run}>${measuring.busy ? "Measuring" : points ? "Measure again" : "Measure"}<//>
      ${measuring.busy ? html`<progress max=${total} value=${done} aria-label="Readings so far"></progress><${Button} onClick=${() => stop.current.abort()}>Stop<//>`
        : html`<span class="soft">${many(questions.length, "question")} read at ${limits.length} limits. Nothing is changed.</span>`}</div>`}
    ${!isStopped && html`<${Failed} error=${measuring.error} />`}
    ${points?.length > 0 && html`<${Drawn} ...${{ points, settings, questions, go, isWhole: points.length === limits.length }} />`}`;
}

const WIDE = 720;
const TALL = 260;

function Drawn({ points, settings, questions, go, isWhole }) {
  const most = Math.max(...limitsOf(settings));
  const x = (limit) => 52 + (limit / most) * (WIDE - 80);
  const y = (share) => 20 + (1 - share) * (TALL - 60);
  const line = points.map((one, n) => `${n ? "L" : "M"}${x(one.limit)},${y(one.share)}`).join(" ");
  const enough = points.find((one) => one.share >= 0.95);
  const now = points.find((one) => one.limit === settings.read_limit);
  const says = `At ${number(points.at(-1).limit)} ${settings.unit} ${percent(points.at(-1).share)} of ${many(questions.length, "question")} have all they rest on`;
  return html`<section class="card"><h2>Questions that have all they rest on</h2>
    <svg class="curve" viewBox=${`0 0 ${WIDE} ${TALL}`} role="img" aria-label=${says}>
      ${[0, 0.25, 0.5, 0.75, 1].map((share) => html`<g class="tick"><line x1="52" x2=${WIDE - 28} y1=${y(share)} y2=${y(share)} /><text x="42" y=${y(share) + 4} text-anchor="end">${percent(share)}</text></g>`)}
      <line x1=${x(settings.read_limit)} x2=${x(settings.read_limit)} y1="14" y2=${TALL - 40} class="mark" />
      <text x=${x(settings.read_limit) - 6} y="12" text-anchor="end">this memory's limit</text>
      <path d=${line} class="line-of" />
      ${points.map((one) => html`<circle cx=${x(one.limit)} cy=${y(one.share)} r="4.5" class="point"><title>${`${number(one.limit)}: ${percent(one.share)}`}</title></circle>`)}
      ${points.filter((_, n) => n > 1 || points.length < 4).map((one) => html`<text x=${x(one.limit)} y=${TALL - 20} text-anchor="middle">${number(one.limit)}</text>`)}
      <text x=${WIDE - 28} y=${TALL - 4} text-anchor="end">limit, ${settings.unit}</text>
    </svg>
    <p>${enough ? html`A limit of <b class="num">${number(enough.limit)}</b> is enough for 95 % of them.` : isWhole ? "None of these limits is enough for 95 % of them." : "No limit so far is enough for 95 % of them."}
      ${now && html` At the memory's own, ${number(settings.read_limit)}, it is <b class="num">${percent(now.share)}</b>.`}</p>
    <${AsTable} caption="Questions by limit" columns=${["Limit", "Have all", "Do not"]} rows=${points.map((one) => [number(one.limit), percent(one.share),
      one.missed.length ? html`<ul class="plain">${one.missed.slice(0, 5).map((query) => html`<li><a href=${go("ask", null, { q: query, limit: one.limit })}><${Text} text=${cut(query, 70)} /></a></li>`)}${one.missed.length > 5 ? html`<li>and ${one.missed.length - 5} more</li>` : ""}</ul>` : "–"])} />
    <p class="soft">What an answer rests on is what feedback says, so this tells of questions that were judged, ${decimal(questions.length, 0)} here, and of no others.</p>
  </section>`;
}
