//! Replicas: interchangeable processes of one server. A second one starts when a question would wait longer than
//! [`PoolLimits::wait`] for one that has answered before.

use std::{
    sync::{Arc, OnceLock},
    time::{Duration, Instant},
};

use external_tools::OutsideState;
use imports::Imports;
use lint::{Cancel, Completeness, Outcome};
use overlay::{View, WorkspacePath};
use parking_lot::Mutex;

use super::{
    PoolLimits,
    disk_sync::{Contents, DiskSync, ServerInputs},
};
use crate::{
    NoAnswer, Priority, Question, Server, ServerReply, Setup,
    actor::Crashes,
    registry::{Load, ServerRegistry},
};

/// Processes of one server of a workspace, as many as it needs.
pub(crate) struct ReplicaSet {
    setup: Setup,
    limits: PoolLimits,
    registry: Arc<ServerRegistry>,
    disk_sync: OnceLock<DiskSync>,
    pub(crate) imports: Imports,
    /// State of the files outside of the workspace.
    pub(crate) outside: Arc<OutsideState>,
    crashes: Arc<Crashes>,
    members: Mutex<Members>,
}

#[derive(Default)]
struct Members {
    servers: Vec<Arc<Server>>,
    /// Reason for which there are no other servers any more.
    stopped: Option<&'static str>,
}

impl ReplicaSet {
    /// `crashes` are also those of earlier sets of the same server.
    pub(super) fn new(
        setup: Setup,
        limits: &PoolLimits,
        registry: &Arc<ServerRegistry>,
        crashes: Arc<Crashes>,
        outside: Arc<OutsideState>,
    ) -> Self {
        let (disk_sync, imports, members) = Default::default();
        let (limits, registry) = (limits.clone(), Arc::clone(registry));
        Self { setup, limits, registry, disk_sync, imports, outside, crashes, members }
    }

    /// Returns the name and version that the server reports; starts it only if they are not known yet.
    pub(crate) fn version(&self, deadline: Instant, cancel: &Cancel) -> Result<String, String> {
        // Before it reads the disk itself.
        self.disk_sync();
        let server = self.choose()?;
        let version = match server.version() {
            Some(version) => Some(version),
            None => server.start(deadline, cancel)?,
        };
        Ok(version.unwrap_or_default())
    }

    /// Notifies all processes of what changed on the disk, as far as the view shows it. Returns the files that the view
    /// edits.
    pub(crate) fn tell_changes(&self, view: &dyn View, contents: &Contents) -> Vec<WorkspacePath> {
        self.disk_sync().update(view, contents, |changes| {
            self.members.lock().servers.iter().for_each(|it| it.disk_changed(changes.clone()));
        })
    }

    /// Looks at what its processes watch outside of the workspace.
    pub(crate) fn look_outside(&self) {
        let servers = self.members.lock().servers.clone();
        servers.iter().for_each(|it| it.look_outside());
    }

    fn disk_sync(&self) -> &DiskSync {
        let Setup { disk, profile, .. } = &self.setup;
        self.disk_sync
            .get_or_init(|| DiskSync::new(Arc::clone(disk), ServerInputs::of(disk, profile).contents))
    }

    /// See [`Server::ask`].
    pub(crate) fn ask(
        &self,
        view: Arc<dyn View>,
        units: Vec<WorkspacePath>,
        priority: Priority,
        deadline: Instant,
        cancel: &Cancel,
        answer: &mut dyn FnMut(usize, Outcome),
    ) {
        match self.choose() {
            Ok(server) => server.ask(view, units, priority, deadline, cancel, answer),
            Err(why) => (0..units.len()).for_each(|index| {
                answer(index, Outcome::without_findings(Completeness::Failed(why.to_owned())));
            }),
        }
    }

    /// See [`Server::query`].
    pub(crate) fn query(
        &self,
        view: Arc<dyn View>,
        question: Question,
        priority: Priority,
        deadline: Instant,
        cancel: &Cancel,
    ) -> ServerReply {
        match self.choose() {
            Ok(server) => server.query(view, question, priority, deadline, cancel),
            Err(why) => ServerReply::without(NoAnswer::Failed(why.to_owned())),
        }
    }

