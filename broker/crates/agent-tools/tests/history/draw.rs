//! Draws commits and files of a repository, and cases of them, by the seed.

use std::collections::BTreeMap;

use crate::{
    change::Change,
    commits::{Modified, Repository},
    file::{Case, File},
    languages,
    options::Options,
    random::Random,
    shapes::{OF_CHANGES, OF_FILES, Shape},
};

/// Commits and files that are looked at for each case that is wanted of a shape, so that rare shapes end, too.
const TRIES: usize = 40;

/// Commits whose files are listed at a time, and files of a commit that are looked at.
const AT_ONCE: usize = 100;
const FILES: usize = 2;

/// Numbers of cases drawn so far.
struct Drawn<'o> {
    options: &'o Options,
    shapes: BTreeMap<&'static str, usize>,
    languages: BTreeMap<&'static str, usize>,
}

impl Drawn<'_> {
    fn has_room(&self, shape: &str) -> bool {
        self.options.only.as_ref().is_none_or(|it| it == shape)
            && self.shapes.get(shape).is_none_or(|it| *it < self.options.cases)
    }

    fn wants<Make>(&self, shape: &Shape<Make>) -> bool {
        shape.names.iter().any(|it| self.has_room(it))
    }

    fn add(&mut self, case: Case, use_case: &mut impl FnMut(Case)) {
        let is_change = case.after.as_ref() != Some(&case.before) && !case.edit.is_empty();
        if self.has_room(case.shape) && is_change {
            *self.shapes.entry(case.shape).or_default() += 1;
            *self.languages.entry(case.language).or_default() += 1;
            use_case(case);
        }
    }

    /// Cases of a file's language.
    fn count(&self, path: &str) -> usize {
        let name = languages::of(path).map_or("", |it| it.name);
        self.languages.get(name).copied().unwrap_or_default()
    }
}

pub(crate) fn cases(folder: &str, options: &Options, mut use_case: impl FnMut(&str, Case)) {
    let mut repository = Repository::open(folder);
    let name = repository.name();
    let mut drawn = Drawn { options, shapes: BTreeMap::new(), languages: BTreeMap::new() };
    of_commits(&mut repository, &name, &mut drawn, &mut |it| use_case(&name, it));
    of_files(&mut repository, &name, &mut drawn, &mut |it| use_case(&name, it));
}

fn of_commits(
    repository: &mut Repository,
    name: &str,
    drawn: &mut Drawn<'_>,
    use_case: &mut impl FnMut(Case),
) {
    let seed = drawn.options.seed;
    let mut commits = repository.commits();
    Random::of(seed, &[name, "commits"]).shuffle(&mut commits);
    commits.truncate(TRIES * drawn.options.cases);
    for commits in commits.chunks(AT_ONCE) {
        for mut files in repository.modified(commits) {
            if !OF_CHANGES.iter().any(|it| drawn.wants(it)) {
                return;
            }
            // The languages of which there is least come first.
            files.sort_by_key(|it| drawn.count(&it.path));
            for file in files.into_iter().take(FILES) {
                of_commit(repository, file, drawn, use_case);
            }
        }
    }
}

fn of_commit(
    repository: &mut Repository,
    file: Modified,
    drawn: &mut Drawn<'_>,
    use_case: &mut impl FnMut(Case),
) {
    let Some(commit) = repository.commit(file) else { return };
    let change = Change::new(&commit);
    for shape in OF_CHANGES {
        if drawn.wants(shape) {
            let mut random = Random::of(drawn.options.seed, &[&commit.id, &commit.path, shape.names[0]]);
            (shape.make)(&change, &mut random).into_iter().for_each(|it| drawn.add(it, use_case));
        }
    }
}

fn of_files(repository: &mut Repository, name: &str, drawn: &mut Drawn<'_>, use_case: &mut impl FnMut(Case)) {
    let seed = drawn.options.seed;
    let mut files = repository.files();
    files.sort();
    Random::of(seed, &[name, "files"]).shuffle(&mut files);
    // Takes one file of each language in turn.
    let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
    let mut in_turn: Vec<_> = files
        .iter()
        .map(|it| {
            let number = numbers.entry(languages::of(&it.0).map_or("", |it| it.name)).or_default();
            *number += 1;
            (*number, it)
        })
        .collect();
    in_turn.sort_by_key(|it| it.0);
    for (_, (path, id)) in in_turn.into_iter().take(TRIES * drawn.options.cases) {
        if !OF_FILES.iter().any(|it| drawn.wants(it)) {
            return;
        }
        let Some(text) = repository.blob(id).filter(|it| !it.is_empty()) else { continue };
        let file = File::new(path, "HEAD", &text);
        for shape in OF_FILES.iter().filter(|it| drawn.wants(it)).collect::<Vec<_>>() {
            let mut random = Random::of(seed, &[path, shape.names[0]]);
            (shape.make)(&file, &mut random).into_iter().for_each(|it| drawn.add(it, use_case));
        }
    }
}
