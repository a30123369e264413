//! Life of one guest from its first call to its last.

use std::{
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    thread,
    time::Duration,
};

use bytes::Bytes;
use lint::{Cancel, Completeness, EnabledRule, Job, Outcome, Unit};
use overlay::{ContentHash, ReadSet, Traced, View as _, WorkspacePath};
use wasmtime::{
    Store, Trap,
    component::{self, ResourceTableError},
};
use wasmtime_wasi::I32Exit;

use crate::{
    Configured, PluginError, Settings,
    bindings::{
        Linter, LinterPre, explaining::GuestIndices, exports::broker::plugin::lint as exports, types,
    },
    convert,
    error::Name,
    files::Unrecorded,
    held::Budget,
    host::{MAX_WASM_STACK, Permit, TICKS_AT_ONCE},
    mapped_code::{CodeUse, Running},
    state::{State, Stop},
};

/// Resources that a job took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Bytes of an instance's memory, at its largest.
    pub memory: usize,
    /// Whether an instance was used that had been made ready before.
    pub was_ready: bool,
}

/// Checks a job's units with as few instances as faults allow.
pub(crate) fn check(linter: &Configured, job: &Job, answer: &mut dyn FnMut(usize, Outcome)) -> Usage {
    let name = linter.plugin.name();
    let mut answered = 0;
    let mut give = |index, outcome| {
        answered = index + 1;
        answer(index, outcome);
    };
    let done = if has_big_stack() {
        caught(&name, || Ok(check_all(linter, job, &mut give)))
    } else {
        // The answers are handed over by the caller's own thread, so that `answer` needs not be `Send`.
        let (sender, receiver) = std::sync::mpsc::channel();
        // The receiver is gone only if the caller panicked.
        let body = move || Ok(check_all(linter, job, &mut |index, it| drop(sender.send((index, it)))));
        beside_big_stack(&name, body, || receiver.into_iter().for_each(|(index, it)| give(index, it)))
    };
    done.unwrap_or_else(|error| {
        for index in answered..job.units.len() {
            answer(index, Outcome::without_findings(Completeness::Failed(error.to_string())));
        }
        Usage::default()
    })
}

fn check_all(linter: &Configured, job: &Job, answer: &mut dyn FnMut(usize, Outcome)) -> Usage {
    let (instance, traced) = match ready(linter, job) {
        Some((instance, traced)) => (Some(instance), traced),
        None => (None, linter.traced(&job.view)),
    };
    let was_ready = instance.is_some();
    let mut run = Run { linter, job, traced, instance, unusable: None, most: 0 };
    for (index, unit) in job.units.iter().enumerate() {
        answer(index, run.unit(unit));
    }
    let usage = Usage { memory: run.most(), was_ready };
    if let Some(instance) = run.instance.take() {
        let is_large = instance.store.data().budget.is_large();
        linter.plugin.host().0.endings.end(instance);
        if !is_large {
            make_next_ready(linter, job);
        }
    }
    usage
}

/// The instance that is ready for the job's file, and the job's view with what it has read.
fn ready(linter: &Configured, job: &Job) -> Option<(Instance, Arc<Traced>)> {
    let shared = &linter.plugin.host().0;
    let unit = typed_in(job)?;
    // The wait for a place may be long, so that what the instance has read is compared afterwards.
    let place = shared.places.take(&job.cancel)?;
    let (mut instance, reads) = shared.ready.take(linter, &unit.path, &*job.view)?;
    let traced = linter.traced_after(&job.view, reads);
    instance.place = place;
    instance.set_view(Arc::clone(&traced), job.cancel.clone());
    Some((instance, traced))
}

/// Requests an instance for a job that may follow.
fn make_next_ready(linter: &Configured, job: &Job) {
    if let Some(unit) = typed_in(job) {
        linter.plugin.host().0.ready.request(linter, &unit.path, &job.view);
    }
}

/// The file of a job that a person waits for, if it is one alone: most likely they type in it.
fn typed_in(job: &Job) -> Option<&Unit> {
    match &job.units[..] {
        [unit] if job.is_awaited && !job.cancel.is_cancelled() => Some(unit),
        _ => None,
    }
}

/// The guest's calls, the host's below them, and some room.
pub(crate) const STACK: usize = MAX_WASM_STACK + (4 << 20);

/// Whether a guest may be run on this thread: to have another one do it costs two hand-overs between processors.
fn has_big_stack() -> bool {
    stacker::remaining_stack().is_some_and(|it| it >= STACK)
}

