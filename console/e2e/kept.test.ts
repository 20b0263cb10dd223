/** Nothing that was written is lost, nothing is done twice, and what others do meanwhile is said, in a real browser. */
import { expect, it } from 'vitest';
import { form, put, start } from './run-world';
import { decide, eachTest, getRun, page, seedForm, seedPipeline, seedReview, seedToken, server, signIn, until, waits } from './world';

eachTest();

const text = (name: string | RegExp) => page.getByRole('textbox', { name });
const execution = (id: string) => server.api<{ revision_iteration: number; status: string; waiting_for?: { digest?: string } | null }>('GET', `/api/executions/${id}`);

/** Two runs of one pipeline, each waiting for its form. */
async function twoForms(name: string) {
  const pipeline = await put(server, name, [form('Scope')]);
  const found = [];
  for (let at = 0; at < 2; at += 1) {
    const run = await start(server, pipeline);
    found.push({ run, execution: (await waits(server, run, 'form')).execution.execution_id });
  }
  return found as [(typeof found)[0], (typeof found)[0]];
}

it('slice 5: the review of another question shows that question, by keys and by the browser’s own buttons', async () => {
  const [first, second] = await twoForms('One after another');
  await signIn(page, server, `/review/${first.execution}`);
  const version = (of: string) => page.getByRole('heading', { level: 1 }).filter({ hasText: of }).or(page.getByRole('main').getByText(of, { exact: true })).first();
  await version('v1').waitFor();
  await text('goal').fill('for the first');
  await page.goto(`${server.url}/review/${second.execution}`);
  await version('v2').waitFor();
  expect(await text('goal').inputValue()).toBe('');
  await text('goal').fill('for the second');
  await page.goBack();
  await version('v1').waitFor();
  await until('the first one’s words', async () => (await text('goal').inputValue()) === 'for the first');
  // Within the page, without loading it anew.
  await text('goal').blur();
  await page.keyboard.press('k');
  await page.waitForURL(`**/review/${second.execution}*`);
  await until('the second one’s words', async () => (await text('goal').inputValue()) === 'for the second');
  expect(await page.getByText('This is not asked any more.').count()).toBe(0);
});

it('slice 5: a half-filled form is there after a reload', async () => {
  const { execution: id } = await seedForm(server, 'Half filled');
  await signIn(page, server, `/review/${id}`);
  const field = page.getByRole('form', { name: 'Form' }).getByRole('textbox').first();
  await field.fill('Ship it');
  await page.reload();
  await until('what was written', async () => (await field.inputValue()) === 'Ship it');
});

it('slice 8: words for the record stay when the content changes', async () => {
  const { execution: id } = await seedReview(server, 'Words stay', false);
  await signIn(page, server, `/review/${id}`);
  await text('A word for the record').fill('Looks right to me.');
  const digest = (await execution(id)).waiting_for?.digest;
  await server.api('POST', `/api/executions/${id}/reject`, { feedback: 'Name who watches.', digest });
  await page.getByRole('button', { name: 'Show revision 2' }).click();
  await page.getByRole('button', { name: /^Approve revision 2/ }).waitFor();
  expect(await text('A word for the record').inputValue()).toBe('Looks right to me.');
});

it('slice 8: Ctrl+Enter decides from within the edited text', async () => {
  const { execution: id } = await seedReview(server, 'Edited by key', false);
  await signIn(page, server, `/review/${id}?do=edit`);
  const editor = page.locator('.cm-content').first();
  await editor.click();
  await page.keyboard.press('Control+End');
  await page.keyboard.type('5. Week 7: rest.');
  await decide('Control+Enter', /^Approve with your changes/);
  await page.getByText('Changed and approved Plan').waitFor();
  await until('it is done', async () => (await execution(id)).status === 'completed');
});

it('the inbox says who answered the selected question, before another one stands there', async () => {
  const [first, second] = await twoForms('Answered by others');
  const mara = await seedToken(server, 'Mara Lindqvist', 'approver');
  await signIn(page, server, '/inbox');
  await page.getByRole('link', { name: /[?.] Answered by others/ }).first().click();
  await until('a selected question', async () => new URL(page.url()).searchParams.has('item'));
  const item = new URL(page.url()).searchParams.get('item') ?? '';
  const shown = item.includes(first.execution) ? first : second;
  await server.api('POST', `/api/executions/${shown.execution}/submit`, { fields: { goal: 'Theirs' } }, mara);
  const pane = page.getByRole('status', { name: 'Selected question' });
  await pane.getByText('Mara Lindqvist', { exact: true }).waitFor();
  expect(new URL(page.url()).searchParams.get('item')).toBe(item);
  await page.keyboard.press('a');
  expect(new URL(page.url()).pathname).toBe('/inbox');
  await page.keyboard.press('j');
  await until('the next one', async () => ![null, item].includes(new URL(page.url()).searchParams.get('item')));
  await page.getByRole('region', { name: 'Selected question' }).waitFor();
  expect(await pane.count()).toBe(0);
});

