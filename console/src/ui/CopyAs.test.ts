import { expect, it } from 'vitest';
import { curl } from './CopyAs';

it('writes a request that a shell carries out as it stands, without the token', () => {
  const text = curl({ method: 'POST', path: '/api/executions/x/reject', body: { feedback: "it's 9" } }, 'http://127.0.0.1:4180');
  expect(text).toBe(
    [
      `curl -X POST 'http://127.0.0.1:4180/api/executions/x/reject' \\`,
      `  -H "Authorization: Bearer $HOLDPOINT_TOKEN" \\`,
      `  -H 'Content-Type: application/json' \\`,
      `  -d '{"feedback":"it'\\''s 9"}'`,
    ].join('\n'),
  );
});
