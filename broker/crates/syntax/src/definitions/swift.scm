((function_declaration name: (_) @name) @test (#match? @name "^test[A-Z_]"))
(function_declaration name: (_) @name) @function
(protocol_function_declaration name: (_) @name) @method
(init_declaration name: "init" @name) @method
(deinit_declaration "deinit" @name) @method
(class_declaration declaration_kind: "extension" name: (_) @name) @impl
(class_declaration declaration_kind: "enum" name: (_) @name) @enum
(class_declaration declaration_kind: "struct" name: (_) @name) @struct
(class_declaration name: (_) @name) @class
(protocol_declaration name: (_) @name) @interface
(enum_entry name: (_) @name @variant)
(typealias_declaration name: (_) @name) @type
(source_file (property_declaration name: (pattern bound_identifier: (_) @name)) @constant)
(class_body (property_declaration name: (pattern bound_identifier: (_) @name)) @field)
(protocol_property_declaration name: (pattern bound_identifier: (_) @name)) @field
