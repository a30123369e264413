//! Other files than the open document: their URIs and their texts.

use std::rc::Rc;

use bytes::Bytes;
use overlay::WorkspacePath;
use workspaces::{ErrorKind, RequestError, Side, TargetId};

use super::{
    branch_uri::BranchFile,
    document::DocumentLocation,
    folder::{Connection, Folder},
    server::Server,
    target,
    text::Text,
};

/// Limit on the size of a file that is read, in bytes.
const MAX_SIZE: usize = 16 << 20;

impl Server {
    /// The URI of a file in the same base or branch as `place`. A path that is not in the workspace is returned as it is.
    pub(super) fn uri_of(&self, place: &DocumentLocation, path: &str) -> String {
        let Ok(path) = WorkspacePath::new(path) else { return path.to_owned() };
        match place {
            DocumentLocation::Base(folder, _) => folder.uris.of(&path),
            DocumentLocation::Branch(_, file) => BranchFile { branch: file.branch.clone(), path }.uri(),
            DocumentLocation::Elsewhere => path.as_str().to_owned(),
        }
    }

    /// The text of a file: the client's, if the file is open. `None` if there is no such file, or it is not UTF-8.
    pub(super) async fn text_of(
        &self,
        folder: &Rc<Folder>,
        connection: &Connection,
        place: &DocumentLocation,
        path: &str,
    ) -> Result<Option<Text>, RequestError> {
        if let Some(text) = self.open_text(folder, place, path) {
            return Ok(Some(text));
        }
        let target = match place {
            DocumentLocation::Branch(folder, file) => self.branch_target(folder, file).await?,
            DocumentLocation::Base(..) | DocumentLocation::Elsewhere => target::base(connection),
        };
        let bytes = self.read_if_there(&target, path).await?;
        let text = bytes.as_deref().and_then(|it| std::str::from_utf8(it).ok());
        Ok(text.map(|it| Text::new(it, self.traits.encoding)))
    }

    /// The client's text of a file that is open. No copy of it.
    pub(super) fn open_text(
        &self,
        folder: &Rc<Folder>,
        place: &DocumentLocation,
        path: &str,
    ) -> Option<Text> {
        match place {
            DocumentLocation::Branch(..) => None,
            DocumentLocation::Base(..) | DocumentLocation::Elsewhere => {
                Some(self.document_at(folder, path)?.state().text)
            }
        }
    }

    /// Reads a file. `None` if there is no such file.
    pub(super) async fn read_if_there(
        &self,
        target: &TargetId,
        path: &str,
    ) -> Result<Option<Bytes>, RequestError> {
        match self.read(target, path, Side::Now).await {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Reads a file. An error if it is larger than [`MAX_SIZE`].
    pub(super) async fn read(
        &self,
        target: &TargetId,
        path: &str,
        side: Side,
    ) -> Result<Bytes, RequestError> {
        Ok(self.workspaces.read_file(target, path, side, Some(MAX_SIZE)).await?.bytes)
    }
}