/// Runs `body` where the stack is as deep as a guest may go.
pub(crate) fn on_big_stack<T: Send>(
    name: &Name,
    body: impl FnOnce() -> Result<T, PluginError> + Send,
) -> Result<T, PluginError> {
    if has_big_stack() { caught(name, body) } else { beside_big_stack(name, body, || {}) }
}

fn caught<T>(name: &Name, body: impl FnOnce() -> Result<T, PluginError>) -> Result<T, PluginError> {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|_| Err(panicked(name)))
}

fn panicked(name: &Name) -> PluginError {
    name.host("the host panicked; please report this")
}

/// Runs `body` on a thread of its own, while this one does `meanwhile`.
fn beside_big_stack<T: Send>(
    name: &Name,
    body: impl FnOnce() -> Result<T, PluginError> + Send,
    meanwhile: impl FnOnce(),
) -> Result<T, PluginError> {
    thread::scope(|scope| {
        let worker = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, body);
        let worker = worker.map_err(|error| name.host(format!("cannot start a thread: {error}")))?;
        meanwhile();
        worker.join().unwrap_or_else(|_| Err(panicked(name)))
    })
}

/// A job under way.
struct Run<'a> {
    linter: &'a Configured,
    job: &'a Job,
    traced: Arc<Traced>,
    /// Made when it is needed; gone after a fault.
    instance: Option<Instance>,
    /// Why there can be no instance: every other one would start from the same and break off the same way.
    unusable: Option<PluginError>,
    /// Bytes of memory that the instances before this one had, at most.
    most: u64,
}

impl Run<'_> {
    /// Bytes of memory that an instance had, at most.
    fn most(&self) -> usize {
        let now = self.instance.as_ref().map_or(0, |it| it.store.data().budget.most);
        usize::try_from(now.max(self.most)).unwrap_or(usize::MAX)
    }

    fn unit(&mut self, unit: &Unit) -> Outcome {
        if self.job.cancel.is_cancelled() {
            return Outcome::without_findings(Completeness::Pending("cancelled".to_owned()));
        }
        let bytes = match self.text(unit) {
            Ok(bytes) => bytes,
            Err(error) => {
                return Outcome::without_findings(Completeness::Failed(unreadable(&error)));
            }
        };
        let content = Some(ContentHash::of(&bytes));
        let outcome = match self.try_unit(unit, &bytes) {
            Ok(outcome) => outcome,
            Err(error) => {
                // An instance that an error passed through is in an unknown state.
                self.most = self.most() as u64;
                self.instance = None;
                // A conclusion from two states of a file is true of neither.
                let is_deterministic = error.is_deterministic() && self.traced.changed().is_none();
                Outcome { is_deterministic, ..Outcome::without_findings(incomplete(&error)) }
            }
        };
        Outcome { content, reads: self.reads(), ..outcome }
    }

    /// The text of a unit. Where a link leads is among what the answer rests on.
    fn text(&self, unit: &Unit) -> io::Result<Bytes> {
        match self.job.view.read(&unit.path) {
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => self.traced.open(&unit.path),
            text => text,
        }
    }

    fn try_unit(&mut self, unit: &Unit, bytes: &Bytes) -> Result<Outcome, PluginError> {
        let instance = match &mut self.instance {
            Some(instance) => instance,
            none => {
                if let Some(error) = &self.unusable {
                    return Err(error.clone());
                }
                let (view, cancel) = (self.traced.clone(), self.job.cancel.clone());
                // Selectors that only other plugins know are reported by the caller.
                match Instance::configured(self.linter, view, cancel) {
                    Ok((fresh, _)) => none.insert(fresh),
                    Err(error) => {
                        self.unusable = (!error.may_pass()).then(|| error.clone());
                        return Err(error);
                    }
                }
            }
        };
        let report = instance.check(unit, bytes, self.job.timeout)?;
        let manifest = self.linter.plugin.manifest();
        let mut outcome = convert::outcome(report, bytes, manifest, &instance.limits)?;
        outcome.left_out = instance.store.data_mut().end(&outcome.completeness);
        if let Some(read) = self.traced.changed() {
            let reason = format!("{read:?} changed while it was being read");
            outcome.completeness = Completeness::Partial(reason);
        }
        Ok(outcome)
    }

    fn reads(&self) -> Arc<ReadSet> {
        self.traced.read_set()
    }
}

