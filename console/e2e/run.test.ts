/** The page of a run and of its pipeline, in a real browser, on the real program. */
import { expect, it } from 'vitest';
import { agents, answerAll, brief, form, put, putScript, script, start } from './run-world';
import { axe, eachTest, getRun, openPage, page, PHONE, reopen, seedToken, server, shot, signIn, until, waits } from './world';

eachTest();

const tab = (name: string) => page.getByRole('tab', { name: new RegExp(`^${name}`) }).click();
const conversation = () => page.getByRole('region', { name: 'Conversation', exact: true });
const badge = (text: string | RegExp) => page.locator('header').getByText(text).first();

it('slice 14: shows a run that goes on: strip, timeline, steps, and who is writing', async () => {
  const { run } = await brief(server, 120_000);
  await signIn(page, server, `/runs/${run}`);
  const strip = page.getByRole('list', { name: 'Checkpoints' });
  await strip.getByText('3 agents, sequential').first().waitFor();
  const writing = conversation().locator('article', { hasText: /^\s*E?\s*Editor\s*writing/ });
  await writing.waitFor();
  // What is said grows while it is said.
  const text = () => conversation().locator('article').last().innerText();
  const before = await text();
  await until('more of the message', async () => (await text()).length > before.length);
  for (const name of ['Writer', 'Critic', 'Editor']) await conversation().getByText(name, { exact: true }).first().waitFor();
  await conversation().getByText('scripted').first().waitFor();
  await conversation().getByRole('button', { name: /write market_brief\.md/ }).first().click();
  await conversation().getByText(/wrote \d+ bytes/).waitFor();
  await conversation().getByRole('button', { name: /write market_brief\.md/ }).first().click();
  await badge('running').waitFor();
  await until('a row for each try', async () => (await page.getByRole('list', { name: 'Tries and revisions' }).getByRole('button').count()) === 5);
  expect(await axe(page)).toEqual([]);
  await shot(page, 'run');
  // A note, by its key.
  await page.keyboard.press('m');
  await page.getByRole('dialog').getByLabel(/Note/).fill('Mind the date.');
  await page.keyboard.press('Control+Enter');
  await conversation().getByText('left a note').waitFor();
  await conversation().getByText('Mind the date.').waitFor();
  // Pausing waits for the step, and can be taken back.
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  // The news of a change may come before its answer, and until then the button is busy.
  const free = (name: RegExp) => page.getByRole('button', { name }).and(page.locator(':not([aria-disabled=true])')).first().waitFor();
  await free(/Pause after this step/);
  await page.keyboard.press('.');
  await badge(/pausing after this step/).waitFor();
  await free(/^Resume/);
  await page.keyboard.press('.');
  await badge('running').waitFor();
  // The work is stopped, after a question.
  await page.getByRole('button', { name: 'More', exact: true }).first().click();
  await page.getByRole('menuitem', { name: 'Stop the work' }).click();
  await page.getByRole('dialog').getByRole('button', { name: /Stop the work/ }).click();
  await badge(/paused/).waitFor();
  await page.getByRole('group', { name: 'Why it failed' }).getByText('cancelled').first().waitFor();
});

