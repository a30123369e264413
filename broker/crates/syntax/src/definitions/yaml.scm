; Keys of a list's items have the same names, and are told apart by the first key of the item and its value.
(block_sequence_item (block_node (block_mapping
  . (block_mapping_pair key: (_) @name @receiver value: (flow_node)? @receiver) @entry)))
(block_sequence_item (block_node (block_mapping
  . (block_mapping_pair key: (_) @receiver value: (flow_node)? @receiver)
  (block_mapping_pair key: (_) @name) @entry)))
(block_mapping_pair key: (_) @name) @entry
