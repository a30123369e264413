//! A store of tools: language servers and checkers from the registries of npm and Python, unpacked here without running anything of
//! theirs, and kept by digest in a folder of the user's.
//!
//! `catalogue.toml` says by hand which tools there are, `packages.toml` has every file of theirs with its digest; the registries are asked
//! for those of another version, which a project's files may name (`demand.rs`). A [`LockedTool`] is what a workspace pins, a [`Plan`] that
//! tool on one machine, and a [`Store`] the folder that has it once it is installed.
//!
//! Left out: how a tool is asked, and whether it may run.

mod archive;
mod catalogue;
mod demand;
mod error;
mod package;
mod plan;
mod recommended;
mod registries;
mod settings;
mod store;
#[cfg(test)]
mod testing;

pub use self::{
    catalogue::{Catalogue, Executes, Kind, LockedTool, NODE, Runtime, Tool},
    demand::{Demand, demanded},
    error::Error,
    package::{Package, PackageFile, Platform, Registry},
    plan::{Plan, Target},
    recommended::{Recommendation, recommended},
    registries::Registries,
    settings::{NpmSettings, PipSettings, UserSettings},
    store::{FOLDER, Installed, KEPT, Progress, Store},
};
