//! Build graph: toolchain, plugins and engine, machine code of the plugins, program; and the guests of tests and examples.

use std::{
    env::consts::{DLL_PREFIX, DLL_SUFFIX},
    path::PathBuf,
};

use crate::{
    layout::{Build, Layout, text},
    plugins::Plugin,
    step::{Invocation, Step, lane, say},
    toolchain::{Toolchain, members},
};

/// Parts of a build.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) layout: Layout,
    pub(crate) build: Build,
    pub(crate) toolchain: Toolchain,
    pub(crate) plugins: Vec<Plugin>,
    /// Names of the plugins that are not built now.
    pub(crate) left_out: Vec<String>,
    pub(crate) has_clippy: bool,
}

impl Program {
    pub(crate) fn broker(&self) -> String {
        self.layout.broker(self.build)
    }

    /// Cargo for what runs on this machine. Clippy looks on while the quick build is compiled: to check every dependency for it
    /// as well would take minutes. Always the whole workspace: with other packages chosen, dependencies get other features, and
    /// wasmtime is compiled again.
    pub(crate) fn cargo(&self, command: &str) -> Invocation {
        let cargo = Invocation::of("cargo").arg(command);
        let cargo = cargo.args(["--locked", "--profile", self.build.profile(), "--workspace"]);
        if self.has_clippy && self.build == Build::Quick {
            return cargo.env("RUSTC_WORKSPACE_WRAPPER", "clippy-driver");
        }
        cargo
    }

    /// Compilers leave a core idle while they link a large plugin, so plugins, the engine and machine code are made side by side.
    pub(crate) fn steps(&self) -> Vec<Step> {
        let cargo = |what: &[&str]| self.cargo("build").arg("--quiet").args(what.iter().copied());
        let engine = cargo(&["--bin", "broker-bundle"]).or("the engine cannot be built, see above", None);
        let libraries = cargo(&["--lib"]).or("the program's libraries cannot be built, see above", None);
        vec![
            say("plugins and engine (the first time takes several minutes)"),
            Step::Together(vec![lane([engine]), lane([self.build_plugins().step()])]),
            say("machine code of the plugins, and what surrounds the engine"),
            Step::Together(vec![lane([libraries]), lane([self.bundle().step()])]),
            say("broker"),
            cargo(&["--bin", "broker"]).step(),
        ]
    }

    fn build_plugins(&self) -> Invocation {
        let profile = self.build.guest_profile();
        let left_out =
            self.left_out.iter().flat_map(|it| ["--exclude".to_owned(), format!("broker-plugin-{it}")]);
        let cargo = self.toolchain.cargo(&self.layout, "plugins", profile);
        cargo.args(["--locked", "--workspace"]).args(left_out)
    }

    /// Machine code of the plugins, for the program to carry, and manifests of those that are left out.
    fn bundle(&self) -> Invocation {
        let out = self.layout.out(self.build);
        let components = self.toolchain.folder(&self.layout, self.build.guest_profile());
        let plugin = |it: &Plugin| match self.left_out.contains(&it.name) {
            true => format!("plugins/{}/broker-plugin.toml", it.name),
            false => text(&components.join(it.component())),
        };
        // Cargo builds it since `syntax` depends on it; nothing links it.
        let grammars = out.join(format!("deps/{DLL_PREFIX}grammars{DLL_SUFFIX}"));
        Invocation::new(text(&out.join("broker-bundle")))
            .args([text(&self.layout.bundle(self.build)), text(&grammars)])
            .args(self.plugins.iter().map(plugin))
    }

