(field_definition property: (_) @name value: [(arrow_function) (function_expression)]) @method
(class_body (field_definition property: (_) @name) @field)
