// Texts of strangers, numbers and times, as they are shown.
import { html } from "./lib.js";

// Controls, and what reorders or hides text: shown by their code points, not obeyed.
const ODD = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffc\u{e0000}-\u{e007f}]/gu;
const JOINER = "\u200d";
const PICTURE = /[\p{Extended_Pictographic}\ufe0f\u{1f3fb}-\u{1f3ff}]$/u;

function parted(text) {
  const parts = [];
  let from = 0;
  for (const found of text.matchAll(ODD)) {
    const isWithinPicture = found[0] === JOINER && PICTURE.test(text.slice(0, found.index));
    if (isWithinPicture) continue;
    if (found.index > from) parts.push(text.slice(from, found.index));
    parts.push({ code: codeOf(found[0]) });
    from = found.index + found[0].length;
  }
  if (from < text.length) parts.push(text.slice(from));
  return parts;
}

function codeOf(character) {
  return `U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`;
}

export function Text({ text, quoted }) {
  const parts = parted(String(text ?? ""));
  const shown = parts.map((part) =>
    typeof part === "string" ? part : html`<span class="odd" title="a character that is not seen">${part.code}</span>`,
  );
  return html`<bdi class=${quoted ? "said" : "text"}>${shown}</bdi>`;
}

export const plain = (text) =>
  parted(String(text ?? "")).map((part) => (typeof part === "string" ? part : `[${part.code}]`)).join("");

export const cut = (text, most = 140) => {
  const characters = Array.from(text);
  return characters.length <= most ? text : `${characters.slice(0, most - 1).join("")}…`;
};

const whole = new Intl.NumberFormat("en");
export const number = (value) => (value == null ? "–" : whole.format(value));
export const decimal = (value, places = 2) => (value == null ? "–" : value.toFixed(places).replace("-", "−"));
export const signed = (value, places = 2) => (value > 0 ? `+${decimal(value, places)}` : decimal(value, places));
export const percent = (value) => (value == null ? "–" : `${Math.round(value * 100)} %`);
export const many = (count, one, more = `${one}s`) => `${number(count)} ${count === 1 ? one : more}`;

const MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");

// Times are shown as they are written: a memory's times are of its own place, not of the reader's.
export function day(iso) {
  const found = /^(-?\d+)-(\d\d)-(\d\d)/.exec(iso ?? "");
  return found ? `${Number(found[3])} ${MONTHS[Number(found[2]) - 1]} ${found[1]}` : "no date";
}

export function time(iso) {
  const found = /T(\d\d:\d\d)/.exec(iso ?? "");
  return found && found[1] !== "00:00" ? `${day(iso)}, ${found[1]}` : day(iso);
}

export const moment = (iso) => (iso ? Date.parse(/[zZ]|[+-]\d\d:\d\d$/.test(iso) ? iso : `${iso}Z`) : NaN);

export function sizes(value) {
  if (value == null) return "–";
  const units = ["bytes", "kB", "MB", "GB"];
  let left = value;
  let unit = 0;
  while (left >= 1000 && unit < units.length - 1) {
    left /= 1000;
    unit += 1;
  }
  return unit ? `${left.toFixed(1)} ${units[unit]}` : `${number(value)} bytes`;
}
