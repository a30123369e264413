// @ts-check
/**
 * Write a Broker plugin in JavaScript or TypeScript: a rule is a function that yields what it finds.
 *
 *     import { plugin } from '../sdk/broker.js';
 *
 *     export const lint = plugin({
 *       rules: [{
 *         code: 'todo',
 *         summary: 'A TODO is left in the code',
 *         *check(file) {
 *           for (const at of file.find(/TODO/g)) yield at.finding('resolve this TODO');
 *         },
 *       }],
 *     });
 *
 * Offsets are in bytes: `file.find`, `file.place` and `file.query` give them. Other files of the workspace are read with
 * `read`, `readText` and `list`, the plugin's own configuration with `options`; what was read is part of what the answer
 * rests on. There is no network and nothing to write to, and nothing waits: a rule is no async function, and a timer never goes off. What is printed goes nowhere; `log`
 * is for that.
 */

// @ts-ignore: the host has it
import { cancelled as isCancelled, linterOptions as toldOptions, log as write } from 'broker:plugin/host@0.1.0';
// @ts-ignore: the host has it
import { query } from 'broker:plugin/syntax@0.1.0';
// @ts-ignore: the host has it
import { getDirectories } from 'wasi:filesystem/preopens@0.2.0';

/**
 * @typedef {'error' | 'warning' | 'info' | 'hint'} Severity
 * @typedef {'safe' | 'unsafe' | 'display-only'} Applicability `safe` keeps what the program means; `--fix` applies it
 * @typedef {'debug' | 'info' | 'warn' | 'error'} Level
 * @typedef {{ start: number, end: number, replacement: string }} Edit replaces the bytes from `start` to `end`
 * @typedef {{ message?: string, edits: Edit[], applicability?: Applicability }} Fix one that would write what stands for
 *   bytes that are not UTF-8 is only displayed
 * @typedef {{ start: number, end: number, message: string, path?: string }} Related another place that explains it;
 *   without a path, in the same file
 *
 * @typedef {object} Rule
 * @property {string} code
 * @property {string} summary one line
 * @property {string} [explanation] Markdown
 * @property {string} [url]
 * @property {'none' | 'sometimes' | 'always'} [fix]
 * @property {boolean} [default] whether it is on when nothing is configured; it is, if this is left out
 * @property {(file: File) => Iterable<Finding>} check
 *
 * @typedef {object} Settings what the user asked for; rules that are not selected are left out without your doing
 * @property {string} root where the workspace is, without a slash at the end; empty if that is `/`
 * @property {boolean} isolated read no configuration files
 * @property {string | undefined} config this configuration file, relative to the workspace, and no other
 *
 * @typedef {object} Plugin
 * @property {Rule[]} rules
 * @property {(settings: Settings) => void} [configure] called once, before any file
 */

/** What is wrong with the plugin or its configuration, in one sentence. What is wrong with the file is a finding. */
export class Problem extends Error {}

/**
 * Leaves this file out, for all rules, with a reason such as `it is a template`. The reason becomes a part of the answer. For
 * content that the plugin cannot judge, not for errors.
 */
export class LeftOut extends Error {}

/** What is wrong with the bytes from `start` to `end`, in one sentence. */
export class Finding {
  /** @type {Fix[]} */
  fixes = [];
  /** @type {Related[]} */
  related = [];
  unnecessary = false;
  deprecated = false;

  /**
   * @param {number} start
   * @param {number} end
   * @param {string} message
   * @param {Severity} severity
   */
  constructor(start, end, message, severity = 'warning') {
    this.start = start;
    this.end = end;
    this.message = message;
    this.severity = severity;
  }

  /**
   * The same, with a fix that replaces just these bytes. For any other, push to `fixes`.
   *
   * @param {string} message
   * @param {string} replacement
   * @param {Applicability} applicability
   */
  fix(message, replacement, applicability = 'safe') {
    this.fixes.push({ message, edits: [{ start: this.start, end: this.end, replacement }], applicability });
    return this;
  }
}

/** Bytes of a file. */
export class Place {
  /**
   * @param {number} start
   * @param {number} end
   * @param {string} text
   */
  constructor(start, end, text) {
    this.start = start;
    this.end = end;
    this.text = text;
  }

  /**
   * @param {string} message
   * @param {Severity} [severity]
   */
  finding(message, severity) {
    return new Finding(this.start, this.end, message, severity);
  }
}

