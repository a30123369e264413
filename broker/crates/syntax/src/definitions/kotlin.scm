((function_declaration (modifiers (annotation) @annotation) name: (_) @name) @test
  (#match? @annotation "Test$"))
(function_declaration name: (_) @name) @function
(class_declaration "interface" name: (_) @name) @interface
(class_declaration name: (_) @name (enum_class_body)) @enum
(class_declaration name: (_) @name) @class
(object_declaration name: (_) @name) @class
(companion_object name: (_) @name) @class
(companion_object "companion" @name) @class
(enum_entry (identifier) @name) @variant
(type_alias type: (_) @name) @type
(source_file (property_declaration (variable_declaration (identifier) @name)) @constant)
(class_body (property_declaration (variable_declaration (identifier) @name)) @field)
