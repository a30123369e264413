// Where the daemon is, and how to call it: over its Unix socket, or a TCP port together with the token.

import * as grpc from "@grpc/grpc-js";
import { readFileSync } from "node:fs";
import { isAbsolute, join, resolve } from "node:path";

export interface Connection {
  address: string;
  credentials: grpc.ChannelCredentials;
  options: grpc.ClientOptions;
}

/** Where `broker daemon serve` listens for this user, found as the broker itself finds it. */
export function socketPath(): string {
  const { BROKER_RUNTIME_DIR, XDG_RUNTIME_DIR, TMPDIR } = process.env;
  if (BROKER_RUNTIME_DIR) return resolve(BROKER_RUNTIME_DIR, "broker.sock");
  if (XDG_RUNTIME_DIR && isAbsolute(XDG_RUNTIME_DIR)) return join(XDG_RUNTIME_DIR, "broker", "broker.sock");
  return join(TMPDIR || "/tmp", `broker-${process.geteuid?.()}`, "broker.sock");
}

/** The Unix socket, or `tcp` (host:port) with the token that lies beside the socket. */
export function connection(tcp?: string): Connection {
  const credentials = grpc.credentials.createInsecure();
  const options: grpc.ClientOptions = {
    // The other languages' libraries name the socket's path as the HTTP/2 authority, which the daemon's HTTP/2
    // library refuses as no host name. This one says `localhost` by itself; it does no harm to ask for it.
    "grpc.default_authority": "localhost",
    // A file with very many findings comes in one message, which may be larger than the usual limit of 4 MiB.
    "grpc.max_receive_message_length": 256 << 20,
  };
  if (tcp === undefined) return { address: `unix:${socketPath()}`, credentials, options };
  const token = process.env.BROKER_TOKEN || readFileSync(socketPath().replace(/sock$/, "token"), "utf8").trim();
  return { address: tcp, credentials, options: { ...options, interceptors: [showToken(token)] } };
}

/** Shows the token with every call. Call credentials would do it too, but gRPC wants TLS for them. */
function showToken(token: string): grpc.Interceptor {
  return (options, next) =>
    new grpc.InterceptingCall(next(options), {
      start(metadata, listener, proceed) {
        metadata.set("authorization", `Bearer ${token}`);
        proceed(metadata, listener);
      },
    });
}
