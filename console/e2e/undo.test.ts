/** Undoing decisions in a real browser: through the rollback's preview, by stopping, and never silently. */
import { expect, it } from 'vitest';
import { axe, decide, eachTest, getRun, page, press, ready, seedForm, server, shot, signIn, until, waits } from './world';
import { form, put, putScript, script, start } from './run-world';

eachTest();

interface Listed {
  items: { checkpoint_position: number; status: string; checkpoint_name: string }[];
}

const executions = async (run: string) => (await server.api<Listed>('GET', `/api/runs/${run}/checkpoints`)).items;
/** The hint bar's own key, which stands there while there is something to undo. */
const hint = () => page.getByRole('contentinfo').getByText(/^uundo$/);
const preview = () => page.getByRole('region', { name: 'Selected question' });

/** The inbox with the question of a pipeline selected. */
async function inbox(pipeline: string): Promise<void> {
  await signIn(page, server, '/inbox');
  await page.getByRole('link', { name: new RegExp(`[?.] ${pipeline}`) }).click();
  await preview().getByRole('link', { name: pipeline }).waitFor();
}

/** The first of three forms is sent and waits to be approved. */
async function seedFirst(name: string) {
  const { pipeline, run, execution } = await seedForm(server, name);
  await server.api('POST', `/api/executions/${execution}/submit`, { fields: { goal: 'Ship it', weeks: 2 } });
  await waits(server, run.run_id, 'approve_complete');
  return { pipeline, run: run.run_id, execution };
}

async function approve(run: string): Promise<void> {
  const { execution, waiting } = await waits(server, run, 'approve_complete');
  await server.api('POST', `/api/executions/${execution.execution_id}/approve-complete`, { digest: waiting.digest });
}

/** The second form may begin only when somebody lets it. */
async function seedStart(name: string) {
  const first = await seedFirst(name);
  await approve(first.run);
  const { execution } = await waits(server, first.run, 'approve_start');
  return { ...first, execution: execution.execution_id };
}

/** The second form is sent and waits to be approved. */
async function seedSecond(name: string) {
  const second = await seedStart(name);
  await server.api('POST', `/api/executions/${second.execution}/approve-start`, {});
  await server.api('POST', `/api/executions/${second.execution}/submit`, { fields: { steps: 'Build, then show' } });
  await waits(server, second.run, 'approve_complete');
  return second;
}

it('slice 11: an approval by key is undone through the preview of a rollback, which is itself undone with u', async () => {
  const { run } = await seedSecond('Market brief');
  await inbox('Market brief');
  await preview().getByText('Undo goes back to Goals; Plan is then done again.').waitFor();
  // Nothing was done yet, so there is nothing to undo.
  expect(await hint().count()).toBe(0);
  await decide('a', /^Approve/);
  await page.getByText('Approved Plan, revision 1').waitFor();
  await page.getByRole('button', { name: /^Undo/ }).waitFor();
  await hint().waitFor();
  await shot(page, 'undo-toast');
  expect(await axe(page)).toEqual([]);
  expect((await executions(run)).map((one) => one.status)).toEqual(['completed', 'completed', 'in_progress']);
  await page.keyboard.press('u');
  await page.getByRole('heading', { name: 'Back to Goals in v1' }).waitFor();
  const impact = page.getByRole('region', { name: 'What would happen' });
  await impact.getByText('2: Plan, Report').waitFor();
  // Looking changed nothing.
  expect((await executions(run)).map((one) => one.status)).toEqual(['completed', 'completed', 'in_progress']);
  await shot(page, 'undo-preview');
  await impact.getByRole('button', { name: /archive 2 executions/ }).waitFor();
  await page.keyboard.press('Control+Enter');
  await page.getByText('Rolled back: v1 back to Goals').waitFor();
  expect((await executions(run)).map((one) => [one.checkpoint_name, one.status])).toEqual([
    ['Goals', 'completed'],
    ['Plan', 'pending'],
  ]);
  // From another screen as well: it is still the last act.
  await page.keyboard.press('g');
  await page.keyboard.press('p');
  await page.getByRole('heading', { level: 1, name: 'Pipelines' }).waitFor();
  await page.keyboard.press('u');
  await page.getByText('Undone: v1 is as it was').waitFor();
  expect((await executions(run)).map((one) => one.status).slice(0, 2)).toEqual(['completed', 'completed']);
  expect(await hint().count()).toBe(0);
});

