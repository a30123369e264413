//! Where tests let a commit die or fail: before each step that changes the disk.

use std::io;

/// In the program it never burns. In tests it counts steps.
#[derive(Clone, Default)]
pub(super) struct Fuse {
    #[cfg(test)]
    set: std::sync::Arc<std::sync::Mutex<tests::Setting>>,
}

impl Fuse {
    /// Asked before every step that changes the disk.
    pub(super) fn step(&self) -> io::Result<()> {
        #[cfg(test)]
        self.burn()?;
        Ok(())
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Steps are counted from 0.
    #[derive(Default)]
    pub(in crate::commit) struct Setting {
        pub(in crate::commit) steps: usize,
        /// From this step on nothing happens any more, as after `kill -9`.
        pub(in crate::commit) die_at: Option<usize>,
        /// This one step fails.
        pub(in crate::commit) fail_at: Option<usize>,
    }

    impl Fuse {
        pub(in crate::commit) fn set(&self, die_at: Option<usize>, fail_at: Option<usize>) {
            *self.set.lock().unwrap() = Setting { steps: 0, die_at, fail_at };
        }

        pub(in crate::commit) fn steps(&self) -> usize {
            self.set.lock().unwrap().steps
        }

        pub(super) fn burn(&self) -> io::Result<()> {
            let mut set = self.set.lock().unwrap();
            let step = set.steps;
            set.steps += 1;
            match () {
                () if set.die_at.is_some_and(|at| step >= at) => Err(io::Error::other("killed")),
                () if set.fail_at == Some(step) => Err(io::Error::other("made to fail")),
                () => Ok(()),
            }
        }
    }
}