it('slice 3: what somebody else saved is not replaced without a question', async () => {
  const { pipeline_id: id } = await seedPipeline(server, 'first-pipeline.yaml', 'Two editors at once');
  await signIn(page, server, `/pipelines/${id}/edit`);
  await text('What it is for').fill('Mine.');
  // The news of it does not come.
  await page.route('**/api/stream*', (route) => route.abort());
  const [one] = (await server.api<{ checkpoints: { checkpoint_id: string; checkpoint_description: string }[] }>('GET', `/api/pipelines/${id}`)).checkpoints;
  await server.api('PUT', `/api/checkpoints/${one?.checkpoint_id}`, { checkpoint_description: 'Theirs.' });
  const described = async () => (await server.api<{ checkpoint_description: string }>('GET', `/api/checkpoints/${one?.checkpoint_id}`)).checkpoint_description;
  await page.getByRole('button', { name: /^Save changes/ }).click();
  const ask = page.getByRole('dialog', { name: 'Replace what somebody else saved?' });
  await ask.waitFor();
  expect(await described()).toBe('Theirs.');
  await ask.getByRole('button', { name: 'Replace it with mine' }).click();
  await page.getByText('Saved Two editors at once').waitFor();
  expect(await described()).toBe('Mine.');
});

it('slice 3: text in the file that cannot be read is not left without a question', async () => {
  const { pipeline_id: id } = await seedPipeline(server, 'first-pipeline.yaml', 'Half a file');
  await signIn(page, server, `/pipelines/${id}/edit`);
  const file = page.getByRole('region', { name: 'File' }).locator('.cm-content');
  await file.click();
  await page.keyboard.press('Control+Home');
  await page.keyboard.type('{{ ');
  await page.getByText('What is written in the file is not saved').waitFor();
  // The form stands still, since it would write over the file.
  expect(await text('What it is for').isDisabled()).toBe(true);
  await page.getByRole('link', { name: 'Inbox' }).click();
  const leave = page.getByRole('dialog', { name: 'Leave without saving?' });
  await leave.getByText('cannot be read yet', { exact: false }).waitFor();
  await leave.getByRole('button', { name: 'Cancel' }).click();
  await page.getByText('What is written in the file is not saved').waitFor();
});

it('slice 6: two clicks start one run', async () => {
  const pipeline = await put(server, 'Clicked twice', [form('Scope')]);
  await signIn(page, server, `/pipelines/${pipeline.pipeline_id}`);
  await page.getByRole('button', { name: /^Start v1/ }).click();
  await page.getByRole('dialog').getByRole('button', { name: /^Start v1/ }).dblclick();
  await page.waitForURL('**/runs/*');
  expect((await server.api<{ items: unknown[] }>('GET', `/api/runs?pipeline_id=${pipeline.pipeline_id}`)).items.length).toBe(1);
});

it('slice 7: a pause that was asked for is said while somebody is waited for', async () => {
  const { run } = await seedForm(server, 'To be paused');
  await server.api('POST', `/api/runs/${run.run_id}/pause`, {});
  await signIn(page, server, `/runs/${run.run_id}`);
  await page.getByText('Waits for you, pauses after this step').filter({ visible: true }).first().waitFor();
  expect((await getRun(server, run.run_id)).status).toBe('in_progress');
});

it('slice 2: going back from a new pipeline does not ask for another one', async () => {
  await signIn(page, server, '/pipelines');
  await page.keyboard.press('n');
  const dialog = page.getByRole('dialog', { name: 'New pipeline' });
  await dialog.getByLabel(/^Name/).fill('Made once');
  await dialog.getByRole('button', { name: 'Make the pipeline' }).click();
  await page.waitForURL(/\/edit/);
  await page.getByRole('heading', { level: 1, name: /Made once/ }).waitFor();
  await page.goBack();
  await page.getByRole('heading', { level: 1, name: 'Pipelines' }).waitFor();
  expect(await dialog.count()).toBe(0);
});

it('slice 13: Escape leaves the field that finds, and not the page', async () => {
  const { run } = await seedReview(server, 'Finding things', false);
  await signIn(page, server, `/runs/${run.run_id}?tab=conversation`);
  const find = page.getByLabel('Find in the conversation');
  await find.fill('plan');
  await page.keyboard.press('Escape');
  expect(new URL(page.url()).pathname).toBe(`/runs/${run.run_id}`);
  expect(await find.inputValue()).toBe('plan');
});
