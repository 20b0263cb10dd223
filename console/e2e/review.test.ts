/** Review in a real browser, on the real program: forms, approvals, revisions, edits, and what others decide meanwhile. */
import { expect, it } from 'vitest';
import { agents, put, script, start, team } from './run-world';
import { axe, decide, eachTest, getRun, openPage, page, press, PHONE, ready, reopen, seedForm, seedPipeline, seedReview, seedRun, seedToken, server, shot, signIn, until, waits } from './world';

type Page = Awaited<ReturnType<typeof openPage>>;
interface Execution {
  status: string;
  revision_iteration: number;
  waiting_for?: { kind: string; digest?: string } | null;
  artifacts_generated: { artifact_record_id: string; artifact_name: string }[];
}

eachTest();

const execution = (id: string) => server.api<Execution>('GET', `/api/executions/${id}`);
const decision = (on: Page = page) => on.getByRole('region', { name: 'Decision', exact: true });
const review = (id: string, more = '') => `/review/${id}${more}`;

it('slice 7: a form says what is wrong beside each field, and is sent when it is right', async () => {
  const { execution: id, run } = await seedForm(server, 'Goals of the quarter');
  await signIn(page, server, review(id));
  await page.getByRole('heading', { name: '“Goals” has a form to fill in.' }).waitFor();
  await page.getByLabel('Weeks').fill('99');
  await decide('Control+Enter', /^Send Goals/);
  await page.getByText('Goal is required.').waitFor();
  await page.getByText(/Weeks does not satisfy/).waitFor();
  await page.getByText('The form was not sent: 2 fields have to be put right.').waitFor();
  // The first wrong field has the cursor.
  expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('TEXTAREA');
  expect(await axe(page)).toEqual([]);
  await shot(page, 'review-form');
  await page.getByLabel(/^Goal/).fill('Fewer late parcels');
  await page.getByText('Goal is required.').waitFor({ state: 'detached' });
  await page.getByText('The form was not sent: 1 field has to be put right.').waitFor();
  await page.getByLabel('Weeks').fill('6');
  await (await ready(/^Send Goals/)).click();
  await page.getByText('Filled in Goals').waitFor();
  // What was filled in stands there to be approved, in the same place.
  await page.getByRole('heading', { name: 'Is the result of “Goals” good?' }).waitFor();
  await page.getByText('"Fewer late parcels"').waitFor();
  // Nothing is chosen on a question that comes after a decision.
  await page.getByText('Choose what to do first.').waitFor();
  await press('a', page.getByRole('button', { name: /^Approve revision 1/ }));
  await (await ready(/^Approve revision 1/)).click();
  await page.getByText('Approved Goals, revision 1').waitFor();
  // The next question of the same run: whether the plan may begin, with the goals to read.
  await press('a', page.getByRole('button', { name: /^Start Plan/ }));
  await page.getByText('"Fewer late parcels"').waitFor();
  await (await ready(/^Start Plan/)).click();
  await page.getByLabel(/^Steps/).fill('1. Measure');
  await page.getByRole('region', { name: 'For reference' }).getByText('"Fewer late parcels"').waitFor();
  await decide('Control+Enter', /^Send Plan/);
  await press('a', page.getByRole('button', { name: /^Approve revision 1/ }));
  await decide('Control+Enter', /^Approve revision 1/);
  await page.getByLabel(/^Done/).fill('All of it');
  await page.getByLabel(/^Satisfied/).selectOption('true');
  await (await ready(/^Send Report/)).click();
  await until('the run is done', async () => (await getRun(server, run.run_id)).status === 'completed');
});

