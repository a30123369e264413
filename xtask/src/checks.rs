//! `lint` and `docs`.

use std::path::PathBuf;

use crate::{
    layout::{Layout, text},
    plugins::Plugin,
    step::{Failure, Invocation, Step, say},
};

/// Cargo workspaces beside the program's.
const WORKSPACES: [&str; 4] = ["plugins", "tests/guests", "examples/no-todo", "xtask"];

/// Version of what builds the documentation.
const MDBOOK: &str = "0.5.4";

/// Formatting, schema, the documentation's links, licences. `has` says which programs there are.
pub(crate) fn lint(layout: &Layout, plugins: &[Plugin], has: impl Fn(&str) -> bool) -> Vec<Step> {
    let later = plugins.iter().filter(|it| it.can_be_left_out()).map(|it| it.name.clone());
    let mut steps = vec![say("formatting"), Invocation::of("cargo fmt --all --check").step()];
    steps.extend(WORKSPACES.map(|it| Invocation::of("cargo fmt --all --check").folder(it).step()));
    steps.extend([say("xtask"), xtask("test --quiet"), xtask("clippy --quiet --all-targets")]);
    steps.extend([say("features of the plugins' dependencies"), Step::ExpectSameFeatures(later.collect())]);
    if has("node") && has("npm") {
        steps.extend([say("schema"), Invocation::new("tests/proto/check").step()]);
    } else {
        steps.push(say("Node.js is not installed, so the schema is not checked"));
    }
    steps.extend(book(layout));
    if has("cargo-deny") {
        steps.push(say("licences and duplicates of the dependencies"));
        steps.extend([".", "plugins", "xtask"].map(|it| licences(layout, it)));
    } else {
        steps
            .push(say("cargo-deny is not installed, so licences are not checked (cargo install cargo-deny)"));
    }
    steps
}

/// Tests and lints of this crate, built where `dev` builds it.
fn xtask(command: &str) -> Step {
    let cargo = Invocation::of(&format!("cargo {command} --locked --manifest-path xtask/Cargo.toml"));
    let cargo = cargo.args(["--target-dir", "target/xtask"]);
    if command.starts_with("clippy") { cargo.args(["--", "-D", "warnings"]).step() } else { cargo.step() }
}

fn licences(layout: &Layout, folder: &str) -> Step {
    let config = text(&layout.root.join("deny.toml"));
    let deny = Invocation::of("cargo deny --log-level error --config").arg(config);
    deny.args(["check", "bans", "licenses", "sources"]).folder(folder).step()
}

/// The generated pages, and all pages as a book.
pub(crate) fn docs(layout: &Layout, broker: String) -> Vec<Step> {
    let mut steps = vec![Invocation::new("docs/generate").arg(broker).step()];
    steps.extend(book(layout));
    steps.push(say(format!("built {}", text(&folder(layout).join("index.html")))));
    steps
}

fn folder(layout: &Layout) -> PathBuf {
    layout.target.join("book")
}

/// The pages as a book whose links lead somewhere.
fn book(layout: &Layout) -> Vec<Step> {
    let tools = layout.tools();
    let mdbook = tools.join(format!("mdbook-{MDBOOK}"));
    let folder = folder(layout);
    let program = mdbook.join("bin/mdbook");
    // Optimisation would cost minutes and save milliseconds.
    let install =
        Invocation::of("nice cargo install --quiet --locked mdbook --no-default-features --features search")
            .args(["--version", MDBOOK, "--root", &text(&mdbook)])
            .env("CARGO_TARGET_DIR", text(&tools.join("build")))
            .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0")
            .env("CARGO_PROFILE_RELEASE_LTO", "false");
    let failure =
        Failure { message: "mdbook cannot be installed", hint: Some("the first run needs the network") };
    let build = Invocation::new(text(&program)).args(["build", "--dest-dir", &text(&folder), "docs"]);
    let install = vec![
        say(format!("installing mdbook {MDBOOK}")),
        Step::Run(install, Some(failure)),
        Step::Remove(tools.join("build")),
    ];
    let mut steps = vec![Step::Unless(program, install), say("documentation")];
    steps.push(build.env("MDBOOK_LOG", "warn").step());
    // mdbook also copies the files beside the pages.
    let beside = ["book.toml", "generate", "generator", "check-links"];
    steps.extend(beside.map(|it| Step::Remove(folder.join(it))));
    steps.push(Invocation::new("docs/check-links").arg(text(&folder)).step());
    steps
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{layout::Build, program::tests::program, step::printed};

    fn lint_steps(programs: &[&str]) -> String {
        let program = program(Build::Quick, &[]);
        printed(&lint(&program.layout, &program.plugins, |it| programs.contains(&it)))
    }

    #[test]
    fn lint_says_what_it_cannot_check() {
        let all = lint_steps(&["node", "npm", "cargo-deny"]);
        assert!(all.contains("tests/proto/check\n") && all.contains("cd xtask; cargo deny "), "{all}");
        // `text` is always built.
        assert!(all.contains("\nsame features: json\n"), "{all}");
        let few = lint_steps(&["node"]);
        assert!(
            few.contains("so the schema is not checked") && few.contains("so licences are not checked"),
            "{few}"
        );
        assert!(!few.contains("tests/proto/check") && !few.contains("cargo deny --"), "{few}");
    }

    #[test]
    fn documentation_is_generated_before_it_is_built() {
        let program = program(Build::Quick, &[]);
        let steps = printed(&docs(&program.layout, program.broker()));
        let places = [
            "docs/generate /t/debug/broker\n",
            "unless /t/tools/mdbook-0.5.4/bin/mdbook\n",
            "docs/check-links /t/book\n",
        ];
        let places = places.map(|it| steps.find(it).unwrap_or_else(|| panic!("no {it} in {steps}")));
        assert!(places.is_sorted(), "{steps}");
    }
}
