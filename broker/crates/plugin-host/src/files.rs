//! `wasi:filesystem` on a view: read-only, mounted where the workspace is on the disk.
//!
//! Handles are indices into a table of our own; wasmtime-wasi's `Descriptor`, which wraps a file of the
//! operating system, serves as the type of the handle only. Times are absent, since an answer must not
//! depend on them. `..` is taken textually, before links are followed.
//!
//! Above the mount, a guest sees only that the way there is made of directories: code that goes
//! down an absolute path step by step (`glob` does) would not arrive otherwise.

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use bytes::Bytes;
use overlay::{Entry, FileKind, Metadata, PathError, Traced, View as _, WorkspacePath};
use wasmtime::component::{HasData, Resource, ResourceTable};
use wasmtime_wasi::{
    TrappableError,
    p2::{
        DynInputStream, DynOutputStream, FsError, FsResult,
        bindings::{filesystem::preopens, filesystem::types as asynchronous, sync::filesystem::types},
    },
};

use crate::held::{Budget, Counted, FileStream, MAX_READ};

type Descriptor = types::Descriptor;
type DirectoryStream = types::DirectoryEntryStream;

/// More than a careful program needs, few enough that a leak is found.
const MAX_HANDLES: usize = 1024;

/// Looks at files that a guest may have recorded in one job: enough to walk through a large workspace.
const MAX_READS: usize = 1 << 20;

/// Bytes of a path, as Linux has it; and of all long ones, each of which is recorded.
const MAX_PATH: usize = 4096;
const LONG_PATH: usize = 256;
const MAX_LONG_PATHS: usize = 256 << 20;

/// Error of an access that the host keeps no record of.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unrecorded {
    #[error("a path of {0} bytes is too long")]
    Long(usize),
    #[error("too many files were looked at")]
    TooMany,
}

const DIRECTORY: Metadata = Metadata { kind: FileKind::Directory, size: 0, executable: false };

/// The files that a guest has open.
pub(crate) struct GuestFiles {
    view: Arc<Traced>,
    /// Path at which the guest sees the view.
    mount: String,
    /// Bytes of all long paths that it asked for.
    long_paths: usize,
    handles: Vec<Option<Handle>>,
}

enum Handle {
    File {
        path: WorkspacePath,
        bytes: Arc<Counted<Bytes>>,
        executable: bool,
    },
    Directory(WorkspacePath),
    /// `/`, where the view is mounted further down.
    Above,
    Stream(Counted<std::vec::IntoIter<Entry>>),
}

impl GuestFiles {
    pub(crate) fn new(view: Arc<Traced>, root: &str) -> Self {
        let mount = if root.is_empty() { "/" } else { root }.to_owned();
        Self { view, mount, long_paths: 0, handles: Vec::new() }
    }

    pub(crate) fn any_open(&self) -> bool {
        self.handles.iter().any(Option::is_some)
    }

    /// Replaces the view. What is open stays open.
    pub(crate) fn set_view(&mut self, view: Arc<Traced>) {
        self.view = view;
    }

    fn insert(&mut self, handle: Handle) -> FsResult<u32> {
        let free = self.handles.iter().position(Option::is_none);
        let index = free.unwrap_or(self.handles.len());
        if index >= MAX_HANDLES {
            return Err(asynchronous::ErrorCode::InsufficientMemory.into());
        }
        if index == self.handles.len() {
            self.handles.push(None);
        }
        self.handles[index] = Some(handle);
        Ok(index as u32)
    }

    fn remove(&mut self, index: u32) {
        if let Some(slot) = self.handles.get_mut(index as usize) {
            *slot = None;
        }
    }

    fn get(&self, descriptor: &Resource<Descriptor>) -> FsResult<&Handle> {
        let handle = self.handles.get(descriptor.rep() as usize).and_then(Option::as_ref);
        handle.ok_or_else(|| FsError::trap(wasmtime::Error::msg("unknown file handle")))
    }

    /// The directory above the mount that a guest means by `path` at `descriptor`, if it asks above.
    fn above(&self, descriptor: &Resource<Descriptor>, path: &str) -> FsResult<Option<PathBuf>> {
        let Handle::Above = self.get(descriptor)? else { return Ok(None) };
        let directory: PathBuf = Path::new("/").join(path).components().collect();
        let leads_to_mount = Path::new(&self.mount).starts_with(&directory);
        if leads_to_mount { Ok(Some(directory)) } else { Err(asynchronous::ErrorCode::NoEntry.into()) }
    }