it('slice 11: a first approval of a first run promises no undo, and offers none', async () => {
  const { run, execution } = await seedFirst('Supplier onboarding');
  await signIn(page, server, `/review/${execution}`);
  const decision = page.getByRole('region', { name: 'Decision' });
  await decision.getByText('It cannot be undone: there is no earlier point to go back to.').waitFor();
  await decide('Control+Enter', /^Approve revision 1/);
  await page.getByText('Approved Goals, revision 1').waitFor();
  expect(await page.getByRole('button', { name: /^Undo/ }).count()).toBe(0);
  expect(await hint().count()).toBe(0);
  expect((await executions(run))[0]?.status).toBe('completed');
});

it('slice 12: a first approval of a later run is undone by going back to the run before', async () => {
  const { run, pipeline, execution } = await seedSecond('Quarterly plan');
  await approve(run);
  const { execution: last } = await waits(server, run, 'form');
  await server.api('POST', `/api/executions/${last.execution_id}/submit`, { fields: { done: 'All of it', satisfied: true } });
  await until('a completed run', async () => (await getRun(server, run)).status === 'completed');
  expect(execution).not.toBe(last.execution_id);
  const next = await server.api<{ run_id: string }>('POST', '/api/runs', { pipeline_id: pipeline.pipeline_id, start: true });
  const { execution: first } = await waits(server, next.run_id, 'form');
  await server.api('POST', `/api/executions/${first.execution_id}/submit`, { fields: { goal: 'Ship more', weeks: 3 } });
  await waits(server, next.run_id, 'approve_complete');
  await signIn(page, server, `/review/${first.execution_id}`);
  const decision = page.getByRole('region', { name: 'Decision' });
  await decision.getByText('Undo goes back to the end of v1 and archives v2.').waitFor();
  await shot(page, 'undo-decision');
  await decide('Control+Enter', /^Approve revision 1/);
  await page.getByText('Approved Goals, revision 1').waitFor();
  await page.getByRole('button', { name: /^Undo/ }).click();
  await page.getByRole('heading', { name: 'Back to Report in v1' }).waitFor();
  const impact = page.getByRole('region', { name: 'What would happen' });
  await impact.getByRole('definition').getByText('v2', { exact: true }).waitFor();
  await impact.getByRole('button', { name: /archive 1 run/ }).waitFor();
});

it('slice 11: whoever undoes at once stays with the undo, however late the next question comes', async () => {
  const { run, execution } = await seedSecond('Late answers');
  await signIn(page, server, `/review/${execution}`);
  await page.getByRole('region', { name: 'Decision' }).getByText('Undo goes back to Goals; Plan is then done again.').waitFor();
  await ready(/^Approve revision 1/);
  let release = () => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  const undo = page.getByRole('button', { name: /^Undo/ });
  // Where the run stands is asked once the decision is made, to find the next question.
  await page.route(`**/api/runs/${run}`, async (route) => {
    if (await undo.isVisible()) await held;
    await route.fallback();
  });
  await decide('Control+Enter', /^Approve revision 1/);
  await undo.click();
  const heading = page.getByRole('heading', { name: 'Back to Goals in v1' });
  await heading.waitFor();
  const late = page.waitForResponse(`**/api/runs/${run}`);
  release();
  await (await late).finished();
  // What the page does with that answer is done before it hears another one.
  await page.evaluate(() => fetch('/api/health').then((answer) => answer.text()));
  expect(new URL(page.url()).pathname).toBe(`/runs/${run}/rollback`);
  await heading.waitFor();
});

