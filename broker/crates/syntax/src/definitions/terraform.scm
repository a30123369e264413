(config_file (body (block . (identifier) @name (string_lit)* @name) @block))
(config_file (body (attribute . (identifier) @name) @constant))