it('slice 6 and 7: starts a run from its pipeline, and shows each step as it is taken', async () => {
  const pipeline = await put(server, 'Supplier onboarding', [form('Goals', { approve: true }), form('Plan', { start: true, after: ['Goals'] }, 'md')]);
  await signIn(page, server, `/pipelines/${pipeline.pipeline_id}`);
  await page.getByText('No runs yet').waitFor();
  expect(await axe(page)).toEqual([]);
  await page.keyboard.press('n');
  await page.getByText(/This will be v1\./).waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Start v1' }).click();
  await page.waitForURL(/\/runs\//);
  await badge('waits for you').waitFor();
  await page.getByText('“Goals” has a form to fill in.').waitFor();
  const run = page.url().split('/runs/')[1]?.split('?')[0] as string;
  const strip = page.getByRole('list', { name: 'Checkpoints' });
  await until('both checkpoints', async () => (await strip.getByRole('listitem').count()) === 2);
  // What waits is one key away, and the way back leads here.
  await page.getByRole('contentinfo').getByText(/open$/).waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/review\//);
  await page.goBack();
  const first = await waits(server, run, 'form');
  await server.api('POST', `/api/executions/${first.execution.execution_id}/submit`, { fields: { goal: 'Ten.' } });
  await page.getByText('Is the result of “Goals” good?').waitFor();
  const second = await waits(server, run, 'approve_complete');
  await server.api('POST', `/api/executions/${second.execution.execution_id}/approve-complete`, { digest: second.waiting.digest });
  await strip.getByRole('button', { name: /Plan.*Waiting to start/ }).waitFor();
  await answerAll(server, run);
  await badge('done').waitFor();
  expect((await getRun(server, run)).status).toBe('completed');
});

it('slice 8: pauses between checkpoints, and is still paused when the browser comes back', async () => {
  const pipeline = await put(server, 'Paused onboarding', [form('Goals'), form('Plan', { start: true, after: ['Goals'] })]);
  const run = await start(server, pipeline);
  await waits(server, run, 'form');
  await signIn(page, server, `/runs/${run}`);
  await page.getByRole('button', { name: /^Pause/ }).first().click();
  await badge(/pausing after this step|waits for you/).waitFor();
  const at = await waits(server, run, 'form');
  await server.api('POST', `/api/executions/${at.execution.execution_id}/submit`, { fields: { goal: 'Ten.' } });
  await badge(/^paused/).waitFor();
  expect((await getRun(server, run)).status).toBe('paused');
  await reopen();
  await page.goto(`${server.url}/runs/${run}`);
  await badge(/^paused/).waitFor();
  await page.keyboard.press('.');
  await badge('waits for you').waitFor();
  await answerAll(server, run);
  await badge('done').waitFor();
  await page.getByText(/Note and Pause are off: the run has ended/).waitFor();
});

it('slice 9 and 10: shows v1 and v2, what each made, with a preview and to download', async () => {
  const pipeline = await put(server, 'Release notes', [form('Goals', { inputs: { include_previous_version: true } }), form('Plan', { inputs: { include_previous_version: true, include_checkpoint_outputs: [{ checkpoint_id: 'Goals' }] }, after: ['Goals'] }, 'md')]);
  const v1 = await start(server, pipeline);
  await answerAll(server, v1, { goal: 'The first goal.' });
  const v2 = await start(server, pipeline);
  await answerAll(server, v2, { goal: 'The second goal.' });
  await signIn(page, server, `/pipelines/${pipeline.pipeline_id}`);
  const runs = page.getByRole('list', { name: 'Runs' });
  await runs.waitFor();
  expect(await runs.getByRole('link').allInnerTexts()).toEqual([expect.stringMatching(/^v2[\s\S]*Done[\s\S]*2 of 2 done/), expect.stringMatching(/^v1[\s\S]*Done/)]);
  await page.getByText('v3, extends v2').waitFor();
  await page.getByRole('list', { name: /Run history/ }).getByText(/v1, done/).waitFor({ state: 'attached' });
  await shot(page, 'pipeline');
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await page.waitForURL(new RegExp(v2));
  await page.getByRole('tab', { name: /^Artifacts/ }).waitFor();
  await page.keyboard.press('3');
  await page.getByRole('button', { name: /goals/ }).first().click();
  await page.getByText('The second goal.').first().waitFor();
  const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: /^Download/ }).click()]);
  expect(file.suggestedFilename()).toMatch(/goals.*\.json$/);
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: /plan/ }).first().waitFor();
  // The checkpoint and the tab stand in the address.
  await page.keyboard.press('2');
  await page.getByText('Goals of v1, from the run before').or(page.getByText(/from the run before/)).first().waitFor();
  await page.keyboard.press('h');
  await until('the checkpoint in the address', async () => /execution=/.test(page.url()) && /tab=context/.test(page.url()));
  await page.keyboard.press('=');
  await page.waitForURL(/\/compare\?/);
  expect(page.url()).toContain(v1);
});

