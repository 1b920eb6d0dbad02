// Choices among actions: what was chosen, why, what it came to.
import { html } from "../lib.js";
import { every, get, isFile, ofMemory, post, onceOnly } from "../api.js";
import { Asked, Badge, Button, Empty, Fact, Failed, Head, Meter, Table, AsTable, useAsked, useDoing } from "../parts.js";
import { Text, decimal, many, percent, time } from "../text.js";

export function Choices(props) {
  return props.arg == null ? html`<${All} ...${props} />` : html`<${One} ...${props} key=${props.arg} />`;
}

function All({ memory, go, version }) {
  const asked = useAsked(async () => {
    const [decisions, situations] = await Promise.all([every(`${ofMemory(memory)}/decisions`), every(`${ofMemory(memory)}/situations`)]);
    return { decisions: decisions.records, situations: new Map(situations.records.map((one) => [one.id, one])) };
  }, [memory, version]);
  return html`<${Head} title="Choices" says="What was chosen among actions, why, and what it came to." />
    <${Asked} asked=${asked} what="the choices">${({ decisions, situations }) => decisions.length ? html`
      <p class="soft">${many(decisions.length, "choice")} in ${many(situations.size, "situation")}, the newest first.</p>
      <h2 class="hidden">Choices so far</h2><div class="list">${[...decisions].reverse().map((one) => html`<article class="item" key=${one.id}>
        <h3><a href=${go("choices", one.id)}><${Text} text=${situations.get(one.situation)?.text || "A situation that is forgotten"} /></a></h3>
        <p><strong><${Text} text=${one.action} /></strong> <span class="soft">of ${one.actions.length} · ${one.why}</span></p>
        <p class="meta"><${Outcome} reward=${one.reward} />${one.explores && html`<${Badge}>to find out<//>`}${one.at && html`<span>${time(one.at)}</span>`}<span class="id">${one.id}</span></p>
      </article>`)}</div>` : html`<${Empty}>Nothing was decided among actions yet.<//>`}<//>`;
}

function Outcome({ reward }) {
  if (reward == null) return html`<${Badge}>outcome not known<//>`;
  return html`<${Badge} kind=${reward >= 0.5 ? "good" : "bad"}>came to ${decimal(reward)}<//>`;
}

function One({ memory, arg: id, go, can, version, changed }) {
  const asked = useAsked(() => get(`${ofMemory(memory)}/decisions/${encodeURIComponent(id)}`), [memory, id, version]);
  const telling = useDoing((outcome) => post(`${ofMemory(memory)}/feedback`, { answer: id, outcome }, onceOnly()).then(changed));
  return html`<p class="back"><a href=${go("choices")}>Choices</a></p>
    <${Asked} asked=${asked} what="the choice">${({ decision, situation, actions, parting, slot_now: now }) => html`
      <${Head} title=${html`<${Text} text=${decision.action} />`} says=${situation.text ? html`<${Text} text=${situation.text} />` : "The situation is forgotten."} />
      <dl class="facts wide">
        <${Fact} name="Why">${decision.why}<//>
        <${Fact} name="Came to"><${Outcome} reward=${decision.reward} /><//>
        <${Fact} name="Profile of actions">${decision.slot ?? "none"}${now !== decision.slot ? `, ${now ?? "none"} now` : ""}<//>
        ${decision.explores && html`<${Fact} name="To find out">costs at most ${decimal(decision.cost)} in expected reward<//>`}
        ${decision.probability != null && html`<${Fact} name="Probability of the choice">${percent(decision.probability)}<//>`}
        ${situation.conditions.length > 0 && html`<${Fact} name="Conditions">${situation.conditions.map((one) => html`<${Text} text=${one} /> `)}<//>`}
      </dl>
      ${!isFile && can("feedback") && decision.reward == null && html`<div class="judging"><span class="soft">How did it go?</span>
        <${Button} kind="small" busy=${telling.busy} onClick=${() => telling.run(true)}>Well<//><${Button} kind="small" busy=${telling.busy} onClick=${() => telling.run(false)}>Badly<//></div>`}
      <${Failed} error=${telling.error} />
      <section class="card"><h2>What was known of each action</h2><p class="soft">Mean outcome, and how often it was seen, before the choice and until now.</p>
        <ul class="actions">${actions.map((one) => html`<li class=${one.action === decision.action ? "chosen" : ""}>
          <span class="action-name"><${Text} text=${one.action} />${one.action === decision.action && html` <${Badge}>chosen<//>`}</span>
          <${Side} name="before, here" of=${one.here} /><${Side} name="before, in the profile" of=${one.profile} /><${Side} name="now, here" of=${one.here_now} />
        </li>`)}</ul>
        <${AsTable} caption="What was known of each action" columns=${["Action", "Here, before", "Profile, before", "Here, now", "Profile, now"]}
          rows=${actions.map((one) => [html`<${Text} text=${one.action} />`, ...[one.here, one.profile, one.here_now, one.profile_now].map((of) => (of.count ? `${decimal(of.mean)} of ${of.count}` : "–"))])} />
      </section>
      ${parting && html`<section class="card"><h2>It has left its profile</h2><p>${parting.action == null ? "What descriptions say was given up." : html`Outcomes of <${Text} text=${parting.action} /> here and elsewhere disagree.`}</p>
        ${parting.own && html`<${Table} caption="Why" columns=${["", "Outcomes", "Mean", "Half-width"]} rows=${[["Here", parting.own.count, decimal(parting.own.mean), decimal(parting.own.half_width)], ["Others", parting.others.count, decimal(parting.others.mean), decimal(parting.others.half_width)]]} />`}</section>`}
    `}<//>`;
}

function Side({ name, of }) {
  return html`<span class="side"><span class="soft">${name}</span>
    <${Meter} value=${of.mean ?? 0} most=${1} label=${of.count ? `${name}: ${decimal(of.mean)} of ${many(of.count, "outcome")}` : `${name}: no outcome`} />
    <span class="num">${of.count ? `${decimal(of.mean)}, ${of.count === 1 ? "once" : `${of.count} times`}` : "–"}</span></span>`;
}
