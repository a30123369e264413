(package_clause name: (_) @name body: (_)) @module
(class_definition name: (_) @name) @class
(object_definition name: (_) @name) @class
(trait_definition name: (_) @name) @interface
(enum_definition name: (_) @name) @enum
(simple_enum_case name: (_) @name) @variant
(full_enum_case name: (_) @name) @variant
(function_definition name: (_) @name) @function
(function_declaration name: (_) @name) @function
(type_definition name: (_) @name) @type
(given_definition name: (_) @name) @constant
(template_body (val_definition pattern: (identifier) @name) @field)
(compilation_unit (val_definition pattern: (identifier) @name) @constant)
((call_expression
  function: (call_expression function: (identifier) @name @callee arguments: (arguments . (string) @name))) @test
  (#match? @callee "^(test|it|describe)$"))
