"""Forks and checks with what the daemon says of itself: no .proto files, no generated code of broker.v1."""

import argparse
import sys
from pathlib import Path

import grpc
from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase

from connection import connect

TIMEOUT = 60


class Reflected:
    """Calls any method by its name, with the fields of the request as keywords."""

    def __init__(self, channel: grpc.Channel) -> None:
        self.channel = channel
        self.database = ProtoReflectionDescriptorDatabase(channel)
        self.pool = DescriptorPool(self.database)

    def methods(self) -> list[MethodDescriptor]:
        services = (self.pool.FindServiceByName(it) for it in sorted(self.database.get_services()))
        return [method for service in services for method in service.methods]

    def call(self, name: str, **fields):
        service, _, method_name = name.rpartition(".")
        method = self.pool.FindServiceByName(service).methods_by_name[method_name]
        kind = self.channel.unary_stream if method.server_streaming else self.channel.unary_unary
        request, response = GetMessageClass(method.input_type), GetMessageClass(method.output_type)
        call = kind(f"/{service}/{method_name}", request.SerializeToString, response.FromString)
        return call(request(**fields), timeout=TIMEOUT)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tcp", metavar="HOST:PORT", help="connect so instead of over the Unix socket")
    parser.add_argument("folder", type=Path)
    args = parser.parse_args()
    with connect(args.tcp) as channel:
        daemon = Reflected(channel)
        for method in daemon.methods():
            streams = "stream " if method.server_streaming else ""
            print(f"{method.full_name}({method.input_type.name}) -> {streams}{method.output_type.name}")

        opened = daemon.call("broker.v1.WorkspaceService.OpenWorkspace", root=str(args.folder.absolute()))
        parent = {"workspace_id": opened.workspace.workspace_id}
        branch = daemon.call("broker.v1.BranchService.ForkBranch", parent=parent).branch
        print(f"\nbranch {branch.name} at revision {branch.revision}")
        for event in daemon.call("broker.v1.CheckService.Check", target={"branch_id": branch.branch_id}):
            for finding in event.findings.findings:
                print(f"{finding.path}:{finding.range.start.line}: {finding.code} {finding.message}")
        daemon.call("broker.v1.BranchService.DiscardBranch", branch_id=branch.branch_id)
    return 0


if __name__ == "__main__":
    sys.exit(main())
