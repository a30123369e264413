(function_definition name: (_) @name) @function
((program (variable_assignment name: (_) @name) @constant) (#match? @name "^[A-Z][A-Z0-9_]*$"))
((program (declaration_command (variable_assignment name: (_) @name) @constant))
  (#match? @name "^[A-Z][A-Z0-9_]*$"))
