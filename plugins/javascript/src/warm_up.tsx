// deno-lint-ignore-file no-var -- a sample
// TODO(somebody): nothing
// @ts-ignore
import process from "node:process";
import { used, type Type } from "npm:package@1";

/** @jsx h */
enum Empty {}
namespace Space {
  export const snake_case: any = /[a-z]+  \x1f[]/u;
}
class Base<T extends Function> extends Array<T> {
  static #hidden = 1;
  constructor(readonly value?: String) {
    super();
    this.length = 0;
  }
  get none() {}
  method(a = 1, b: number): asserts a is 1 {}
}
// deno-lint-ignore no-console
async function* run(this: Base<Function>, ...rest: unknown[]) {
  label: for (const key in window) {
    if (key == typeof rest || !key in rest) continue label;
    console.log(new RegExp("[z-a]"), `${key}`, 010, NaN == 1, Buffer, Deno.customInspect, window.fetch());
  }
  switch (rest?.length!) {
    case 1:
      var again = 1;
    case 2:
      again = again;
  }
  try {
    throw "text";
  } catch (error) {
    error = null;
  } finally {
    return;
  }
}
export const element = <ul {...used} {...used} on={true} name={"a"}>{[1].map((it) => <li>{it} ></li>)}</ul>;
