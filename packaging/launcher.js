#!/usr/bin/env node
'use strict';
// Starts the program that npm installed for this platform.

const { spawn } = require('node:child_process');
const { constants } = require('node:os');

const platforms = PLATFORMS;
const glibc = () => process.report.getReport().header.glibcVersionRuntime;

function program() {
  const platform = `${process.platform}-${process.arch}`;
  const name = platforms[platform];
  if (!name) fail(`there is no program for ${platform}`, `there are programs for ${Object.keys(platforms).join(', ')}`);
  try {
    return require.resolve(`${name}/bin/broker`);
  } catch {
    if (!glibc()) fail('the program needs glibc, which this system does not have', 'musl, as in Alpine Linux, is not supported');
    fail(`the package ${name} is not installed`, 'it is an optional dependency: install again without `--omit=optional`');
  }
}

function fail(message, hint) {
  console.error(`error: ${message}\nhint: ${hint}`);
  process.exit(2);
}

const path = program();
const child = spawn(path, process.argv.slice(2), { stdio: 'inherit' });
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'];
// A terminal sends these to both processes. A second one would tell the program to hurry.
const terminal = [process.stdin, process.stdout, process.stderr].some(it => it.isTTY) ? ['SIGINT', 'SIGQUIT'] : [];
for (const it of signals) process.on(it, () => terminal.includes(it) || child.kill(it));
child.on('error', error => fail(`cannot start ${path}: ${error.message}`, 'install the package again'));
child.on('exit', (code, signal) => {
  if (!signal) process.exit(code);
  for (const it of signals) process.removeAllListeners(it);
  process.kill(process.pid, signal);
  // Where the signal is ignored, as a shell does.
  process.exitCode = 128 + constants.signals[signal];
});
