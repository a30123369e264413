[(ambient_declaration)] @around

(abstract_class_declaration name: (_) @name) @class
(interface_declaration name: (_) @name) @interface
(type_alias_declaration name: (_) @name) @type
(enum_declaration name: (_) @name) @enum
(enum_body (property_identifier) @name @variant)
(enum_assignment name: (_) @name) @variant
(internal_module name: (_) @name) @module
(module name: (_) @name) @module
(function_signature name: (_) @name) @function
(method_signature name: (_) @name) @method
(abstract_method_signature name: (_) @name) @method
(interface_body (property_signature name: (_) @name) @field)
(public_field_definition name: (_) @name value: [(arrow_function) (function_expression)]) @method
(class_body (public_field_definition name: (_) @name) @field)
(ambient_declaration (_ (variable_declarator name: (identifier) @name) @constant))
(program (_ (variable_declarator
  name: (identifier) @name
  value: [(as_expression (object)) (satisfies_expression (object))]) @constant))