    /// The path that a guest means by `path` at `descriptor`.
    fn at(&mut self, descriptor: &Resource<Descriptor>, path: &str) -> FsResult<WorkspacePath> {
        match self.count_look(path) {
            Ok(()) => {}
            Err(Unrecorded::Long(_)) => return Err(asynchronous::ErrorCode::NameTooLong.into()),
            Err(error @ Unrecorded::TooMany) => return Err(FsError::trap(wasmtime::Error::new(error))),
        }
        let directory = match self.get(descriptor)? {
            Handle::Directory(directory) => directory,
            Handle::Above => return Err(asynchronous::ErrorCode::NoEntry.into()),
            Handle::File { .. } | Handle::Stream(_) => {
                return Err(asynchronous::ErrorCode::NotDirectory.into());
            }
        };
        directory.join(path).map_err(|error| match error {
            PathError::Nul(_) => asynchronous::ErrorCode::Invalid.into(),
            PathError::Absolute(_) | PathError::Escapes(_) => asynchronous::ErrorCode::NotPermitted.into(),
        })
    }

    /// The host keeps a record of each path that is looked at, so there may not be any number of them.
    pub(crate) fn count_look(&mut self, path: &str) -> Result<(), Unrecorded> {
        if path.len() > MAX_PATH {
            return Err(Unrecorded::Long(path.len()));
        }
        if path.len() > LONG_PATH {
            self.long_paths += path.len();
        }
        if self.long_paths > MAX_LONG_PATHS || self.view.read_set().len() > MAX_READS {
            return Err(Unrecorded::TooMany);
        }
        Ok(())
    }

    /// Looks `path` up, following links only where the plain look-up met one: most paths have none.
    fn lookup(&self, path: WorkspacePath, follow: bool) -> FsResult<(WorkspacePath, Metadata)> {
        let met_link = match self.view.metadata(&path) {
            Ok(metadata) => metadata.kind == FileKind::Symlink && follow,
            Err(error) => error.kind() == io::ErrorKind::NotADirectory,
        };
        let path = match (met_link, follow) {
            (false, _) => path,
            (true, true) => self.view.resolve(&path).map_err(fs_error)?,
            (true, false) => self.view.resolve_parent(&path).map_err(fs_error)?,
        };
        let metadata = self.view.metadata(&path).map_err(fs_error)?;
        Ok((path, metadata))
    }

    /// Bytes of a file, unrecorded: either it is read, or refused.
    fn size(&self, path: &WorkspacePath) -> FsResult<u64> {
        Ok(self.view.view().metadata(path).map_err(fs_error)?.size)
    }

    fn open(
        &mut self,
        path: WorkspacePath,
        follow: bool,
        directory: bool,
        budget: &mut Budget,
    ) -> FsResult<u32> {
        let (path, metadata) = self.lookup(path, follow)?;
        let handle = match metadata.kind {
            FileKind::Directory => Handle::Directory(path),
            _ if directory => return Err(asynchronous::ErrorCode::NotDirectory.into()),
            FileKind::File if !budget.fits(self.size(&path)?) => {
                // The refusal depends on the size, which must be recorded.
                self.view.whole_metadata(&path).map_err(fs_error)?;
                return Err(asynchronous::ErrorCode::InsufficientMemory.into());
            }
            FileKind::File => {
                let bytes = self.view.read(&path).map_err(fs_error)?;
                let size = bytes.len() as u64;
                let bytes = Arc::new(counted(bytes, size, budget)?);
                Handle::File { path, bytes, executable: metadata.executable }
            }
            FileKind::Symlink => return Err(asynchronous::ErrorCode::Loop.into()),
            FileKind::Other => return Err(asynchronous::ErrorCode::Unsupported.into()),
        };
        self.insert(handle)
    }

    fn file(&self, descriptor: &Resource<Descriptor>) -> FsResult<&Arc<Counted<Bytes>>> {
        match self.get(descriptor)? {
            Handle::File { bytes, .. } => Ok(bytes),
            Handle::Directory(_) | Handle::Above | Handle::Stream(_) => {
                Err(asynchronous::ErrorCode::IsDirectory.into())
            }
        }
    }

