; JavaScript and TypeScript.

[(export_statement) (expression_statement)] @around
(lexical_declaration . (variable_declarator) .) @around
(variable_declaration . (variable_declarator) .) @around

; Tests: `describe("…", () => …)`, `it.only(…)`, `test.each(…)("…", …)`.
(call_expression
  function: [
    (identifier) @name @callee
    (member_expression) @name @callee
    (call_expression function: (member_expression) @name @callee)
  ]
  arguments: (arguments . [(string) (template_string)] @name [(arrow_function) (function_expression)])
  (#match? @callee "^(describe|it|test|suite|context|specify|bench|fit|xit|xtest|fdescribe|xdescribe|Deno\\.test)(\\.[a-zA-Z]+)*$")) @test

; Functions and classes.
(function_declaration name: (_) @name) @function
(generator_function_declaration name: (_) @name) @function
(class_declaration name: (_) @name) @class
(variable_declarator
  name: (identifier) @name
  value: [(arrow_function) (function_expression) (generator_function)]) @function
(variable_declarator name: (identifier) @name value: (class)) @class
(assignment_expression
  left: [(identifier) (member_expression)] @name
  right: [(arrow_function) (function_expression) (generator_function)]) @function
(assignment_expression left: (member_expression) @name right: (class)) @class

; Members of classes and objects.
(method_definition ["get" "set"] @name name: (_) @name) @method
(method_definition name: (_) @name) @method
(pair key: (_) @name value: [(arrow_function) (function_expression) (generator_function)]) @method

; Functions of a module that others wrap: `memo(() => …)`, `create<T>()((set) => …)`, `memo(forwardRef(() => …))`.
(program
  [
    (_ (variable_declarator
      name: (identifier) @name
      value: (call_expression
        function: (_) @callee
        arguments: (arguments . [
          (arrow_function)
          (function_expression)
          (call_expression arguments: (arguments . [(arrow_function) (function_expression)]))
        ]))) @function)
    (export_statement (_ (variable_declarator
      name: (identifier) @name
      value: (call_expression
        function: (_) @callee
        arguments: (arguments . [
          (arrow_function)
          (function_expression)
          (call_expression arguments: (arguments . [(arrow_function) (function_expression)]))
        ]))) @function))
  ]
  (#not-match? @callee "\\.(map|filter|reduce|find|findIndex|some|every|flatMap|forEach|sort|then|catch|finally)$"))
(variable_declarator
  name: (identifier) @name
  value: (call_expression
    function: (_) @callee
    arguments: (arguments . [(arrow_function) (function_expression)]))
  (#match? @callee "(^|\\.)(useCallback|memo|forwardRef|debounce|throttle)$")) @function

; Default exports without a name of their own.
(export_statement "default" @name value: [(arrow_function) (function_expression)]) @function
(export_statement "default" @name value: (call_expression
  arguments: (arguments . [(arrow_function) (function_expression)]))) @function
(export_statement "default" @name value: (class)) @class
(export_statement "default" @name value: [(object) (call_expression) (new_expression)]) @constant
(export_statement "default" @name value: (identifier) @name) @re-export

; Constants of a module: those that are exported, in upper case, or objects.
(export_statement (_ (variable_declarator name: (identifier) @name) @constant))
(program (_ (variable_declarator name: (identifier) @name) @constant)
  (#match? @name "^[A-Z][A-Z0-9_]+$"))
(program (_ (variable_declarator name: (identifier) @name value: (object)) @constant))

; Names of other modules.
(export_statement (export_clause (export_specifier alias: (_) @name) @re-export) source: (_))
(export_statement (export_clause (export_specifier name: (_) @name) @re-export) source: (_))
(export_statement (namespace_export (_) @name) source: (_)) @re-export
((export_statement "*" @name source: (_) @name) @re-export (#set! join " from "))

; For edits alone.
(call_expression
  function: (_) @name @callee
  arguments: (arguments . [(string) (template_string)] @name [(arrow_function) (function_expression)] .)
  (#not-match? @callee "\n")) @call
(variable_declarator name: (_) @name) @value
