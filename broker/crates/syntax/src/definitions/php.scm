(expression_statement) @around
((method_declaration name: (_) @name) @test (#match? @name "^test[A-Z_]"))
(namespace_definition name: (_) @name body: (_)) @module
(class_declaration name: (_) @name) @class
(interface_declaration name: (_) @name) @interface
(trait_declaration name: (_) @name) @interface
(enum_declaration name: (_) @name) @enum
(enum_case name: (_) @name) @variant
(function_definition name: (_) @name) @function
(method_declaration name: (_) @name) @method
(const_declaration (const_element . (name) @name)) @constant
(property_declaration (property_element . (variable_name) @name)) @field
(assignment_expression left: (variable_name) @name right: [(anonymous_function) (arrow_function)]) @function
((function_call_expression
  function: (name) @name @callee
  arguments: (arguments . (argument (_) @name) (argument [(anonymous_function) (arrow_function)]))) @test
  (#match? @callee "^(it|test|describe)$"))
