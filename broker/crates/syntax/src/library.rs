//! The library that the grammars are in, loaded when the first text is parsed.
//!
//! The program carries it compressed; it is unpacked once for each user and mapped from the cache folder, or from memory
//! where that cannot be. Without one that is carried, as in tests, it lies where it was built, beside the program.

use std::{
    env::{self, consts},
    fmt::Display,
    io::Write as _,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use code_cache::CodeCache;
use libloading::Library;
use parking_lot::Mutex;
use tree_sitter_language::LanguageFn;

/// The library as the program carries it.
#[derive(Debug, Clone, Copy)]
pub struct CarriedGrammars {
    /// The shared object, compressed with Zstandard.
    pub library: &'static [u8],
    /// BLAKE3 of the shared object, in hex.
    pub digest: &'static str,
}

/// Signature of the library's export.
type GrammarByName = unsafe extern "C" fn(*const u8, usize) -> Option<unsafe extern "C" fn() -> *const ()>;

static CARRIED: OnceLock<(CarriedGrammars, CodeCache)> = OnceLock::new();

/// Never unloaded: trees refer to it.
static LIBRARY: OnceLock<Library> = OnceLock::new();

/// Has grammars taken from `carried`, which is unpacked into the folder `grammars` of `cache_dir`. Only the first call
/// counts, and only before a text is parsed.
pub fn carry_grammars(carried: CarriedGrammars, cache_dir: Option<&Path>) {
    let folder = cache_dir.map(|it| it.join("grammars"));
    // No complaint: without a folder, the library is loaded from memory.
    CARRIED.get_or_init(|| (carried, CodeCache::new(folder, |_| {})));
}

/// Loads the library, unless it is loaded. What goes wrong is reported where a grammar is wanted.
pub fn load_grammars() {
    let _reported_there = loaded();
}

/// Returns the grammar of a language; the error is the reason why it cannot be had.
pub(crate) fn grammar(name: &str) -> Result<tree_sitter::Language, String> {
    let library = loaded()?;
    #[expect(unsafe_code, reason = "see below")]
    // SAFETY: the library is the carried one, or in tests the one beside them, both of these sources, so that its export
    // is of this type, and gives the function of a grammar.
    let grammar = unsafe {
        let by_name = library.get::<GrammarByName>("broker_grammar").ok();
        let grammar = by_name.and_then(|it| it(name.as_ptr(), name.len()));
        grammar.map(|it| LanguageFn::from_raw(it))
    };
    grammar.map(Into::into).ok_or_else(|| "the library of the grammars does not have it".to_owned())
}

/// The library. What went wrong, such as a lack of memory, is tried again.
fn loaded() -> Result<&'static Library, String> {
    static LOADING: Mutex<()> = Mutex::new(());
    if let Some(library) = LIBRARY.get() {
        return Ok(library);
    }
    let _one_at_a_time = LOADING.lock();
    match LIBRARY.get() {
        Some(library) => Ok(library),
        None => load().map(|it| LIBRARY.get_or_init(|| it)),
    }
}

fn load() -> Result<Library, String> {
    match CARRIED.get() {
        Some((carried, cache)) => load_carried(carried, cache),
        None => open(&beside_program()?),
    }
}

fn load_carried(carried: &CarriedGrammars, cache: &CodeCache) -> Result<Library, String> {
    let entry = cache.entry(&format!("{}.{}", carried.digest, consts::DLL_EXTENSION));
    let is_kept = entry.as_deref().is_some_and(|it| cache.has(it));
    if let Some(Ok(kept)) = entry.as_deref().filter(|_| is_kept).map(open) {
        return Ok(kept);
    }
    let library = zstd::decode_all(carried.library).map_err(|error| failed("unpack", &error))?;
    match entry.filter(|it| !is_kept && cache.keep(it, &library)).map(|it| open(&it)) {
        Some(Ok(kept)) => Ok(kept),
        // There is no folder, or nothing in it may be run.
        _ => open_unkept(&library),
    }
}

fn beside_program() -> Result<PathBuf, String> {
    let program = env::current_exe().map_err(|error| failed("find", &error))?;
    let file = format!("{}grammars{}", consts::DLL_PREFIX, consts::DLL_SUFFIX);
    let folder = program.parent().unwrap_or(Path::new("/"));
    let mut files = [folder.join(&file), folder.join("deps").join(&file)].into_iter();
    files.find(|it| it.is_file()).ok_or_else(|| format!("there is no {file} beside {}", program.display()))
}

fn open(path: &Path) -> Result<Library, String> {
    #[expect(unsafe_code, reason = "see below")]
    // SAFETY: the library is of these sources. When it is loaded, it runs what C and Rust begin with, and nothing else.
    let library = unsafe { Library::new(path) };
    library.map_err(|error| failed("load", &error))
}

#[cfg(target_os = "linux")]
fn open_unkept(library: &[u8]) -> Result<Library, String> {
    use std::{fs::File, os::fd::AsRawFd as _};
    let flags = rustix::fs::MemfdFlags::CLOEXEC;
    let file = rustix::fs::memfd_create("grammars", flags).map_err(|error| failed("unpack", &error))?;
    let mut file = File::from(file);
    file.write_all(library).map_err(|error| failed("unpack", &error))?;
    open(Path::new(&format!("/proc/self/fd/{}", file.as_raw_fd())))
}

/// From a file that is removed once it is loaded.
#[cfg(not(target_os = "linux"))]
fn open_unkept(library: &[u8]) -> Result<Library, String> {
    let file = tempfile::NamedTempFile::new();
    let mut file = file.map_err(|error| failed("unpack", &error))?;
    file.write_all(library).map_err(|error| failed("unpack", &error))?;
    open(file.path())
}

fn failed(what: &str, error: &dyn Display) -> String {
    format!("cannot {what} the library of the grammars: {error}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_carried_is_kept_or_in_memory() {
        #[expect(clippy::disallowed_methods, reason = "a library is no workspace file")]
        let library = std::fs::read(beside_program().unwrap()).unwrap();
        let digest = "d1".repeat(32).leak();
        let carried = CarriedGrammars { library: zstd::encode_all(&library[..], 1).unwrap().leak(), digest };
        let cache_dir = tempfile::tempdir().unwrap();
        let folder = Some(cache_dir.path().join("grammars"));
        for cache in [CodeCache::new(None, |_| {}), CodeCache::new(folder, |why| panic!("{why}"))] {
            load_carried(&carried, &cache).unwrap();
        }
        let broken = CarriedGrammars { library: b"none", digest };
        let kept = CodeCache::new(Some(cache_dir.path().join("grammars")), |why| panic!("{why}"));
        load_carried(&broken, &kept).unwrap();
        let why = load_carried(&broken, &CodeCache::new(None, |_| {})).unwrap_err();
        assert!(why.starts_with("cannot unpack the library of the grammars: "), "{why}");

        let entry = kept.entry(&format!("{digest}.{}", consts::DLL_EXTENSION)).unwrap();
        // Another file: the one that is mapped must not change.
        #[expect(clippy::disallowed_methods, reason = "a library is no workspace file")]
        std::fs::remove_file(&entry).and_then(|()| std::fs::write(&entry, "damaged")).unwrap();
        load_carried(&broken, &kept).unwrap_err();
        load_carried(&carried, &kept).unwrap();
        assert!(kept.has(&entry), "it is written again");
    }
}
