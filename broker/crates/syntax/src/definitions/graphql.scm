(object_type_definition (name) @name) @struct
(input_object_type_definition (name) @name) @struct
(interface_type_definition (name) @name) @interface
(union_type_definition (name) @name) @type
(scalar_type_definition (name) @name) @type
(enum_type_definition (name) @name) @enum
(enum_value_definition (enum_value) @name) @variant
(fields_definition (field_definition (name) @name) @field)
(directive_definition (name) @name) @macro
(operation_definition (operation_type) @name (name) @name) @function
(fragment_definition (fragment_name) @name) @type
