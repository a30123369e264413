// The SDK without a host: `node --test sdk/javascript/broker.test.js`.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { logged } from './testing.js';

const { Capture, File, Finding, LeftOut, Place, Problem, linterOptions, log, options, plugin, read } = await import('./broker.js');
/** What the host is to answer. */
const host = globalThis[Symbol.for('broker-plugin-sdk')];

const file = (...parts) =>
  new File({ path: 'a', named: 'a', content: Buffer.concat(parts.map(it => Buffer.from(it))) });

/** The text of each place must be the text of its bytes. */
const check = (file, what, wanted) => {
  const found = file.find(what);
  assert.deepEqual(found.map(it => [it.start, it.end]), wanted);
  for (const it of found) assert.equal(Buffer.from(file.content.subarray(it.start, it.end)).toString(), it.text);
};

test('offsets are bytes', () => {
  check(file('abcabc'), 'c', [[2, 3], [5, 6]]);
  check(file('ä🙂€c'), /[c€]/g, [[6, 9], [9, 10]]);
  check(file('\ufeffc'), 'c', [[3, 4]]);
  check(file('x.y'), '.', [[1, 2]]);
});

test('what is not UTF-8 is one character for each byte', () => {
  const odd = file([0xff, 0xc3], 'ä', [0xed, 0xa0, 0x80], '🙂', [0xf4, 0x90], '!', [0xe2, 0x82]);
  check(odd, /[ä!]|🙂/gu, [[2, 4], [7, 11], [13, 14]]);
  assert.equal(odd.text, '\ufffd\ufffdä\ufffd\ufffd\ufffd🙂\ufffd\ufffd!\ufffd\ufffd');
});

test('what is no part of the text has no place', () => {
  for (const it of [file('ab'), file('ä'), file([0xff, 0xc3])]) {
    const length = it.text.length;
    assert.equal(it.place(0, length).end, it.content.length);
    const wrong = [[1000, 2000], [-3, -1], [0, length + 1], [1, 0], [0.5, 1], [NaN, 1], [0, undefined]];
    for (const [from, to] of wrong) assert.throws(() => it.place(from, to), RangeError, `${from} to ${to}`);
  }
});

test('rules are chosen', () => {
  const rule = (code, isDefault) => ({ code, summary: code, default: isDefault, check: it => it.find('a').map(at => at.finding(code)) });
  const lint = plugin({ rules: [rule('loud', true), rule('quiet', false)] });
  const found = settings => {
    let unknown = [];
    try {
      lint.configure({ root: '', isolated: false, config: undefined, ignore: [], ...settings });
    } catch (error) {
      unknown = error.payload.val;
    }
    const { diagnostics } = lint.check(file('a'));
    return [...diagnostics.map(it => it.code), ...unknown].join(' ');
  };
  assert.equal(found({}), 'loud');
  assert.equal(found({ select: ['ALL'], ignore: ['loud'] }), 'quiet');
  assert.equal(found({ select: ['quiet', 'F401'] }), 'quiet F401');
  assert.equal(found({ ignore: ['ALL'] }), '');
});

test('captures of one match have its number', () => {
  const captures = { names: ['call', 'name'], table: Uint32Array.of(7, 1, 0, 0, 4, 7, 1, 1, 0, 2), cut: false };
  host.query = () => captures;
  const [call, name] = file('ä(1)').query('…');
  assert.ok(call instanceof Capture && call instanceof Place);
  assert.deepEqual([call.name, call.text, call.start, call.end], ['call', 'ä(1', 0, 4]);
  assert.deepEqual([name.name, name.text, name.inMatch, name.pattern], ['name', 'ä', call.inMatch, 1]);
});

test('options are those that the user means', () => {
  const files = { 'own.json': Buffer.from('own ä'), 'other.json': Buffer.from('other'), 'odd.json': Buffer.from([0xff]) };
  const openAt = (flags, path) => {
    if (!files[path]) throw Object.assign(new Error('none'), { payload: 'no-entry' });
    return { read: (size, from) => [files[path].subarray(Number(from)), true] };
  };
  host.directories = [[{ openAt }, '/w']];
  const lint = plugin({ rules: [] });
  const asked = (name, settings) => {
    lint.configure({ root: '/w', isolated: false, config: undefined, ignore: [], ...settings });
    return options(name);
  };
  assert.equal(asked('own.json'), 'own ä');
  assert.equal(asked('none.json'), undefined);
  assert.equal(asked('own.json', { isolated: true }), undefined);
  assert.equal(asked('own.json', { config: 'other.json' }), 'other');
  assert.throws(() => asked('own.json', { config: 'none.json' }), new Problem('there is no none.json'));
  assert.throws(() => asked('odd.json'), new Problem('cannot read odd.json: it is not UTF-8'));
});

test('options of the linter are what the host has', () => {
  assert.deepEqual(linterOptions(), {});
  host.linterOptions.words = ['TODO'];
  assert.deepEqual(linterOptions(), { words: ['TODO'] });
});

