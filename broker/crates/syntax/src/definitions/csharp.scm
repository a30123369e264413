((method_declaration (attribute_list (attribute name: (_) @attribute)) name: (_) @name) @test
  (#match? @attribute "^(Fact|Theory|Test|TestCase|TestMethod)$"))
(namespace_declaration name: (_) @name) @module
(file_scoped_namespace_declaration name: (_) @name) @module
(class_declaration name: (_) @name) @class
(record_declaration name: (_) @name) @struct
(struct_declaration name: (_) @name) @struct
(interface_declaration name: (_) @name) @interface
(enum_declaration name: (_) @name) @enum
(enum_member_declaration name: (_) @name) @variant
(delegate_declaration name: (_) @name) @type
(method_declaration name: (_) @name) @method
(constructor_declaration name: (_) @name) @method
(destructor_declaration "~" @name name: (_) @name (#set! join "")) @method
(operator_declaration "operator" @name operator: _ @name) @method
(local_function_statement name: (_) @name) @function
(property_declaration name: (_) @name) @field
(event_declaration name: (_) @name) @field
((field_declaration (modifier) @modifier (variable_declaration (variable_declarator name: (_) @name))) @constant
  (#eq? @modifier "const"))
(field_declaration (variable_declaration (variable_declarator name: (_) @name))) @field
