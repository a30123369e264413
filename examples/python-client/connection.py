"""A channel to the daemon: its Unix socket, or a TCP port together with the token."""

import collections
import os
from pathlib import Path

import grpc

_OPTIONS = [
    # Over a Unix socket, gRPC would name the socket's path as the HTTP/2 authority, percent-encoded. The
    # daemon's HTTP/2 library takes that for no host name and ends the stream with PROTOCOL_ERROR.
    ("grpc.default_authority", "localhost"),
    # A file with very many findings comes in one message, which may be larger than the usual limit of 4 MiB.
    ("grpc.max_receive_message_length", 256 << 20),
]


def socket_path() -> Path:
    """Where `broker daemon serve` listens for this user, found as the broker itself finds it."""
    if own := os.environ.get("BROKER_RUNTIME_DIR"):
        return Path(own).absolute() / "broker.sock"
    runtime = Path(os.environ.get("XDG_RUNTIME_DIR", ""))
    if runtime.is_absolute():
        return runtime / "broker" / "broker.sock"
    return Path(os.environ.get("TMPDIR") or "/tmp") / f"broker-{os.geteuid()}" / "broker.sock"


def connect(tcp: str | None = None) -> grpc.Channel:
    """A channel over the Unix socket, or to `tcp` (host:port) with the token that lies beside the socket."""
    if tcp is None:
        return grpc.insecure_channel(f"unix:{socket_path()}", options=_OPTIONS)
    token = os.environ.get("BROKER_TOKEN") or socket_path().with_suffix(".token").read_text()
    return grpc.intercept_channel(grpc.insecure_channel(tcp, options=_OPTIONS), _ShowToken(token.strip()))


_Fields = collections.namedtuple(
    "_Fields", ("method", "timeout", "metadata", "credentials", "wait_for_ready", "compression")
)


class _Details(_Fields, grpc.ClientCallDetails):
    pass


class _ShowToken(
    grpc.UnaryUnaryClientInterceptor, grpc.UnaryStreamClientInterceptor, grpc.StreamStreamClientInterceptor
):
    """Shows the token with every call. Call credentials would do it too, but gRPC wants TLS for them."""

    def __init__(self, token: str) -> None:
        self._shown = ("authorization", f"Bearer {token}")

    def intercept_unary_unary(self, proceed, details, request):
        metadata = [*(details.metadata or ()), self._shown]
        fields = (getattr(details, it, None) for it in _Fields._fields)
        return proceed(_Details(*fields)._replace(metadata=metadata), request)

    intercept_unary_stream = intercept_unary_unary
    intercept_stream_stream = intercept_unary_unary
