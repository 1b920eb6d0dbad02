// Answers: what was asked, what came of it, and what may still be told of it.
import { html, useState } from "../lib.js";
import { every, isFile, ofMemory, post } from "../api.js";
import { Asked, Badge, Button, Dialog, Empty, Failed, Head, Room, AsTable, useAsked, useDoing } from "../parts.js";
import { Text, cut, decimal, many, time } from "../text.js";
import { Judging } from "./ask.js";

export function Answers({ memory, slots, go, arg, can, version, changed }) {
  const asked = useAsked(() => every(`${ofMemory(memory)}/answers`), [memory, version]);
  return html`<${Head} title="Answers" says="Every answer that was given, and what was told of it. What is told is what the memory learns from." />
    <${Asked} asked=${asked} what="the answers">${({ records, more }) => {
      const shown = [...records].reverse().filter((one) => arg == null || one.id === arg);
      if (!shown.length) return html`<${Empty}>${arg == null ? "Nothing was asked yet." : "There is no such answer."}<//>`;
      return html`${arg != null && html`<p class="back"><a href=${go("answers")}>All answers</a></p>`}
        <p class="soft">${more ? "The first 2,000 answers" : many(records.length, "answer")}, the newest first.</p>
        ${arg == null && html`<${Told} records=${records} go=${go} />`}
        <h2 class="hidden">Answers so far</h2><div class="list">${shown.map((one) => html`<${OneAnswer} key=${one.id} ...${{ one, memory, slots, go, can, changed }} />`)}</div>`;
    }}<//>`;
}

const mean = (values) => values.reduce((a, b) => a + b, 0) / values.length;

// How right they were, in order: one bar an answer that something was told of.
function Told({ records, go }) {
  const told = records.filter((one) => one.rewards.length);
  if (told.length < 3) return null;
  const wide = Math.max(told.length * 14, 120);
  const says = `${told.length} answers were judged; on average they were worth ${decimal(mean(told.map((one) => mean(one.rewards))))} of 1`;
  return html`<section class="card"><h2>How right they were</h2>
    <svg class="strip" viewBox=${`0 0 ${wide} 60`} style=${{ maxWidth: `${wide * 2}px` }} role="img" aria-label=${says}>
      <line x1="0" x2=${wide} y1="59.5" y2="59.5" class="axis" />
      ${told.map((one, n) => {
        const value = mean(one.rewards);
        return html`<rect x=${n * 14 + 2} width="9" y=${58 - 52 * value} height=${1 + 52 * value} rx="1.5" class=${value >= 0.5 ? "right" : "wrong"}><title>${`${one.id}: ${decimal(value)}`}</title></rect>`;
      })}</svg>
    <p class="soft">${says}.</p>
    <${AsTable} caption="How right answers were" columns=${["Answer", "Question", "Worth", "Told by"]}
      rows=${told.map((one) => [html`<a href=${go("answers", one.id)}>${one.id}</a>`, html`<${Text} text=${cut(one.query, 80)} />`, decimal(mean(one.rewards)), one.channel])} />
  </section>`;
}

function OneAnswer({ one, memory, slots, go, can, changed }) {
  const [isUndoing, setUndoing] = useState(false);
  const [isTold, setTold] = useState(false);
  const told = () => {
    setTold(true);
    changed();
  };
  const undoing = useDoing(async () => {
    await post(`${ofMemory(memory)}/undo`, { id: one.id });
    setUndoing(false);
    changed();
  });
  const right = one.verdicts.filter(([, , , weight]) => weight > 0);
  const wrong = one.verdicts.filter(([, , , weight]) => weight < 0);
  const mayUndo = !isFile && can("write") && one.verdicts.length > 0;
  return html`<article class="item answer">
    <h3>${one.redacted ? html`<span class="soft">The text is forgotten</span>` : html`<${Text} text=${cut(one.query, 300)} />`}</h3>
    <p class="answer-text">${one.answer ? html`<${Text} text=${cut(one.answer, 500)} quoted />` : html`<span class="soft">No text.</span>`}</p>
    <p class="meta">
      ${!one.known && html`<${Badge} kind="warn">not known<//>`}
      ${one.rewards.length > 0 && html`<${Badge} kind=${mean(one.rewards) >= 0.5 ? "good" : "bad"}>${decimal(mean(one.rewards))} by ${one.channel}<//>`}
      <${Room} slot=${one.slot} slots=${slots} go=${go} />
      ${one.at && html`<span>${time(one.at)}</span>`}
      ${one.asker && html`<span>asked by <${Text} text=${one.asker} /></span>`}
      ${one.supports.length > 0 && html`<span>rests on ${one.supports.map((id) => html` <a href=${go("items", id)}>${id}</a>`)}</span>`}
      ${right.length > 0 && html`<span>proved right: ${right.map(([id]) => html` <a href=${go("items", id)}>${id}</a>`)}</span>`}
      ${wrong.length > 0 && html`<span>proved wrong: ${wrong.map(([id]) => html` <a href=${go("items", id)}>${id}</a>`)}</span>`}
      ${one.query && html`<a href=${go("ask", null, { q: one.query })}>ask again</a>`}
      <span class="id">${one.id}</span>
      ${mayUndo && html`<${Button} kind="link" onClick=${() => setUndoing(true)}>take back what was told …<//>`}</p>
    ${!isFile && can("feedback") && (isTold || !one.rewards.length) && !one.redacted && html`<${Judging} memory=${memory} id=${one.id} go=${go} after=${told} />`}
    ${mayUndo && html`<${Dialog} title="Take back what was told?" open=${isUndoing} close=${() => setUndoing(false)}>
        <p>What feedback on ${one.id} said of lines counts no more. The answer itself stays in the list.</p>
        <${Failed} error=${undoing.error} />
        <div class="acts"><${Button} onClick=${() => setUndoing(false)}>Leave it<//><${Button} kind="main" busy=${undoing.busy} onClick=${undoing.run}>Take it back<//></div><//>`}
  </article>`;
}
