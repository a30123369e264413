((method_declaration
  (modifiers [(annotation name: (_) @annotation) (marker_annotation name: (_) @annotation)])
  name: (_) @name) @test
  (#match? @annotation "Test$"))
(method_declaration name: (_) @name) @method
(constructor_declaration name: (_) @name) @method
(compact_constructor_declaration name: (_) @name) @method
(class_declaration name: (_) @name) @class
(record_declaration name: (_) @name) @struct
(interface_declaration name: (_) @name) @interface
(annotation_type_declaration name: (_) @name) @interface
(annotation_type_element_declaration name: (_) @name) @method
(enum_declaration name: (_) @name) @enum
(enum_constant name: (_) @name) @variant
(module_declaration name: (_) @name) @module
(field_declaration declarator: (variable_declarator name: (identifier) @name) (#match? @name "^[A-Z][A-Z0-9_]*$")) @constant
(constant_declaration declarator: (variable_declarator name: (identifier) @name)) @constant
(field_declaration declarator: (variable_declarator name: (identifier) @name)) @field
