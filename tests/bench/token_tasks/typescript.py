"""Five tasks in TypeScript."""

import json

from task import By, Change, Task, unused

RXJS = ("npm", "rxjs", "7.8.1")
IMMER = ("npm", "immer", "10.1.1")
ZOD = ("npm", "zod", "3.25.76")


def project(ignored: str, exclude: list[str] | None = None, **options: bool) -> dict[str, str]:
    """What the repositories of the packages have: a configuration, and what was built is ignored."""
    options = {"strict": True, "noEmit": True, "target": "es2022", "module": "preserve", **options}
    config = {"compilerOptions": options, "include": ["src", "node.d.ts"], "exclude": exclude or []}
    declared = "declare const process: {env: Record<string, string | undefined>}\n"
    return {"tsconfig.json": json.dumps(config, indent=2) + "\n", "node.d.ts": declared, ".gitignore": ignored}


OPERATORS = "src/internal/operators"
OBSERVABLE = "src/internal/observable"
USERS_OF_ARGUMENTS = [
    f"{OPERATORS}/withLatestFrom.ts",
    f"{OPERATORS}/combineLatest.ts",
    f"{OBSERVABLE}/forkJoin.ts",
    f"{OBSERVABLE}/combineLatest.ts",
    f"{OBSERVABLE}/zip.ts",
    "src/internal/util/args.ts",
]

# What the tests import is not there.
WITHOUT_TESTS = '[files]\nexclude = ["tests", "/src/v3/benchmarks"]\n'

TASKS = [
    Task(
        "a function is renamed in 6 files (TypeScript)",
        RXJS,
        [Change(it, "popResultSelector", "takeResultSelector") for it in USERS_OF_ARGUMENTS],
        given=project("/dist\n"),
        search=r"\bpopResultSelector\b",
        search_in="src",
        by=By.RENAME,
    ),
    Task(
        "a type error (TypeScript)",
        RXJS,
        [
            Change(
                f"{OPERATORS}/bufferCount.ts",
                "              arrRemove(buffers, buffer);\n              subscriber.next(toEmit);",
                "              arrRemove(buffers, buffer);\n              subscriber.next(buffer);",
            )
        ],
        is_broken_first=True,
        given=project("/dist\n"),
        lints_first=True,
    ),
    Task(
        "unused imports in 3 files (TypeScript)",
        RXJS,
        [
            unused(
                f"{OPERATORS}/auditTime.ts",
                "import { operate } from '../util/lift';",
                "import { MonoTypeOperatorFunction, SchedulerLike } from '../types';",
            ),
            unused(f"{OPERATORS}/skipUntil.ts", "import { identity } from '../util/identity';", "import { noop } from '../util/noop';"),
            unused(f"{OBSERVABLE}/range.ts", "import { Subscription } from '../Subscription';", "import { EMPTY } from './empty';"),
        ],
        is_broken_first=True,
        given=project("/dist\n", noUnusedLocals=True),
        lints_first=True,
    ),
    Task(
        "a parameter is added, and given by callers (TypeScript)",
        IMMER,
        [
            Change("src/utils/plugins.ts", "\timplementation: Plugins[K]\n", "\timplementation: Plugins[K],\n\treplaces: boolean\n"),
            Change("src/utils/plugins.ts", "if (!plugins[pluginKey])", "if (replaces || !plugins[pluginKey])"),
            Change("src/plugins/mapset.ts", "{proxyMap_, proxySet_})", "{proxyMap_, proxySet_}, false)"),
            Change("src/plugins/patches.ts", "\t\tgenerateReplacementPatches_\n\t})\n", "\t\tgenerateReplacementPatches_\n\t}, false)\n"),
        ],
        given=project("/dist\n"),
        search=r"\bloadPlugin\b",
        search_in="src",
    ),
    Task(
        "a name that does not exist (TypeScript)",
        ZOD,
        [
            Change(
                "src/v4/core/schemas.ts",
                "    handleRefineResults(r, payload, input, inst);",
                "    handleRefineResult(r, payload, input, inst);",
            )
        ],
        is_broken_first=True,
        given={**project("/v3\n/v4\n/v4-mini\n/index.*\n", exclude=["src/**/tests", "src/v3/benchmarks"]), "broker.toml": WITHOUT_TESTS},
        lints_first=True,
    ),
]
