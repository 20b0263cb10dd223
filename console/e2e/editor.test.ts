/** The pipeline editor in a real browser, on the real program. */
import { expect, it } from 'vitest';
import { axe, eachTest, page, PHONE, seedPipeline, seedReview, seedRun, seedToken, server, shot, SHOTS, signIn, until } from './world';

interface Pipeline {
  pipeline_id: string;
  pipeline_name: string;
  pipeline_description: string | null;
  pipeline_definition_version: number;
  config: { auto_advance: boolean; budgets?: { run?: { cost_usd?: number } } };
  checkpoints: { checkpoint_id: string; checkpoint_name: string; checkpoint_description: string; execution: Record<string, unknown>; output: { artifacts: { name: string; schema?: unknown }[] }; inputs: { include_checkpoint_outputs: { checkpoint_id: string }[] }; human_interaction: Record<string, unknown> }[];
}

eachTest();

const get = (id: string) => server.api<Pipeline>('GET', `/api/pipelines/${id}`);
const names = async (id: string) => (await get(id)).checkpoints.map((one) => one.checkpoint_name);
const open = (id: string, query = '') => signIn(page, server, `/pipelines/${id}/edit${query}`);
const list = () => page.getByRole('list', { name: 'Checkpoints' });
const field = (name: string | RegExp) => page.locator('[data-at]').getByLabel(name, { exact: true });
const file = () => page.getByRole('region', { name: 'File' });
const save = () => page.getByRole('button', { name: /^Save/ });
const saved = () => page.getByText('All is saved').waitFor();

async function fresh(name: string): Promise<string> {
  return (await server.api<Pipeline>('POST', '/api/pipelines', { pipeline_name: name })).pipeline_id;
}
async function add(what: 'Agents do it' | 'A script does it' | 'A person does it'): Promise<void> {
  await page.getByRole('button', { name: /^Add$/ }).click();
  await page.getByRole('menuitem', { name: what }).click();
}

/** Writes into a code editor as somebody who selects all and types. */
async function write(region: string, text: string): Promise<void> {
  await page.getByRole('region', { name: region }).locator('.cm-content').click();
  await page.keyboard.press('Control+a');
  await page.keyboard.insertText(text);
}

it('slice 3: the name, the description and the settings of a pipeline are edited', async () => {
  const id = await fresh('Draft of a name');
  await open(id, '?checkpoint=pipeline');
  await field('Name').fill('A better name');
  await field('What it is for').fill('To be edited.');
  await field('Goes on by itself').click();
  await page.getByRole('group', { name: 'By each run' }).getByRole('switch').click();
  await field('Dollars').fill('2.5');
  await save().click();
  await saved();
  const now = await get(id);
  expect([now.pipeline_name, now.pipeline_description, now.config]).toEqual(['A better name', 'To be edited.', { auto_advance: true, budgets: { run: { cost_usd: 2.5 } } }]);
});

