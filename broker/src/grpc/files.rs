//! `FileService`.

use std::sync::Arc;

use broker_proto::{Message as _, v1 as pb, v1::file_service_server::FileService};
use bytes::Bytes;
use overlay::{Branch, BufferError, ContentHash, FileKind, Metadata, TextEdit, View, WorkspacePath};
use tokio_stream::Stream;
use tonic::{Request, Response, Status, async_trait};
use workspaces::DaemonError;

use super::{
    Front,
    branches::{blocking, to_the_end},
    from_proto::{self, Page},
    status,
};

const PIECE: usize = 1 << 20;
const MAX_EDITS: usize = 10_000;

/// Pieces of texts, in all edits of a request.
const MAX_TEXT_EDITS: usize = 100_000;

/// Bytes of a file that is read whole. What is larger is no source, and on the disk for who needs it.
const MAX_READ: u64 = 256 << 20;

type ReadStream = std::pin::Pin<Box<dyn Stream<Item = Result<pb::ReadFileResponse, Status>> + Send>>;

#[async_trait]
impl FileService for Front {
    type ReadFileStream = ReadStream;

    async fn read_file(&self, request: Request<pb::ReadFileRequest>) -> Result<Response<ReadStream>, Status> {
        let request = request.into_inner();
        let target = from_proto::target(&self.0, request.target)?;
        let path = from_proto::path("path", &request.path)?;
        let sight = target.sight(from_proto::revision(request.revision)).await.map_err(status::of)?;
        let read = move || read(&*sight.view, &path, sight.revision.0).map_err(status::of);
        let (info, bytes) = blocking(read).await?;
        let part = |part| Ok(pb::ReadFileResponse { part: Some(part) });
        let starts = (0..bytes.len()).step_by(PIECE);
        let pieces = starts.map(move |start| bytes.slice(start..bytes.len().min(start + PIECE)));
        let pieces = pieces.map(move |it| part(pb::read_file_response::Part::Content(it)));
        let first = std::iter::once(part(pb::read_file_response::Part::Info(info)));
        Ok(Response::new(Box::pin(tokio_stream::iter(first.chain(pieces)))))
    }

    async fn list_directory(
        &self,
        request: Request<pb::ListDirectoryRequest>,
    ) -> Result<Response<pb::ListDirectoryResponse>, Status> {
        let request = request.into_inner();
        let target = from_proto::target(&self.0, request.target)?;
        let path = from_proto::path("path", &request.path)?;
        let page = Page::of(request.page_size, &request.page_token, 1000, 10_000)?;
        let view = target.sight(None).await.map_err(status::of)?.view;
        let listing = blocking(move || {
            let listing = view.resolve(&path).and_then(|it| view.list(&it));
            listing.map_err(|error| status::of(DaemonError::file(&path, error)))
        })
        .await?;
        let not_utf8 = listing.not_utf8;
        let (entries, next_page_token) = page.cut(listing.entries.into_iter());
        let entries = entries.into_iter().map(|it| pb::DirectoryEntry { name: it.name, kind: kind(it.kind) });
        Ok(Response::new(pb::ListDirectoryResponse { entries: entries.collect(), next_page_token, not_utf8 }))
    }

    async fn edit_files(
        &self,
        request: Request<pb::EditFilesRequest>,
    ) -> Result<Response<pb::EditFilesResponse>, Status> {
        let request = request.into_inner();
        let (served, cell) = from_proto::branch(&self.0, &request.branch_id)?;
        if request.edits.is_empty() {
            return Err(status::invalid("edits", "there is none"));
        }
        expect_few(&request.edits).map_err(status::of)?;
        served.expect_there().map_err(status::of)?;
        let repeatable = from_proto::repeatable(&cell.id, &request.request_id, || request.encode_to_vec());
        let edits = edits(request.edits).map_err(status::of)?;
        let if_revision = from_proto::revision(request.if_revision);
        let apply = move |branch: &mut Branch| branch.transaction(|it| apply_all(&edits, it)).map(drop);
        let daemon = Arc::clone(&self.0);
        let revision = to_the_end(async move {
            let edited =
                async { daemon.edit(&cell, if_revision, apply).await.map(|((), revision)| revision) };
            served.edits.run(repeatable, edited).await
        })
        .await?;
        Ok(Response::new(pb::EditFilesResponse { revision: revision.0 }))
    }

