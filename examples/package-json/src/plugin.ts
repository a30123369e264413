// What npm would do otherwise than the reader of a package.json expects.
//
// The host parses it: one query gives every dependency and where it stands. A file that is no JSON is left to the linters that
// say why.

import { plugin, readText, type File, type Finding, type Place } from '../sdk/broker.js';

type Lists = Record<string, Record<string, string> | undefined>;

interface Dependency {
  list: string;
  name: string;
  range: string;
  /** Where the name, the range and all of it stand. */
  places: { name: Place; range: Place; entry: Place };
}

const LISTS = ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies'];

const QUERY = `(document (object (pair
  key: (string) @list
  value: (object (pair key: (string) @name value: (string) @range) @entry))))`;

/** Ranges that any release is in, those that break everything as well. */
const ANYTHING = ['', '*', 'x', 'X', 'latest', '>=0', '>=0.0.0'];

export const lint = plugin({
  rules: [
    {
      code: 'twice',
      summary: 'A package is a dependency both for use and for development',
      explanation: 'npm installs one of the two ranges, and which one is not told here.',
      check: twice,
    },
    {
      code: 'any-version',
      summary: 'A dependency may be of any version',
      explanation: 'The next major release is installed by whoever has no lock file. `peerDependencies` may do so.',
      check: anyVersion,
    },
    {
      code: 'unsorted',
      summary: 'Dependencies are out of order',
      explanation: 'npm sorts them whenever it writes the file, and so changes lines that nobody meant to change.',
      fix: 'always',
      check: unsorted,
    },
    {
      code: 'outdated-lock',
      summary: 'package-lock.json has another range',
      explanation: '`npm ci` refuses to install. `npm install` writes the lock file anew.',
      check: outdatedLock,
    },
  ],
});

function* twice(file: File): Iterable<Finding> {
  const all = dependencies(file);
  for (const one of all.filter(it => it.list === 'devDependencies')) {
    const other = all.find(it => it.list === 'dependencies' && it.name === one.name);
    if (!other) continue;
    const finding = one.places.name.finding(`\`${one.name}\` is in \`dependencies\` as well`);
    const { start, end } = other.places.name;
    finding.related.push({ start, end, message: `there it is \`${other.range}\`` });
    yield finding;
  }
}

function* anyVersion(file: File): Iterable<Finding> {
  for (const { list, name, range, places } of dependencies(file)) {
    if (list === 'peerDependencies' || !ANYTHING.includes(range.trim())) continue;
    yield places.range.finding(`any release of \`${name}\` is good enough here`);
  }
}

function* unsorted(file: File): Iterable<Finding> {
  for (const list of LISTS) {
    const found = dependencies(file).filter(it => it.list === list);
    const sorted = [...found].sort((a, b) => compare(a.name, b.name));
    const isSorted = (before: (a: string, b: string) => number) =>
      found.every((it, at) => at === 0 || before(found[at - 1].name, it.name) <= 0);
    // Yarn sorts by code points, npm as English does.
    if (isSorted(compare) || isSorted((a, b) => (a < b ? -1 : 1))) continue;
    const edits = found.map(({ places: { entry } }, at) => ({
      start: entry.start,
      end: entry.end,
      replacement: sorted[at].places.entry.text,
    }));
    const first = found.find((it, at) => it !== sorted[at]) ?? found[0];
    const finding = first.places.name.finding(`\`${list}\` are not in the order that npm writes them in`);
    finding.fixes.push({ message: 'Sort them', edits });
    yield finding;
  }
}

function* outdatedLock(file: File): Iterable<Finding> {
  const folder = file.path.slice(0, file.path.lastIndexOf('/') + 1);
  const root = json(readText(`${folder}package-lock.json`))?.packages?.[''] as Lists | undefined;
  // Before version 2 a lock file did not tell.
  if (!root) return;
  for (const { list, name, range, places } of dependencies(file)) {
    const locked = root[list]?.[name];
    if (locked === range) continue;
    const what = locked === undefined ? 'does not have it' : `has \`${locked}\``;
    yield places.range.finding(`package-lock.json ${what}; run \`npm install\``);
  }
}

/** Each rule asks for them. */
const known = new WeakMap<File, Dependency[]>();

function dependencies(file: File): Dependency[] {
  const found = known.get(file) ?? parsed(file);
  known.set(file, found);
  return found;
}

/** In the order of the file; none if it is no JSON. */
function parsed(file: File): Dependency[] {
  if (!json(file.text)) return [];
  const matches = new Map<number, Record<string, Place>>();
  for (const it of file.query(QUERY, 'json')) {
    matches.set(it.inMatch, { ...matches.get(it.inMatch), [it.name]: it });
  }
  const found = [...matches.values()].map(({ list, name, range, entry }) => ({
    list: JSON.parse(list.text),
    name: JSON.parse(name.text),
    range: JSON.parse(range.text),
    places: { name, range, entry },
  }));
  return found.filter(it => LISTS.includes(it.list));
}

function json(text: string | undefined): any {
  try {
    return text && JSON.parse(text.replace(/^\ufeff/, ''));
  } catch {
    return undefined;
  }
}

/** What the names of packages may be made of, in the order of English dictionaries. */
const ORDER = "_-!.'()@*/~0123456789abcdefghijklmnopqrstuvwxyz";

function compare(a: string, b: string): number {
  const [left, right] = [a.toLowerCase(), b.toLowerCase()];
  for (let at = 0; at < Math.min(left.length, right.length); at += 1) {
    const difference = ORDER.indexOf(left[at]) - ORDER.indexOf(right[at]);
    if (difference) return difference;
  }
  return left.length - right.length;
}
