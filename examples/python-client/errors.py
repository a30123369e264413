"""What the daemon says besides a code and a sentence: details that a program can act on."""

from dataclasses import dataclass, field

import grpc
from google.rpc import error_details_pb2
from grpc_status import rpc_status


@dataclass
class Problem:
    """An error of the daemon. `reason` stays the same from version to version; `message` is for people."""

    code: str
    reason: str
    message: str
    # The fields of the request that make no sense, and the paths that a commit or a rebase conflicts on.
    places: list[str] = field(default_factory=list)
    retry_after_seconds: float | None = None


def problem(error: grpc.RpcError) -> Problem:
    """Reads the details of an error. Those that gRPC itself makes, such as UNAVAILABLE, have none."""
    found = Problem(code=error.code().name, reason="", message=error.details() or "")
    status = rpc_status.from_call(error)
    for detail in status.details if status else ():
        info = error_details_pb2.ErrorInfo()
        bad = error_details_pb2.BadRequest()
        failed = error_details_pb2.PreconditionFailure()
        retry = error_details_pb2.RetryInfo()
        if detail.Unpack(info):
            found.reason = info.reason
        elif detail.Unpack(bad):
            found.places += [it.field for it in bad.field_violations]
        elif detail.Unpack(failed):
            found.places += [it.subject for it in failed.violations]
        elif detail.Unpack(retry):
            found.retry_after_seconds = retry.retry_delay.ToTimedelta().total_seconds()
    return found
