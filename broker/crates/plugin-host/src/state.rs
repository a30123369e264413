//! State that the host keeps for one instance: its files, its limits, its log.

use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant},
};

use bytes::Bytes;
use lint::{Cancel, Completeness};
use overlay::{Traced, WorkspacePath};
use syntax::Trees;
use wasmtime::{ResourceLimiter, UpdateDeadline, component::ResourceTable};
use wasmtime_wasi::{Deterministic, HostWallClock, WasiCtx, WasiCtxView, WasiView};

use crate::{
    Settings,
    bindings::host,
    error::shortened,
    files::{Files, GuestFiles},
    held::Budget,
    host::{Notice, Notify},
    stdio::Tail,
};

pub(crate) struct State {
    pub(crate) view: Arc<Traced>,
    pub(crate) trees: Trees,
    pub(crate) files: GuestFiles,
    pub(crate) table: ResourceTable,
    pub(crate) budget: Budget,
    pub(crate) output: Tail,
    pub(crate) watch: Watch,
    wasi: WasiCtx,
    options: Option<String>,
    plugin: String,
    notify: Notify,
    /// Lines of its log so far.
    logged: usize,
    /// The file that it is asked about, and the text that it was given of it.
    checked: Option<(WorkspacePath, Bytes)>,
    /// The line of its log that says why it leaves out that file, or a part of it.
    left_out: Option<Stated>,
}

/// More than a careful plugin keeps open, few enough that a leak is found.
const MAX_RESOURCES: usize = 4096;

/// More than any generator of random numbers wants for its seed.
const MAX_RANDOM: u64 = 1 << 20;

/// Lines that a guest may log, and the bytes of each that are kept.
const MAX_LOG: usize = 1_000;
const MAX_LOG_LINE: usize = 4 << 10;

/// Stands between the path and the reason in the line of a plugin that leaves a file out for its content. It is part of the
/// answer and not of the log, so that it is there when the answer comes from the cache.
const LEFT_OUT: &str = " is left out: ";

/// Separator like [`LEFT_OUT`], for a file of which the plugin cannot read a part, and checks the rest.
const IN_PART: &str = " is read in part: ";

/// A line about the file in hand.
struct Stated {
    level: host::Level,
    message: String,
    /// Between the path and the reason.
    sign: &'static str,
}

impl Stated {
    fn of(level: host::Level, message: &str, checked: &WorkspacePath) -> Option<Self> {
        let is_own = |sign: &&str| {
            let path = message.split_once(*sign).and_then(|it| it.0.strip_suffix(checked.as_str()));
            path.is_some_and(|it| it.is_empty() || it.ends_with('/'))
        };
        let sign = [LEFT_OUT, IN_PART].into_iter().find(is_own)?;
        Some(Self { level, message: message.to_owned(), sign })
    }

    /// The reason, if it is one for such an answer.
    fn reason(&self, completeness: &Completeness) -> Option<String> {
        let fits = match completeness {
            Completeness::Excluded => self.sign == LEFT_OUT,
            Completeness::Complete => self.sign == IN_PART,
            Completeness::Partial(_) | Completeness::Pending(_) | Completeness::Failed(_) => false,
        };
        let reason = self.message.split_once(self.sign).filter(|_| fits)?.1;
        Some(shortened(reason.to_owned()))
    }
}

impl State {
    pub(crate) fn new(
        plugin: &str,
        settings: &Settings,
        view: Arc<Traced>,
        trees: Trees,
        budget: Budget,
        setup_time: Duration,
        notify: Notify,
    ) -> Self {
        let output = Tail::default();
        let mut table = ResourceTable::new();
        table.set_max_capacity(MAX_RESOURCES);
        Self {
            files: GuestFiles::new(Arc::clone(&view), settings.root.trim_end_matches('/')),
            view,
            trees,
            table,
            watch: Watch { cancel: budget.cancel(), ends: Instant::now() + setup_time, stopped: None },
            budget,
            wasi: wasi(&output, &settings.environment),
            output,
            options: settings.options.clone(),
            plugin: plugin.to_owned(),
            notify,
            logged: 0,
            checked: None,
            left_out: None,
        }
    }
}

