(message (message_name) @name) @struct
(enum (enum_name) @name) @enum
(enum_field . (identifier) @name) @variant
(service (service_name) @name) @interface
(rpc (rpc_name) @name) @method
(extend (full_ident) @name) @impl
(oneof . (identifier) @name) @struct