it('slice 7: a form takes a file, and an approval to start can be refused', async () => {
  const pipeline = await seedPipeline(server, 'first-pipeline.yaml', 'With a file');
  const [goals] = pipeline.checkpoints;
  await server.api('PUT', `/api/checkpoints/${goals?.checkpoint_id}`, {
    execution: {
      mode: 'human_only',
      human_only_config: {
        instructions: 'Bring the figures.',
        input_fields: [
          { name: 'figures', type: 'file', label: 'Figures', required: true },
          { name: 'sure', type: 'boolean', label: 'Sure', required: false },
          { name: 'note', type: 'text', label: 'Note', required: false },
        ],
        save_as_artifact: true,
        artifact_name: 'goals',
        artifact_format: 'json',
      },
      retry_config: { max_auto_retries: 0, on_failure: 'pause_pipeline' },
      timeout_config: { enabled: false },
    },
    human_interaction: { requires_approval_to_start: true, requires_approval_to_complete: true, max_revision_iterations: 1 },
  });
  const run = await seedRun(server, pipeline.pipeline_id);
  const { execution: started } = await waits(server, run.run_id, 'approve_start');
  await signIn(page, server, review(started.execution_id));
  await page.getByRole('button', { name: /^Start Goals/ }).waitFor();
  await press('x', page.getByText('Say why.'));
  await press('a', page.getByRole('button', { name: /^Start Goals/ }));
  await decide('Control+Enter', /^Start Goals/);
  await (await ready(/^Send Goals/)).click();
  await page.getByText('Figures is required.').waitFor();
  await page.getByLabel(/^Figures/).setInputFiles({ name: 'figures.csv', mimeType: 'text/csv', buffer: Buffer.from('lane,rate\nMalmö,6.8\nOslo,7.1\n') });
  await (await ready(/^Send Goals/)).click();
  await page.getByRole('button', { name: '2 artifacts' }).click();
  await page.getByRole('menuitem', { name: 'figures.csv' }).click();
  await page.getByRole('cell', { name: 'Malmö' }).waitFor();
  await shot(page, 'review-csv');
});

it('slice 8: a waiting question is there after the browser was closed and opened again', async () => {
  const { execution: id } = await seedReview(server, 'Closed meanwhile', false);
  await signIn(page, server, review(id));
  await page.getByRole('button', { name: /^Approve revision 1/ }).waitFor();
  const address = page.url();
  await reopen();
  await page.goto(address);
  await page.getByRole('button', { name: /^Approve revision 1/ }).waitFor();
  await page.getByText('Plan for the first release').first().waitFor();
});

it('slice 7: asks for a revision with a comment on a line, and shows what it changed', async () => {
  const { execution: id } = await seedReview(server, 'Quarterly market brief', false);
  await signIn(page, server, review(id));
  await page.getByRole('heading', { name: 'Plan for the first release' }).waitFor();
  await press('2', page.getByRole('region', { name: 'Text of plan.md' }));
  await page.getByText('3. Week 5: try the installer on fresh machines.').hover();
  await page.keyboard.press('c');
  await page.getByLabel('Comment on line 5').fill('Who watches?');
  await page.keyboard.press('Control+Enter');
  await page.getByText('not sent yet').waitFor();
  await page.getByRole('button', { name: /^Ask for revision 2, 1 comment/ }).waitFor();
  await page.getByLabel('What should change').fill('Say who watches the installs.');
  await decide('Control+Enter', /^Ask for revision 2/);
  await page.getByText('Asked for revision 2 of Plan').waitFor();
  await until('the second revision', async () => (await execution(id)).revision_iteration === 1 && (await execution(id)).waiting_for);
  await page.goto(server.url + review(id));
  // Both versions beside each other: what went, what came, and the comment between them.
  const changes = page.getByRole('region', { name: 'Changes of plan.md' });
  await changes.locator('del').first().waitFor();
  await changes.locator('ins').first().waitFor();
  await changes.getByText('Who watches?').waitFor();
  await changes.getByText(/on revision 1/).waitFor();
  await press('n', page.locator('[data-change="0"]:focus'));
  expect(await axe(page)).toEqual([]);
  await shot(page, 'review');
  await press('1', page.getByRole('region', { name: 'plan.md' }).getByRole('listitem').first());
  await press('3', changes);
});

