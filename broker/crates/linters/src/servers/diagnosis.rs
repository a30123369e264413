//! Why a language server is asked in a workspace, or why not.

use std::{collections::BTreeSet, path::PathBuf};

use config::{Selectors, ServerSettings, SetupFailure};
use language_servers::{Checks, Profile, Reason};
use overlay::WorkspacePath;

use super::{ServerContext, Wanted, Why, replacing, stand_in, wanted};
use crate::{
    Way, external,
    provider::{Diagnosis, ProgramKind, Standing},
};

/// Diagnoses each of the `known` servers, by the settings and the checkers that are asked. `find` finds the program of one, and the way in which it runs.
pub fn diagnose(
    known: &[Profile],
    context: &ServerContext<'_>,
    (settings, checkers): (&ServerSettings, &BTreeSet<String>),
    selectors: &Selectors,
    find: impl Fn(&Profile) -> (Option<PathBuf>, Result<Way, String>),
) -> Result<Vec<Diagnosis>, SetupFailure> {
    let wanted = wanted(known, context, settings, checkers)?;
    let diagnosis = |profile: &Profile| {
        let why = wanted.iter().find(|it| it.profile.tool.name == profile.tool.name).map(|it| it.why);
        let standing = match why {
            Some(_) if selectors.for_server(&profile.tool.name).is_none() => Standing::NotSelected,
            Some(why) => replaced(profile, why, context).unwrap_or_else(|| why.into()),
            None => not_wanted(profile, &wanted, (settings, checkers)),
        };
        let of_files = profile.clone();
        let language = move |path: &WorkspacePath| {
            of_files.covers(path).then(|| Some(of_files.language(path).to_owned()))
        };
        let (path, way) = find(profile);
        external::diagnosis(&profile.tool, ProgramKind::LanguageServer, path, standing, way, language)
    };
    Ok(known.iter().map(diagnosis).collect())
}

/// For a server in whose place a checker is asked, since it is not installed.
fn replaced(profile: &Profile, why: Why<'_>, context: &ServerContext<'_>) -> Option<Standing> {
    let checker = stand_in::of(profile, context).filter(|_| matches!(why, Why::Project(_)))?;
    Some(Standing::Instead { linter: checker.tool.name.clone() })
}

fn not_wanted(
    profile: &Profile,
    wanted: &[Wanted<'_>],
    (settings, checkers): (&ServerSettings, &BTreeSet<String>),
) -> Standing {
    if let Some(checker) = replacing(profile, checkers) {
        return Standing::Instead { linter: checker.clone() };
    } else if settings.used.is_some() {
        return Standing::NotNamed { marker: None };
    }
    let checks_the_same = |it: &&Wanted<'_>| {
        let is_of_language = |language: &String| profile.tool.languages.contains(language);
        it.profile.checks == Checks::Types && it.profile.tool.languages.iter().any(is_of_language)
    };
    match wanted.iter().find(checks_the_same).filter(|_| profile.checks == Checks::Types) {
        Some(it) => Standing::Instead { linter: it.profile.tool.name.clone() },
        None => {
            let markers = profile.configured_by.iter().chain(&profile.projects).cloned().collect();
            Standing::NotConfigured { markers }
        }
    }
}

impl From<Why<'_>> for Standing {
    fn from(why: Why<'_>) -> Self {
        match why {
            Why::Named => Self::Named,
            Why::Project(Reason::Configured(marker)) => Self::Configured { marker: marker.to_owned() },
            Why::Project(Reason::Project(marker)) => Self::Project { marker: marker.to_owned() },
        }
    }
}