    pub(super) fn has_process(&self) -> bool {
        self.members.lock().servers.iter().any(|it| it.has_process())
    }

    pub(super) fn stop(&self, why: &'static str, deadline: Instant) {
        let mut members = self.members.lock();
        members.stopped = Some(why);
        members.servers.iter().for_each(|it| it.stop(deadline));
    }

    pub(super) fn join(&self) {
        let servers = std::mem::take(&mut self.members.lock().servers);
        servers.iter().for_each(|it| it.join());
    }

    /// Returns the server to ask, or the reason for which all were stopped.
    fn choose(&self) -> Result<Arc<Server>, &'static str> {
        let wait = self.limits.wait;
        let mut members = self.members.lock();
        if let Some(why) = members.stopped {
            return Err(why);
        }
        let loads: Vec<_> = members.servers.iter().map(|it| it.load()).collect();
        let Some(chosen) = best(&loads, wait) else { return Ok(self.add(&mut members)) };
        if needs_another(loads[chosen], wait) {
            self.start_another(&mut members);
        }
        Ok(Arc::clone(&members.servers[chosen]))
    }

    /// Starts another server if the limits permit one. No request waits for it: it is chosen once it is there.
    fn start_another(&self, members: &mut Members) {
        let asleep = members.servers.iter().find(|it| !it.has_process()).cloned();
        let may_be_more = members.servers.len() < self.limits.processes;
        if (asleep.is_some() || may_be_more) && self.registry.has_memory_for(self.setup.profile.memory) {
            asleep.unwrap_or_else(|| self.add(members)).warm_up();
        }
    }

    fn add(&self, members: &mut Members) -> Arc<Server> {
        let (recycle, crashes) = (self.limits.recycle.clone(), Arc::clone(&self.crashes));
        // The set was forgotten meanwhile.
        let known = if members.servers.is_empty() { crashes.all() } else { 0 };
        let server = Server::on(&self.registry, self.setup.clone(), recycle, crashes, known);
        members.servers.push(Arc::new(server));
        Arc::clone(&members.servers[members.servers.len() - 1])
    }
}

/// Whether one more would help. Before the first answer, it would only read the same project at the same time, which takes
/// both longer.
fn needs_another(chosen: Load, patience: Duration) -> bool {
    chosen.has_answered && chosen.wait > patience
}

/// The first that is soon free, so that others become idle; else the one that is free first. One that is
/// stuck only if all are.
fn best(loads: &[Load], patience: Duration) -> Option<usize> {
    let all =
        || loads.iter().enumerate().filter(|(_, it)| !it.is_stuck || loads.iter().all(|it| it.is_stuck));
    let soon = all().find(|(_, it)| it.wait <= patience);
    soon.or_else(|| all().min_by_key(|(_, it)| it.wait)).map(|(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_reads_the_project_gets_no_help() {
        let needs_another = |seconds, has_answered| {
            let load = Load { wait: Duration::from_secs(seconds), has_answered, ..Load::default() };
            needs_another(load, Duration::from_secs(2))
        };
        assert!(!needs_another(30, false) && !needs_another(2, true));
        assert!(needs_another(3, true));
    }

    #[test]
    fn the_first_that_keeps_up_is_chosen() {
        let best = |loads: &[(u64, bool)]| {
            let load = |&(seconds, is_stuck): &(u64, bool)| Load {
                wait: Duration::from_secs(seconds),
                is_stuck,
                ..Load::default()
            };
            best(&loads.iter().map(load).collect::<Vec<_>>(), Duration::from_secs(2))
        };
        assert_eq!(best(&[]), None);
        assert_eq!(best(&[(2, false), (0, false)]), Some(0));
        assert_eq!(best(&[(3, false), (2, false)]), Some(1));
        assert_eq!(best(&[(5, false), (6, false), (4, false)]), Some(2));
        assert_eq!(best(&[(0, true), (9, false)]), Some(1));
        assert_eq!(best(&[(3, true), (1, true)]), Some(1));
    }
}
