//! State of what a tool reads outside of the workspace: its program, and the places that its definition names. Installing or
//! removing something there leads to other answers.
//!
//! A definition names each place with a string. `~` is the home, `$NAME` each folder of a variable, `$PATH` each folder in which
//! programs are looked for, `$PREFIX` the folder that the tool is installed in, `^` the project's folder and each above it,
//! `**/NAME` the folders of this name anywhere in the workspace, and `*` any name or part of one. `$(PROGRAM ARGUMENTS)` stands
//! for the folders that a program prints, one a line, and the program itself. Everything else is an absolute path, or seen
//! from the project's folder.

mod entries;
mod places;
mod printed;

use std::{collections::BTreeSet, fmt::Write as _, path::PathBuf};

use overlay::ContentHash;

pub(crate) use self::{
    entries::children,
    printed::{check, is_command},
};
pub use self::{
    entries::{OutsideAge, OutsideState},
    places::{ACTIVE, Surroundings},
};

impl OutsideState {
    /// Hash over the state of every place outside that a tool reads, and of its programs.
    pub fn digest<'p>(
        &self,
        places: impl IntoIterator<Item = &'p str>,
        surroundings: &Surroundings<'_>,
    ) -> ContentHash {
        let mut text = String::new();
        for path in &self.paths(places, surroundings) {
            let _to_a_string = writeln!(text, "{} {}", path.display(), self.seen_at(path));
        }
        ContentHash::of(text.as_bytes())
    }

    /// Files and folders whose stamps stand for what the tool reads there.
    fn paths<'p>(
        &self,
        places: impl IntoIterator<Item = &'p str>,
        surroundings: &Surroundings<'_>,
    ) -> BTreeSet<PathBuf> {
        let (mut paths, mut commands) = (surroundings.programs.clone(), Vec::new());
        for place in places {
            match printed::words(place) {
                Some(command) => commands.push(command),
                None => paths.extend(surroundings.places(place, self)),
            }
        }
        paths.extend(printed::folders(&commands, surroundings, self));
        paths
    }
}
