import hooks from 'eslint-plugin-react-hooks';
import tseslint from 'typescript-eslint';

/** Imports run one way: routes, features, then model and ui, then api. A feature knows no other feature. */
const may = {
  api: ['api'],
  model: ['api', 'model'],
  ui: ['api', 'model', 'ui'],
  features: ['api', 'model', 'ui'],
  routes: ['api', 'model', 'ui', 'features', 'routes'],
};
const layers = Object.keys(may);

const direction = {
  meta: { type: 'problem', schema: [], messages: { wrong: '`{{from}}` may not import `{{to}}` (see console/README.md)' } },
  create(context) {
    const place = (path) => path.match(/\/src\/(\w+)\/([^/]+)/) ?? [];
    const [, from, folder] = place(context.filename);
    if (!layers.includes(from)) return {};
    const look = (node) => {
      const source = node.source?.value;
      if (typeof source !== 'string') return;
      const resolved = source.startsWith('@/')
        ? `/src/${source.slice(2)}/`
        : source.startsWith('.')
          ? new URL(source, `file://${context.filename}`).pathname + '/'
          : '';
      const [, to, target] = place(resolved);
      if (!layers.includes(to)) return;
      const own = from === 'features' && to === 'features' && folder === target;
      if (!own && !may[from].includes(to)) context.report({ node, messageId: 'wrong', data: { from, to } });
    };
    return { ImportDeclaration: look, ExportNamedDeclaration: look, ExportAllDeclaration: look, ImportExpression: look };
  },
};

export default tseslint.config(
  { ignores: ['built', 'node_modules', 'src/api/schema.d.ts'] },
  ...tseslint.configs.recommended,
  hooks.configs.flat.recommended,
  {
    files: ['src/**/*.{ts,tsx}', 'e2e/**/*.ts'],
    plugins: { console: { rules: { direction } } },
    rules: {
      'console/direction': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
      'no-console': 'error',
      // Raw markup never comes from data.
      'no-restricted-syntax': ['error', { selector: 'JSXAttribute[name.name="dangerouslySetInnerHTML"]', message: 'Draw elements; markup from data is unsafe.' }],
    },
  },
);