impl State {
    pub(crate) fn files(&mut self) -> Files<'_> {
        Files { files: &mut self.files, table: &mut self.table, budget: &mut self.budget }
    }

    /// Replaces the view, and the flag that ends the guest's work.
    pub(crate) fn set_view(&mut self, view: Arc<Traced>, cancel: Cancel) {
        self.files.set_view(Arc::clone(&view));
        self.view = view;
        self.watch.cancel = cancel.clone();
        self.budget.set_cancel(cancel);
    }

    /// Gives the guest so much time from now on. What it waits for other guests does not count.
    pub(crate) fn restart(&mut self, allowed: Duration) {
        self.budget.waited = Duration::ZERO;
        self.watch.ends = Instant::now() + allowed;
    }

    /// The guest is asked about this file with this text now.
    pub(crate) fn begin(&mut self, file: &WorkspacePath, text: &Bytes) {
        (self.checked, self.left_out) = (Some((file.clone(), text.clone())), None);
    }

    /// The text of the file, if it is the one that the guest is asked about.
    pub(crate) fn checked_text(&self, file: &WorkspacePath) -> Option<Bytes> {
        self.checked.as_ref().filter(|it| it.0 == *file).map(|it| it.1.clone())
    }

    /// Why the guest leaves out the file that it was asked about, or a part of it, if it does. Otherwise its line about that is
    /// one as others.
    pub(crate) fn end(&mut self, completeness: &Completeness) -> Option<String> {
        self.checked = None;
        let stated = self.left_out.take()?;
        let reason = stated.reason(completeness);
        if reason.is_none() {
            self.tell(stated.level, stated.message);
        }
        reason
    }

    /// Parses a line about the file that the guest is asked about, which is named by its path or its absolute one.
    fn stated(&self, level: host::Level, message: &str) -> Option<Stated> {
        let (checked, _) = self.checked.as_ref().filter(|_| self.left_out.is_none())?;
        Stated::of(level, message, checked)
    }

    fn tell(&mut self, level: host::Level, mut message: String) {
        self.logged += 1;
        if self.logged > MAX_LOG {
            return;
        }
        if self.logged == MAX_LOG {
            "what it logs after this is not shown".clone_into(&mut message);
        }
        message.truncate(message.floor_char_boundary(MAX_LOG_LINE));
        let (plugin, level) = (self.plugin.clone(), name(level).to_owned());
        (self.notify)(Notice::Log { plugin, level, message });
    }

    /// Decides at every tick of the engine whether the guest may go on.
    pub(crate) fn tick(&mut self) -> wasmtime::Result<UpdateDeadline> {
        self.watch.tick(self.budget.waited)
    }

    /// Whether the host may give up its work for the guest, which will be stopped then.
    pub(crate) fn is_over(&self) -> bool {
        self.watch.reason(self.budget.waited).is_some()
    }
}

/// A context without files, arguments or network, in which time stands still and chance repeats itself, so that an
/// answer cannot depend on them. Of the environment there is what was granted, which is part of the settings.
fn wasi(output: &Tail, environment: &BTreeMap<String, String>) -> WasiCtx {
    let environment: Vec<_> = environment.iter().collect();
    let chance = || Deterministic::new(vec![0x5b, 0xa1, 0x0c, 0x93, 0x77, 0x2e, 0xd8, 0x46]);
    WasiCtx::builder()
        .stdout(output.clone())
        .stderr(output.clone())
        .secure_random(chance())
        .insecure_random(chance())
        .insecure_random_seed(0)
        .max_random_size(MAX_RANDOM)
        .wall_clock(Frozen)
        .envs(&environment)
        .build()
}

struct Frozen;

impl HostWallClock for Frozen {
    fn resolution(&self) -> Duration {
        Duration::from_secs(1)
    }

    fn now(&self) -> Duration {
        Duration::ZERO
    }
}

impl WasiView for State {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.table }
    }
}

impl host::Host for State {
    fn log(&mut self, level: host::Level, message: String) {
        match self.stated(level, &message) {
            Some(stated) => self.left_out = Some(stated),
            None => self.tell(level, message),
        }
    }

    fn cancelled(&mut self) -> bool {
        self.watch.cancel.is_cancelled()
    }

