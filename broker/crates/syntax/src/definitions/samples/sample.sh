#!/bin/sh
LIMIT=10
readonly OTHER=1
lower=1

# Runs.
run() {
  inner=1
}
function other { :; }