it('slice 13 and 16: an agent speaks, its file operations are folded, and its context is exact before and after', async () => {
  const write = { tool: 'file_operations', input: { operation: 'write', path: 'summary.json', content: '{"title": "Six weeks"}' } };
  const pipeline = await put(
    server,
    'Project summary',
    [
      form('Requirements'),
      agents('Summary', 'single.yaml', { creation_mode: 'single', agent: { name: 'Summarist', system_prompt: 'You summarise.', task_prompt: 'Create a JSON file with a project summary.' } }, {
        start: true,
        approve: true,
        artifacts: [{ name: 'summary', format: 'json' }],
        inputs: { include_previous_version: false, include_checkpoint_outputs: [{ checkpoint_id: 'Requirements' }] },
        after: ['Requirements'],
      }),
    ],
    { answers: { 'single.yaml': { turns: [{ when: { turn: 1 }, think: 'What is wanted?', say: 'I write the summary now, with what was required.', call: [write], delay_ms: 3000, usage: { calls: 1, input_tokens: 900, output_tokens: 120, cost_micros: 4100 } }], default: { say: 'The summary is written.' } } } },
  );
  const run = await start(server, pipeline);
  const at = await waits(server, run, 'form');
  await server.api('POST', `/api/executions/${at.execution.execution_id}/submit`, { fields: { goal: 'Ten users in six weeks.' } });
  const asked = await waits(server, run, 'approve_start');
  await signIn(page, server, `/runs/${run}?tab=context`);
  await page.getByText('Nothing was sent yet. This is what would be sent now.').waitFor();
  await page.getByLabel('First message').getByText(/Ten users in six weeks/).waitFor();
  await page.keyboard.press('1');
  await server.api('POST', `/api/executions/${asked.execution.execution_id}/approve-start`, {});
  // From the first word on: what it was told before does not take it away.
  await conversation().locator('article', { hasText: 'writing' }).getByText(/^I write/).waitFor();
  await conversation().getByText('120 tok, $0.0041').waitFor();
  await conversation().getByRole('button', { name: /thinking/ }).click();
  await conversation().getByText('What is wanted?').last().waitFor();
  await conversation().getByRole('button', { name: /write summary\.json/ }).click();
  await conversation().getByText(/wrote 22 bytes/).waitFor();
  await conversation().getByText('The summary is written.').waitFor();
  await page.keyboard.press('x');
  await page.getByText('This is what was sent, word by word.').waitFor();
  const parts = page.getByRole('table', { name: /Parts of what Summarist/ });
  await parts.getByText('task', { exact: true }).waitFor();
  expect(await axe(page)).toEqual([]);
  await shot(page, 'run-context');
  await page.keyboard.press('3');
  await page.getByRole('button', { name: /summary_/ }).first().click();
  await page.getByText('Six weeks').first().waitFor();
  await shot(page, 'run-artifact');
  await page.keyboard.press('6');
  await page.getByRole('table', { name: 'By model' }).getByText('script/single.yaml').waitFor();
  await page.getByRole('table', { name: 'By agent' }).getByText('Summarist').waitFor();
  await shot(page, 'run-cost');
});

it('slice 13: follows what is said, until the reader scrolls up, and then says how much is new below', async () => {
  const look = { tool: 'file_operations', input: { operation: 'list', path: '.' } };
  const pipeline = await put(server, 'Long talk', [agents('Talk', 'long.yaml', { creation_mode: 'single', agent: { name: 'Talker', system_prompt: 'You talk.', task_prompt: 'Talk.' } }, { artifacts: [{ name: 'talk', format: 'md' }] })], {
    answers: { 'long.yaml': { turns: [{ when: { turn: 30 }, say: 'That was all.' }, { repeat: true, say: 'One more thing is to be said about it.\n'.repeat(6), call: [look], delay_ms: 350 }] } },
  });
  const run = await start(server, pipeline);
  await signIn(page, server, `/runs/${run}`);
  const fromEnd = () => conversation().evaluate((pane) => pane.scrollHeight - pane.scrollTop - pane.clientHeight);
  await until('more than fits', async () => (await conversation().evaluate((pane) => pane.scrollHeight > pane.clientHeight * 2)) && (await fromEnd()) < 30);
  await conversation().hover();
  await page.mouse.wheel(0, -400);
  const below = page.getByRole('button', { name: /\d+ new below/ });
  await below.waitFor();
  expect(await fromEnd()).toBeGreaterThan(200);
  await below.click();
  await until('the end again', async () => (await fromEnd()) < 30);
  await until('nothing new below', async () => (await below.count()) === 0);
  await server.api('POST', `/api/runs/${run}/abort`, {});
});

