; Tests: `#[test] fn`, and `#[cfg(test)] mod`.
((attribute_item (attribute [(identifier) (scoped_identifier)] @attribute))
  .
  (attribute_item)*
  .
  (function_item name: (identifier) @name) @test
  (#match? @attribute "(^|::)(test|rstest|test_case|bench)$"))
((attribute_item (attribute (identifier) @attribute arguments: (token_tree) @condition))
  .
  (attribute_item)*
  .
  (mod_item name: (identifier) @name) @test
  (#eq? @attribute "cfg")
  (#eq? @condition "(test)"))

(function_item name: (_) @name) @function
(function_signature_item name: (_) @name) @function
(struct_item name: (_) @name) @struct
(union_item name: (_) @name) @struct
(enum_item name: (_) @name) @enum
(enum_variant name: (_) @name) @variant
(trait_item name: (_) @name) @interface
(type_item name: (_) @name) @type
(associated_type name: (_) @name) @type
(mod_item name: (_) @name) @module
(macro_definition name: (_) @name) @macro
((impl_item trait: (_) @name type: (_) @name) @impl (#set! join " for "))
(impl_item !trait type: (_) @name) @impl
(source_file [(const_item name: (_) @name) (static_item name: (_) @name)] @constant)
(declaration_list [(const_item name: (_) @name) (static_item name: (_) @name)] @constant)
(use_declaration (visibility_modifier) argument: (_) @name) @re-export

; Criterion's benchmarks, and the like.
(expression_statement (call_expression arguments: (arguments (closure_expression)))) @around
(call_expression
  function: (_) @name
  arguments: (arguments . (string_literal) @name (closure_expression) .)) @call
[(const_item name: (_) @name) (static_item name: (_) @name)] @value
