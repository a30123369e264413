(pair key: (_) @name) @entry
