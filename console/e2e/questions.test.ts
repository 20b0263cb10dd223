/** Questions that are answered in the inbox itself: more budget, and a choice. */
import { expect, it } from 'vitest';
import type { InboxItem } from '../src/api/types';
import { agents, put, start, team } from './run-world';
import { axe, decide, eachTest, getRun, page, ready, server, shot, signIn, until, waits } from './world';

eachTest();

const usage = { calls: 1, input_tokens: 100, output_tokens: 20, cost_micros: 0 };

/** A run whose agent has used up what its step may use. */
async function dear(name: string): Promise<string> {
  const step = agents('Draft', 'dear.yaml', team('Writer'), { artifacts: [{ name: 'draft', format: 'md' }], approve: true });
  Object.assign(step.execution, { budget: { tokens: 100 } });
  const write = { tool: 'file_operations', input: { operation: 'write', path: 'draft.md', content: '# Draft\n' } };
  const pipeline = await put(server, name, [step], { answers: { 'dear.yaml': { turns: [{ when: { turn: 1 }, call: [write], usage }], default: { say: 'Done.', usage } } } });
  const run = await start(server, pipeline);
  await waits(server, run, 'budget');
  return run;
}

const question = () => page.getByRole('region', { name: 'Selected question' });

it('raises a budget that is used up, and says what is spent', async () => {
  const run = await dear('Dear draft');
  await signIn(page, server, '/inbox');
  await question().getByText(/120 tokens of 100 tokens/).first().waitFor();
  await question().getByText('Nothing is paid twice.', { exact: false }).waitFor();
  expect(await axe(page)).toEqual([]);
  await shot(page, 'inbox-budget');
  // What is no amount is refused where it is written.
  await question().getByLabel('Raise by, tokens').fill('much');
  await question().getByRole('button', { name: 'Raise the budget' }).click();
  await question().getByText('Write an amount like 2.50.').first().waitFor();
  expect((await getRun(server, run)).current_execution?.waiting_for?.kind).toBe('budget');
  await question().getByLabel('Raise by, tokens').fill('1000');
  await (await ready('Raise the budget')).click();
  await page.getByText('Raised the budget of Draft').waitFor();
  const { waiting } = await waits(server, run, 'approve_complete');
  expect(waiting.kind).toBe('approve_complete');
});

it('stops the work instead, when it is not worth more', async () => {
  const run = await dear('Not worth it');
  await signIn(page, server, '/inbox');
  await question().getByText('Not worth it').waitFor();
  await (await ready('Stop the work')).click();
  await page.getByText('Stopped Draft').waitFor();
  await until('the work has stopped', async () => (await getRun(server, run)).current_execution?.waiting_for?.kind !== 'budget');
  expect((await getRun(server, run)).status).toBe('paused');
});

it('lets one of several ways be picked, by a key', async () => {
  // Only plans with a fork ask this, so the question is put into the server's answer.
  const run = await dear('With a fork');
  const { run: at } = await waits(server, run, 'budget');
  const asked: InboxItem = {
    run_id: run,
    run_version: at.run_version,
    pipeline_name: 'With a fork',
    checkpoint_name: 'Which way',
    waiting_for: { kind: 'choice', gate_id: 'gate-1', question: 'Which market comes first?', options: ['North', 'South', 'Stop here'], actions: ['answer'], since: new Date().toISOString(), who: { role: 'approver' }, digest: 'sha256:00', assurance: { minimum: 'local' } },
  };
  const answers: unknown[] = [];
  await page.route('**/api/inbox?*', (route) => route.fulfill({ json: { items: answers.length === 0 ? [asked] : [], next_cursor: null } }));
  await page.route('**/api/gates/gate-1/answer', (route) => {
    answers.push(route.request().postDataJSON());
    return route.fulfill({ json: {} });
  });
  await signIn(page, server, '/inbox');
  await question().getByRole('heading', { name: 'Which market comes first?' }).waitFor();
  await question().getByText('The run continues along what you pick.').waitFor();
  await question().getByRole('button', { name: 'North' }).waitFor();
  expect(await axe(page)).toEqual([]);
  await shot(page, 'inbox-choice');
  await decide('2', 'South');
  await page.getByText('Picked South').waitFor();
  expect(answers).toEqual([{ option: 'South', digest: 'sha256:00' }]);
  await page.getByText('Nothing waits for you').first().waitFor();
});