    /// Guests of the tests and examples, and the plugin that a new author gets.
    pub(crate) fn guest_steps(&self) -> Vec<Step> {
        let guests = self.layout.guests();
        let new = guests.join("none-comparison");
        let workspace =
            |folder: PathBuf| self.toolchain.cargo(&self.layout, folder, "release").arg("--workspace");
        let copy = |names: Vec<String>| {
            let components = self.toolchain.folder(&self.layout, "release");
            Step::Copy(names.iter().map(|it| components.join(it)).collect(), guests.clone())
        };
        let names = members(&self.layout.root.join("tests/guests"));
        let names = names.iter().map(|it| format!("guest_{}.wasm", it.replace('-', "_")));
        let plugin_new = Invocation::new(self.broker()).args(["plugin", "new", "none-comparison", "--in"]);
        vec![
            say("guests of the tests and examples"),
            workspace("tests/guests".into()).arg("--locked").step(),
            copy(names.collect()),
            workspace("examples/no-todo".into()).arg("--locked").step(),
            copy(vec!["no_todo.wasm".to_owned()]),
            Step::Remove(new.clone()),
            Step::RunQuietly(plugin_new.arg(text(&guests))),
            workspace(new).step(),
            copy(vec!["none_comparison.wasm".to_owned()]),
        ]
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::path::Path;

    use super::*;
    use crate::step::printed;

    pub(crate) fn program(build: Build, left_out: &[&str]) -> Program {
        let plugin =
            |name: &str| Plugin { name: name.to_owned(), globs: Vec::new(), interpreters: Vec::new() };
        Program {
            layout: Layout {
                root: Path::new(env!("CARGO_MANIFEST_DIR")).join(".."),
                target: "/t".into(),
                wasm: "/w".into(),
            },
            build,
            toolchain: Toolchain::Rustup,
            plugins: ["json", "text"].map(plugin).into(),
            left_out: left_out.iter().map(|it| (*it).to_owned()).collect(),
            has_clippy: true,
        }
    }

    /// Steps without the flags of guests, which `toolchain` tests.
    pub(crate) fn shown(steps: &[Step]) -> String {
        let lines = printed(steps);
        let lines = lines.lines().map(|line| match line.split_once("RUSTFLAGS='") {
            Some((before, after)) => format!("{before}{}", after.split_once("' ").unwrap_or_default().1),
            None => line.to_owned(),
        });
        lines.map(|it| it + "\n").collect::<String>().replace(DLL_SUFFIX, ".so")
    }

    #[test]
    fn a_quick_build() {
        assert_eq!(
            shown(&program(Build::Quick, &["json"]).steps()),
            "\
# plugins and engine (the first time takes several minutes)
together
  RUSTC_WORKSPACE_WRAPPER=clippy-driver cargo build --locked --profile dev --workspace --quiet --bin broker-bundle
together
  cd plugins; CARGO_TARGET_DIR=/w cargo build --quiet --profile quick --target wasm32-wasip2 --lib --locked --workspace --exclude broker-plugin-json
# machine code of the plugins, and what surrounds the engine
together
  RUSTC_WORKSPACE_WRAPPER=clippy-driver cargo build --locked --profile dev --workspace --quiet --lib
together
  /t/debug/broker-bundle /t/bundle /t/debug/deps/libgrammars.so plugins/json/broker-plugin.toml /w/wasm32-wasip2/quick/broker_plugin_text.wasm
# broker
RUSTC_WORKSPACE_WRAPPER=clippy-driver cargo build --locked --profile dev --workspace --quiet --bin broker
"
        );
    }

    #[test]
    fn a_shipping_build_has_folders_of_its_own_and_no_clippy() {
        let steps = shown(&program(Build::Shipping, &[]).steps());
        let bundle = "/t/release/broker-bundle /t/bundle-shipping /t/release/deps/libgrammars.so \
                      /w/wasm32-wasip2/release/broker_plugin_json.wasm /w/wasm32-wasip2/release/broker_plugin_text.wasm\n";
        assert!(steps.contains(bundle), "{steps}");
        assert!(
            steps.contains("\ncargo build --locked --profile release --workspace --quiet --bin broker\n"),
            "{steps}"
        );
        assert!(!steps.contains("clippy"), "{steps}");
    }

    #[test]
    fn guests_are_built_after_the_program_that_makes_one() {
        assert_eq!(
            shown(&program(Build::Quick, &[]).guest_steps()),
            "\
# guests of the tests and examples
cd tests/guests; CARGO_TARGET_DIR=/w cargo build --quiet --profile release --target wasm32-wasip2 --lib --workspace --locked
copy /w/wasm32-wasip2/release/guest_asks.wasm to /t/guests
copy /w/wasm32-wasip2/release/guest_misbehaves.wasm to /t/guests
copy /w/wasm32-wasip2/release/guest_unready.wasm to /t/guests
cd examples/no-todo; CARGO_TARGET_DIR=/w cargo build --quiet --profile release --target wasm32-wasip2 --lib --workspace --locked
copy /w/wasm32-wasip2/release/no_todo.wasm to /t/guests
remove /t/guests/none-comparison
/t/debug/broker plugin new none-comparison --in /t/guests
cd /t/guests/none-comparison; CARGO_TARGET_DIR=/w cargo build --quiet --profile release --target wasm32-wasip2 --lib --workspace
copy /w/wasm32-wasip2/release/none_comparison.wasm to /t/guests
"
        );
    }
}