it('slice 7: a start is undone by stopping the work, also after the toast has gone, and not while somebody types', async () => {
  const { run, execution } = await seedStart('Invoice matching');
  await page.clock.install();
  await signIn(page, server, `/review/${execution}`);
  const decision = page.getByRole('region', { name: 'Decision' });
  await decision.getByText(/Undo stops it and pauses the run/).waitFor();
  await page.getByText('Invoice matching').filter({ visible: true }).first().waitFor();
  await decide('Control+Enter', /^Start Plan/);
  const said = page.getByText('Started Plan in Invoice matching v1');
  await said.waitFor();
  await waits(server, run, 'form');
  // What is typed is text.
  const field = page.getByRole('form', { name: 'Form' }).getByRole('textbox').first();
  await field.fill('');
  await field.press('u');
  expect(await field.inputValue()).toBe('u');
  expect((await getRun(server, run)).status).toBe('in_progress');
  await field.blur();
  await page.clock.runFor(9000);
  await said.waitFor({ state: 'hidden' });
  await press('?', page.getByRole('dialog').getByText('undo: started Plan in Invoice matching v1'));
  await page.keyboard.press('Escape');
  await page.keyboard.press('Control+k');
  await page.getByRole('option', { name: /Undo: started Plan in Invoice matching v1/ }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
  await page.keyboard.press('u');
  await page.getByText('Stopped Plan, the run is paused').waitFor();
  expect((await getRun(server, run)).status).toBe('paused');
  const stopped = await server.api<{ status: string; error_details: { last_error: { error_type: string } } }>('GET', `/api/executions/${execution}`);
  expect([stopped.status, stopped.error_details.last_error.error_type]).toEqual(['failed', 'cancelled']);
});

it('slice 7: an act can be undone for a minute after its toast, and not longer', async () => {
  const { run, execution } = await seedStart('Release notes');
  await page.clock.install();
  await signIn(page, server, `/review/${execution}`);
  await page.getByText('Release notes').filter({ visible: true }).first().waitFor();
  await decide('Control+Enter', /^Start Plan/);
  await page.getByText('Started Plan in Release notes v1').waitFor();
  await hint().waitFor();
  await page.clock.runFor(9000);
  await hint().waitFor();
  await page.clock.runFor(61_000);
  await hint().waitFor({ state: 'hidden' });
  expect((await getRun(server, run)).status).toBe('in_progress');
});

it('slice 7: an undo that is refused says why, where the toast stood', async () => {
  const { run, execution } = await seedStart('Incident review');
  await inbox('Incident review');
  await decide('a', /^Start Plan/);
  await page.getByText('Started Plan in Incident review v1').waitFor();
  // Meanwhile somebody else has done the work.
  await server.api('POST', `/api/executions/${execution}/submit`, { fields: { steps: 'Done already' } });
  await waits(server, run, 'approve_complete');
  await page.keyboard.press('u');
  const refused = page.getByRole('alert');
  await refused.getByText('Not undone: started Plan in Incident review v1').waitFor();
  await refused.getByText('409 wrong_state').waitFor();
  expect(await axe(page)).toEqual([]);
  await refused.getByRole('button', { name: 'Close' }).click();
  expect(await refused.count()).toBe(0);
});

it('slice 7: a start that was not allowed is asked about again, and a pause is undone by going on', async () => {
  const { run } = await seedStart('Hiring');
  await inbox('Hiring');
  await preview().getByRole('button', { name: 'Reject' }).click();
  await page.getByRole('dialog').getByLabel('Why').fill('Not this week');
  await decide('Control+Enter', /^Reject Plan/);
  await page.getByText('Rejected Plan').first().waitFor();
  expect((await waits(server, run)).waiting.kind).toBe('start');
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
  await page.keyboard.press('u');
  await page.getByText('Plan waits to be approved before it starts').waitFor();
  await waits(server, run, 'approve_start');
  await page.goto(`${server.url}/runs/${run}`);
  await page.getByRole('button', { name: /^Pause/ }).and(page.locator(':not([aria-disabled=true])')).first().waitFor();
  await page.keyboard.press('.');
  await until('a pause', async () => (await server.api<{ pause_requested: boolean; status: string }>('GET', `/api/runs/${run}`)).status === 'paused');
  await page.getByText('The run is paused').first().waitFor();
  await page.keyboard.press('u');
  await page.getByText('The run goes on').waitFor();
  expect((await getRun(server, run)).status).toBe('in_progress');
});

it('slice 12: a run that was given up goes on from the point before, by way of the preview', async () => {
  const { run, execution } = await seedSecond('Given up too soon');
  await signIn(page, server, `/review/${execution}`);
  const decision = page.getByRole('region', { name: 'Decision' });
  await decision.getByText('Undo goes back to Goals; Plan is then done again.').waitFor();
  await ready(/^Approve revision 1/);
  await press('x', page.getByText('Say why.'));
  await decision.getByText('Undo goes back to Goals, and the run goes on from there.').waitFor();
  await page.getByLabel('Why').fill('Nobody wants it.');
  await decide('Control+Enter', /^Reject, give up/);
  await page.getByText('Rejected Plan, Given up too soon v1 was given up').waitFor();
  expect((await getRun(server, run)).status).toBe('aborted');
  await page.keyboard.press('u');
  await page.getByRole('heading', { name: 'Back to Goals in v1' }).waitFor();
  await page.getByRole('region', { name: 'What would happen' }).getByRole('button', { name: /archive 1 execution/ }).waitFor();
  await page.keyboard.press('Control+Enter');
  await page.getByText('Rolled back: v1 back to Goals').waitFor();
  expect((await executions(run)).map((one) => [one.checkpoint_name, one.status])).toEqual([
    ['Goals', 'completed'],
    ['Plan', 'pending'],
  ]);
  // It is asked about again, as the sentence said.
  expect((await waits(server, run)).execution.execution_id).not.toBe(execution);
});

it('slice 16: trying again is undone by stopping that try', async () => {
  const pipeline = await put(server, 'Nightly figures', [script('Analysis', 'analyse.py', { artifacts: [{ name: 'figures', format: 'json' }] })], { scripts: { 'analyse.py': 'def main():\n    raise ValueError("no lanes in the table")\n' } });
  const run = await start(server, pipeline);
  await until('a failure', async () => (await getRun(server, run)).status === 'paused');
  putScript(server, pipeline.pipeline_id, 'analyse.py', 'import time\n\ndef main():\n    time.sleep(600)\n');
  await inbox('Nightly figures');
  await preview().getByText('Undo stops it and pauses the run.').waitFor();
  await decide('a', /^Try again/);
  await page.getByText('Trying Analysis again').waitFor();
  await until('the second try', async () => (await getRun(server, run)).status === 'in_progress');
  await page.keyboard.press('u');
  await page.getByText('Stopped Analysis, the run is paused').waitFor();
  expect((await getRun(server, run)).status).toBe('paused');
});

it('slice 5: a form that counts at once is undone through the preview', async () => {
  const pipeline = await put(server, 'Two forms', [form('First'), form('Second'), form('Third')]);
  const run = await start(server, pipeline);
  const { execution: first } = await waits(server, run, 'form');
  await server.api('POST', `/api/executions/${first.execution_id}/submit`, { fields: { goal: 'One' } });
  const second = await until('the second form', async () => {
    const { execution } = await waits(server, run, 'form');
    return execution.execution_id === first.execution_id ? undefined : execution.execution_id;
  });
  await signIn(page, server, `/review/${second}`);
  await page.getByText('Undo goes back to First; Second is then done again.').waitFor();
  await page.getByRole('form', { name: 'Form' }).getByRole('textbox').first().fill('Two');
  await decide('Control+Enter', /^Send Second/);
  await until('the third form', async () => (await executions(run)).length === 3);
  await page.getByRole('button', { name: /^Undo/ }).click();
  await page.getByRole('heading', { name: 'Back to First in v1' }).waitFor();
  const impact = page.getByRole('region', { name: 'What would happen' });
  await impact.getByText('2: Second, Third').waitFor();
});
