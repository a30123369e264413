// The part of the SDK that needs no host: `node --test sdk/javascript/broker.test.js`.

import assert from 'node:assert/strict';
import { register } from 'node:module';
import { test } from 'node:test';

// What the host has, stands for itself.
const absent = 'export const cancelled = 0, log = 0, query = 0, getDirectories = 0;';
register(
  `data:text/javascript,${encodeURIComponent(`export const resolve = (name, context, next) =>
    /^(broker|wasi):/.test(name)
      ? { url: 'data:text/javascript,${encodeURIComponent(absent)}', shortCircuit: true }
      : next(name, context);`)}`,
);
const { File, Problem, plugin } = await import('./broker.js');

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

test('a problem is told to the host', () => {
  const fails = () => {
    throw new Problem('no');
  };
  const lint = plugin({ rules: [{ code: 'a', summary: 'a', check: fails }], configure: fails });
  assert.throws(() => lint.check(file('')), error => error.payload === 'no');
  const settings = { root: '', isolated: false, config: undefined, select: undefined, ignore: [] };
  assert.throws(() => lint.configure(settings), error => error.payload.tag === 'invalid');
});