it('slice 15: shows the agents that a meta-agent made, and what they said', async () => {
  const made = ['UX Designer', 'Backend Dev', 'Frontend Dev'].map((name) => ({ name, role: `${name} of the app`, system_prompt: `You are ${name}.`, task_prompt: 'Design it.' }));
  const pipeline = await put(server, 'Mobile app', [agents('App', 'meta.yaml', { creation_mode: 'meta_agent', meta_agent_instructions: 'Create 3 agents for designing a mobile app', max_agents: 3, tools: [] }, { artifacts: [{ name: 'app', format: 'md' }] })], {
    answers: { 'meta.yaml': { turns: [{ when: { must_call: 'create_agents' }, call: [{ tool: 'create_agents', input: { agents: made } }] }], default: { say: '# The app' } } },
  });
  const run = await start(server, pipeline);
  await signIn(page, server, `/runs/${run}`);
  await badge('done').waitFor();
  for (const { name } of made) await conversation().getByText(name, { exact: true }).first().waitFor();
  await page.keyboard.press('4');
  const list = page.getByRole('list', { name: 'Agents that were made' });
  await list.waitFor();
  expect(await list.getByRole('listitem').count()).toBe(3);
  await list.getByText('UX Designer', { exact: true }).click();
  await list.getByText('You are UX Designer.').waitFor();
  await shot(page, 'run-logs');
});

it('slice 17: counts tries, says what the checks found, and lets two tries be compared', async () => {
  const strict = { enabled: true, validation_mode: 'llm_schema', schema_validation_strictness: 'strict', on_validation_failure: 'retry', max_validation_retries: 1 };
  const schema = { type: 'object', properties: { total: { type: 'integer' } }, required: ['total'] };
  const pipeline = await put(server, 'Strict figures', [script('Figures', 'bad.py', { retries: 1, artifacts: [{ name: 'figures', format: 'json', schema }], validation: strict })], { scripts: { 'bad.py': 'def main():\n    return {"total": "many"}\n' } });
  const run = await start(server, pipeline);
  await signIn(page, server, `/runs/${run}`);
  await badge(/^paused/).waitFor();
  await page.getByRole('list', { name: 'Checkpoints' }).getByText(/, 2 tries$/).waitFor();
  await page.getByRole('group', { name: 'What the checks found' }).or(page.getByRole('group', { name: 'Why it failed' })).first().waitFor();
  await page.getByText(/total/).first().waitFor();
  const rows = page.getByRole('list', { name: 'Tries and revisions' }).getByRole('button');
  await until('a row for each try', async () => (await rows.count()) === 2);
  await page.keyboard.press('k');
  await until('the first try is selected', async () => (await rows.first().getAttribute('aria-current')) === 'true');
  await shot(page, 'run-failed');
  await page.getByRole('link', { name: 'Compare with the one before' }).click();
  await page.waitForURL(/\/compare\?/);
  expect(decodeURIComponent(page.url())).toMatch(/@0\.1.*@0\.2/);
});