    fn metadata(&self, descriptor: &Resource<Descriptor>) -> FsResult<Metadata> {
        Ok(match self.get(descriptor)? {
            Handle::File { bytes, executable, .. } => {
                Metadata { kind: FileKind::File, size: bytes.it.len() as u64, executable: *executable }
            }
            Handle::Directory(_) | Handle::Above | Handle::Stream(_) => DIRECTORY,
        })
    }

    fn path(&self, descriptor: &Resource<Descriptor>) -> FsResult<&WorkspacePath> {
        match self.get(descriptor)? {
            Handle::File { path, .. } | Handle::Directory(path) => Ok(path),
            Handle::Above => Err(asynchronous::ErrorCode::NotPermitted.into()),
            Handle::Stream(_) => Err(FsError::trap(wasmtime::Error::msg("not a file handle"))),
        }
    }
}

fn counted<T>(it: T, bytes: u64, budget: &mut Budget) -> FsResult<Counted<T>> {
    budget.count(it, bytes).ok_or_else(|| asynchronous::ErrorCode::InsufficientMemory.into())
}

fn fs_error(error: io::Error) -> FsError {
    use asynchronous::ErrorCode;
    match error.kind() {
        io::ErrorKind::NotFound => ErrorCode::NoEntry,
        io::ErrorKind::NotADirectory => ErrorCode::NotDirectory,
        io::ErrorKind::IsADirectory => ErrorCode::IsDirectory,
        io::ErrorKind::PermissionDenied => ErrorCode::Access,
        io::ErrorKind::InvalidInput => ErrorCode::Loop,
        io::ErrorKind::InvalidData => ErrorCode::IllegalByteSequence,
        io::ErrorKind::Unsupported => ErrorCode::Unsupported,
        io::ErrorKind::FileTooLarge => ErrorCode::FileTooLarge,
        _ => ErrorCode::Io,
    }
    .into()
}

fn read_only<T>() -> FsResult<T> {
    Err(asynchronous::ErrorCode::ReadOnly.into())
}

fn kind(kind: FileKind) -> types::DescriptorType {
    match kind {
        FileKind::File => types::DescriptorType::RegularFile,
        FileKind::Directory => types::DescriptorType::Directory,
        FileKind::Symlink => types::DescriptorType::SymbolicLink,
        FileKind::Other => types::DescriptorType::Unknown,
    }
}

fn stat(metadata: Metadata) -> types::DescriptorStat {
    types::DescriptorStat {
        type_: kind(metadata.kind),
        link_count: 1,
        size: metadata.size,
        data_access_timestamp: None,
        data_modification_timestamp: None,
        status_change_timestamp: None,
    }
}

/// Stands for device and inode: the same for the same path, and for nothing else.
fn identity(path: &str) -> types::MetadataHashValue {
    let hash = overlay::ContentHash::of(path.as_bytes());
    let half = |at: usize| u64::from_le_bytes(std::array::from_fn(|it| hash.as_bytes()[at + it]));
    types::MetadataHashValue { lower: half(0), upper: half(8) }
}

/// For the linker: how to get at the files of a store.
pub(crate) struct HasFiles;

impl HasData for HasFiles {
    type Data<'a> = Files<'a>;
}

pub(crate) struct Files<'a> {
    pub(crate) files: &'a mut GuestFiles,
    /// Holds the streams that reads are made of.
    pub(crate) table: &'a mut ResourceTable,
    pub(crate) budget: &'a mut Budget,
}

impl preopens::Host for Files<'_> {
    fn get_directories(&mut self) -> wasmtime::Result<Vec<(Resource<Descriptor>, String)>> {
        let mount = self.files.mount.clone();
        let above = (mount != "/").then(|| (Handle::Above, "/".to_owned()));
        let all = above.into_iter().chain([(Handle::Directory(WorkspacePath::root()), mount)]);
        let opened = all.map(|(handle, path)| Ok((Resource::new_own(self.files.insert(handle)?), path)));
        let opened: FsResult<_> = opened.collect();
        opened.map_err(|_| wasmtime::Error::msg("too many open files"))
    }
}

impl types::Host for Files<'_> {
    fn convert_error_code(&mut self, error: FsError) -> wasmtime::Result<types::ErrorCode> {
        Ok(TrappableError::downcast(error)?.into())
    }

    fn filesystem_error_code(
        &mut self,
        _: Resource<wasmtime_wasi::p2::bindings::io::error::Error>,
    ) -> wasmtime::Result<Option<types::ErrorCode>> {
        Ok(None)
    }
}

