//! `FileService`.

use broker_proto::{v1 as pb, v1::file_service_server::FileService};
use tokio_stream::Stream;
use tonic::{Request, Response, Status, async_trait};
use workspaces::{Buffer, PageRequest};

use super::{CHUNK_BYTES, GrpcServer, from_proto, status, to_proto};

type ReadStream = std::pin::Pin<Box<dyn Stream<Item = Result<pb::ReadFileResponse, Status>> + Send>>;

#[async_trait]
impl FileService for GrpcServer {
    type ReadFileStream = ReadStream;

    async fn read_file(&self, request: Request<pb::ReadFileRequest>) -> Result<Response<ReadStream>, Status> {
        let request = request.into_inner();
        let target = from_proto::target(request.target)?;
        let side = from_proto::side(request.revision, request.of_parent)?;
        let file = self.0.read_file(&target, &request.path, side, None).await.map_err(status::of)?;
        let part = |part| Ok(pb::ReadFileResponse { part: Some(part) });
        let first = std::iter::once(part(pb::read_file_response::Part::Info(to_proto::file_info(&file))));
        let bytes = file.bytes;
        let starts = (0..bytes.len()).step_by(CHUNK_BYTES);
        let pieces = starts.map(move |start| bytes.slice(start..bytes.len().min(start + CHUNK_BYTES)));
        let pieces = pieces.map(move |it| part(pb::read_file_response::Part::Content(it)));
        Ok(Response::new(Box::pin(tokio_stream::iter(first.chain(pieces)))))
    }

    async fn list_directory(
        &self,
        request: Request<pb::ListDirectoryRequest>,
    ) -> Result<Response<pb::ListDirectoryResponse>, Status> {
        let request = request.into_inner();
        let target = from_proto::target(request.target)?;
        let page = PageRequest { size: request.page_size, token: request.page_token };
        let side = from_proto::side(None, request.of_parent)?;
        let listed = self.0.list_directory(&target, &request.path, &page, side).await.map_err(status::of)?;
        Ok(Response::new(pb::ListDirectoryResponse {
            entries: listed.entries.items.into_iter().map(to_proto::entry).collect(),
            next_page_token: listed.entries.next_token,
            not_utf8: listed.not_utf8,
        }))
    }

    async fn edit_files(
        &self,
        request: Request<pb::EditFilesRequest>,
    ) -> Result<Response<pb::EditFilesResponse>, Status> {
        let request = from_proto::edits(request.into_inner())?;
        let revision = self.0.edit_files(request).await.map_err(status::of)?;
        Ok(Response::new(pb::EditFilesResponse { revision: revision.0 }))
    }

    async fn set_buffer(
        &self,
        request: Request<pb::SetBufferRequest>,
    ) -> Result<Response<pb::SetBufferResponse>, Status> {
        let set = self.0.set_buffer(from_proto::buffer(request.into_inner())).await.map_err(status::of)?;
        Ok(Response::new(pb::SetBufferResponse {
            content_hash: set.content.to_string(),
            hidden: set.is_hidden,
        }))
    }

    async fn close_buffer(
        &self,
        request: Request<pb::CloseBufferRequest>,
    ) -> Result<Response<pb::CloseBufferResponse>, Status> {
        let pb::CloseBufferRequest { workspace_id, path, editor_id } = request.into_inner();
        let editor = from_proto::some(editor_id);
        let was_open =
            self.0.close_buffer(&workspace_id, &path, editor.as_deref()).await.map_err(status::of)?;
        Ok(Response::new(pb::CloseBufferResponse { was_open }))
    }

    async fn list_buffers(
        &self,
        request: Request<pb::ListBuffersRequest>,
    ) -> Result<Response<pb::ListBuffersResponse>, Status> {
        let buffers = self.0.list_buffers(&request.into_inner().workspace_id).await.map_err(status::of)?;
        let buffer =
            |it: Buffer| pb::Buffer { path: it.path.to_string(), content_hash: it.content.to_string() };
        Ok(Response::new(pb::ListBuffersResponse { buffers: buffers.into_iter().map(buffer).collect() }))
    }
}