it('slice 18: shows what a script prints, its stack trace, and tries it again when asked', async () => {
  const pipeline = await put(server, 'Broken count', [script('Count', 'count.py', { artifacts: [{ name: 'total', format: 'json' }] })], { scripts: { 'count.py': 'def main():\n    print("counting")\n    raise ValueError("no figures")\n' } });
  const run = await start(server, pipeline);
  await signIn(page, server, `/runs/${run}?tab=logs`);
  await badge(/^paused/).waitFor();
  const log = page.getByRole('region', { name: 'Log' });
  await log.getByText('counting', { exact: true }).waitFor();
  await log.getByText(/Stack trace, \d+ lines/).click();
  await log.getByText(/line 3, in main/).waitFor();
  await page.getByRole('group', { name: 'Why it failed' }).getByText('count.py raised ValueError: no figures').waitFor();
  await page.getByLabel('Find in the log').fill('ValueError');
  await until('only what matches', async () => (await log.getByRole('listitem').count()) === 1);
  await page.getByLabel('Find in the log').fill('');
  expect(await axe(page)).toEqual([]);
  putScript(server, pipeline.pipeline_id, 'count.py', 'def main():\n    print("now it counts")\n    return {"total": 3}\n');
  await page.evaluate(() => (document.activeElement as HTMLElement).blur());
  await page.keyboard.press('r');
  await badge('done').waitFor();
  await log.getByText('now it counts').waitFor();
  await page.keyboard.press('5');
  await page.getByRole('region', { name: 'Events' }).getByText('execution.retried').waitFor();
});