/** What a query found. */
export class Capture extends Place {
  /**
   * @param {number} start
   * @param {number} end
   * @param {string} text
   * @param {{ name: string, inMatch: number, pattern: number }} of
   */
  constructor(start, end, text, { name, inMatch, pattern }) {
    super(start, end, text);
    /** Without the `@`. */
    this.name = name;
    /** Captures of one match have the same number. */
    this.inMatch = inMatch;
    /** Which of the query's patterns it is, from 0. */
    this.pattern = pattern;
  }
}

/** A file to check. */
export class File {
  /** @type {{ text: string, starts: Uint32Array | undefined } | undefined} */
  #decoded;

  /** @param {{ path: string, content: Uint8Array, named: string }} source */
  constructor({ path, content, named }) {
    /** Relative to the workspace, with `/`. */
    this.path = path;
    /** Not necessarily UTF-8. */
    this.content = content;
    /** What the user named and what led here: this file, or a folder that it is in. */
    this.named = named;
  }

  /** The content. A byte that is not UTF-8 is one U+FFFD in it. */
  get text() {
    this.#decoded ??= decode(this.content);
    return this.#decoded.text;
  }

  /**
   * The bytes of a part of `text`.
   *
   * @param {number} from index in `text`
   * @param {number} to index in `text`
   */
  place(from, to) {
    const isPlace = [from, to].every(Number.isInteger) && 0 <= from && from <= to && to <= this.text.length;
    if (!isPlace) throw new RangeError(`${from} to ${to} is no part of a text of ${this.text.length}`);
    const text = this.text.slice(from, to);
    const starts = this.#decoded?.starts;
    return starts ? new Place(starts[from], starts[to], text) : new Place(from, to, text);
  }

