(rule_set (selectors) @name) @block
(keyframes_statement "@keyframes" @name (keyframes_name) @name) @block
(media_statement "@media" @name (_) @name (block)) @block
