(function_definition declarator: [
  (function_declarator declarator: (_) @name)
  (pointer_declarator declarator: [
    (function_declarator declarator: (_) @name)
    (pointer_declarator declarator: (function_declarator declarator: (_) @name))
  ])
]) @function
(translation_unit (declaration declarator: [
  (function_declarator declarator: (identifier) @name)
  (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))
]) @function)
(preproc_ifdef (declaration declarator: [
  (function_declarator declarator: (identifier) @name)
  (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))
]) @function)
(preproc_if (declaration declarator: [
  (function_declarator declarator: (identifier) @name)
  (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))
]) @function)
(declaration_list (declaration declarator: [
  (function_declarator declarator: (identifier) @name)
  (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))
]) @function)
(struct_specifier name: (_) @name body: (_)) @struct
(union_specifier name: (_) @name body: (_)) @struct
(enum_specifier name: (_) @name body: (_)) @enum
(enumerator name: (_) @name) @variant
(type_definition type: (struct_specifier body: (_)) declarator: (_) @name) @struct
(type_definition type: (union_specifier body: (_)) declarator: (_) @name) @struct
(type_definition type: (enum_specifier body: (_)) declarator: (_) @name) @enum
(type_definition declarator: (type_identifier) @name) @type
(type_definition declarator: (function_declarator
  declarator: (parenthesized_declarator (pointer_declarator declarator: (type_identifier) @name)))) @type
(preproc_function_def name: (_) @name) @macro
(preproc_def name: (_) @name value: (_)) @constant