    async fn set_buffer(
        &self,
        request: Request<pb::SetBufferRequest>,
    ) -> Result<Response<pb::SetBufferResponse>, Status> {
        let request = request.into_inner();
        let served = self.0.workspace(&request.workspace_id).map_err(status::of)?;
        let path = from_proto::path("path", &request.path)?;
        let content_hash = ContentHash::of(&request.content).to_string();
        let set = move || {
            let set = served.base.set_buffer(&path, request.content);
            set.map_err(|error| match error {
                error @ BufferError::BuffersFull { .. } => status::of(DaemonError::Edit(error)),
                error => status::invalid("path", error),
            })
        };
        blocking(set).await?;
        Ok(Response::new(pb::SetBufferResponse { content_hash }))
    }

    async fn close_buffer(
        &self,
        request: Request<pb::CloseBufferRequest>,
    ) -> Result<Response<pb::CloseBufferResponse>, Status> {
        let request = request.into_inner();
        let served = self.0.workspace(&request.workspace_id).map_err(status::of)?;
        let path = from_proto::path("path", &request.path)?;
        let was_open = blocking(move || Ok(served.base.close_buffer(&path))).await?;
        Ok(Response::new(pb::CloseBufferResponse { was_open }))
    }
}

fn expect_few(edits: &[pb::FileEdit]) -> Result<(), DaemonError> {
    let of_texts = |it: &pb::FileEdit| match &it.edit {
        Some(pb::file_edit::Edit::Text(it)) => it.edits.len(),
        _ => 0,
    };
    let pieces = edits.iter().map(of_texts).sum();
    for (what, limit, actual) in [
        ("edits of a request", MAX_EDITS, edits.len()),
        ("edits of texts in a request", MAX_TEXT_EDITS, pieces),
    ] {
        if actual > limit {
            return Err(DaemonError::TooMuch { what, limit: limit as u64, actual: actual as u64 });
        }
    }
    Ok(())
}

fn read(view: &dyn View, path: &WorkspacePath, revision: u64) -> Result<(pb::FileInfo, Bytes), DaemonError> {
    let wrong = |error| DaemonError::file(path, error);
    let real = view.resolve(path).map_err(wrong)?;
    let Metadata { size: actual, executable, .. } = view.metadata(&real).map_err(wrong)?;
    if actual > MAX_READ {
        return Err(DaemonError::TooMuch { what: "bytes of a file", limit: MAX_READ, actual });
    }
    let bytes = view.read(&real).map_err(wrong)?;
    let content_hash = ContentHash::of(&bytes).to_string();
    Ok((pb::FileInfo { size: bytes.len() as u64, executable, content_hash, revision }, bytes))
}

fn kind(kind: FileKind) -> i32 {
    match kind {
        FileKind::File => pb::FileKind::File,
        FileKind::Directory => pb::FileKind::Directory,
        FileKind::Symlink => pb::FileKind::Symlink,
        FileKind::Other => pb::FileKind::Other,
    }
    .into()
}

/// An edit whose fields are checked.
enum Edit {
    Write { path: WorkspacePath, content: Bytes, before: Before },
    Text { path: WorkspacePath, edits: Vec<TextEdit>, content: Option<ContentHash> },
    Patch(String),
    Remove(WorkspacePath),
    Rename(WorkspacePath, WorkspacePath),
    CreateDirectory(WorkspacePath),
    Symlink(WorkspacePath, String),
    SetExecutable(WorkspacePath, bool),
}

/// What an edit expects to find.
enum Before {
    Anything,
    Missing,
    Content(ContentHash),
}

fn edits(edits: Vec<pb::FileEdit>) -> Result<Vec<Edit>, DaemonError> {
    let checked = |(index, it)| edit(it).map_err(|error: DaemonError| error.in_edit(index));
    edits.into_iter().enumerate().map(checked).collect()
}

