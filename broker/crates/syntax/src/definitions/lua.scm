(function_declaration name: (_) @name) @function
(assignment_statement
  (variable_list . name: (_) @name)
  (expression_list . value: (function_definition))) @function
(field name: (_) @name value: (function_definition)) @method
(variable_declaration (assignment_statement)) @around
((function_call name: (identifier) @name @callee arguments: (arguments . (string) @name (function_definition))) @test
  (#match? @callee "^(describe|it|test)$"))
((chunk (assignment_statement (variable_list . name: (_) @name)) @constant)
  (#match? @name "^[A-Z][A-Z0-9_]*$"))
((chunk (variable_declaration (assignment_statement (variable_list . name: (_) @name)) @constant))
  (#match? @name "^[A-Z][A-Z0-9_]*$"))
