(function_declaration name: (_) @name) @function
(test_declaration "test" @name [(string) (identifier)] @name) @test
(variable_declaration . (identifier) @name [(struct_declaration) (union_declaration)]) @struct
(variable_declaration . (identifier) @name (enum_declaration)) @enum
(source_file (variable_declaration . (identifier) @name) @constant)
(struct_declaration (variable_declaration . (identifier) @name) @constant)
(enum_declaration (container_field . (_) @name) @variant)
