// What adds to the score of a line, in groups and in words. The names are those of docs/scoring.md.
export const GROUPS = [
  { name: "Meaning", colour: "var(--s0)", of: ["cosine"] },
  { name: "Words", colour: "var(--s1)", of: ["bm25", "share", "related", "coverage"] },
  { name: "Who", colour: "var(--s3)", of: ["named", "user", "own", "names"] },
  { name: "When and how many", colour: "var(--s2)", of: ["dated", "timed", "counted"] },
  { name: "Said around it", colour: "var(--s5)", of: ["neighbour", "before", "after", "session", "replies", "turn_before", "turn_after", "behind"] },
  { name: "How it is said", colour: "var(--s7)", of: ["asks", "length", "trust", "turn_length", "opens", "turn_share"] },
  { name: "Room", colour: "var(--s4)", of: ["slot"] },
  { name: "Told and settled", colour: "var(--s6)", of: ["moved"] },
];

export const SAYS = {
  cosine: "near in meaning, by its vector",
  bm25: "the words of the question, rare ones more (BM25)",
  share: "share of the question's words that it holds",
  related: "words that stand for those of the question",
  coverage: "which words its turn covers",
  named: "is by or of who is named",
  user: "is by the user",
  own: "is by who is asked about",
  names: "holds names",
  dated: "holds a date, where one is asked for",
  timed: "holds a time, where one is asked for",
  counted: "holds a number, where one is asked for",
  neighbour: "the best of the lines beside it",
  before: "the line before it",
  after: "the line after it",
  session: "the conversation it is from",
  replies: "replies to what bears on it",
  turn_before: "the turn before it",
  turn_after: "the turn after it",
  behind: "how far it is behind the best of its turn",
  asks: "asks something itself",
  length: "how long it is",
  trust: "how far its source is trusted",
  turn_length: "how long its turn is",
  opens: "opens its turn",
  turn_share: "share of its turn",
  slot: "is in the room that the question goes to",
  moved: "what was told before, what holds no longer, days asked for, a reranker",
};

const OTHER = { name: "Other", colour: "var(--s7)", of: [] };

// The sums by group, without those that add nothing.
export function grouped(parts) {
  const sums = new Map();
  for (const [name, value] of Object.entries(parts)) {
    const group = GROUPS.find((one) => one.of.includes(name)) ?? OTHER;
    sums.set(group, (sums.get(group) ?? 0) + value);
  }
  return [...GROUPS, OTHER]
    .filter((group) => Math.abs(sums.get(group) ?? 0) >= 0.005)
    .map((group) => ({ ...group, value: sums.get(group) }));
}