it('slices 4 and 13: checkpoints of all three modes are added, with what is missing said at its field', async () => {
  const id = await fresh('Three modes');
  await open(id);
  await page.getByText('No checkpoints yet').waitFor();
  // A person, with a field that is tried on the server.
  await page.keyboard.press('n');
  await page.getByRole('menuitem', { name: 'A person does it' }).click();
  await field('Name').first().fill('Scope');
  await field('Instructions').fill('Say what is wanted.');
  await page.getByRole('button', { name: 'Add a field' }).click();
  await page.getByRole('region', { name: 'Form' }).getByLabel('Label').fill('Weeks');
  await page.getByRole('region', { name: 'Form' }).getByLabel('Type').selectOption('number');
  await field('Rule').fill('value >');
  await page.getByRole('button', { name: /1 thing to fix/ }).waitFor();
  await page.locator('[data-at$="/validation"]').locator('.text-fail').waitFor();
  await file().locator('.cm-mark-wrong').first().waitFor();
  await field('Rule').fill('value > 0 && value <= 52');
  await until('nothing is to fix', async () => (await page.getByText(/to fix/).count()) === 0);
  await page.getByRole('button', { name: 'Try the form' }).click();
  const trial = page.getByRole('dialog', { name: 'Try the form' });
  await trial.getByLabel(/^Weeks/).fill('53');
  await trial.getByRole('button', { name: 'Ask the server' }).click();
  await trial.locator('p.text-fail').waitFor();
  await trial.getByLabel(/^Weeks/).fill('4');
  await trial.getByRole('button', { name: 'Ask the server' }).click();
  await trial.getByText('The server takes these answers.').waitFor();
  expect(await axe(page)).toEqual([]);
  await page.keyboard.press('Escape');
  // A script.
  await add('A script does it');
  await page.getByText('Name the script').waitFor();
  await field('Script').fill('../analyse.py');
  await field('Task').fill('Count.');
  await page.getByText(/without `\.\.`/).waitFor();
  await field('Script').fill('analyse.py');
  await write('Script', '{"days": 7}');
  await page.getByRole('button', { name: 'Add an output' }).click();
  await page.getByRole('region', { name: 'Makes' }).getByLabel('Name').fill('figures');
  await page.getByRole('region', { name: 'Makes' }).getByLabel('Format').selectOption('json');
  await write('Makes', '{"type": "object"');
  await page.getByText(/This is no JSON yet/).first().waitFor();
  await write('Makes', '{"type": "object", "properties": {"total": {"type": "integer"}}}');
  // Agents that read it.
  await add('Agents do it');
  await field('Task').fill('Write the brief.');
  await page.getByRole('group', { name: 'Team' }).getByText('Named').click();
  await page.getByText('Say what Agent does: agents that talk need a role.').first().waitFor();
  await page.getByRole('button', { name: /1 thing to fix/ }).click();
  await page.getByRole('button', { name: /agents that talk need a role/ }).click();
  await until('the cursor is in the field', () => page.evaluate(() => document.activeElement?.closest('[data-at]')?.getAttribute('data-at')?.endsWith('/role') ?? false));
  await page.keyboard.type('writes');
  await page.getByRole('button', { name: 'Add an agent' }).click();
  await page.getByRole('region', { name: 'Agents' }).getByLabel('Role').fill('doubts');
  await page.getByRole('group', { name: 'They talk' }).getByText('As a council').click();
  await field('Turns, at most').fill('24');
  await page.getByRole('button', { name: 'Files' }).click();
  await page.getByRole('button', { name: 'Read an earlier checkpoint' }).click();
  await field('Model').fill('script/team.yaml');
  await page.getByRole('switch', { name: 'before it counts as done' }).click();
  await save().click();
  await saved();
  const { checkpoints } = await get(id);
  expect(checkpoints.map((one) => [one.checkpoint_name, one.execution.mode])).toEqual([
    ['Scope', 'human_only'],
    ['Script', 'script'],
    ['Agents', 'agentic'],
  ]);
  expect(checkpoints[0]?.execution).toMatchObject({ human_only_config: { instructions: 'Say what is wanted.', input_fields: [{ label: 'Weeks', type: 'number', validation: 'value > 0 && value <= 52' }] } });
  expect(checkpoints[1]?.execution).toMatchObject({ script_config: { script_path: 'analyse.py', parameters: { days: 7 } } });
  expect(checkpoints[1]?.output.artifacts).toMatchObject([{ name: 'figures', schema: { type: 'object' } }]);
  expect(checkpoints[2]?.execution).toMatchObject({ agent_config: { creation_mode: 'predefined', discussion_mode: 'council', max_turns: 24, tools: ['file_operations'], model: 'script/team.yaml', agents: [{ role: 'writes' }, { role: 'doubts' }] } });
  expect(checkpoints[2]?.inputs.include_checkpoint_outputs).toMatchObject([{ checkpoint_id: checkpoints[1]?.checkpoint_id }]);
  expect(await axe(page)).toEqual([]);
  await shot(page, 'editor');
});

it('slices 14 and 15: agents are named, made by a meta-agent, or one alone, and no field of another way is left', async () => {
  const { pipeline } = await seedReview(server, 'Ways of teams', false);
  await open(pipeline.pipeline_id);
  const team = page.getByRole('group', { name: 'Team' });
  await team.getByText('Made by a meta-agent').click();
  await page.getByText('Say what team is wanted.').waitFor();
  await field('Wanted team').fill('Three people who know the market.');
  await field('Agents, at most').fill('3');
  await field('Turns, at most').fill('');
  await page.getByText(/`max_turns` is required/i).waitFor();
  await field('Turns, at most').fill('9');
  await page.getByRole('button', { name: 'Try this checkpoint' }).click();
  const look = page.getByRole('dialog');
  const came = look.getByRole('region', { name: 'What came of it' });
  await came.getByText('It completes.').waitFor();
  // Everything is made up at first: the agents that the meta-agent would make, and what they would be told.
  await look.getByText(/is told/).first().click();
  await came.getByText(/=== YOUR TASK ===/).first().waitFor();
  expect(await axe(page)).toEqual([]);
  await shot(page, 'editor-try');
  // What is written for it is taken instead, and checked as in earnest.
  const output = look.getByRole('textbox').first();
  await output.fill('# Written by hand');
  await look.getByRole('button', { name: 'Try it' }).click();
  await came.getByText('# Written by hand').waitFor();
  await page.keyboard.press('Escape');
  expect((await server.api<{ items: unknown[] }>('GET', '/api/pipelines?deleted=true')).items).toEqual([]);
  // Content may change while a run goes; the order may not.
  await save().click();
  await saved();
  expect((await get(pipeline.pipeline_id)).checkpoints[0]?.execution.agent_config).toMatchObject({ creation_mode: 'meta_agent', max_agents: 3, max_turns: 9 });
  await team.getByText('One agent').click();
  await save().click();
  await saved();
  expect(Object.keys((await get(pipeline.pipeline_id)).checkpoints[0]?.execution.agent_config as object)).not.toContain('max_agents');
});