it('edits and approves, and keeps both versions', async () => {
  const { execution: id, run } = await seedReview(server, 'Edited plan', false);
  await signIn(page, server, review(id));
  await page.getByRole('heading', { name: 'Plan for the first release' }).waitFor();
  await press('e', page.getByText('Change something first.'));
  const editor = page.getByLabel('Edit plan.md');
  await editor.click();
  await page.keyboard.press('Control+End');
  await page.keyboard.type('5. Week 7: rest.');
  await page.getByText('Edited, not sent yet').waitFor();
  await decision().getByText('Approves your edit of plan.md; edited from').waitFor();
  await shot(page, 'review-edit');
  await decide('Control+Enter', /^Approve with your changes/);
  await page.getByText('Changed and approved Plan').waitFor();
  expect((await getRun(server, run.run_id)).status).toBe('completed');
  const all = await server.api<{ items: { artifact_record_id: string; current: boolean }[] }>('GET', `/api/artifacts/list?execution_id=${id}&all=true`);
  expect(all.items.length).toBe(2);
  const now = all.items.find((one) => one.current);
  expect(await server.api<string>('GET', `/api/artifacts/${now?.artifact_record_id}/download`)).toContain('5. Week 7: rest.');
  await page.goto(server.url + review(id));
  await page.getByText('Nothing is asked here').waitFor();
  await page.getByRole('radio', { name: /Diff to before the edit/ }).waitFor();
});

it('lets nobody approve what has changed since it was shown', async () => {
  const { execution: id } = await seedReview(server, 'Changed meanwhile', false);
  const first = await execution(id);
  await signIn(page, server, review(id));
  await page.getByRole('button', { name: /^Approve revision 1/ }).waitFor();
  // The page keeps hearing the old content, as if the news had not come yet.
  await page.route(`**/api/executions/${id}`, (route) => route.fulfill({ json: first }));
  await server.api('POST', `/api/executions/${id}/reject`, { feedback: 'Name who watches.', digest: first.waiting_for?.digest });
  await until('the second revision', async () => (await execution(id)).revision_iteration === 1 && (await execution(id)).waiting_for);
  await decide('Control+Enter', /^Approve revision 1/);
  await page.getByText('The content has changed since it was shown. Nothing was decided.').waitFor();
  expect(await page.getByRole('button', { name: /^Approve/ }).count()).toBe(0);
  expect((await execution(id)).status).toBe('waiting_approval_to_complete');
  await shot(page, 'review-stale');
  await page.unroute(`**/api/executions/${id}`);
  await page.getByRole('button', { name: 'Show the new content' }).click();
  await decide('Control+Enter', /^Approve revision 2/);
  await until('it is done', async () => (await execution(id)).status === 'completed');
});

it('says who decided what, in another window, within a second', async () => {
  const { execution: id } = await seedReview(server, 'Two windows', false);
  const mara = await seedToken(server, 'Mara Lindqvist', 'approver');
  const other = await openPage();
  await signIn(page, server, review(id));
  await signIn(other, server, review(id), mara);
  for (const one of [page, other]) await one.getByRole('button', { name: /^Approve revision 1/ }).waitFor();
  await page.getByText(/^Live/).waitFor();
  await decide('Control+Enter', /^Approve revision 1/, other);
  await other.getByText('Approved Plan, revision 1').waitFor();
  await decision().getByText('Mara Lindqvist', { exact: true }).waitFor({ timeout: 1000 });
  await decision().getByText('The result of “Plan” was approved.').waitFor();
  // What was on the screen still stands, and nothing can be decided about it.
  expect(await page.getByRole('button', { name: /^Approve/ }).count()).toBe(0);
  await shot(page, 'review-moved');
  await page.getByRole('button', { name: 'Show how it stands now' }).click();
  await page.getByText('Nothing is asked here').waitFor();
  expect(other.complaints).toEqual([]);
  await other.context().close();
});

