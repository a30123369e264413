//! Hook before each step, with which tests let a commit die or fail, or let a user act.

use std::{io, os::fd::AsFd};

use rustix::io::retry_on_intr;

/// Step hook, without effect in the program. In tests it counts steps.
#[derive(Clone, Default)]
pub(super) struct FailPoint {
    #[cfg(test)]
    set: std::sync::Arc<parking_lot::Mutex<tests::Setting>>,
    /// Disk contents after a power cut, where a test asks for them.
    #[cfg(test)]
    pub(super) disk: std::sync::Arc<parking_lot::Mutex<Option<super::tests::power::Synced>>>,
}

impl FailPoint {
    /// Asked before every step that changes the disk, and before every look at what such a step brought out.
    pub(super) fn step(&self) -> io::Result<()> {
        #[cfg(test)]
        self.burn()?;
        Ok(())
    }

    /// Waits until the disk has a file's content, or a directory's names: the one place that asks for it.
    pub(super) fn sync(&self, file: impl AsFd) -> io::Result<()> {
        self.step()?;
        retry_on_intr(|| rustix::fs::fsync(&file))?;
        #[cfg(test)]
        if let Some(disk) = &mut *self.disk.lock() {
            disk.take(file.as_fd());
        }
        Ok(())
    }

    /// Whether there is time to wait for another program.
    pub(super) fn may_wait(&self) -> bool {
        #[cfg(test)]
        return self.waits();
        #[cfg(not(test))]
        true
    }

    /// Whether to behave like a system that does not report files open for writing.
    pub(super) fn is_blind(&self) -> bool {
        #[cfg(test)]
        return self.sees_no_writers();
        #[cfg(not(test))]
        false
    }

    /// Whether to behave like a file system that cannot exchange two names.
    pub(super) fn refuses_exchange(&self) -> bool {
        #[cfg(test)]
        return self.is_poor();
        #[cfg(not(test))]
        false
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    type Hook = Box<dyn FnOnce() + Send>;

    /// Steps are counted from 0.
    #[derive(Default)]
    pub(in crate::commit) struct Setting {
        pub(in crate::commit) steps: usize,
        /// Step from which on nothing happens any more, as after `kill -9`.
        pub(in crate::commit) die_at: Option<usize>,
        /// Step that fails, and the only one.
        pub(in crate::commit) fail_at: Option<usize>,
        /// Actions of other programs directly before a step.
        hooks: Vec<(usize, Hook)>,
        /// Whether two names cannot be exchanged.
        is_poor: bool,
        /// Whether waiting is cut short: no other program will be done.
        is_hurried: bool,
        /// Action of another program while it is waited for.
        meanwhile: Option<Hook>,
        /// Files open for writing are not reported.
        is_blind: bool,
    }

    impl FailPoint {
        /// Counts from 0 again; hooks are gone.
        pub(in crate::commit) fn set(&self, die_at: Option<usize>, fail_at: Option<usize>) {
            let mut set = self.set.lock();
            let Setting { is_poor, is_hurried, is_blind, .. } = *set;
            *set = Setting { die_at, fail_at, is_poor, is_hurried, is_blind, ..Setting::default() };
        }

        pub(in crate::commit) fn steps(&self) -> usize {
            self.set.lock().steps
        }

        /// Runs `hook` once, directly before step `step`.
        pub(in crate::commit) fn before(&self, step: usize, hook: impl FnOnce() + Send + 'static) {
            self.set.lock().hooks.push((step, Box::new(hook)));
        }

        pub(in crate::commit) fn refuse_exchange(&self, is_poor: bool) {
            self.set.lock().is_poor = is_poor;
        }

        pub(in crate::commit) fn blind(&self) {
            self.set.lock().is_blind = true;
        }

        pub(super) fn sees_no_writers(&self) -> bool {
            self.set.lock().is_blind
        }

        pub(in crate::commit) fn hurry(&self) {
            self.set.lock().is_hurried = true;
        }

        /// Runs `hook` once, when another program is waited for.
        pub(in crate::commit) fn meanwhile(&self, hook: impl FnOnce() + Send + 'static) {
            self.set.lock().meanwhile = Some(Box::new(hook));
        }

        pub(super) fn waits(&self) -> bool {
            let (hook, is_hurried) = {
                let mut set = self.set.lock();
                (set.meanwhile.take(), set.is_hurried)
            };
            hook.into_iter().for_each(|it| it());
            !is_hurried
        }

        pub(super) fn is_poor(&self) -> bool {
            self.set.lock().is_poor
        }

        pub(super) fn burn(&self) -> io::Result<()> {
            let mut set = self.set.lock();
            let step = set.steps;
            set.steps += 1;
            let (due, later) = std::mem::take(&mut set.hooks).into_iter().partition(|it| it.0 == step);
            set.hooks = later;
            let answer = match () {
                () if set.die_at.is_some_and(|at| step >= at) => Err(io::Error::other("killed")),
                () if set.fail_at == Some(step) => Err(io::Error::other("made to fail")),
                () => Ok(()),
            };
            drop(set);
            let due: Vec<(usize, Hook)> = due;
            due.into_iter().for_each(|(_, hook)| hook());
            answer
        }
    }
}
