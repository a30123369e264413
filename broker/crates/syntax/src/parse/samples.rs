//! A text in each language that has a grammar, with what its lexer finds hard: quotes in quotes, indentation, comments in
//! comments, what ends only where it began.

pub(super) const SAMPLES: [(&str, &str); 33] = [
    ("c", C),
    ("cpp", CPP),
    ("csharp", CSHARP),
    ("css", CSS),
    ("dart", DART),
    ("dockerfile", DOCKERFILE),
    ("elixir", ELIXIR),
    ("go", GO),
    ("graphql", GRAPHQL),
    ("html", HTML),
    ("java", JAVA),
    ("javascript", JAVASCRIPT),
    ("json", JSON),
    ("kotlin", KOTLIN),
    ("lua", LUA),
    ("makefile", MAKEFILE),
    ("nix", NIX),
    ("php", PHP),
    ("proto", PROTO),
    ("python", PYTHON),
    ("ruby", RUBY),
    ("rust", RUST),
    ("scala", SCALA),
    ("shellscript", SHELL),
    ("swift", SWIFT),
    ("terraform", TERRAFORM),
    ("toml", TOML),
    ("typescript", TYPESCRIPT),
    ("typescriptreact", TSX),
    ("xml", XML),
    ("yaml", YAML),
    ("zig", ZIG),
    ("dtd", DTD),
];

const C: &str = r#"#include <stdio.h>
#define MAX(a, b) \
    ((a) > (b) ? (a) : (b))
#ifdef DEBUG
static int level = 1;
#else
static int level;
#endif
typedef struct node { struct node *next; int (*call)(void); } node_t;
/* a comment * over
   lines */
int main(int argc, char **argv) {
    for (int i = 0; i < argc; i++) {
        if (argv[i][0] == '\'' && level) { printf("\"%s\"\n", argv[i]); } else goto end;
    }
    node_t *n = (node_t *)0, m = { .next = n };
end:
    return sizeof(m) * 2 - (level)-1;
}
"#;

const CPP: &str = r##"#include <vector>
namespace a::b {
template <typename T, int N = 3>
class Box : public Base<T> {
public:
    explicit Box(T it) : it_{std::move(it)} {}
    auto get() const noexcept -> const T& { return it_; }
    bool operator<(const Box& other) const = default;
private:
    T it_;
};
}  // namespace
const char* raw = R"x(a "quoted" )y" text)x";
int main() {
    auto f = [&, n = 2](auto x) mutable { return x << n >> 1; };
    std::vector<std::vector<int>> v{{1, 2}, {3}};
    for (auto& [k, w] : m) if constexpr (sizeof(k) > 2) { w += a<b>(c); }
    return f(1) ? 0 : 1'000;
}
"##;

