// Keys: who may ask for which memories. A secret is shown once, and kept by nobody.
import { html, useState } from "../lib.js";
import { ask, every, key, post } from "../api.js";
import { Asked, Badge, Button, Dialog, Empty, Failed, Head, useAsked, useDoing } from "../parts.js";
import { Text, time } from "../text.js";

const SAYS = { read: "read", write: "remember and arrange", feedback: "answer and judge", forget: "forget and delete", metrics: "see the server's numbers", admin: "make keys" };

export function Keys({ can, scopes }) {
  const asked = useAsked(() => every("/v1/keys"), []);
  const [shown, setShown] = useState(null);
  if (!can("admin")) return html`<${Head} title="Keys" /><${Empty}>Keys are shown to whoever has one with the scope admin.<//>`;
  // Where there was none, whoever has none is shut out from now on: this page as well.
  const made = (given) => {
    if (!key.get()) key.set(given.key);
    setShown(given);
    asked.again();
  };
  return html`<${Head} title="Keys" says="Who may call, for which memories, to do what. As soon as there is a key, everybody needs one." />
    ${shown && html`<section class="note good" role="status"><strong>The new key, shown once:</strong><p><code class="secret" tabindex="0">${shown.key}</code></p>
      <${Button} kind="small" onClick=${() => { key.set(shown.key); setShown(null); }}>Use it here<//> <${Button} kind="small" onClick=${() => setShown(null)}>Done<//></section>`}
    <${Making} made=${made} offered=${scopes} isFirst=${asked.value?.records.length === 0} />
    <section><h2>Keys so far</h2><${Asked} asked=${asked} what="the keys">${({ records }) => records.length
      ? html`<div class="list">${records.map((one) => html`<${OneKey} key=${one.id} one=${one} again=${asked.again} made=${made} />`)}</div>`
      : html`<${Empty}>There is none, so whoever is on this machine may call without one.<//>`}<//></section>`;
}

function OneKey({ one, again, made }) {
  const [isRevoking, setRevoking] = useState(false);
  const revoking = useDoing(async () => {
    await ask("DELETE", `/v1/keys/${one.id}`);
    setRevoking(false);
    again();
  });
  const rotating = useDoing(() => post(`/v1/keys/${one.id}/rotate`, {}).then(made));
  return html`<article class="item"><h3><code>dm_${one.id}</code> ${one.name && html`<${Text} text=${one.name} />`}</h3>
    <p class="meta"><span>${one.prefix ? html`memories that begin with <code><${Text} text=${one.prefix} /></code>` : "all memories"}</span>
      ${one.scopes.map((scope) => html`<${Badge}>${scope}<//>`)}${one.revoked && html`<${Badge} kind="bad">revoked<//>`}
      <span>made ${time(one.made)}</span>${one.expires && html`<span>expires ${time(one.expires)}</span>`}</p>
    ${!one.revoked && html`<p class="acts left-acts"><${Button} kind="small" busy=${rotating.busy} onClick=${rotating.run}>Rotate<//><${Button} kind="small" onClick=${() => setRevoking(true)}>Revoke …<//></p>`}
    <${Failed} error=${rotating.error} />
    <${Dialog} title=${`Revoke dm_${one.id}?`} open=${isRevoking} close=${() => setRevoking(false)}><p>Whoever has it is refused from now on.</p><${Failed} error=${revoking.error} />
      <div class="acts"><${Button} onClick=${() => setRevoking(false)}>Leave it<//><${Button} kind="danger solid" busy=${revoking.busy} onClick=${revoking.run}>Revoke<//></div><//>
  </article>`;
}

// Nobody can give more than he has.
function Making({ made, offered, isFirst }) {
  const [scopes, setScopes] = useState(["read"]);
  const making = useDoing(async (event) => {
    const form = new FormData(event.target);
    const told = { prefix: form.get("prefix"), name: form.get("name"), scopes };
    if (form.get("days")) told.days = Number(form.get("days"));
    made(await post("/v1/keys", told));
  });
  const toggle = (scope) => setScopes(scopes.includes(scope) ? scopes.filter((one) => one !== scope) : [...scopes, scope]);
  return html`<details class="card"><summary>Make a key</summary>
    ${isFirst && html`<p class="note warn">It is the first: from then on nobody may call without one. This page will use it, so let it do all that you want to do here.</p>`}<form class="form" onSubmit=${(e) => { e.preventDefault(); making.run(e); }}>
    <label>Name <input name="name" maxlength="200" placeholder="whom it is for" /></label>
    <label>Memories that begin with <input name="prefix" placeholder="all" /></label>
    <label>Expires after days <input name="days" type="number" min="0.1" step="any" placeholder="never" /></label>
    <fieldset><legend>May</legend>${offered.map((scope) => html`<label class="check"><input type="checkbox" checked=${scopes.includes(scope)} onChange=${() => toggle(scope)} /> ${SAYS[scope] ?? ""} <code>${scope}</code></label>`)}</fieldset>
    <button class="button main" type="submit" disabled=${making.busy || !scopes.length}>Make it</button><${Failed} error=${making.error} /></form></details>`;
}