it('counts two needed approvals, and refuses who asked for it', async () => {
  const made = await seedPipeline(server, 'first-pipeline.yaml', 'Two people');
  const [goals] = made.checkpoints;
  await server.api('PUT', `/api/checkpoints/${goals?.checkpoint_id}`, { human_interaction: { requires_approval_to_start: false, requires_approval_to_complete: true, max_revision_iterations: 1, required_approvals: 2 } });
  const run = await seedRun(server, made.pipeline_id);
  const { execution: asked } = await waits(server, run.run_id, 'form');
  const jonas = await seedToken(server, 'Jonas Okafor', 'approver');
  const lena = await seedToken(server, 'Lena', 'approver');
  await server.api('POST', `/api/executions/${asked.execution_id}/submit`, { fields: { goal: 'Two of us' } });
  const { waiting } = await waits(server, run.run_id, 'approve_complete');
  await signIn(page, server, review(asked.execution_id));
  await page.getByText('You asked for it yourself.').waitFor();
  await server.api('POST', `/api/executions/${asked.execution_id}/approve-complete`, { digest: waiting.digest }, jonas);
  await decision().getByText('1 of 2, Jonas Okafor approved').waitFor();
  await shot(page, 'review-two');
  const other = await openPage();
  await signIn(other, server, review(asked.execution_id), lena);
  await decision(other).getByText('If you approve, the result counts and Plan comes next.').waitFor();
  await decide('Control+Enter', /^Approve revision 1/, other);
  await until('it is done', async () => (await execution(asked.execution_id)).status === 'completed');
  await other.context().close();
});

it('rejects with a reason, which gives up the run', async () => {
  const { execution: id, run } = await seedReview(server, 'Given up', false);
  await signIn(page, server, review(id));
  await page.getByRole('button', { name: /^Approve revision 1/ }).waitFor();
  // The run's name comes after its question.
  await page.getByText('Given up').filter({ visible: true }).first().waitFor();
  await press('x', page.getByText('Say why.'));
  await page.getByLabel('Why').fill('Not worth it.');
  await decide('Control+Enter', /^Reject, give up/);
  await page.getByText(/Rejected Plan, Given up v1 was given up/).waitFor();
  expect((await getRun(server, run.run_id)).status).toBe('aborted');
});

it('slice 10: compares with the same output of the run before', async () => {
  const { run } = await seedReview(server, 'Second time', false);
  const first = await waits(server, run.run_id, 'approve_complete');
  await server.api('POST', `/api/executions/${first.execution.execution_id}/approve-complete`, { digest: first.waiting.digest });
  const made = await server.api<{ pipeline_id: string }>('GET', `/api/runs/${run.run_id}`);
  const second = await seedRun(server, made.pipeline_id);
  const { execution: again } = await waits(server, second.run_id, 'approve_complete');
  await signIn(page, server, review(again.execution_id));
  await page.getByRole('radio', { name: 'Diff to v1' }).waitFor();
  // The same work in another run: what changed since then, or that nothing did.
  await press('4', page.getByRole('region', { name: 'Changes of plan.md' }));
  await page.getByText(/^Nothing changed\.$|^1 of \d+ changes?/).first().waitFor();
});

it('slice 17: says what a check complained about, and does the work again with what is written', async () => {
  const schema = { type: 'object', properties: { total: { type: 'integer' } }, required: ['total'] };
  const write = (content: string) => [{ tool: 'file_operations', input: { operation: 'write', path: 'sums.json', content } }];
  const validation = { enabled: true, validation_mode: 'llm_schema', schema_validation_strictness: 'strict', on_validation_failure: 'ask_human', max_validation_retries: 2 };
  const answers = { turns: [{ when: { contains: 'whole number', turn: 1 }, call: write('{"total": 12}') }, { when: { turn: 1 }, call: write('{"total": "many"}') }], default: { say: 'It is written.' } };
  const pipeline = await put(server, 'Sums', [agents('Sums', 'sums.yaml', team('Counter'), { artifacts: [{ name: 'sums', format: 'json', schema }], approve: true, validation })], { answers: { 'sums.yaml': answers } });
  const run = await start(server, pipeline);
  const { execution: asked } = await waits(server, run, 'guidance');
  await signIn(page, server, review(asked.execution_id));
  await page.getByRole('region', { name: 'Checks', exact: true }).getByText(/total/).first().waitFor();
  await page.getByText('"many"', { exact: true }).waitFor();
  await page.getByText('Write something first.').waitFor();
  await page.getByLabel(/^What should be done/).fill('The total is a whole number.');
  await shot(page, 'review-guidance');
  await decide('Control+Enter', /^Send, do Sums again/);
  await page.getByText('Answered Sums').waitFor();
  await waits(server, run, 'approve_complete');
  await page.goto(server.url + review(asked.execution_id));
  await page.getByText('12', { exact: true }).waitFor();
});