impl types::HostDescriptor for Files<'_> {
    fn open_at(
        &mut self,
        descriptor: Resource<Descriptor>,
        path_flags: types::PathFlags,
        path: String,
        open_flags: types::OpenFlags,
        flags: types::DescriptorFlags,
    ) -> FsResult<Resource<Descriptor>> {
        use types::{DescriptorFlags, OpenFlags, PathFlags};
        if flags.intersects(DescriptorFlags::WRITE | DescriptorFlags::MUTATE_DIRECTORY)
            || open_flags.intersects(OpenFlags::CREATE | OpenFlags::TRUNCATE)
        {
            return read_only();
        }
        let path = self.files.at(&descriptor, &path)?;
        let follow = path_flags.contains(PathFlags::SYMLINK_FOLLOW);
        let directory = open_flags.contains(OpenFlags::DIRECTORY);
        Ok(Resource::new_own(self.files.open(path, follow, directory, self.budget)?))
    }

    fn drop(&mut self, descriptor: Resource<Descriptor>) -> wasmtime::Result<()> {
        self.files.remove(descriptor.rep());
        Ok(())
    }

    fn read(&mut self, file: Resource<Descriptor>, length: u64, offset: u64) -> FsResult<(Vec<u8>, bool)> {
        let rest = after(&self.files.file(&file)?.it, offset);
        let part = rest.slice(..rest.len().min(usize::try_from(length).unwrap_or(MAX_READ)).min(MAX_READ));
        Ok((part.to_vec(), part.len() == rest.len()))
    }

    fn read_via_stream(
        &mut self,
        file: Resource<Descriptor>,
        offset: u64,
    ) -> FsResult<Resource<DynInputStream>> {
        let text = Arc::clone(self.files.file(&file)?);
        let stream: DynInputStream = Box::new(FileStream::new(text, offset));
        self.table.push(stream).map_err(|error| FsError::trap(wasmtime::Error::new(error)))
    }

    fn stat(&mut self, descriptor: Resource<Descriptor>) -> FsResult<types::DescriptorStat> {
        Ok(stat(self.files.metadata(&descriptor)?))
    }

    fn stat_at(
        &mut self,
        descriptor: Resource<Descriptor>,
        path_flags: types::PathFlags,
        path: String,
    ) -> FsResult<types::DescriptorStat> {
        if self.files.above(&descriptor, &path)?.is_some() {
            return Ok(stat(DIRECTORY));
        }
        let path = self.files.at(&descriptor, &path)?;
        let follow = path_flags.contains(types::PathFlags::SYMLINK_FOLLOW);
        Ok(stat(self.files.lookup(path, follow)?.1))
    }

    fn readlink_at(&mut self, descriptor: Resource<Descriptor>, path: String) -> FsResult<String> {
        let path = self.files.at(&descriptor, &path)?;
        let (path, metadata) = self.files.lookup(path, false)?;
        if metadata.kind != FileKind::Symlink {
            return Err(asynchronous::ErrorCode::Invalid.into());
        }
        self.files.view.read_link(&path).map_err(fs_error)
    }

    fn read_directory(&mut self, descriptor: Resource<Descriptor>) -> FsResult<Resource<DirectoryStream>> {
        let Handle::Directory(path) = self.files.get(&descriptor)? else {
            return Err(asynchronous::ErrorCode::NotDirectory.into());
        };
        let listing = self.files.view.list(path).map_err(fs_error)?;
        let size = listing.entries.iter().map(|it| size_of::<Entry>() + it.name.len()).sum::<usize>();
        let entries = counted(listing.entries.into_iter(), size as u64, self.budget)?;
        let index = self.files.insert(Handle::Stream(entries))?;
        Ok(Resource::new_own(index))
    }

    fn get_flags(&mut self, _: Resource<Descriptor>) -> FsResult<types::DescriptorFlags> {
        Ok(types::DescriptorFlags::READ)
    }

    fn get_type(&mut self, descriptor: Resource<Descriptor>) -> FsResult<types::DescriptorType> {
        Ok(kind(self.files.metadata(&descriptor)?.kind))
    }

    fn is_same_object(&mut self, a: Resource<Descriptor>, b: Resource<Descriptor>) -> wasmtime::Result<bool> {
        match (self.files.path(&a), self.files.path(&b)) {
            (Ok(a), Ok(b)) => Ok(a == b),
            _ => Ok(false),
        }
    }

    fn metadata_hash(&mut self, descriptor: Resource<Descriptor>) -> FsResult<types::MetadataHashValue> {
        Ok(identity(match self.files.get(&descriptor)? {
            Handle::Above => "/",
            _ => self.files.path(&descriptor)?.as_str(),
        }))
    }

    fn metadata_hash_at(
        &mut self,
        descriptor: Resource<Descriptor>,
        path_flags: types::PathFlags,
        path: String,
    ) -> FsResult<types::MetadataHashValue> {
        if let Some(directory) = self.files.above(&descriptor, &path)? {
            return Ok(identity(&directory.to_string_lossy()));
        }
        let path = self.files.at(&descriptor, &path)?;
        let follow = path_flags.contains(types::PathFlags::SYMLINK_FOLLOW);
        Ok(identity(self.files.lookup(path, follow)?.0.as_str()))
    }

    fn advise(&mut self, _: Resource<Descriptor>, _: u64, _: u64, _: types::Advice) -> FsResult<()> {
        Ok(())
    }

    fn sync(&mut self, _: Resource<Descriptor>) -> FsResult<()> {
        Ok(())
    }

    fn sync_data(&mut self, _: Resource<Descriptor>) -> FsResult<()> {
        Ok(())
    }

    fn write(&mut self, _: Resource<Descriptor>, _: Vec<u8>, _: u64) -> FsResult<u64> {
        read_only()
    }

    fn write_via_stream(&mut self, _: Resource<Descriptor>, _: u64) -> FsResult<Resource<DynOutputStream>> {
        read_only()
    }

    fn append_via_stream(&mut self, _: Resource<Descriptor>) -> FsResult<Resource<DynOutputStream>> {
        read_only()
    }

    fn set_size(&mut self, _: Resource<Descriptor>, _: u64) -> FsResult<()> {
        read_only()
    }

    fn set_times(
        &mut self,
        _: Resource<Descriptor>,
        _: types::NewTimestamp,
        _: types::NewTimestamp,
    ) -> FsResult<()> {
        read_only()
    }

    fn set_times_at(
        &mut self,
        _: Resource<Descriptor>,
        _: types::PathFlags,
        _: String,
        _: types::NewTimestamp,
        _: types::NewTimestamp,
    ) -> FsResult<()> {
        read_only()
    }

    fn create_directory_at(&mut self, _: Resource<Descriptor>, _: String) -> FsResult<()> {
        read_only()
    }

    fn remove_directory_at(&mut self, _: Resource<Descriptor>, _: String) -> FsResult<()> {
        read_only()
    }

    fn link_at(
        &mut self,
        _: Resource<Descriptor>,
        _: types::PathFlags,
        _: String,
        _: Resource<Descriptor>,
        _: String,
    ) -> FsResult<()> {
        read_only()
    }

    fn rename_at(
        &mut self,
        _: Resource<Descriptor>,
        _: String,
        _: Resource<Descriptor>,
        _: String,
    ) -> FsResult<()> {
        read_only()
    }

    fn symlink_at(&mut self, _: Resource<Descriptor>, _: String, _: String) -> FsResult<()> {
        read_only()
    }

    fn unlink_file_at(&mut self, _: Resource<Descriptor>, _: String) -> FsResult<()> {
        read_only()
    }
}

impl types::HostDirectoryEntryStream for Files<'_> {
    fn read_directory_entry(
        &mut self,
        stream: Resource<DirectoryStream>,
    ) -> FsResult<Option<types::DirectoryEntry>> {
        match self.files.handles.get_mut(stream.rep() as usize) {
            Some(Some(Handle::Stream(entries))) => {
                let entry = entries.it.next();
                Ok(entry.map(|it| types::DirectoryEntry { type_: kind(it.kind), name: it.name }))
            }
            _ => Err(FsError::trap(wasmtime::Error::msg("unknown directory stream"))),
        }
    }

    fn drop(&mut self, stream: Resource<DirectoryStream>) -> wasmtime::Result<()> {
        self.files.remove(stream.rep());
        Ok(())
    }
}

fn after(bytes: &Bytes, offset: u64) -> Bytes {
    bytes.slice(usize::try_from(offset).unwrap_or(usize::MAX).min(bytes.len())..)
}

#[cfg(test)]
mod tests;
