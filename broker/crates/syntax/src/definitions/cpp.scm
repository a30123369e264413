(template_declaration) @around

((function_definition declarator: (function_declarator
  declarator: (identifier) @name @callee
  parameters: (parameter_list) @name)) @test
  (#match? @callee "^(TEST|TEST_F|TEST_P|TYPED_TEST|BENCHMARK)$")
  (#set! join ""))
(namespace_definition name: (_) @name) @module
(class_specifier name: (_) @name body: (_)) @class
(concept_definition name: (_) @name) @interface
(alias_declaration name: (_) @name) @type
(function_definition declarator: (reference_declarator (function_declarator declarator: (_) @name))) @function
(function_definition declarator: (operator_cast "operator" @name type: (_) @name)) @function
(field_declaration declarator: [
  (function_declarator declarator: (field_identifier) @name)
  (pointer_declarator declarator: (function_declarator declarator: (field_identifier) @name))
  (reference_declarator (function_declarator declarator: (field_identifier) @name))
]) @method
(field_declaration_list (declaration declarator: (function_declarator declarator: (identifier) @name)) @method)

(expression_statement (call_expression arguments: (argument_list (lambda_expression)))) @around
(call_expression
  function: (_) @name
  arguments: (argument_list . (string_literal) @name (lambda_expression) .)) @call