    fn linter_options(&mut self) -> Option<String> {
        self.options.clone()
    }
}

fn name(level: host::Level) -> &'static str {
    match level {
        host::Level::Debug => "debug",
        host::Level::Info => "info",
        host::Level::Warn => "warn",
        host::Level::Error => "error",
    }
}

/// Why the host stopped a guest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Stop {
    #[error("out of time")]
    OutOfTime,
    #[error("cancelled")]
    Cancelled,
}

/// Looks at every tick of the engine whether a guest may go on.
pub(crate) struct Watch {
    cancel: Cancel,
    ends: Instant,
    pub(crate) stopped: Option<Stop>,
}

impl Watch {
    fn tick(&mut self, waited: Duration) -> wasmtime::Result<UpdateDeadline> {
        let Some(reason) = self.reason(waited) else { return Ok(UpdateDeadline::Continue(1)) };
        self.stopped = Some(reason);
        Err(reason.into())
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }

    fn reason(&self, waited: Duration) -> Option<Stop> {
        match () {
            () if self.cancel.is_cancelled() => Some(Stop::Cancelled),
            () if Instant::now() >= self.ends + waited => Some(Stop::OutOfTime),
            () => None,
        }
    }
}

/// Far more than any compiler emits for one table.
const MAX_TABLE_ELEMENTS: usize = 1 << 20;

impl ResourceLimiter for State {
    fn memory_growing(&mut self, now: usize, desired: usize, most: Option<usize>) -> wasmtime::Result<bool> {
        let fits = most.is_none_or(|it| desired <= it);
        self.budget.refused |= !fits;
        Ok(fits && self.budget.grow(now, desired))
    }

    fn table_growing(&mut self, _: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        Ok(desired <= MAX_TABLE_ELEMENTS)
    }
}

#[cfg(test)]
mod tests {
    use overlay::Memory;
    use parking_lot::Mutex;

    use super::{host::Host as _, *};
    use crate::host::Permits;

    #[test]
    fn only_the_reason_for_the_file_in_hand_is_taken_out_of_the_log() {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let notify = {
            let lines = Arc::clone(&lines);
            move |it: Notice| lines.lock().push(it.to_string())
        };
        let mut state = State::new(
            "p",
            &Settings::default(),
            Arc::new(Traced::new(Arc::new(Memory::default()))),
            Trees::new(0),
            Budget::new(1 << 20, Permits::new(1), Cancel::default()),
            Duration::ZERO,
            Arc::new(notify),
        );
        let mut check = |logged: &[&str], completeness: Completeness| {
            state.begin(&WorkspacePath::new("a/b.css").unwrap(), &Bytes::new());
            logged.iter().for_each(|it| state.log(host::Level::Info, (*it).to_owned()));
            let why = state.end(&completeness);
            (why, std::mem::take(&mut *lines.lock()))
        };
        let why = |it: &str| Some(it.to_owned());
        let line = |it: &str| vec![format!("p: info: {it}")];
        let excluded = || Completeness::Excluded;
        assert_eq!(check(&["a/b.css is left out: a template"], excluded()), (why("a template"), vec![]));
        let twice = "/w/a/b.css is left out: is left out: x";
        assert_eq!(check(&[twice], excluded()), (why("is left out: x"), vec![]));
        let of_another = "b.css is left out: y";
        assert_eq!(check(&[of_another], excluded()), (None, line(of_another)));
        assert_eq!(check(&["a/b.css is left out: x", of_another], excluded()), (why("x"), line(of_another)));
        let not_so = "a/b.css is left out: of what is fixed";
        assert_eq!(check(&[not_so], Completeness::Complete), (None, line(not_so)));
        assert_eq!(check(&["plain"], excluded()), (None, line("plain")));
        let in_part = "a/b.css is read in part: 1 of 2 rules";
        assert_eq!(check(&[in_part], Completeness::Complete), (why("1 of 2 rules"), vec![]));
        for other in [excluded(), Completeness::Partial("it is too long".to_owned())] {
            assert_eq!(check(&[in_part], other), (None, line(in_part)));
        }
        let of_another = "b.css is read in part: y";
        assert_eq!(check(&[of_another], Completeness::Complete), (None, line(of_another)));
    }
}