it('slice 17: tries a failed step again, and gives a script what it asks for', async () => {
  const code = 'def main(user_input=None):\n    if user_input == "no":\n        raise ValueError("nothing to count")\n    return {"said": user_input}\n';
  const step = script('Count', 'count.py', { artifacts: [{ name: 'said', format: 'json' }], approve: true });
  (step.execution as unknown as { script_config: object }).script_config = { script_path: 'count.py', requires_user_input: true, user_input_prompt: 'What should be counted?' };
  const pipeline = await put(server, 'Counting', [step], { scripts: { 'count.py': code } });
  const run = await start(server, pipeline);
  const { execution: asked } = await waits(server, run, 'script_input');
  await signIn(page, server, review(asked.execution_id));
  await page.getByLabel(/^Your answer/).fill('no');
  await (await ready(/^Send to the script/)).click();
  await page.getByText('Answered Count').waitFor();
  await until('it failed', async () => (await execution(asked.execution_id)).status === 'failed');
  await page.goto(server.url + review(asked.execution_id));
  await page.getByText(/nothing to count/).first().waitFor();
  await shot(page, 'review-failed');
  await (await ready(/^Try Count again/)).click();
  await page.getByText('Trying Count again').waitFor();
});

it('asks for more budget, and says what is spent', async () => {
  const usage = { calls: 1, input_tokens: 100, output_tokens: 20, cost_micros: 0 };
  const step = agents('Draft', 'draft-budget.yaml', team('Writer'), { artifacts: [{ name: 'draft', format: 'md' }], approve: true });
  (step.execution as unknown as { budget: object }).budget = { tokens: 100 };
  const write = { tool: 'file_operations', input: { operation: 'write', path: 'draft.md', content: '# Draft\n' } };
  const pipeline = await put(server, 'Dear draft', [step], { answers: { 'draft-budget.yaml': { turns: [{ when: { turn: 1 }, call: [write], usage }], default: { say: 'Done.', usage } } } });
  const run = await start(server, pipeline);
  const { execution: asked } = await waits(server, run, 'budget');
  await signIn(page, server, review(asked.execution_id));
  await decision().getByText(/120 tokens of 100 tokens/).waitFor();
  await page.getByLabel(/^Raise by/).fill('much');
  await page.getByText('Write an amount like 2.50.').waitFor();
  await page.getByLabel(/^Raise by/).fill('1000');
  await shot(page, 'review-budget');
  await (await ready(/^Raise the budget by 1000 tokens/)).click();
  await page.getByText('Raised the budget of Draft').waitFor();
  await waits(server, run, 'approve_complete');
});

it('works on a phone: two buttons within reach, and the rest in a sheet', async () => {
  const { execution: id } = await seedReview(server, 'On the train', true);
  await page.setViewportSize(PHONE);
  await signIn(page, server, review(id));
  const approve = page.getByRole('button', { name: 'Approve', exact: true });
  await approve.waitFor();
  expect((await approve.boundingBox())?.height).toBe(46);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(PHONE.width);
  expect(await axe(page)).toEqual([]);
  await approve.and(page.locator(':not([aria-disabled=true])')).click();
  await (await ready('Approve revision 2')).click();
  await page.getByText('Approved Plan, revision 2').waitFor();
  await until('it is done', async () => (await execution(id)).status === 'completed');
});
