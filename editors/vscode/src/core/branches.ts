// Branches of the server, kept up to date by its notifications. The changes of a branch are requested when they are shown, and
// again after its revision has changed.

import type { Branch, BranchChanged, Broker, Change } from "./protocol.js";

interface Changes {
  revision: number;
  changes: Promise<Change[]>;
}

export class Branches {
  readonly #branches = new Map<string, Branch>();
  readonly #changes = new Map<string, Changes>();
  readonly #listeners = new Set<(id?: string) => void>();
  /** Notifications that arrived during a request for the list. They may be newer than the list. */
  #early: BranchChanged[] | undefined;
  #loads = 0;

  constructor(private readonly broker: Broker) {}

  /** Registers a callback. It gets the branch that changed, or nothing if any branch may have changed. */
  onChange(listener: (id?: string) => void): void {
    this.#listeners.add(listener);
  }

  get size(): number {
    return this.#branches.size;
  }

  /** URIs of the workspaces that have branches. */
  get workspaces(): string[] {
    return [...new Set([...this.#branches.values()].map((it) => it.workspace))].sort();
  }

  get(id: string): Branch | undefined {
    return this.#branches.get(id);
  }

  /** Branches of one workspace, or all, the newest first. */
  list(workspace?: string): Branch[] {
    return [...this.#branches.values()]
      .filter((it) => workspace === undefined || it.workspace === workspace)
      .sort((a, b) => b.createdMs - a.createdMs || a.name.localeCompare(b.name));
  }

  /** Requests the list again. The answer to an older request is dropped. */
  async load(): Promise<void> {
    const load = ++this.#loads;
    const early: BranchChanged[] = [];
    this.#early = early;
    try {
      const branches = await this.broker.listBranches();
      if (load === this.#loads) this.#replace(branches, early);
    } finally {
      if (load === this.#loads) this.#early = undefined;
    }
  }

  apply(event: BranchChanged): void {
    this.#early?.push(event);
    if (this.#take(event)) this.#tell(event.branch.id);
  }

  /** Changes of a branch against its parent, requested once per revision. */
  changes(branch: Branch): Promise<Change[]> {
    const revision = this.#branches.get(branch.id)?.revision ?? branch.revision;
    const held = this.#changes.get(branch.id);
    if (held?.revision === revision) return held.changes;
    const changes = this.broker.diffBranch(branch.id).then((it) => it.changes);
    const asked = { revision, changes };
    this.#changes.set(branch.id, asked);
    changes.catch(() => {
      if (this.#changes.get(branch.id) === asked) this.#changes.delete(branch.id);
    });
    return changes;
  }

  /** Drops everything, after the server has stopped. */
  clear(): void {
    this.#loads += 1;
    this.#early = undefined;
    this.#branches.clear();
    this.#changes.clear();
    this.#tell();
  }

  #replace(branches: Branch[], early: BranchChanged[]): void {
    this.#branches.clear();
    for (const branch of branches) this.#branches.set(branch.id, branch);
    for (const event of early) this.#take(event);
    for (const id of this.#changes.keys()) if (!this.#branches.has(id)) this.#changes.delete(id);
    this.#tell();
  }

  /** Takes an event. Returns whether it is newer than what is known. */
  #take({ kind, branch }: BranchChanged): boolean {
    const known = this.#branches.get(branch.id);
    if (kind === "discarded") {
      this.#changes.delete(branch.id);
      return this.#branches.delete(branch.id);
    }
    if (known && known.revision > branch.revision) return false;
    this.#branches.set(branch.id, branch);
    return true;
  }

  #tell(id?: string): void {
    for (const listener of this.#listeners) listener(id);
  }
}
