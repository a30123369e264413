((call
  !receiver
  method: (identifier) @name @callee
  arguments: (argument_list . (_) @name)
  block: (_)) @test
  (#match? @callee "^(describe|context|it|specify|test|scenario|feature)$"))
((call
  receiver: (constant) @receiver
  method: (identifier) @name
  arguments: (argument_list . (_) @name)
  block: (_)) @test
  (#eq? @receiver "RSpec"))
((method name: (_) @name) @test (#match? @name "^test_"))
(method name: (_) @name) @method
((singleton_method object: (_) @name name: (_) @name) @method (#set! join "."))
(class name: (_) @name) @class
(module name: (_) @name) @module
(assignment left: (constant) @name) @constant
(alias name: (_) @name) @method
(call method: (_) @name arguments: (argument_list . (string) @name) block: (_)) @call