const CSHARP: &str = r#"using System;
#region Things
namespace App.Core;
[Serializable]
public record Point(int X, int Y = 1) : IShape { public int Sum => X + Y; }
public class Program<T> where T : class, new() {
    private readonly string path = @"c:\dir\""quoted""";
    public int this[int i] { get => i; set { _ = value; } }
    public static async Task Main(string[] args) {
        var name = $"{args[0]:x2} {{literal}} {(args.Length > 1 ? "a" : "b")}";
        var q = from a in args where a?.Length > 2 orderby a select a!;
        switch (q) { case null: break; case IList<string> { Count: > 0 } list when list[0] is "x": return; default: throw new(); }
        await foreach (var it in Run<int>(x => x < 2)) { Console.WriteLine(nameof(it)); }
    }
}
#endregion
"#;

const CSS: &str = r#"@charset "utf-8";
@import url("a.css") screen;
:root { --main: #06c; --gap: calc(1px + 2 * 3em); }
a:hover > .b::before, li:nth-child(2n + 1) ~ [data-x="y"] {
  color: var(--main, red) !important;
  content: "\201C \" ;";
  background: url(data:image/png;base64,iVBORw0KGgo=) no-repeat;
}
/* a comment { } */
@media (min-width: 30em) and (orientation: landscape) {
  @supports not (display: grid) { div { float: left; margin: -1px auto 0 .5em } }
}
@keyframes x { from { opacity: 0 } 50% { opacity: .5 } to { opacity: 1 } }
"#;

const DART: &str = r#"import 'dart:async' show Future;
/// Doc
abstract class Shape<T extends num> implements Comparable<T> {
  const Shape(this.name, {required this.size, int? depth}) : assert(size > 0);
  final String name; late final T size;
  factory Shape.of(Map<String, List<int>> map) => throw 'none ${map['a']?[0] ?? "x"} $map';
  @override
  int get hashCode => name.hashCode ^ size.hashCode;
}
Future<void> main(List<String> args) async {
  var raw = r'\n$x', text = '''a
'b' ${args.length}''';
  await for (final it in stream()) { if (it is! int) continue; list..add(it)..sort((a, b) => a - b); }
  final [first, ...rest] = args;
  print(switch (first) { 'a' || 'b' => 1, _ when rest.isEmpty => 2, _ => 3 });
}
"#;

const DOCKERFILE: &str = r#"# syntax=docker/dockerfile:1
ARG VERSION=1.2
FROM --platform=$BUILDPLATFORM alpine:${VERSION:-3} AS build
LABEL a="b c" d='e'
ENV PATH=/bin:$PATH \
    HOME="/root dir"
RUN --mount=type=cache,target=/x apk add \
    # inside
    curl && \
    echo "done" > /tmp/x
RUN <<EOF
echo one
echo two
EOF
COPY --from=build --chown=1:1 ["a b", "/c/"]
HEALTHCHECK --interval=5s CMD curl -f http://localhost/ || exit 1
ENTRYPOINT ["sh", "-c"]
CMD echo hi
"#;

const ELIXIR: &str = r#"defmodule App.Server do
  @moduledoc """
  Docs with #{1 + 1}
  """
  use GenServer, restart: :transient
  alias App.{One, Two}
  @spec run(integer, keyword) :: {:ok, term} | :error
  def run(n, opts \\ []) when n > 0 and is_list(opts) do
    with {:ok, a} <- One.get(n), %{b: b} = c <- a do
      c |> Enum.map(&(&1 * 2)) |> Enum.filter(fn x -> rem(x, 2) == 0 end)
    else
      _ -> :error
    end
  end
  defp words, do: ~w(a b c)a ++ ~s{x "y" #{:z}} ++ 'chars' ++ "a\"b"
  def match(<<a::8, rest::binary>>), do: if(a == ?x, do: rest, else: ~r/a\/b/i)
end
"#;

const GO: &str = "package main\n\nimport (\n\t\"fmt\"\n\tx \"a/b\"\n)\n\n// Doc\ntype Pair[K comparable, V any] struct {\n\tKey K `json:\"key\"`\n\tVal map[string][]V\n\tx.Embedded\n}\n\nfunc (p *Pair[K, V]) Get(n int, rest ...string) (out V, err error) {\n\tdefer func() { recover() }()\n\tfor i, it := range rest {\n\t\tswitch v := any(it).(type) {\n\t\tcase string, int:\n\t\t\tfmt.Println(v, 'x', '\\'', \"a\\\"b\", i<<2&^1)\n\t\tdefault:\n\t\t\tgoto end\n\t\t}\n\t}\nend:\n\tselect {\n\tcase c <- 1:\n\tcase y, ok := <-d:\n\t\t_ = y == x.T{A: 1} && ok\n\t}\n\treturn *new(V), nil\n}\n";

const GRAPHQL: &str = r#"# comment
"""
Doc "quoted"
"""
type User implements Node & Entity @key(fields: "id") {
  id: ID!
  posts(first: Int = 10, filter: [Filter!]): [Post!]! @deprecated(reason: "x")
}
enum Role { ADMIN USER }
union Any = User | Post
input Filter { a: String = "x", b: Boolean = true }
query Q($id: ID!, $n: Int = 3) @live {
  user(id: $id) { ...F, alias: posts(first: $n) { id } ... on Admin { role } }
}
fragment F on User { id }
extend schema @link(url: "https://x") { query: Query }
"#;

const HTML: &str = r#"<!DOCTYPE html>
<!-- a comment -- with > -->
<html lang="en">
<head><title>A &amp; B</title>
<script type="module">if (a < b && c > d) { x = "</div>"; }</script>
<style>a > b { color: red }</style></head>
<body class='x "y"' data-a=b hidden>
<ul><li>one<li>two</ul>
<p>text<p>more <br/> <img src=a.png alt=""> <b><i>x</i></b>
<table><tr><td>1<td>2<tr><td>3</table>
<textarea><b></textarea>
<svg viewBox="0 0 1 1"><path d="M0 0"/></svg>
<custom-element></custom-element>
</body>
</html>
"#;

const JAVA: &str = r#"package a.b;
import static java.util.List.*;
/** Doc {@link x} */
@Entity(name = "x", value = {1, 2})
public sealed abstract class Box<T extends Comparable<? super T> & Runnable> permits A, B {
    private static final int[] X = {0x1F, 1_000, 'a', '\u0041'};
    record Point(int x, int y) { Point { if (x < 0) throw new IllegalArgumentException("a\"b"); } }
    public <R> R map(Function<? super T, ? extends R> f) throws Exception {
        try (var in = open(); var out = other()) {
            String text = """
                a "block" \
                of text""";
            return switch (in) { case String s when s.length() > 2 -> f.apply((T) s); case null, default -> { yield null; } };
        } catch (A | B e) { label: for (;;) { if (i++ < 3 >> 1) continue label; break; } }
        Runnable r = () -> this::<T>run; return null;
    }
}
"#;

const JAVASCRIPT: &str = r#"#!/usr/bin/env node
import a, { b as c } from "./x.js" with { type: "json" };
export default class A extends (B ?? C) {
  static #p = 1; get x() { return this.#p / 2 / 3; }
  static { this.y = /[/\]]+\/(?<n>a)/giu.test(`t ${a ? `in ${b}` : "x"} \``); }
  async *gen({ a = 1, ...rest }, [b, , c] = []) { for await (const x of y) yield* x }
}
const f = async (x) => ({ ...x, [`k${1}`]: 1n, m() {} })
let re = a / b / c, t = x++ / 2
label: for (var i = 0, n = 1; i < n; i++) { if (i in o) continue label; else break }
if (a) b
else c?.d?.[e]?.(f)
const el = <div a="x" {...p} b={c => <b>{/* c */}</b>}>text &amp; {"}"} <></></div>;
switch (x) { case 1: case 2: { break } default: throw new Error('a\'b') }
var x = function* () {}, y = a ? b : c, z = typeof void 0, w = !(a instanceof B) ** 2
"#;

const JSON: &str = r#"{
  "a": [1, -2.5e10, true, false, null, []],
  "b\"\\\u00e9": { "c": { "d": "x/y" }, "e": "" },
  // a comment
  "f": [{ "g": [[1], [2, [3]]] }, "h"]
}
"#;

const KOTLIN: &str = r#"@file:JvmName("X")
package a.b
import a.b.c as d
sealed interface Shape<out T : Any> where T : Comparable<T>
data class Point(val x: Int = 1, private var y: List<String?>) : Base(x), Shape<Int> by z {
    companion object { const val A = 1_000L }
    val text: String get() = "a ${if (x > 1) "b $y" else "c"} \$"
    init { require(x in 1..<10) { "bad" } }
}
inline fun <reified T> T.run(crossinline f: suspend (T) -> Unit = {}): Map<String, () -> Unit>? = when (this) {
    is String, !is Int -> null
    in list -> x?.y!!.z ?: return null
    else -> { val (a, _) = p; a as? T; mapOf("a" to { f(it) }) }
}
/* a /* nested */ comment */
fun main() { val raw = """a "b" ${'$'} """; label@ for (i in 0 until 3 step 2) { if (i < 2) break@label } }
"#;

const LUA: &str = r##"#!/usr/bin/lua
--[==[ long
 ]] comment ]==]
local t <const> = { 1, ["a b"] = 2, c = function(...) return select("#", ...) end; }
local s = [[long
"string"]] .. 'a\'b' .. "\z
   c"
function t.a.b:method(x, y)
  for i = 1, #t, -1 do if x ~= y and not (x == nil) then goto continue end ::continue:: end
  for k, v in pairs(t) do repeat k = k // 2 ~ 1 until k <= 0x1Fp2 end
  while true do break end
  return f{ 1 }, g"x", h[[y]], -2 ^ 2
end -- end
"##;

const MAKEFILE: &str = "CC ?= gcc\nSRC := $(wildcard src/*.c) \\\n  more.c\nOBJ = $(SRC:.c=.o)\nifeq ($(CC),gcc)\nFLAGS += -Wall # note\nelse ifdef X\nFLAGS += -O2\nendif\ndefine run\necho $(1)\nendef\n.PHONY: all clean\nall: $(OBJ) | dir\n\t@$(CC) -o $@ $^ \\\n\t  $(FLAGS)\n\t-rm -f $$tmp; if [ -f x ]; then echo \"a:b\"; fi\n%.o: %.c ; $(CC) -c $<\nexport PATH := $(shell pwd)/bin:$(PATH)\n-include $(OBJ:.o=.d)\nclean:\n\t$(call run,$(foreach f,$(OBJ),$(f)))\n";

const NIX: &str = r#"# comment
{ pkgs ? import <nixpkgs> { }, lib, ... }@args:
let
  inherit (lib) mkIf optional;
  text = ''
    a ${pkgs.hello} ''${not} ''' "q"
      b
  '';
  f = x: y: x + y * 2 - -1;
in
rec {
  a.b."c d" = [ 1 2.5 ./path/to ~/x "s ${toString (f 1 2)} \${x}" ];
  g = { a, b ? 1 }: with lib; assert a != null; if a > b && !c || d -> e then a // { x = 1; } else args.a or 2;
  h = https://example.org/x;
  i = /* in */ (map (x: x.y or z) a) ++ optional true 1;
}
"#;

const PHP: &str = r#"<html><?= $x ?></html>
<?php
declare(strict_types=1);
namespace A\B;
use C\{D, E as F};
#[Attr(1)]
final class X extends Y implements Z {
    use T { a as protected b; }
    public function __construct(private readonly ?int $a = 1, string|null ...$rest) {}
    public static function f(array &$x): static { return new static(...$x); }
}
$text = <<<EOT
  a {$x['k']} $y->z ${w} "q"
  EOT;
$raw = <<<'X'
$no
X;
enum S: string { case A = 'a\'b'; const B = self::A; }
foreach ($a as $k => [$b, 'c' => $d]) { if ($b): echo "x$k[0]{$d}"; elseif (!$d): continue; endif; }
$f = fn(int $x): int => $x ** 2 <=> 3 ?? 4; $g = match(true) { $x > 1, $y => 1, default => throw new E() };
// comment ?> text <?php
function &gen() { yield 1 => 2; yield from x(); return (int) "1" . `ls`; }
?>
tail <?php if ($x): ?> <b> <?php endif; ?>
"#;

const PROTO: &str = r#"syntax = "proto3";
package a.b.v1;
import public "google/protobuf/any.proto";
option java_package = "x";
// comment
message M {
  reserved 2, 9 to 11;
  reserved "foo";
  repeated int32 a = 1 [packed = true, (my.opt) = { x: 1 y: "z" }];
  map<string, M.N> b = 3;
  oneof c { string d = 4; bytes e = 5; }
  message N { optional double f = 1; }
  enum E { option allow_alias = true; ZERO = 0; NEG = -1; }
}
service S {
  rpc Get(stream M) returns (stream M.N) { option (http) = { get: "/v1" }; }
}
"#;

const PYTHON: &str = r#"#!/usr/bin/env python
from __future__ import annotations
import a.b as c, d

@decorator(x=1)
class C[T: int](B, metaclass=M):
    """Doc
    string"""
    x: int = 1

    async def f(self, a, /, b=2, *args, c: str = 'x\'', **kw) -> None:
        if (n := len(a)) > 1 and not b:
            return {**a, "k": [i for i in range(3) if i]}
        elif b:
            pass
        else:
            async with open(f"{a!r:>{n}} {{}} {'q'}") as g, h: yield x
        try:
            raise E from None
        except* (A, B) as e:
            del e, a[1:2, ...]
        finally:
            lambda *a, k=1: (a, k)

match x:
    case {"a": [1, *rest], **kw} if rest:
        print(r'\d', b"x", u"é", """a "b" c""")
    case Point(x=0) | None:
        x = \
            1
x = (1,
  2) if a else [
]
while True: break
"#;

const RUBY: &str = r##"require 'a'
module A::B
  class C < D::E
    attr_reader :a, :"b c"
    CONST = %w[a b #{c}].freeze
    def self.run!(a, b = 1, *c, d:, e: 2, **f, &g) = a&.b(*c)
    def [](x) 
      text = <<~EOS + <<-'RAW' + "x"
        a #{x ? "in #{y}" : 'c'} b
      EOS
        no #{x}
        RAW
      return unless x =~ /a\/[b#{c}]+/i && x / 2 / 3 > 1
      case x
      when 1..2, ->(y) { y } then :a
      else puts <<EOF
body
EOF
      end
      case y
      in { a: Integer => b, c: [d, *] } if b then nil
      end
      items.each_with_index { |(a, b), i| yield a % b, ?x, %q(a (b) c), :+ }
    rescue A, B => e
      retry if e
    ensure
      x = y rescue z
    end
  end
end
# comment
=begin
block
=end
p(a ? b : c, {a: 1, "b": 2, c => d}, `ls`, __FILE__)
__END__
data
"##;

const RUST: &str = r###"#![allow(dead_code)]
//! doc
use std::{fmt::{self, Display}, io as other};
/// a
#[derive(Debug, Clone)]
pub struct S<'a, T: Display + 'a, const N: usize = 3> where T: Copy { a: &'a [T; N], b: (u8, r#type) }
macro_rules! m { ($($x:expr),* $(,)?) => { [$($x + 1),*] }; }
impl<'a, T> Drop for S<'a, T> where for<'b> T: Fn(&'b u8) -> bool {
    fn drop(&mut self) {
        let x = r##"a "# b"##; let c = '\''; let l = 'a: loop { break 'a 1u8 as i64 << 2 };
        match self { Self { a: [first, .., _], .. } if *first > T::<u8>::X => {} &S { ref b, .. } | _ => return }
        /* a /* nested */ comment */
        let f = async move |x: u8| -> u8 { x? .await };
        if let Some(n @ 1..=9) = y && let Ok(z) = w { m![1, 2,]; } else { unsafe { *p = b"x\n"[0] } }
    }
}
extern "C" { fn c(x: *const u8, ...) -> !; }
fn main() { println!("{x:?} {{}} {}", 1.0e-3_f64, x = a.0.1); for i in 0..10 { } }
"###;

const SCALA: &str = r#"package a.b
import c.{d, e as f, *}
@main def run(args: String*)(using ctx: Ctx = x): Unit =
  val text = s"a ${if args.isEmpty then "b" else c} $d" + """raw "q" \n"""
  for
    x <- 1 to 3
    if x > 1
    (y, _) = p(x)
  yield x * y
  args match
    case Seq(a, rest*) if a.nonEmpty => println(a)
    case s: String => ()
    case _ =>
      throw E("x")
end run
sealed trait T[+A <: B, F[_]] extends U with V { self: W =>
  type X = A => B; def f(x: => Int, y: Int*): this.type; lazy val z: Map[String, Int] = Map("a" -> 1)
}
enum Color(val n: Int) { case Red extends Color(1); case Blue }
object O { implicit class R(val x: Int) extends AnyVal { def +-+(y: Int) = x + y; def `a b` = '\'' } /* a /* b */ c */ }
given Ord[Int] with
  def cmp(a: Int, b: Int) = a - b
"#;

const SHELL: &str = r#"#!/bin/bash
set -euo pipefail # comment
name="a ${x:-"b $y"} $(echo "c $(d)") \" `e`"
arr=(one "two three" [5]=x)
f() { local v=$1; [[ $v =~ ^a.*$ && -f "$v" || ! -z ${arr[@]} ]] && return 1; }
cat <<EOF | grep -v 'x' > out 2>&1
body $name $(run)
EOF
cat <<-'RAW'
	no $name
	RAW
for i in {1..3} "${arr[@]}"; do echo $((i ** 2 + 1)); done
case $1 in a|b) ;; *.c) echo ${1%.c} ;& *) exit $? ;; esac
if test -n "$x"; then :; elif (cd /; ls); then true; else false; fi
while read -r line; do ((n++)); done < <(ls *.txt)
x=$'a\'b' y="${!name##*/}" command <<< "here" &
select s in a b; do break; done
"#;

const SWIFT: &str = r##"import Foundation
@available(iOS 13, *)
public final class Box<T: Equatable>: Base, @unchecked Sendable where T.X == Int {
    @Published private(set) var a: [String: [Int]?] = ["k": [1, 2]]
    var b: Int { get { a.count } set { print("\(newValue) \("in")") } }
    init?(_ x: inout T, y: Int = 1, rest: String...) throws { guard let z = x as? Int, z > 1 else { return nil } }
    func f<U>(_ g: @escaping (U) async throws -> Void) rethrows -> some View { try? await g(a!.b?.c ?? d) }
    deinit {}
}
enum E: Int, CaseIterable { case a = 1, b; indirect case c(E, x: Int) }
let raw = #"a "q" \#(x) \n"#, text = """
  a \(b) "c"
  """
/* a /* nested */ comment */
switch (x, y) { case (1..<3, let z) where z > 1: fallthrough; case (_, .some(let w)): break; default: fatalError() }
let c = items.map { [weak self] x -> Int in x * 2 }.filter { $0 > 1 }.reduce(0, +)
#if os(macOS) && !DEBUG
for case let i? in list where i != 0 { defer { n += 1 }; if #available(iOS 15, *) { } }
#endif
"##;

const TERRAFORM: &str = r#"# comment
terraform {
  required_version = ">= 1.0"
}
variable "a" {
  type    = map(object({ x = string, y = optional(number, 1) }))
  default = { "k" = { x = "a ${var.b ? "c" : "d"} $${e}" } }
}
resource "aws_x" "y" {
  count = length(var.list) > 0 ? 1 : 0
  tags  = merge({ for k, v in var.m : k => upper(v)... if v != "" }, local.t)
  text  = <<-EOT
    a ${x}
    %{ for i in l ~}
    ${i}
    %{ endfor ~}
  EOT
  dynamic "block" {
    for_each = [for i in range(3) : i * -1 % 2]
    content { name = block.value[0].*.id }
  }
  /* block */ // line
}
"#;

const TOML: &str = r#"# comment
title = "a \"b\" \u00e9"
[a.b."c d"]
x = [1, 2.5e3, 0xff, 1_000, inf,
  "t", # in
]
y = { k = 'lit\eral', "q" = true }
date = 1979-05-27T07:32:00-08:00
time = 07:32:00.5
text = """
a "b" \
   c"""
raw = '''
it's'''
[[items]]
n.m = 1
[[items]]
"#;

const TYPESCRIPT: &str = r#"import type { A } from "a";
declare module "x" { export const y: unique symbol; }
abstract class C<T extends keyof A = "k"> implements D<T> {
  constructor(private readonly a?: string, public b = 1) { super(); }
  abstract f<U>(this: C<T>, x: U extends infer V ? V[] : never): asserts x is U;
  get [Symbol.iterator](): IterableIterator<T> { return <any>this.x!; }
  declare z: number; static override async g(): Promise<void> {}
}
type M = { readonly [K in keyof T as `on${K}`]-?: T[K] } | [a: string, ...b: number[]];
enum E { A = 1 << 2, B = "x".length }
namespace N.O { export function f(x: number): string; export function f(x: any) { return x as const satisfies Y; } }
const f = <T,>(x: T): x is T => a < b && c > (d), g = new Map<string, Array<Array<number>>>();
let h = a?.b<T>(c), re = /[/]\//g, t = `a ${b as string} ${`in`}`;
@dec({ a: 1 }) export default class {}
function over(a?: number, ...rest: unknown[]): void; export = x;
let u: typeof import("x"), v: (new () => A) | abstract new (...a: any) => B, w = y!;
"#;

const TSX: &str = r#"import React from "react";
type P<T> = { items: T[]; render?: (x: T) => JSX.Element };
export function List<T extends {}>({ items, render = (x) => <b>{String(x)}</b> }: P<T>) {
  const [n, set] = React.useState<number | null>(null);
  const f = <U,>(u: U) => u;
  return (
    <>
      {/* comment */}
      <ul className={`a ${n ?? 0}`} onClick={() => set((n ?? 0) + 1)} {...rest}>
        text &nbsp; "q" {n! < 3 ? items.map((x) => <li key={1}>{render(x)}</li>) : null}
        <A.B<string> c="d" e={'f'} />
      </ul>
    </>
  );
}
const re = /<a>/g, x = a as B, y = n / 2 / 3;
"#;

const XML: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE root [
  <!ELEMENT root (a|b)*>
  <!ENTITY e "x">
]>
<?pi some data?>
<!-- a comment - with dash -->
<root xmlns:n="urn:x" a='1' b="&lt; &#x41;">
  <n:a><b/><b></b>text &amp; &e;</n:a>
  <![CDATA[ <not> ]] &parsed; ]]>
  <c d="e">
    mixed <f/> content
  </c>
</root>
"#;

const YAML: &str = r#"%YAML 1.2
---
# comment
a: &anchor
  - b: 1
    c: "x \" y"
  - 'it''s'
  - [1, {k: v, "q": [z]}, ]
  - !!str 5
text: |
  line one
    indented
  line three

folded: >-
  a
  b
? complex key
: - x
  -   - nested
      - y
merge:
  <<: *anchor
  plain: word with spaces # note
  multi: first
    second
empty:
url: http://x:80/#y
...
---
- second
- doc
"#;

const ZIG: &str = r#"//! doc
const std = @import("std");
pub fn Box(comptime T: type, n: usize) type {
    return struct {
        const Self = @This();
        it: [n]T = undefined,
        ptr: ?*align(4) const T,
        pub fn get(self: *Self, i: usize) !T {
            defer std.debug.print("{s} \"q\"\n", .{"x"});
            errdefer |e| _ = e;
            const v = try self.other(i) orelse return error.None;
            return switch (v) { 0...9, 'a' => |x| x, .b, else => blk: { break :blk v catch unreachable; } };
        }
    };
}
const E = enum(u8) { a = 1, b, _ };
const text =
    \\multi "line"
    \\text
;
test "name" {
    var i: u32 = 0x1F; while (i < 10) : (i += 1) { if (opt) |x| { _ = x.*; } else continue; }
    for (items, 0..) |it, k| { inline for (.{ 1, 2 }) |_| {} _ = it +% k << 1; }
}
"#;

const DTD: &str = r#"<!-- comment -->
<!ENTITY % inline "a | b">
<!ELEMENT root (head, (p | list)*, tail?)>
<!ELEMENT p (#PCDATA | %inline;)*>
<!ELEMENT br EMPTY>
<!ELEMENT any ANY>
<!ATTLIST p id ID #REQUIRED
            class CDATA "x &amp; 'y'"
            kind (one | two) 'one'>
<!ENTITY copy "&#169;">
<!ENTITY ext SYSTEM "a.xml" NDATA gif>
<!NOTATION gif PUBLIC "-//x//y">
<?pi data?>
<![INCLUDE[
<!ELEMENT in (p+)>
]]>
"#;
