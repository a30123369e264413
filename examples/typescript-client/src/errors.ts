// What the daemon says besides a code and a sentence: details that a program can act on.

import * as grpc from "@grpc/grpc-js";

import type { Any__Output } from "./generated/google/protobuf/Any.js";
import { rpc } from "./schema.js";

export interface Problem {
  code: string;
  /** Stays the same from version to version, unlike `message`, which is for people. */
  reason: string;
  message: string;
  /** The fields of the request that make no sense, and the paths that a commit or a rebase conflicts on. */
  places: string[];
}

export function isServiceError(error: unknown): error is grpc.ServiceError {
  return error instanceof Error && "code" in error && "details" in error && "metadata" in error;
}

/** Reads the details of an error. Those that gRPC itself makes, such as UNAVAILABLE, have none. */
export function problem(error: grpc.ServiceError): Problem {
  const found: Problem = { code: grpc.status[error.code], reason: "", message: error.details, places: [] };
  const [encoded] = error.metadata.get("grpc-status-details-bin");
  if (!(encoded instanceof Buffer)) return found;
  for (const detail of rpc.Status.deserialize(encoded).details) read(detail, found);
  return found;
}

function read(detail: Any__Output, into: Problem): void {
  const value = Buffer.from(detail.value);
  switch (detail.type_url.split("/").pop()) {
    case "google.rpc.ErrorInfo":
      into.reason = rpc.ErrorInfo.deserialize(value).reason;
      break;
    case "google.rpc.BadRequest":
      into.places.push(...rpc.BadRequest.deserialize(value).fieldViolations.map((it) => it.field));
      break;
    case "google.rpc.PreconditionFailure":
      into.places.push(...rpc.PreconditionFailure.deserialize(value).violations.map((it) => it.subject));
      break;
  }
}
