//! `broker plugin update`, `install` and `remove`

use super::{
    add::expect_granted,
    project::{Project, mismatch},
};
use crate::{
    CliError, Exit,
    cli::Session,
    plugins::{Digest, Locked, Source, fetch},
    selectors::closest,
};

/// Take what the plugins' sources have now, and write it to `broker.lock`
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct UpdateArgs {
    /// Only these [default: all that `broker.toml` names]
    name: Vec<String>,
}

/// Fetch what `broker.lock` names and is not on this machine
///
/// For a fresh clone. What the sources have now does not matter: only what has the digests of `broker.lock` is taken.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct InstallArgs {}

/// Take a plugin out of the workspace's `broker.toml` and `broker.lock`
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct RemoveArgs {
    /// The plugin's name
    name: String,
}

pub(in crate::cli) fn update(args: &UpdateArgs, session: &mut Session) -> Result<Exit, CliError> {
    let mut project = Project::open(session)?;
    let declared = project.declared()?;
    let names: Vec<_> =
        declared.iter().filter(|(_, it)| it.source.is_some()).map(|(name, _)| name.as_str()).collect();
    if let Some(unknown) = args.name.iter().find(|it| !names.contains(&it.as_str())) {
        return Err(not_added(unknown, &names));
    }
    let mut told = String::new();
    for (name, settings) in &declared {
        let Some(source) =
            settings.source.as_ref().filter(|_| args.name.is_empty() || args.name.contains(name))
        else {
            continue;
        };
        let candidate = project.candidate(source, None, session)?;
        if candidate.locked.name != *name {
            let error = format!("plugin `{name}` from {source} calls itself `{}`", candidate.locked.name);
            return Err(CliError::plugin(error).hint("give it that name in broker.toml"));
        }
        expect_granted(&candidate, &settings.grants)?;
        told += &changed(project.lock.find(name), &candidate.locked);
        project.take(&candidate, session)?;
    }
    for name in project.lock.plugins().iter().map(|it| it.name.clone()).collect::<Vec<_>>() {
        if !names.contains(&name.as_str()) {
            project.lock.remove(&name);
        }
    }
    project.write_lock()?;
    session.print(&told)?;
    Ok(Exit::Clean)
}

fn changed(before: Option<&Locked>, now: &Locked) -> String {
    let Locked { name, version, digest, .. } = now;
    match before {
        Some(before) if before.digest == *digest => format!("{name} {version}: unchanged\n"),
        Some(before) => format!("{name} {} -> {version}, {digest}\n", before.version),
        None => format!("{name} {version}, {digest}\n"),
    }
}

pub(in crate::cli) fn install(session: &mut Session) -> Result<Exit, CliError> {
    let project = Project::open(session)?;
    let store = session.loader.store();
    let mut fetched = 0;
    for locked in project.lock.plugins() {
        if store.get(&locked.digest).ok().flatten().is_some() {
            continue;
        }
        if !matches!(locked.source, Source::Path(_)) {
            session.messages.line(&format!("fetching {}", locked.source));
        }
        let got =
            fetch(&locked.source, locked.manifest.as_ref(), &project.root, &session.surroundings.cancel)?;
        let digest = Digest::of(&got.bytes);
        if digest != locked.digest {
            let what = format!("plugin `{}` from {}", locked.name, locked.source);
            return Err(mismatch(&what, &digest, &locked.digest));
        }
        let kept = store.put(&digest, &got.bytes);
        kept.map_err(|error| CliError::files(format!("cannot keep the plugin: {error}")))?;
        fetched += 1;
    }
    session
        .print(&format!("{fetched} fetched, {} there already\n", project.lock.plugins().len() - fetched))?;
    Ok(Exit::Clean)
}

pub(in crate::cli) fn remove(args: &RemoveArgs, session: &mut Session) -> Result<Exit, CliError> {
    let mut project = Project::open(session)?;
    let name = &args.name;
    if !project.undeclare(name) {
        let declared = project.declared()?;
        let names: Vec<_> = declared.iter().map(|(name, _)| name.as_str()).collect();
        return Err(match names.contains(&name.as_str()) {
            true => CliError::usage(format!(
                "`{name}` stands in a file that broker.toml extends: remove it there"
            )),
            false => not_added(name, &names),
        });
    }
    project.lock.remove(name);
    project.write_configuration()?;
    project.write_lock()?;
    session.print(&format!("removed {name}\n"))?;
    Ok(Exit::Clean)
}

fn not_added(name: &str, names: &[&str]) -> CliError {
    let error = CliError::usage(format!("no plugin `{name}` was added to this workspace"));
    match closest(name, names.iter().copied()) {
        Some(close) => error.hint(format!("did you mean `{close}`?")),
        None => error.hint("`broker plugin list` shows all there are"),
    }
}
