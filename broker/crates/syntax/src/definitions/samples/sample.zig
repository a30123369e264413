const std = @import("std");

/// A.
pub const A = struct {
    x: u8,
    pub const LIMIT = 1;
    pub fn run(self: A) void { _ = self; }
};
const Color = enum { red, green };
pub fn main() void {}
test "works" {}
