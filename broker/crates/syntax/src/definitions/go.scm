(type_declaration . [(type_spec) (type_alias)] .) @around
(const_declaration . (const_spec) .) @around
(var_declaration . (var_spec) .) @around
(expression_statement (call_expression)) @around

((function_declaration name: (_) @name) @test (#match? @name "^(Test|Benchmark|Fuzz|Example)([^a-z]|$)"))
(function_declaration name: (_) @name) @function
(call_expression
  function: (selector_expression field: (_) @run) @name
  arguments: (argument_list . (interpreted_string_literal) @name . (func_literal))
  (#eq? @run "Run")) @test
(method_declaration
  receiver: (parameter_list (parameter_declaration type: [
    (type_identifier) @receiver
    (generic_type type: (type_identifier) @receiver)
    (pointer_type [(type_identifier) @receiver (generic_type type: (type_identifier) @receiver)])
  ]))
  name: (_) @name) @method
(type_spec name: (_) @name type: (struct_type)) @struct
(type_spec name: (_) @name type: (interface_type)) @interface
(type_spec name: (_) @name) @type
(type_alias name: (_) @name) @type
(method_elem name: (_) @name) @method
(source_file (var_declaration (var_spec name: (_) @name value: (expression_list . (func_literal))) @function))
(source_file (const_declaration (const_spec name: (identifier) @name) @constant))
(source_file (var_declaration (var_spec name: (identifier) @name) @constant))
(source_file (var_declaration (var_spec_list (var_spec name: (identifier) @name) @constant)))
(call_expression
  function: (_) @name
  arguments: (argument_list . [(interpreted_string_literal) (raw_string_literal)] @name (func_literal) .)) @call
