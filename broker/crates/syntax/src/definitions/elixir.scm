((unary_operator operator: "@" operand: (call target: (identifier) @attribute)) @aside
  (#match? @attribute "^(doc|spec|impl|tag|typedoc|deprecated)$"))

((call target: (identifier) @callee (arguments . (alias) @name)) @module
  (#match? @callee "^(defmodule|defprotocol)$"))
((call target: (identifier) @callee (arguments . (alias) @name (keywords (pair value: (_) @name)))) @impl
  (#eq? @callee "defimpl")
  (#set! join " for "))
((call target: (identifier) @callee (arguments . [
    (identifier) @name
    (call target: (identifier) @name)
    (binary_operator left: (call target: (identifier) @name) operator: "when")
  ])) @macro
  (#match? @callee "^defmacrop?$"))
((call target: (identifier) @callee (arguments . [
    (identifier) @name
    (call target: (identifier) @name)
    (binary_operator left: (call target: (identifier) @name) operator: "when")
  ])) @function
  (#match? @callee "^(def|defp|defdelegate|defguard|defguardp|defn|defnp)$"))
((call target: (identifier) @name @callee (arguments . (string) @name) (do_block)) @test
  (#match? @callee "^(test|describe)$"))
(call target: (_) @name (arguments . (string) @name) (do_block)) @call
