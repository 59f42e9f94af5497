// the words of documents, unpacked when something is first searched; a place is a document that is listed, or n + a cluster
const plain = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
const wordsOf = (text) => plain(text).split(/[^\p{L}\p{N}]+/u).filter(Boolean);
const LEAST_INSIDE = 3, LEAST_MISSPELT = 4;

// whether one letter too many, too few or wrong, or two in the wrong order, make one word of the other
const isNear = (one, other) => {
  if (Math.abs(one.length - other.length) > 1) return false;
  let at = 0, left = 1;
  while (at < one.length && one[at] === other[at]) at++;
  while (left <= Math.min(one.length, other.length) - at && one.at(-left) === other.at(-left)) left++;
  const [rest, others] = [one.slice(at, one.length - left + 1), other.slice(at, other.length - left + 1)];
  return (rest.length <= 1 && others.length <= 1) || (rest.length === 2 && others.length === 2 && rest[0] === others[1] && rest[1] === others[0]);
};

let index = null;
const readIndex = () => {
  if (index) return index;
  const given = JSON.parse(byId("page-words").textContent);
  let before = "";
  const words = given.words ? given.words.split(" ").map((part) => (before = before.slice(0, parseInt(part[0], 36)) + part.slice(1))) : [];
  const gaps = unpackedGaps(given.gaps), counts = unpackedGaps(given.counts), starts = [0];
  counts.forEach((count, word) => starts.push(starts[word] + count));
  const places = (word) => {
    let at = 0;
    return gaps.slice(starts[word], starts[word + 1]).map((gap) => (at += gap));
  };
  index = { said: given.said, n: given.n, words, counts, places };
  return index;
};
// the places that hold a word, or a word that has it as a part
const placesOf = (typed) => {
  const { words, places } = readIndex();
  const isShort = typed.length < LEAST_INSIDE && /^[a-z0-9]+$/.test(typed);
  const found = new Set();
  words.forEach((word, number) => {
    if (isShort ? word === typed : word.includes(typed)) for (const place of places(number)) found.add(place);
  });
  return found;
};
// the commonest word that is one typing error away, "" if there is none
const respelt = (typed) => {
  const { words, counts } = readIndex();
  let best = -1;
  if (typed.length >= LEAST_MISSPELT) words.forEach((word, number) => { if (isNear(typed, word) && (best < 0 || counts[number] > counts[best])) best = number; });
  return best < 0 ? "" : words[best];
};