test('a problem is told to the host', () => {
  const fails = () => {
    throw new Problem('no');
  };
  const lint = plugin({ rules: [{ code: 'a', summary: 'a', check: fails }], configure: fails });
  assert.throws(() => lint.check(file('')), error => error.payload === 'rule a: no');
  const settings = { root: '', isolated: false, config: undefined, select: undefined, ignore: [] };
  assert.throws(() => lint.configure(settings), error => error.payload.tag === 'invalid');
});

/** What the host is told that a rule `odd` finds: the diagnostics, or why there are none. */
const told = (check, ...parts) => {
  try {
    return plugin({ rules: [{ code: 'odd', summary: 'odd', check }] }).check(file(...parts)).diagnostics;
  } catch (error) {
    return error.payload;
  }
};

test('what the host would not take names the rule', () => {
  const finding = changes => () => [Object.assign(new Finding(0, 1, 'm').fix('f', 'r'), changes)];
  const fix = changes => finding({ fixes: [{ edits: [], ...changes }] });
  const edit = { start: 0, end: 1, replacement: '' };
  const wrong = [
    [finding({ message: undefined }), 'message is undefined, not a string'],
    [finding({ severity: 'fatal' }), 'severity is `fatal`, not error, warning, info or hint'],
    [finding({ start: -1 }), '-1 to 1 are no bytes of a file'],
    [finding({ start: 2 }), '2 to 1 are no bytes of a file'],
    [finding({ end: 1.5 }), '0 to 1.5 are no bytes of a file'],
    [finding({ related: [{ start: 0, end: 1 }] }), 'message is undefined, not a string'],
    [finding({ related: [{ start: 0, end: 1, message: '', path: 1 }] }), 'path is 1, not a string'],
    [fix({ applicability: 'sure' }), 'applicability is `sure`, not safe, unsafe or display-only'],
    [fix({ message: 1 }), 'message of a fix is 1, not a string'],
    [fix({ edits: [{ ...edit, replacement: undefined }] }), 'replacement is undefined, not a string'],
    [fix({ edits: [{ ...edit, end: NaN }] }), '0 to NaN are no bytes of a file'],
    [() => undefined, 'it returns nothing; `yield` findings, or return an array of them'],
    [() => Promise.resolve([]), 'it returns a Promise; `yield` findings, or return an array of them'],
    [() => ['text'], 'it yields string, not a Finding'],
    [it => it.query(undefined), 'query is undefined, not a string'],
    [it => it.query('(a)', null), 'language is null, not a string'],
    [() => read(undefined), 'path is undefined, not a string'],
    [() => log('m', 'fatal'), 'level is `fatal`, not debug, info, warn or error'],
    [() => fetch('http://localhost'), 'there is no network, and no `fetch`'],
  ];
  for (const [check, why] of wrong) assert.equal(told(check, 'a'), `rule odd: ${why}`);
  assert.match(told(it => it.nothing.at, 'a'), /^rule odd: TypeError: .* \(in /);
});

test('a file is left out for what it contains', () => {
  const check = function* (file) {
    yield file.place(0, 1).finding('m');
    throw new LeftOut('it is a template');
  };
  const rule = code => ({ code, summary: code, check });
  const report = plugin({ rules: [rule('a'), rule('b')] }).check({ path: 'd/a', named: 'd', content: Buffer.from('a') });
  assert.deepEqual(report, { diagnostics: [], cells: [], completeness: { tag: 'excluded' } });
  assert.deepEqual(logged.splice(0), ['d/a is left out: it is a template']);
});

test('what is not UTF-8 is told and not written', () => {
  const found = it => [new Finding(0, 1, it.text).fix('a', it.text).fix('b', 'b').fix('c', '\ud83d')];
  const [odd, plain] = [told(found, 'a', [0xff])[0], told(found, 'a\ufffd')[0]];
  assert.deepEqual([odd.message, odd.fixes[0].edits[0].replacement], ['a\ufffd', 'a\ufffd']);
  const applied = it => it.fixes.map(fix => fix.applicability).join(' ');
  assert.equal(applied(odd), 'display-only safe display-only');
  assert.equal(applied(plain), 'safe safe display-only');
});

test('a rule is checked when the plugin is built', () => {
  const wrong = changes => () => plugin({ rules: [{ code: 'a', summary: 'a', check: () => [], ...changes }] });
  assert.throws(wrong({ code: 1 }), /code is 1, not a string/);
  assert.throws(wrong({ summary: undefined }), /summary of a is undefined, not a string/);
  assert.throws(wrong({ fix: 'maybe' }), /fix of a is `maybe`, not none, sometimes or always/);
  assert.throws(wrong({ check: undefined }), /rule a has no `check`/);
});

test('a line of the log is text', () => {
  log(undefined);
  assert.deepEqual(logged, ['undefined']);
});