/// In words for people.
pub(crate) fn unreadable(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "the file is not there (any more)".to_owned(),
        _ => format!("cannot read the file: {error}"),
    }
}

fn incomplete(error: &PluginError) -> Completeness {
    match error {
        PluginError::Cancelled { .. } => Completeness::Pending(error.to_string()),
        _ => Completeness::Failed(error.to_string()),
    }
}

/// Puts the guest of a store under the limits of its state.
pub(crate) fn limit(store: &mut Store<State>) {
    store.limiter(|it| it);
    store.set_epoch_deadline(TICKS_AT_ONCE);
    store.epoch_deadline_callback(|mut it| it.data_mut().tick());
}

/// A live guest and the place that it takes.
pub(crate) struct Instance {
    store: Store<State>,
    pre: LinterPre<State>,
    instance: component::Instance,
    guest: Linter,
    name: Name,
    limits: crate::Limits,
    place: Permit,
    _code: Option<Running>,
}

impl Instance {
    /// An instance with its settings, and the selectors among them that mean nothing to the plugin.
    pub(crate) fn configured(
        linter: &Configured,
        view: Arc<Traced>,
        cancel: Cancel,
    ) -> Result<(Self, Vec<String>), PluginError> {
        // The plugin is loaded before the instance takes a place, which others could use meanwhile.
        linter.plugin.loaded()?;
        let place = linter.plugin.host().0.places.take(&cancel);
        let place = place.ok_or_else(|| linter.plugin.name().cancelled())?;
        Self::configured_at(place, linter, view, cancel)
    }

    /// Returns what [`configured`](Self::configured) does, at a place that is taken.
    pub(crate) fn configured_at(
        place: Permit,
        linter: &Configured,
        view: Arc<Traced>,
        cancel: Cancel,
    ) -> Result<(Self, Vec<String>), PluginError> {
        let mut instance = Self::new(place, linter, view, cancel)?;
        let unknown = instance.configure(&linter.settings)?;
        Ok((instance, unknown))
    }

    /// Replaces the view, and the flag that ends its work.
    pub(crate) fn set_view(&mut self, view: Arc<Traced>, cancel: Cancel) {
        self.store.data_mut().set_view(view, cancel);
    }

    fn new(
        place: Permit,
        linter: &Configured,
        view: Arc<Traced>,
        cancel: Cancel,
    ) -> Result<Self, PluginError> {
        let (plugin, settings) = (&linter.plugin, &linter.settings);
        let (shared, name) = (&plugin.host().0, plugin.name());
        let loaded = plugin.loaded()?;
        let state = State::new(
            &name.plugin,
            settings,
            view,
            shared.trees.clone(),
            Budget::new(shared.limits.memory, Arc::clone(&shared.large), cancel),
            shared.limits.setup_time,
            shared.notify.clone(),
        );
        let mut store = Store::new(&shared.engine, state);
        limit(&mut store);
        store.set_hostcall_fuel(shared.limits.output);
        let code = loaded.mapped_code.as_ref().map(CodeUse::run);
        let pre = loaded.linter;
        let instance = pre.instance_pre().instantiate(&mut store);
        let made = instance.and_then(|it| Ok((it, Linter::new(&mut store, &it)?)));
        match made {
            Ok((instance, guest)) => {
                let limits = shared.limits;
                Ok(Self { store, pre, instance, guest, name, limits, place, _code: code })
            }
            Err(error) => Err(fault(&store, &name, &shared.limits, shared.limits.setup_time, error)),
        }
    }

    /// Hands the settings over; gives back the selectors that mean nothing to the plugin.
    fn configure(&mut self, settings: &Settings) -> Result<Vec<String>, PluginError> {
        let select: Option<Vec<&str>> =
            settings.select.as_ref().map(|it| it.iter().map(String::as_str).collect());
        let ignore: Vec<&str> = settings.ignore.iter().map(String::as_str).collect();
        let settings = types::Settings {
            root: settings.root.trim_end_matches('/'),
            select: select.as_deref(),
            ignore: &ignore,
            isolated: settings.isolated,
            config: settings.config.as_ref().map(|it| it.as_str()),
        };
        let answer = self.call(None, |guest, store| guest.call_configure(store, settings))?;
        match answer {
            Ok(()) => Ok(Vec::new()),
            Err(types::SettingsError::UnknownSelectors(selectors)) => Ok(selectors),
            Err(types::SettingsError::Invalid(message)) => Err(self.name.guest(message)),
        }
    }

