//! The rules themselves: BuildKit's, then hadolint's and ShellCheck's, each in the order of their names.

use broker_plugin_sdk::Severity::{self, Error, Info, Warning};

use super::{Entry, On, SYNTAX};

const fn on(
    code: &'static str,
    severity: Severity,
    summary: &'static str,
    explanation: &'static str,
) -> Entry {
    Entry { code, severity, on: On::Always, is_fixed: false, hadolint: &[], summary, explanation }
}

const fn off(
    code: &'static str,
    severity: Severity,
    summary: &'static str,
    explanation: &'static str,
) -> Entry {
    Entry { on: On::Never, ..on(code, severity, summary, explanation) }
}

/// On where the project chose hadolint.
const fn chosen(
    code: &'static str,
    severity: Severity,
    summary: &'static str,
    explanation: &'static str,
) -> Entry {
    Entry { on: On::WithHadolint, ..on(code, severity, summary, explanation) }
}

const fn fixed(entry: Entry) -> Entry {
    Entry { is_fixed: true, ..entry }
}

const fn also(hadolint: &'static [&'static str], entry: Entry) -> Entry {
    Entry { hadolint, ..entry }
}

pub(super) const ALL: [Entry; 48] = [
    also(
        &["DL1000", "DL3043", "DL3061"],
        on(
            SYNTAX,
            Error,
            "The file cannot be built",
            "BuildKit refuses it: an instruction that does not exist, \
        arguments that do not fit, a here-document without an end, an instruction before the first `FROM`. Where `# syntax=` names another \
        frontend than Docker's own, the file is not read as a Dockerfile. Where a template's tag (`{{`, `<%`) is what cannot be read, \
        the file is left out.",
        ),
    ),
    fixed(on(
        "ConsistentInstructionCasing",
        Warning,
        "Instructions are in small letters and in capitals",
        "All should be written as most are.",
    )),
    off(
        crate::ignored::CODE,
        Warning,
        "A file is copied that `.dockerignore` keeps out",
        "The build fails. The build's folder is taken to be that of the Dockerfile. Experimental in BuildKit: `# check=experimental=CopyIgnoredFile` \
         turns it on for a file.",
    ),
    also(
        &["DL3024"],
        on(
            "DuplicateStageName",
            Warning,
            "Two stages have one name",
            "Which of them a name means is hard to see.",
        ),
    ),
    on(
        "ExposeInvalidFormat",
        Warning,
        "EXPOSE maps a port",
        "An address and a port of the host have no effect in `EXPOSE`.",
    ),
    fixed(on(
        "ExposeProtoCasing",
        Warning,
        "A protocol of EXPOSE is not in small letters",
        "Write `80/tcp`.",
    )),
    fixed(chosen(
        "FromAsCasing",
        Warning,
        "`as` is not written as `FROM` is",
        "Both should be in small letters, or both in capitals.",
    )),
    also(
        &["DL3029"],
        on(
            "FromPlatformFlagConstDisallowed",
            Warning,
            "The platform of a stage is fixed",
            "The stage is for that platform, whatever the build is for. If that is meant, name the stage by it (`build_amd64`), or use `$BUILDPLATFORM`.",
        ),
    ),
    off(
        "InvalidDefaultArgInFrom",
        Warning,
        "Without arguments, the image has no valid name",
        "The defaults of the arguments before the first `FROM` should lead to an image, so that the file can be built as it is. \
         Off by default, since many builds pass such arguments always.",
    ),
    off(
        "InvalidDefinitionDescription",
        Warning,
        "The comment before a definition does not begin with its name",
        "Who asks for a build's outline is shown `# name what it is` as the description of an argument or a stage. Experimental in BuildKit: \
         `# check=experimental=InvalidDefinitionDescription` turns it on for a file.",
    ),
    also(
        &["DL3025"],
        on(
            "JSONArgsRecommended",
            Warning,
            "CMD or ENTRYPOINT is run by a shell",
            "A shell may not pass signals on, and then the program gets no signal to stop: a shell that only waits for it (dash, which many \
            images have as `sh`) does not; bash runs a single command in its own place. A `SHELL` before it shows that a shell is meant.",
        ),
    ),
    fixed(on(
        "LegacyKeyValueFormat",
        Warning,
        "`ENV name value` instead of `ENV name=value`",
        "The old form may go; it takes one name only.",
    )),
    also(
        &["DL4000"],
        fixed(on(
            "MaintainerDeprecated",
            Warning,
            "MAINTAINER is deprecated",
            "The label `org.opencontainers.image.authors` takes its place.",
        )),
    ),
    also(
        &["DL3012", "DL4003", "DL4004"],
        on(
            "MultipleInstructionsDisallowed",
            Warning,
            "Of several CMD, ENTRYPOINT or HEALTHCHECK only the last counts",
            "The others have no effect.",
        ),
    ),
    fixed(on(
        "NoEmptyContinuation",
        Warning,
        "An empty line within an instruction",
        "It will be an error in a future version.",
    )),
    fixed(on("RedundantTargetPlatform", Warning, "`--platform=$TARGETPLATFORM`", "It is what holds anyway.")),
    on(
        "ReservedStageName",
        Warning,
        "A stage is called `scratch` or `context`",
        "Both mean something else already.",
    ),
    on(
        "SecretsUsedInArgOrEnv",
        Warning,
        "ARG or ENV has the name of a secret",
        "Both are stored in the image. Use secret mounts: `RUN --mount=type=secret`. Names whose last word says that the value is \
         no secret (`AUTH_METHOD`, `TOKEN_URL`, `PASSWORD_FILE`) are not reported, though BuildKit does so, nor are values that are \
         empty (`ENV PASSWORD=`) or other variables' (`$TOKEN`).",
    ),
    on(
        "StageNameCasing",
        Warning,
        "The name of a stage is not in small letters",
        "Names are the same in small letters and large; it is easier to see if they look so.",
    ),
    on(
        "UndefinedArgInFrom",
        Warning,
        "FROM uses an argument that is not there",
        "Only arguments from before the first `FROM` and those of the platform can be used.",
    ),
    on(
        "UndefinedVar",
        Warning,
        "A variable is used that nothing defines",
        "What the base image defines is not known here, so it is reported only where the file shows that it is wrong: the stage is made from `scratch`, \
         the name is defined before the first `FROM` or later only, or it differs by one letter from one that is known.",
    ),
    also(
        &["DL3000"],
        on(
            "WorkdirRelativePath",
            Warning,
            "WORKDIR is relative to the base image's",
            "Where it is changes with the base image.",
        ),
    ),
    off(
        "DL3002",
        Warning,
        "The image runs as root",
        "The last `USER` of the last stage should be another. Off by default, since an entry point may give up its rights, \
         and images to develop and test in need them.",
    ),
    on(
        "DL3004",
        Error,
        "sudo in RUN",
        "`RUN` runs as root, unless the base image or `USER` names another user; then a `USER root` before it does the same. sudo does not pass \
        signals and a terminal on as one expects. \
        `sudo -u USER` changes who runs one command, and is left alone, as is sudo where a `USER` other than root is in force.",
    ),
    chosen(
        "DL3006",
        Warning,
        "The image has no tag",
        "Which version it is changes with time. Name a tag, or a digest.",
    ),
    chosen(
        "DL3007",
        Warning,
        "The image's tag is `latest`",
        "Which version it is changes with time. Name another tag, or a digest.",
    ),
    off(
        "DL3008",
        Warning,
        "apt-get installs whatever version there is",
        "Name versions (`package=1.2.*`), so that a build has the same result again.",
    ),
    on("DL3011", Error, "A port that does not exist", "Ports go from 0 to 65535."),
    on(
        "DL3014",
        Warning,
        "apt-get install waits for confirmation",
        "A build has no terminal to answer from: use `-y`.",
    ),
    off(
        "DL3018",
        Warning,
        "apk installs whatever version there is",
        "Name versions (`package=1.2`), so that a build has the same result again.",
    ),
    on(
        "DL3020",
        Error,
        "ADD where COPY would do",
        "`ADD` unpacks archives and fetches addresses; `COPY` does what one expects.",
    ),
    on("DL3021", Error, "COPY of several sources to what is no folder", "The destination must end in `/`."),
    on(
        "DL3022",
        Warning,
        "COPY from a stage that is not there",
        "`--from` names no earlier stage, and it does not look like an image.",
    ),
    on("DL3023", Error, "COPY from the stage itself", "`--from` names the stage that copies."),
    on(
        "DL3026",
        Error,
        "An image from a registry that is not trusted",
        "Only where `trustedRegistries` of `.hadolint.yaml` names some.",
    ),
    on(
        "DL3027",
        Warning,
        "apt in RUN",
        "Its commands may change, as it says itself: use `apt-get` or `apt-cache`.",
    ),
    on(
        "DL3044",
        Error,
        "ENV uses a variable that it defines in the same line",
        "The value is that from before, unless the line sets the variable to itself (`ENV V=$V`).",
    ),
    chosen(
        "DL3045",
        Warning,
        "COPY to a relative place without WORKDIR",
        "Where it is depends on the base image; below `FROM scratch` it is `/`.",
    ),
    on("DL3049", Info, "A label is missing", "`label-schema` of `.hadolint.yaml` names it."),
    on(
        "DL3050",
        Info,
        "A label that the schema does not know",
        "Only with `strict-labels` in `.hadolint.yaml`.",
    ),
    on("DL3051", Warning, "A label is empty", "`label-schema` of `.hadolint.yaml` wants text."),
    off("DL3057", Warning, "There is no HEALTHCHECK", "Nothing checks whether what the image runs is well."),
    on("DL4005", Warning, "/bin/sh is replaced", "`SHELL` changes the shell of a build."),
    on(
        "DL4006",
        Warning,
        "A pipe without pipefail",
        "If what is before the last `|` fails, the build goes on: `SHELL [\"/bin/bash\", \"-o\", \"pipefail\", \"-c\"]` before it, \
        or `set -o pipefail` in it. Not reported where `SHELL` names a shell that has none (`sh`, `dash`, `ash`) or that reads other scripts, and not \
        behind `echo`, `printf`, `true` and `yes`, which do not fail, nor behind groups and loops of them. Nor where the pipe \
        leads to a command that fails without input (`tar x`, `gunzip`, `grep`, `gpg --dearmor`), and in `$(…)` whose status is thrown away \
        (`echo $(a | b)`, unlike `x=$(a | b)`).",
    ),
    off(
        "SC2086",
        Info,
        "A variable without quotes in RUN",
        "A shell splits its value at blanks, and takes `*` and `?` in it for names of files. Not told of variables that the script sets to one plain \
        word. ShellCheck's code, as hadolint has it; off, since values in Dockerfiles are mostly versions and paths.",
    ),
    on("SC3010", Warning, "`[[` in RUN where the shell is dash", IN_DASH),
    on("SC3044", Warning, "A builtin of bash in RUN where the shell is dash", IN_DASH),
    on("SC3046", Warning, "`source` in RUN where the shell is dash", IN_DASH),
];

const IN_DASH: &str = "The command is not found: `/bin/sh` of Debian and Ubuntu is dash. Reported for the images `debian`, `ubuntu` and \
    `buildpack-deps`, and for official images whose tag names a release of these (`python:3.12-bookworm`), where no `SHELL` names another shell, \
    and no `RUN` or `COPY` replaces `/bin/sh` (`ln`, `mv`, `cp`, `dpkg-reconfigure dash`). ShellCheck's code, as hadolint has it.";