it('slice 5: checkpoints are put in order by dragging and by keys, and removed', async () => {
  const { pipeline_id: id } = await seedPipeline(server, 'first-pipeline.yaml', 'To be sorted');
  await open(id);
  const grip = page.getByRole('button', { name: 'Move Goals', exact: true });
  // Goals and Plan read each other in this order, so the free one is moved.
  const from = await page.getByRole('button', { name: 'Move Report', exact: true }).boundingBox();
  const onto = await grip.boundingBox();
  if (!from || !onto) throw new Error('no grips');
  await page.mouse.move(from.x + 12, from.y + 12);
  await page.mouse.down();
  await page.mouse.move(from.x + 12, from.y - 20, { steps: 4 });
  await page.mouse.move(onto.x + 12, onto.y + 8, { steps: 8 });
  await page.screenshot({ path: `${SHOTS}/editor-drag.png` });
  await page.mouse.move(onto.x + 12, onto.y + 10, { steps: 2 });
  await page.mouse.up();
  await until('Report is first', async () => /^1\s*Report/.test((await list().getByRole('listitem').first().innerText()).trim()));
  // Report reads Plan, which comes later now: the server says so, at the field and in the list.
  await page.getByText(/comes later, so its outputs cannot be read here/i).first().waitFor();
  await list().getByRole('button', { name: /Report.*something to fix/ }).click();
  await page.getByRole('button', { name: 'Read it no more' }).click();
  await until('nothing is to fix', async () => (await page.getByText(/to fix/).count()) === 0);
  await page.keyboard.press('Control+s');
  await saved();
  expect(await names(id)).toEqual(['Report', 'Goals', 'Plan']);
  // By keys, with its place said.
  await page.locator('main').press('Alt+ArrowDown');
  await page.getByText('Report, position 2 of 3').waitFor({ state: 'attached' });
  await page.keyboard.press('Alt+ArrowDown');
  await page.getByText('Report, position 3 of 3').waitFor({ state: 'attached' });
  await page.keyboard.press('Control+z');
  await page.keyboard.press('Control+z');
  await saved();
  // Removed, with what refers to it.
  await list().getByRole('button', { name: /Goals/ }).first().click();
  await page.getByRole('button', { name: 'Remove Goals' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove Goals' }).click();
  await save().click();
  await saved();
  expect(await names(id)).toEqual(['Report', 'Plan']);
});

it('slice 5: a new order after runs is loudly warned of, and refused while one is active', async () => {
  const { pipeline_id: id } = await seedPipeline(server, 'report/report.yaml', 'With runs');
  const run = await seedRun(server, id);
  await until('a run that has ended or waits', async () => (await server.api<{ status: string }>('GET', `/api/runs/${run.run_id}`)).status !== 'not_started');
  await open(id);
  await list().getByRole('button', { name: /Report/ }).first().click();
  await add('A person does it');
  await field('Name').first().fill('Word');
  const warning = page.getByRole('alert').filter({ hasText: 'Runs are active' });
  await warning.getByRole('link', { name: `run ${run.run_id.slice(-8)}` }).waitFor();
  expect(await save().getAttribute('aria-disabled')).toBe('true');
  expect(await axe(page)).toEqual([]);
  await server.api('POST', `/api/runs/${run.run_id}/abort`, {});
  const loud = page.getByRole('alert').filter({ hasText: 'new numbers' });
  await loud.getByText('starts again at v1', { exact: false }).waitFor();
  await shot(page, 'editor-warning');
  await save().click();
  const dialog = page.getByRole('dialog', { name: 'Start again at v1?' });
  await dialog.getByText('The next run is v1 and extends nothing.').waitFor();
  expect((await names(id)).length).toBe(2);
  await dialog.getByRole('button', { name: /start at v1$/ }).click();
  await saved();
  expect(await names(id)).toEqual(['Figures', 'Report', 'Word']);
  expect((await seedRun(server, id)).run_version).toBe(1);
});

it('slice 2: the file beside the form says the same, and either can be written', async () => {
  const { pipeline_id: id } = await seedPipeline(server, 'first-pipeline.yaml', 'Both ways');
  await open(id);
  const text = file().locator('.cm-content');
  await text.getByText('checkpoint_description: What is wanted, and by when.').waitFor();
  await file().getByText(/… \d+ lines/).first().waitFor();
  await field('What it is for').fill('Goals, in short.');
  await file().locator('.cm-mark-focus').getByText('Goals, in short.').waitFor();
  // From the file to the form.
  await text.getByText('checkpoint_name: Goals').click();
  await page.keyboard.press('End');
  await page.keyboard.type(' of all');
  await page.getByRole('heading', { level: 2, name: 'Goals of all' }).waitFor();
  await page.keyboard.type(': [');
  await file().locator('p.text-fail').waitFor();
  expect(await save().getAttribute('aria-disabled')).toBe('true');
  await page.keyboard.press('Backspace');
  await page.keyboard.press('Backspace');
  await page.keyboard.press('Backspace');
  await until('it can be read', async () => (await file().locator('p.text-fail').count()) === 0);
  await page.getByLabel('Format of the file').getByText('JSON').click();
  await file().getByText('"checkpoint_name"').first().waitFor();
  await page.getByRole('button', { name: 'Compare with what is saved' }).click();
  await page.getByRole('dialog').getByText('Goals of all').first().waitFor();
  expect(await axe(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await save().click();
  await saved();
  expect((await get(id)).checkpoints.map((one) => [one.checkpoint_name, one.checkpoint_description])[0]).toEqual(['Goals of all', 'Goals, in short.']);
});

it('asks before what is not saved is lost, and takes steps back', async () => {
  const { pipeline_id: id } = await seedPipeline(server, 'first-pipeline.yaml', 'Not saved');
  await open(id);
  await field('What it is for').fill('Something else.');
  await page.getByText(/1 change not saved: Goals/).waitFor();
  await page.getByRole('link', { name: 'Inbox' }).click();
  const leave = page.getByRole('dialog', { name: 'Leave without saving?' });
  await leave.getByRole('button', { name: 'Cancel' }).click();
  await field('What it is for').waitFor();
  await page.keyboard.press('Control+z');
  await saved();
  expect(await field('What it is for').inputValue()).toBe('What is wanted, and by when.');
  await page.keyboard.press('Control+Shift+z');
  await page.getByText(/1 change not saved/).waitFor();
  await page.getByRole('button', { name: 'Discard' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Discard 1 change' }).click();
  await saved();
});

it('says so when somebody else changed it, and what the server found worth knowing', async () => {
  const { pipeline_id: id, checkpoints } = await seedPipeline(server, 'first-pipeline.yaml', 'Two editors');
  await open(id);
  await field('What it is for').fill('Mine.');
  await server.api('PUT', `/api/checkpoints/${checkpoints[1]?.checkpoint_id}`, { human_interaction: { requires_approval_to_start: true, requires_approval_to_complete: true, max_revision_iterations: 3, approvers: ['ann', 'bob'], required_approvals: 2 } });
  await page.getByText('Somebody changed this definition meanwhile.', { exact: false }).waitFor();
  await page.getByRole('button', { name: 'Take theirs' }).click();
  await list().getByRole('button', { name: /Plan/ }).first().click();
  await page.getByText('all named approvers must agree', { exact: false }).waitFor();
  await page.getByText('ann', { exact: true }).waitFor();
});

it('is a graph as well, with a table as its twin, walked by keys', async () => {
  const { pipeline_id: id } = await seedPipeline(server, 'first-pipeline.yaml', 'As a graph');
  await open(id, '?view=graph');
  const graph = page.getByRole('region', { name: 'Graph of As a graph' });
  const node = graph.getByRole('button', { name: /Plan/ });
  await node.waitFor();
  await graph.getByRole('button', { name: /Goals/ }).focus();
  await page.keyboard.press('l');
  await until('Plan is chosen', async () => (await node.getAttribute('aria-pressed')) === 'true');
  expect(await axe(page)).toEqual([]);
  await shot(page, 'editor-graph');
  await page.keyboard.press('v');
  await page.getByRole('cell', { name: /Goals \(then\)/ }).first().waitFor();
  expect(await axe(page)).toEqual([]);
});

it('shows everything to those who may change nothing, and fits a phone', async () => {
  const { pipeline_id: id } = await seedPipeline(server, 'team/team.yaml', 'To be read');
  const viewer = await seedToken(server, 'Vera', 'viewer');
  await page.setViewportSize(PHONE);
  await signIn(page, server, `/pipelines/${id}/edit`, viewer);
  await list().getByRole('button', { name: /Plan/ }).first().click();
  await page.getByText('Your role is viewer; changing a definition needs admin.').first().waitFor();
  expect(await field('Task').isDisabled()).toBe(true);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(PHONE.width);
  expect(await axe(page)).toEqual([]);
  await page.getByLabel('Pane').getByText('File').click();
  await file().getByText('discussion_mode').first().waitFor();
  expect(await axe(page)).toEqual([]);
});

