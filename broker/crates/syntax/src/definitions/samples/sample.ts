import { z } from 'zod';

export { a, b as c } from './b';
export * from './d';
export * as ns from './e';
export { local };

/** Adds. */
export const add = (a: number, b: number): number => a + b;
const hidden = async () => {
  const inner = () => 1;
  const value = [1].map(it => it);
  return inner();
};
export const LIMIT = 10;
const INNER_LIMIT = 3;
const lower = 1;
export const schema = z.object({ a: z.string() });
const api = {
  get: (id: string) => id,
  async put() {},
  plain: 1,
} as const;
export type Id = string | number;
export enum Color {
  Red,
  Green = 'g',
}
export interface Shape<T> {
  // Area.
  area(): number;
  name: string;
}

@Injectable()
export class Service extends Base {
  count = 0;
  onClick = () => {
    this.count++;
  };

  constructor(private x: number) { super(); }
  get size() { return 1; }
  set size(it) {}
  /** Runs. */
  @Log()
  static async run(): Promise<void> {}
}
abstract class Abstract {
  abstract m(): void;
}
export default function main(): void {}
namespace Inner {
  export function f() {}
}
declare const VERSION: string;
declare module 'x' {}
function overload(a: string): void;
function overload(a: number): void;
function overload(a: unknown): void {}
export const useStore = create<State>()((set) => ({ a: () => set({}) }));

describe('math', () => {
  it.only(`adds`, async () => {});
  test.each([1, 2])('n %i', (n) => {});
});
