// Finds the program `broker`: the one that the setting `broker.path` names, else the first one in PATH. Does not start it.

import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { delimiter, isAbsolute, join, resolve } from "node:path";

export interface Surroundings {
  /** The variable PATH. */
  path: string;
  home: string;
  /** The first workspace folder, for relative paths. */
  folder?: string;
  isProgram: (path: string) => Promise<boolean>;
}

export type Found = { program: string } | { problem: string };

export async function findProgram(setting: string, around: Surroundings): Promise<Found> {
  const wanted = setting.trim();
  if (wanted.includes("/")) return named(wanted, around);
  const name = wanted || "broker";
  for (const folder of around.path.split(delimiter).filter(isAbsolute)) {
    const program = join(folder, name);
    if (await around.isProgram(program)) return { program };
  }
  const advice = wanted ? 'Correct the setting "broker.path".' : 'Install Broker, or name it in the setting "broker.path".';
  return { problem: `There is no program \`${name}\` in your PATH. ${advice}` };
}

async function named(wanted: string, around: Surroundings): Promise<Found> {
  const expanded = wanted.replace(/^~(?=\/)/, around.home).replace("${workspaceFolder}", around.folder ?? "");
  const program = isAbsolute(expanded) || !around.folder ? expanded : resolve(around.folder, expanded);
  if (isAbsolute(program) && (await around.isProgram(program))) return { program };
  return { problem: `The setting "broker.path" names \`${wanted}\`, which is no program.` };
}

/** Whether this is an executable file. */
export async function isProgram(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}

/** Runs a program to its end; rejects if it cannot be started or exits with another code than 0. */
export type Run = (program: string, args: string[]) => Promise<string>;

/** Why a program cannot serve editors; nothing if it can. */
export async function unfit(program: string, run: Run): Promise<string | undefined> {
  try {
    await run(program, ["lsp", "--help"]);
    return undefined;
  } catch {
    const version = await run(program, ["--version"]).catch(() => "");
    const known = /^broker \S+/.exec(version)?.[0];
    if (!known) return `\`${program}\` is another program of the same name. Name Broker's in the setting "broker.path".`;
    return `\`${program}\` is ${known}, which has no \`broker lsp\`. Install a newer version.`;
  }
}
