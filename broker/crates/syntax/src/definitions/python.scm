(decorated_definition) @around
(expression_statement (assignment)) @around

((function_definition name: (identifier) @name) @test (#match? @name "^test_"))
(function_definition name: (identifier) @name) @function
(class_definition name: (identifier) @name) @class
(type_alias_statement left: (type (identifier) @name)) @type
(module (expression_statement (assignment left: (identifier) @name) @constant)
  (#match? @name "^_?[A-Z][A-Z0-9_]*$"))
(class_definition body: (block (expression_statement (assignment left: (identifier) @name) @constant))
  (#match? @name "^_?[A-Z][A-Z0-9_]*$"))
(module (expression_statement (assignment left: (identifier) @name right: (lambda)) @function))
((function_definition body: (block . (expression_statement . (string) @name @docstring .))))
((class_definition body: (block . (expression_statement . (string) @name @docstring .))))
