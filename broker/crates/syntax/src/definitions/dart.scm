((call_expression
  function: (identifier) @name @callee
  arguments: (arguments . (_) @name)) @test
  (#match? @callee "^(test|group|testWidgets)$"))
(class_declaration name: (_) @name) @class
(mixin_declaration name: (_) @name) @class
(extension_declaration name: (_) @name) @impl
(extension_type_declaration name: (_) @name) @type
(enum_declaration name: (_) @name) @enum
(enum_entry name: (_) @name) @variant
(type_alias . (type_identifier) @name) @type
(function_declaration signature: (function_signature name: (_) @name)) @function
(getter_declaration signature: (getter_signature name: (_) @name)) @function
(setter_declaration signature: (setter_signature name: (_) @name)) @function
(local_function_declaration (function_signature name: (_) @name)) @function
((method_declaration signature: (method_signature [
  (constructor_signature name: (_) @name "." name: (_) @name)
  (factory_constructor_signature name: (_) @name "." name: (_) @name)
])) @method (#set! join "."))
((declaration [
  (constructor_signature name: (_) @name "." name: (_) @name)
  (factory_constructor_signature name: (_) @name "." name: (_) @name)
  (constant_constructor_signature name: (_) @name "." name: (_) @name)
]) @method (#set! join "."))
(method_declaration signature: (method_signature [
  (function_signature name: (_) @name)
  (getter_signature name: (_) @name)
  (setter_signature name: (_) @name)
  (constructor_signature name: (_) @name)
  (factory_constructor_signature name: (_) @name)
  (operator_signature operator: _ @name)
])) @method
(declaration [
  (function_signature name: (_) @name)
  (constructor_signature name: (_) @name)
  (constant_constructor_signature name: (_) @name)
  (factory_constructor_signature name: (_) @name)
]) @method
(static_final_declaration name: (_) @name) @constant