    pub(crate) fn rules(&mut self) -> Result<Vec<types::Rule>, PluginError> {
        self.call(None, |guest, store| guest.call_rules(store))
    }

    /// The rules that are on for a file; `None` if the plugin does not tell.
    pub(crate) fn enabled_rules(
        &mut self,
        path: &WorkspacePath,
    ) -> Result<Option<Vec<EnabledRule>>, PluginError> {
        let Ok(selection) = GuestIndices::new(self.pre.instance_pre()) else { return Ok(None) };
        let selection = selection.load(&mut self.store, &self.instance);
        let selection = selection.map_err(|error| self.name.world(format!("{error:#}")))?;
        let answer = self.call(None, |_, store| selection.call_enabled_rules(store, path.as_str()))?;
        let rules = answer.map_err(|message| self.name.guest(message))?;
        Ok(Some(rules.into_iter().map(convert::enabled_rule).collect()))
    }

    fn check(&mut self, unit: &Unit, bytes: &Bytes, allowed: Duration) -> Result<types::Report, PluginError> {
        let file = types::SourceFile { path: unit.path.as_str(), content: bytes, named: unit.named.as_str() };
        self.store.data_mut().begin(&unit.path, bytes);
        let answer = self.call(Some(allowed), |guest, store| guest.call_check(store, file));
        let answer = answer.and_then(|it| it.map_err(|message| self.name.guest(message)));
        let failed = || Completeness::Failed(String::new());
        answer.inspect_err(|_| drop(self.store.data_mut().end(&failed())))
    }

    fn call<T>(
        &mut self,
        allowed: Option<Duration>,
        call: impl FnOnce(&exports::Guest, &mut Store<State>) -> wasmtime::Result<T>,
    ) -> Result<T, PluginError> {
        let allowed = allowed.unwrap_or(self.limits.setup_time);
        self.store.data_mut().restart(allowed);
        self.store.set_epoch_deadline(TICKS_AT_ONCE);
        let answer = call(self.guest.broker_plugin_lint(), &mut self.store);
        answer.map_err(|error| fault(&self.store, &self.name, &self.limits, allowed, error))
    }
}

/// Whose fault it is that a call broke off.
pub(crate) fn fault(
    store: &Store<State>,
    name: &Name,
    limits: &crate::Limits,
    allowed: Duration,
    error: wasmtime::Error,
) -> PluginError {
    let Name { plugin, version } = name.clone();
    let state = store.data();
    match (state.watch.stopped, error.downcast_ref::<Trap>()) {
        (Some(Stop::OutOfTime), _) => PluginError::OutOfTime { plugin, version, limit: allowed },
        (Some(Stop::Cancelled), _) => name.cancelled(),
        _ if state.watch.is_cancelled() => name.cancelled(),
        _ if state.budget.refused => PluginError::OutOfMemory { plugin, version, limit: limits.memory },
        (_, Some(Trap::StackOverflow)) => PluginError::OutOfStack { plugin, version },
        (_, trap) => {
            let root = error.root_cause().to_string();
            if root.contains("fuel allocated for hostcalls") {
                return name.too_much(format!("more than {} MiB in one answer", limits.output >> 20));
            }
            if let Some(message) = greed(&error, &root) {
                return PluginError::Trap { plugin, version, message };
            }
            match (trap, state.output.last_words()) {
                (Some(_), Some(words)) => PluginError::Trap { plugin, version, message: words },
                (Some(trap), None) => PluginError::Trap { plugin, version, message: trap.to_string() },
                // wasmtime has no type for these: what the guest passed over the border is malformed.
                (None, _)
                    if ["utf-8", "discriminant", "out of bounds"].iter().any(|it| root.contains(it)) =>
                {
                    name.invalid(root)
                }
                (None, _) => name.host(root),
            }
        }
    }
}

/// Describes for people a limit of the host that the guest exceeded.
fn greed(error: &wasmtime::Error, root: &str) -> Option<String> {
    let told = match () {
        () if error.is::<I32Exit>() => "it called exit",
        () if error.is::<ResourceTableError>() => "it keeps too many streams or pollables open",
        () if error.is::<Unrecorded>() => "it looks at too many files",
        // wasmtime has no type for this.
        () if root.starts_with("requested len ") => "it asks for too many random bytes at once",
        () => return None,
    };
    Some(told.to_owned())
}
