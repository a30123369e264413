// @ts-check
/**
 * Lets Node.js load the SDK, for tests of rules: import this, and then the rules with `await import`. What rules log is in
 * `logged`; there are no syntax trees and no other files.
 */

import { register } from 'node:module';

/** @type {string[]} */
export const logged = [];

/**
 * What rules get of `[linters.NAME]`: put options into it.
 *
 * @type {Record<string, any>}
 */
export const linterOptions = {};

// What the host has, stands for itself.
const absent = `
  const host = globalThis[Symbol.for('broker-plugin-sdk')];
  export const cancelled = () => false, linterOptions = () => JSON.stringify(host.linterOptions), log = (level, line) => host.logged.push(line);
  export const query = (...asked) => host.query(...asked), getDirectories = () => host.directories;`;
Object.assign(globalThis, { [Symbol.for('broker-plugin-sdk')]: { logged, linterOptions, query: undefined, directories: [] } });

const url = `data:text/javascript,${encodeURIComponent(absent)}`;
const hooks = `export const resolve = (name, context, next) =>
  /^(broker|wasi):/.test(name) ? { url: ${JSON.stringify(url)}, shortCircuit: true } : next(name, context);`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);