it('slice 20: gives a run up and declares one failed after a question, and lets nobody act who may not', async () => {
  const pipeline = await put(server, 'Given up', [form('Goals')]);
  const run = await start(server, pipeline);
  const viewer = await seedToken(server, 'Vera Look', 'viewer');
  const other = await openPage();
  await signIn(other, server, `/runs/${run}`, viewer);
  await other.getByText(/Your role is viewer; this needs operator/i).first().waitFor();
  expect(await other.getByRole('button', { name: /^Pause/ }).first().getAttribute('aria-disabled')).toBe('true');
  await other.context().close();
  await signIn(page, server, `/runs/${run}`);
  await page.getByRole('button', { name: 'More', exact: true }).first().click();
  await page.getByRole('menuitem', { name: 'Give the run up' }).click();
  await page.getByRole('dialog').getByLabel('Why').fill('Not wanted any more.');
  await page.keyboard.press('Control+Enter');
  await badge(/aborted|failed/).waitFor();
  const again = await start(server, pipeline);
  await page.goto(`${server.url}/runs/${again}`);
  await page.getByRole('button', { name: 'More', exact: true }).first().click();
  await page.getByRole('menuitem', { name: 'Declare failed' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Declare failed' }).click();
  await badge('failed').waitFor();
  expect((await getRun(server, again)).status).toBe('failed');
});

it('slice 20: has a table beside the bars, folds waits, and says what is wrong with an address', async () => {
  const pipeline = await put(server, 'Waits', [form('Goals', { approve: true })]);
  const run = await start(server, pipeline);
  await signIn(page, server, `/runs/${run}`);
  await page.getByRole('list', { name: 'Tries and revisions' }).getByRole('button').first().focus();
  await page.keyboard.press('ArrowRight');
  await page.getByText('Fills in a form.').first().waitFor();
  await page.keyboard.press('t');
  const table = page.getByRole('table', { name: /Everything that the timeline shows/ });
  await table.getByText('A person').first().waitFor();
  expect(page.url()).toContain('view=table');
  expect(await axe(page)).toEqual([]);
  await page.keyboard.press('t');
  const fold = page.getByRole('button', { name: /Fold waits/ });
  expect(await fold.getAttribute('aria-pressed')).toBe('true');
  await page.keyboard.press('f');
  expect(await fold.getAttribute('aria-pressed')).toBe('false');
  await page.goto(`${server.url}/runs/${crypto.randomUUID()}`);
  await page.getByText('The run could not be read').waitFor();
  await page.goto(`${server.url}/pipelines/${crypto.randomUUID()}`);
  await page.getByText('The pipeline could not be read').waitFor();
});

it('slice 20: works on a phone', async () => {
  const pipeline = await put(server, 'On a phone', [form('Goals', { approve: true }), form('Plan', { after: ['Goals'] })]);
  const run = await start(server, pipeline);
  await page.setViewportSize(PHONE);
  await signIn(page, server, `/runs/${run}`);
  await page.getByRole('link', { name: 'Fill in the form' }).waitFor();
  await tab('Events');
  await page.getByRole('region', { name: 'Events' }).getByText('run.started').waitFor();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(PHONE.width);
  expect(await axe(page)).toEqual([]);
  await page.goto(`${server.url}/pipelines/${pipeline.pipeline_id}`);
  await page.getByRole('list', { name: 'Runs' }).getByRole('link').waitFor();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(PHONE.width);
  expect(await axe(page)).toEqual([]);
});

it('slice 9: deletes a pipeline after a question, and brings it back', async () => {
  const pipeline = await put(server, 'Short-lived', [form('Goals')]);
  await signIn(page, server, `/pipelines/${pipeline.pipeline_id}`);
  await page.getByRole('button', { name: 'More', exact: true }).first().click();
  await page.getByRole('menuitem', { name: 'Delete Short-lived' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete Short-lived' }).click();
  await page.getByText('Deleted Short-lived').waitFor();
  // Its page would show something that is not there any more.
  await page.waitForURL(/\/pipelines$/);
  await page.keyboard.press('u');
  await page.getByText('Brought Short-lived back').waitFor();
  await page.getByRole('link', { name: 'Short-lived', exact: true }).click();
  await page.getByRole('button', { name: 'Start v1' }).first().waitFor();
});

it('slice 14: shows the newest of a long conversation, and the earlier part when it is asked for', async () => {
  const { run } = await brief(server, 120_000);
  // Pages of three messages stand for a conversation of thousands.
  await page.route(/\/conversation\?/, (route) => route.continue({ url: route.request().url().replace('limit=200', 'limit=3') }));
  await signIn(page, server, `/runs/${run}`);
  const writing = conversation().locator('article', { hasText: /^\s*E?\s*Editor\s*writing/ });
  await writing.waitFor();
  await page.reload();
  await page.getByRole('button', { name: 'Show what they were told' }).click();
  const first = conversation().getByText('You are Writer').first();
  await page.getByText('There are earlier messages.').waitFor();
  expect(await first.count()).toBe(0);
  const more = page.getByRole('button', { name: 'Show earlier' });
  await until('all of it', async () => {
    if ((await more.count()) === 0) return true;
    await more.click();
    return false;
  });
  await conversation().hover();
  await page.mouse.wheel(0, -20_000);
  await first.waitFor();
  await conversation().getByText('turn 1', { exact: true }).first().waitFor();
  // What is being said goes on at the end, and stands once.
  await page.mouse.wheel(0, 20_000);
  await writing.waitFor();
  const before = await writing.innerText();
  await until('more of the message', async () => (await writing.innerText()).length > before.length);
  expect(await axe(page)).toEqual([]);
});

it('slice 14: shows the end of a long log, and earlier lines when they are asked for', async () => {
  const pipeline = await put(server, 'Long log', [script('Count', 'count.py')], { scripts: { 'count.py': 'def main():\n    for n in range(450):\n        print(f"line {n} of many")\n' } });
  const run = await start(server, pipeline);
  await until('the end', async () => (await getRun(server, run)).status === 'completed');
  await signIn(page, server, `/runs/${run}?tab=logs`);
  const log = page.getByRole('region', { name: 'Log', exact: true });
  await log.getByRole('listitem').first().waitFor();
  const length = async () => Number(await log.getByRole('listitem').first().getAttribute('aria-setsize'));
  const whole = (await server.api<{ current_execution: { execution_id: string } | null; checkpoint_execution_history: string[] }>('GET', `/api/runs/${run}`)).checkpoint_execution_history[0] as string;
  const lines = await server.api<{ items: unknown[] }>('GET', `/api/executions/${whole}/logs?limit=500`);
  expect(lines.items.length).toBeGreaterThan(450);
  await until('the last lines', async () => (await length()) === 200);
  await page.getByRole('button', { name: 'Show earlier' }).click();
  await until('earlier lines', async () => (await length()) === 400);
  await page.getByRole('button', { name: 'Show earlier' }).click();
  await until('all lines', async () => (await length()) === lines.items.length);
  await page.getByRole('button', { name: 'Show earlier' }).waitFor({ state: 'detached' });
  await page.getByLabel('Find in the log').fill('line 3 of many');
  await log.getByText('line 3 of many').waitFor();
});