fn apply_all(edits: &[Edit], branch: &mut Branch) -> Result<(), DaemonError> {
    edits
        .iter()
        .enumerate()
        .try_for_each(|(index, it)| it.apply(branch).map_err(|error| error.in_edit(index)))
}

fn edit(edit: pb::FileEdit) -> Result<Edit, DaemonError> {
    use pb::file_edit::Edit as It;
    let path = |text: &str| from_proto::checked_path("edits.path", text);
    Ok(match edit.edit.ok_or_else(|| DaemonError::invalid("edits", "an edit says nothing"))? {
        It::Write(it) => {
            let before = match it.if_content_hash.as_str() {
                "missing" => Before::Missing,
                hash => content_hash(hash)?.map_or(Before::Anything, Before::Content),
            };
            // A copy of its own: what came in is a part of a larger buffer, which would live as long.
            let content = Bytes::copy_from_slice(&it.content);
            Edit::Write { path: path(&it.path)?, content, before }
        }
        It::Text(it) => {
            let edits = it.edits.into_iter().map(text_edit).collect::<Result<_, _>>()?;
            Edit::Text { path: path(&it.path)?, edits, content: content_hash(&it.if_content_hash)? }
        }
        It::Patch(it) => Edit::Patch(it.patch),
        It::Remove(it) => Edit::Remove(path(&it.path)?),
        It::Rename(it) => Edit::Rename(path(&it.from_path)?, path(&it.to_path)?),
        It::CreateDirectory(it) => Edit::CreateDirectory(path(&it.path)?),
        It::CreateSymlink(it) => Edit::Symlink(path(&it.path)?, it.link_target),
        It::SetExecutable(it) => Edit::SetExecutable(path(&it.path)?, it.executable),
    })
}

fn text_edit(it: pb::TextEdit) -> Result<TextEdit, DaemonError> {
    let span = it.span.ok_or_else(|| DaemonError::invalid("edits.text.edits.span", "it is missing"))?;
    Ok(TextEdit { start: span.start, end: span.end, replacement: it.replacement })
}

fn content_hash(hash: &str) -> Result<Option<ContentHash>, DaemonError> {
    from_proto::content_hash("edits.if_content_hash", hash)
}

impl Edit {
    fn apply(&self, branch: &mut Branch) -> Result<(), DaemonError> {
        match self {
            Self::Write { path, content, before } => {
                let content = content.clone();
                match before {
                    Before::Anything => branch.write(path, content),
                    Before::Missing => branch.write_if(path, None, content),
                    Before::Content(hash) => branch.write_if(path, Some(*hash), content),
                }?;
            }
            Self::Text { path, edits, content } => {
                match content {
                    None => branch.edit_text(path, edits),
                    Some(hash) => branch.edit_text_if(path, *hash, edits),
                }?;
            }
            Self::Patch(patch) => {
                branch.apply_patch(patch)?;
            }
            Self::Remove(path) => {
                branch.remove(path)?;
            }
            Self::Rename(from, to) => {
                branch.rename(from, to)?;
            }
            Self::CreateDirectory(path) => {
                branch.create_dir(path)?;
            }
            Self::Symlink(path, target) => {
                branch.symlink(path, target)?;
            }
            Self::SetExecutable(path, executable) => {
                branch.set_executable(path, *executable)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_many_edits_are_refused_before_they_are_looked_at() {
        let text = |count| pb::FileEdit {
            // Nothing of it makes sense.
            edit: Some(pb::file_edit::Edit::Text(pb::EditText {
                edits: vec![pb::TextEdit::default(); count],
                ..pb::EditText::default()
            })),
        };
        let half = MAX_TEXT_EDITS / 2;
        expect_few(&[text(half), text(half)]).unwrap();
        let refused = expect_few(&[text(half), text(half), text(1)]).unwrap_err().to_string();
        assert_eq!(refused, "edits of texts in a request: 100001 is more than the limit of 100000");
        let refused = expect_few(&vec![text(0); MAX_EDITS + 1]).unwrap_err().to_string();
        assert_eq!(refused, "edits of a request: 10001 is more than the limit of 10000");
    }
}
