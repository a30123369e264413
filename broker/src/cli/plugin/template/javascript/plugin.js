// @ts-check
// `x == None` asks `x`, which may answer anything; `x is None` asks Python.

import { plugin } from '../sdk/broker.js';

// What is found, in the language of tree-sitter's queries.
const QUERY = '(comparison_operator operators: ["==" "!="] @operator . (none))';

export const lint = plugin({
  rules: [
    {
      code: 'none-comparison',
      summary: 'Comparison with None by `==` or `!=`',
      explanation: 'An object decides by itself what it is equal to; only `is` asks for None.',
      fix: 'always',
      *check(file) {
        // The host parses the file, once for all plugins.
        for (const operator of file.query(QUERY, 'python')) {
          const better = operator.text === '==' ? 'is' : 'is not';
          const found = operator.finding(`compare with None by \`${better}\``);
          // `==` may have been defined to mean something else.
          yield found.fix(`Use \`${better}\``, better, 'unsafe');
        }
      },
    },
  ],
});