  /**
   * Where a regular expression, with the flag `g`, or a text matches.
   *
   * @param {RegExp | string} what
   * @returns {Place[]}
   */
  find(what) {
    const escaped = typeof what === 'string' ? new RegExp(what.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'), 'g') : what;
    return [...this.text.matchAll(escaped)].map(it => this.place(it.index, it.index + it[0].length));
  }

  /**
   * What a query in the language of tree-sitter finds in the file. The host parses it, once for all plugins; in the
   * language of the file's name, unless it is given.
   *
   * @param {string} text
   * @param {string} [language]
   * @returns {Capture[]}
   */
  query(text, language) {
    checkText('query', text);
    if (language !== undefined) checkText('language', language);
    const { names, table, cut } = asked(() => query({ tag: 'file', val: this.path }, language, text));
    if (cut) throw new Problem('the query finds too much, or has too many beginnings of matches');
    const captures = [];
    for (let at = 0; at < table.length; at += 5) {
      const [inMatch, pattern, name, start, end] = table.subarray(at, at + 5);
      const text = utf8.decode(this.content.subarray(start, end));
      captures.push(new Capture(start, end, text, { name: names[name], inMatch, pattern }));
    }
    return captures;
  }
}

const utf8 = new TextDecoder('utf-8', { ignoreBOM: true });
const strict = new TextDecoder('utf-8', { ignoreBOM: true, fatal: true });

/** @param {Uint8Array} bytes */
function isUtf8(bytes) {
  try {
    strict.decode(bytes);
    return true;
  } catch {
    return false;
  }
}

/**
 * The text, and the byte at which each unit of it begins; none where those are the same numbers.
 *
 * @param {Uint8Array} bytes
 */
function decode(bytes) {
  try {
    const text = strict.decode(bytes);
    return { text, starts: text.length === bytes.length ? undefined : starts(text) };
  } catch {
    return decodeInvalid(bytes);
  }
}

/** @param {string} text */
function starts(text) {
  const starts = new Uint32Array(text.length + 1);
  let byte = 0;
  for (let at = 0; at < text.length; at += 1) {
    starts[at] = byte;
    const code = text.charCodeAt(at);
    const isHalf = code >= 0xd800 && code < 0xe000;
    // Two halves are one character of four bytes; the second one begins where the first does not end.
    byte += code < 0x80 ? 1 : code < 0x800 || isHalf ? 2 : 3;
  }
  starts[text.length] = byte;
  return starts;
}

/**
 * Character by character, and a byte that begins none is one by itself.
 *
 * @param {Uint8Array} bytes
 */
function decodeInvalid(bytes) {
  let text = '';
  const starts = [];
  for (let at = 0; at < bytes.length; ) {
    const length = lengthAt(bytes, at);
    const isLong = length > 1;
    const alone = length ? String.fromCharCode(bytes[at]) : '\ufffd';
    const character = isLong ? utf8.decode(bytes.subarray(at, at + length)) : alone;
    for (let unit = 0; unit < character.length; unit += 1) starts.push(at + 2 * unit);
    text += character;
    at += length || 1;
  }
  starts.push(bytes.length);
  return { text, starts: Uint32Array.from(starts) };
}

/**
 * How many bytes the character has that begins here; 0 if none does.
 *
 * @param {Uint8Array} bytes
 * @param {number} at
 */
function lengthAt(bytes, at) {
  const [first, second] = [bytes[at], bytes[at + 1]];
  if (first < 0x80) return 1;
  const length = first < 0xc2 || first > 0xf4 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  for (let next = 1; next < length; next += 1) {
    if ((bytes[at + next] & 0xc0) !== 0x80) return 0;
  }
  // What could be shorter, halves of a pair, and what is past the last character.
  const isNone =
    (first === 0xe0 && second < 0xa0) ||
    (first === 0xed && second >= 0xa0) ||
    (first === 0xf0 && second < 0x90) ||
    (first === 0xf4 && second >= 0x90);
  return isNone ? 0 : length;
}

/** @type {Settings} */
let current = { root: '', isolated: false, config: undefined };

/** @returns {Settings} */
export function settings() {
  return current;
}

/**
 * A line for Broker's log, which `--verbose` shows when the plugin is run and not its earlier answer taken.
 *
 * @param {string} message
 * @param {Level} level
 */
export function log(message, level = 'info') {
  checkWord('level', level, LEVELS);
  write(level, String(message));
}

/**
 * Whether nobody wants the answer any more. Long work may look and stop early.
 *
 * @returns {boolean}
 */
export function cancelled() {
  return isCancelled();
}

/**
 * The bytes of a file of the workspace; undefined if it is not there.
 *
 * @param {string} path relative to the workspace
 * @returns {Uint8Array | undefined}
 */
export function read(path) {
  const file = open(path, {});
  return file && tried(path, () => contentOf(file));
}

/**
 * The same as text.
 *
 * @param {string} path relative to the workspace
 */
export function readText(path) {
  const bytes = read(path);
  return bytes && new File({ path, content: bytes, named: path }).text;
}

/**
 * The text of the plugin's configuration file, which `config-files` of the manifest names as well: the one of this name in the
 * workspace's folder, or the one that the user named; undefined if there is none, or if none is to be read.
 *
 * @param {string} name
 */
export function options(name) {
  if (current.isolated) return undefined;
  const path = current.config ?? name;
  const bytes = read(path);
  if (bytes === undefined && current.config !== undefined) throw new Problem(`there is no ${path}`);
  if (bytes && !isUtf8(bytes)) throw new Problem(`cannot read ${path}: it is not UTF-8`);
  return bytes && new File({ path, content: bytes, named: path }).text;
}

/**
 * What `broker.toml` has in the table `[linters.NAME]` of this plugin, with values as `options` of the manifest describes them;
 * empty if there is no such table.
 *
 * @returns {Record<string, any>}
 */
export function linterOptions() {
  return JSON.parse(toldOptions() ?? '{}');
}

/**
 * The names of what is in a folder of the workspace, sorted; undefined if it is not there.
 *
 * @param {string} path relative to the workspace; empty for the workspace itself
 * @returns {string[] | undefined}
 */
export function list(path) {
  const folder = open(path, { directory: true });
  return folder && tried(path, () => namesIn(folder));
}

/** @param {any} file */
function contentOf(file) {
  const parts = [];
  let [size, ended] = [0, false];
  while (!ended) {
    const [part, last] = file.read(1n << 20n, BigInt(size));
    parts.push(part);
    size += part.length;
    ended = last;
  }
  return joined(parts, size);
}

/** @param {any} folder */
function namesIn(folder) {
  const entries = folder.readDirectory();
  /** @type {string[]} */
  const names = [];
  for (let entry = entries.readDirectoryEntry(); entry; entry = entries.readDirectoryEntry()) names.push(entry.name);
  return names.sort();
}

/**
 * @param {string} path
 * @param {{ directory?: boolean }} flags
 */
function open(path, flags) {
  checkText('path', path);
  /** @type {[any, string][]} */
  const folders = getDirectories();
  const there = folders.find(([, name]) => name === (current.root || '/'));
  return tried(path, () => there?.[0].openAt({ symlinkFollow: true }, path || '.', flags, { read: true }));
}

/**
 * What the file system says; undefined if nothing is there.
 *
 * @template T
 * @param {string} path
 * @param {() => T} body
 */
function tried(path, body) {
  try {
    return body();
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw new Problem(`cannot read ${path || 'the workspace'}: ${reason(error)}`);
  }
}

/** @param {any} error */
const reason = error => error?.payload ?? error;
/** @param {unknown} error */
const isMissing = error => ['no-entry', 'not-directory'].includes(reason(error));

/**
 * @param {Uint8Array[]} parts
 * @param {number} size
 */
function joined(parts, size) {
  const whole = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/**
 * What the host answers, or its problem in words for people.
 *
 * @template T
 * @param {() => T} question
 */
function asked(question) {
  try {
    return question();
  } catch (error) {
    const { tag, val } = reason(error);
    if (tag === undefined) throw error;
    /** @type {Record<string, string>} */
    const words = {
      'unknown-language': `there is no grammar for ${val}`,
      'bad-query': `the query is wrong: ${val}`,
      unparsed: `it was not parsed: ${val}`,
    };
    throw new Problem(words[tag] ?? val);
  }
}

/**
 * What the component exports as `lint`.
 *
 * @param {Plugin} plugin
 */
export function plugin({ rules, configure }) {
  // The engine's own ends it without a word.
  globalThis.fetch = () => {
    throw new Problem('there is no network, and no `fetch`');
  };
  const known = rules.map(exported);
  const codes = rules.map(it => it.code);
  /** @param {string[]} selectors */
  const expanded = selectors => new Set(selectors.flatMap(it => (it === 'ALL' ? codes : [it])));
  const defaults = rules.filter(it => it.default ?? true).map(it => it.code);
  let wanted = new Set(defaults);
  return {
    /** @param {any} asked */
    configure({ root, isolated, config, select, ignore }) {
      current = { root, isolated, config };
      const ignored = expanded(ignore);
      wanted = new Set([...expanded(select ?? defaults)].filter(it => !ignored.has(it)));
      told(() => configure?.(current), message => ({ tag: 'invalid', val: message }));
      const unknown = [...(select ?? []), ...ignore].filter(it => it !== 'ALL' && !codes.includes(it));
      if (unknown.length) throw failure({ tag: 'unknown-selectors', val: unknown });
    },
    rules: () => known,
    /** @param {any} source */
    check(source) {
      const file = new File(source);
      const diagnostics = [];
      for (const rule of rules.filter(it => wanted.has(it.code))) {
        const ours = found(rule, file);
        if (ours instanceof LeftOut) return leftOut(file, ours);
        diagnostics.push(...ours);
      }
      return { diagnostics, cells: [], completeness: { tag: 'complete' } };
    },
  };
}

/**
 * @param {File} file
 * @param {LeftOut} why
 */
function leftOut(file, { message }) {
  log(`${file.path} is left out: ${message}`);
  return { diagnostics: [], cells: [], completeness: { tag: 'excluded' } };
}

/**
 * @param {Rule} rule
 * @param {File} file
 */
function found(rule, file) {
  const body = () => {
    try {
      return findings(rule.check(file)).map(it => diagnostic(rule.code, it, file));
    } catch (error) {
      if (error instanceof LeftOut) return error;
      throw error;
    }
  };
  return told(body, message => `rule ${rule.code}: ${message}`);
}

/**
 * What a rule yields, if it yields.
 *
 * @param {any} found
 * @returns {any[]}
 */
function findings(found) {
  if (typeof found?.[Symbol.iterator] === 'function') return [...found];
  const what = found === undefined ? 'nothing' : `a ${found?.constructor?.name}`;
  throw new Problem(`it returns ${what}; \`yield\` findings, or return an array of them`);
}

/**
 * What the host takes for the answer `err`.
 *
 * @param {unknown} payload
 */
const failure = payload => Object.assign(new Error(String(payload)), { payload });

/**
 * What goes wrong in `body`, told to the host; a bug of the plugin's with the place where it is.
 *
 * @template T
 * @param {() => T} body
 * @param {(message: string) => unknown} payload
 */
function told(body, payload) {
  try {
    return body();
  } catch (error) {
    const message = error instanceof Problem ? error.message : String(error);
    throw failure(payload(message + placeOf(error)));
  }
}

/**
 * Where something went wrong, and what called that, as far as it is the plugin's.
 *
 * @param {unknown} error
 */
function placeOf(error) {
  if (!(error instanceof Error) || error instanceof Problem) return '';
  const frames = error.stack?.trim().split('\n') ?? [];
  const ours = frames.findIndex(it => /^(findings|body)@/.test(it));
  const theirs = frames.slice(0, Math.min(3, Math.max(1, ours)));
  return ` (in ${theirs.join(', ')})`;
}

/** @param {Rule} rule */
function exported({ code, summary, explanation = '', url, fix = 'none', default: isDefault = true, check }) {
  checkText('code', code);
  checkText(`summary of ${code}`, summary);
  checkText(`explanation of ${code}`, explanation);
  if (url !== undefined) checkText(`url of ${code}`, url);
  checkWord(`fix of ${code}`, fix, FIXES);
  if (typeof check !== 'function') throw new TypeError(`rule ${code} has no \`check\``);
  return { code, name: code, summary, explanation, url, fix, default: isDefault };
}

/**
 * @param {string} code
 * @param {Finding} it
 * @param {File} file
 */
function diagnostic(code, it, file) {
  if (!(it instanceof Finding)) throw new Problem(`it yields ${typeof it}, not a Finding`);
  const { message, severity, unnecessary, deprecated } = it;
  checkText('message', message);
  checkWord('severity', severity, SEVERITIES);
  const tags = { unnecessary, deprecated };
  const fixes = it.fixes.map(that => exportedFix(that, file));
  return { code, message, severity, span: span(it), tags, fixes, related: it.related.map(exportedRelated) };
}

/** @param {Related} related */
function exportedRelated({ path, message, ...place }) {
  checkText('message', message);
  if (path !== undefined) checkText('path', path);
  return { path, span: span(place), message };
}

/**
 * @param {Fix} fix
 * @param {File} file
 */
function exportedFix({ message, edits, applicability = 'safe' }, file) {
  if (message !== undefined) checkText('message of a fix', message);
  checkWord('applicability', applicability, APPLICABILITIES);
  for (const it of edits) checkText('replacement', it.replacement);
  const sorted = [...edits].sort((a, b) => a.start - b.start);
  return {
    message,
    applicability: canBeWritten(edits, file) ? applicability : 'display-only',
    edits: sorted.map(it => ({ span: span(it), replacement: it.replacement })),
  };
}

/**
 * Bytes that are not UTF-8 are in no text, and what stands for them would be written in their place.
 *
 * @param {Edit[]} edits
 * @param {File} file
 */
function canBeWritten(edits, file) {
  const text = edits.map(it => it.replacement).join('');
  return !/[\ud800-\udfff]/u.test(text) && (!text.includes('\ufffd') || isUtf8(file.content));
}

/** @param {{ start: number, end: number }} place */
function span({ start, end }) {
  if ([start, end].every(Number.isInteger) && 0 <= start && start <= end && end < 2 ** 32) return { start, end };
  throw new Problem(`${start} to ${end} are no bytes of a file`);
}

const SEVERITIES = ['error', 'warning', 'info', 'hint'];
const APPLICABILITIES = ['safe', 'unsafe', 'display-only'];
const FIXES = ['none', 'sometimes', 'always'];
const LEVELS = ['debug', 'info', 'warn', 'error'];

/**
 * What the host does not take ends the engine without a word.
 *
 * @param {string} what
 * @param {unknown} text
 */
function checkText(what, text) {
  if (typeof text !== 'string') throw new Problem(`${what} is ${text}, not a string`);
}

/**
 * @param {string} what
 * @param {string} word
 * @param {string[]} words
 */
function checkWord(what, word, words) {
  const [last, ...others] = [...words].reverse();
  const allowed = `${others.reverse().join(', ')} or ${last}`;
  if (!words.includes(word)) throw new Problem(`${what} is \`${word}\`, not ${allowed}`);
}
