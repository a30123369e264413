// Results of checks of branches, until the branch changes. Findings of open branch documents are not included, since the server
// reports those itself.

import { type Branch, type CheckResult, type Diagnostic, type Finding, uriKey } from "./protocol.js";
import { counted } from "./status.js";

export interface Counts {
  errors: number;
  warnings: number;
  others: number;
}

interface Check {
  revision: number;
  result: CheckResult;
}

export class Checks {
  readonly #checks = new Map<string, Check>();

  set(branch: Branch, result: CheckResult): void {
    this.#checks.set(branch.id, { revision: branch.revision, result });
  }

  /** The last check, if it was of this revision. */
  of(branch: Branch): CheckResult | undefined {
    const check = this.#checks.get(branch.id);
    return check?.revision === branch.revision ? check.result : undefined;
  }

  drop(id: string): void {
    this.#checks.delete(id);
  }

  clear(): void {
    this.#checks.clear();
  }

  /** Diagnostics by document, without those of documents that are open. */
  diagnostics(isOpen: (uri: string) => boolean): Map<string, Diagnostic[]> {
    const found = new Map<string, Diagnostic[]>();
    for (const { result } of this.#checks.values()) {
      for (const { uri, diagnostic } of shown(result.findings)) {
        if (isOpen(uri)) continue;
        const others = found.get(uri) ?? [];
        found.set(uri, [...others, diagnostic]);
      }
    }
    return found;
  }
}

/** Findings in the branch, without those that it fixed, which are only counted. */
export function shown(findings: Finding[]): Finding[] {
  return findings.filter((it) => it.change !== "fixed");
}

export function inFile(findings: Finding[], uri: string): Finding[] {
  const key = uriKey(uri);
  return findings.filter((it) => uriKey(it.uri) === key);
}

export function counts(findings: Finding[]): Counts {
  const found = { errors: 0, warnings: 0, others: 0 };
  for (const { diagnostic } of findings) {
    if ((diagnostic.severity ?? 1) === 1) found.errors += 1;
    else if (diagnostic.severity === 2) found.warnings += 1;
    else found.others += 1;
  }
  return found;
}

/** `1 error, 2 warnings`, or nothing. */
export function countsText({ errors, warnings, others }: Counts): string {
  const parts = [
    [errors, "error"],
    [warnings, "warning"],
    [others, "other"],
  ] as const;
  return parts
    .filter(([count]) => count > 0)
    .map(([count, name]) => counted(count, name))
    .join(", ");
}

/** A sentence with the result, and a line for each check that did not complete. */
export function summary(branch: Branch, result: CheckResult): { text: string; incomplete: string[] } {
  const found = shown(result.findings);
  const fixed = result.findings.length - found.length;
  const severities = countsText(counts(found));
  const brackets = severities ? ` (${severities})` : "";
  const missing = result.complete ? "" : " Not everything could be checked.";
  const incomplete = result.incomplete.map((it) => `${it.path}: ${it.linter}: ${it.reason}`);
  return { text: `Branch "${branch.name}": ${found.length} new, ${fixed} fixed${brackets}.${missing}`, incomplete };
}
