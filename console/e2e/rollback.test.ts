/** Going back in a real browser: points across versions, what would go, the act, its undo, and what is gone. */
import { expect, it } from 'vitest';
import { axe, eachTest, getRun, page, PHONE, seedPipeline, seedRun, seedToken, server, shot, signIn, until, waits } from './world';

eachTest();

interface Waiting {
  kind: string;
  digest?: string;
  form?: { input_fields: { name: string; type: string }[] };
}
interface Listed<Item> {
  items: Item[];
}

/** Answers everything that a run asks, until it is done or stands before `stop`. */
async function answer(run: string, word: string, stop = 99): Promise<void> {
  for (;;) {
    const now = await until('a run that waits or is done', async () => {
      const it = await getRun(server, run);
      return (it.status === 'completed' || it.current_execution?.waiting_for) && it;
    });
    const at = now.current_execution as { execution_id: string; checkpoint_position: number; waiting_for: Waiting } | null | undefined;
    if (now.status === 'completed' || !at || at.checkpoint_position >= stop) return;
    const { kind, digest, form } = at.waiting_for;
    const path = `/api/executions/${at.execution_id}`;
    if (kind === 'start') await server.api('POST', '/api/executions/start', { run_id: run });
    else if (kind === 'approve_start') await server.api('POST', `${path}/approve-start`, {});
    else if (kind === 'approve_complete') await server.api('POST', `${path}/approve-complete`, { digest });
    else await server.api('POST', `${path}/submit`, { fields: Object.fromEntries(form?.input_fields.map((field) => [field.name, field.type === 'number' ? 6 : field.type === 'boolean' ? true : word]) ?? []) });
  }
}

/** A pipeline of three forms with runs, each answered with its own word. */
async function seedVersions(name: string, ...stops: number[]) {
  const pipeline = await seedPipeline(server, 'first-pipeline.yaml', name);
  const runs: string[] = [];
  for (const [at, stop] of stops.entries()) {
    const { run_id } = await seedRun(server, pipeline.pipeline_id);
    await answer(run_id, `word ${at + 1}`, stop);
    runs.push(run_id);
  }
  return { pipeline, runs };
}

const executions = (run: string) => server.api<Listed<{ checkpoint_position: number; status: string }>>('GET', `/api/runs/${run}/checkpoints`);

it('slice 11: goes back within a run with its impact shown before, and undoes it with u', async () => {
  const { runs } = await seedVersions('Market brief', 99);
  const [run = ''] = runs;
  await signIn(page, server, `/runs/${run}/rollback?to=1`);
  await page.getByRole('heading', { name: 'Back to Plan in v1' }).waitFor();
  const impact = page.getByRole('region', { name: 'What would happen' });
  await impact.getByText('1: Report').waitFor();
  await impact.getByText('Goals, Plan').waitFor();
  await impact.getByText('Fork instead is off: pipelines do not fork').waitFor();
  expect(await axe(page)).toEqual([]);
  // Looking changed nothing.
  expect((await executions(run)).items).toHaveLength(3);
  await page.keyboard.press('h');
  await page.getByRole('heading', { name: 'Back to Goals in v1' }).waitFor();
  await page.keyboard.press('l');
  await page.getByRole('heading', { name: 'Back to Plan in v1' }).waitFor();
  await impact.getByText('1: Report').waitFor();
  await page.getByLabel('Why').fill('Rates must be split by country');
  await page.keyboard.press('Control+Enter');
  await page.getByText('Rolled back: v1 back to Plan').waitFor();
  const after = await executions(run);
  expect(after.items.filter((one) => one.status === 'completed')).toHaveLength(2);
  expect(after.items.at(-1)).toMatchObject({ checkpoint_position: 2, status: 'pending' });
  expect((await getRun(server, run)).status).toBe('in_progress');
  const history = page.getByRole('region', { name: 'Earlier rollbacks' });
  await history.getByText('Rates must be split by country').waitFor();
  await history.getByText(/until /).waitFor();
  await shot(page, 'rollback-done');
  expect(await axe(page)).toEqual([]);
  await page.getByRole('region', { name: 'Earlier rollbacks' }).getByRole('heading').click();
  await page.keyboard.press('u');
  await page.getByText('Undone: v1 is as it was').waitFor();
  await history.getByText(/undone .* by admin/).waitFor();
  expect((await executions(run)).items.filter((one) => one.status === 'completed')).toHaveLength(3);
});

it('slice 11: work goes on from the point, and an undo is refused with what stands in the way', async () => {
  const { runs } = await seedVersions('Supplier onboarding', 99);
  const [run = ''] = runs;
  await server.api('POST', '/api/rollback', { rollback_type: 'checkpoint_level', source_run_id: run, target_checkpoint_position: 1 });
  await answer(run, 'again');
  expect((await getRun(server, run)).status).toBe('completed');
  await signIn(page, server, `/runs/${run}/rollback`);
  await page.getByRole('button', { name: /^Undo: v1 back to Plan/ }).click();
  const refused = page.getByRole('alert');
  await refused.getByText('It was not undone').waitFor();
  await refused.getByText(/was started since/).waitFor();
  await refused.getByText('cannot_undo').waitFor();
});

it('slice 12: goes back across versions, archives later runs, and says 410 for them until it is undone', async () => {
  const { runs, pipeline } = await seedVersions('Quarterly plan', 99, 99, 2);
  const [first = '', second = '', third = ''] = runs;
  await waits(server, third, 'form');
  await signIn(page, server, `/runs/${third}/rollback`);
  await page.getByRole('heading', { name: 'Back to Plan in v3' }).waitFor();
  for (const version of ['v2', 'v1']) await page.getByRole('row').filter({ hasText: version }).getByRole('button').first().waitFor();
  await page.keyboard.press('j');
  await page.getByRole('heading', { name: 'Back to Plan in v2' }).waitFor();
  await page.keyboard.press('j');
  await page.getByRole('heading', { name: 'Back to Plan in v1' }).waitFor();
  const impact = page.getByRole('region', { name: 'What would happen' });
  await impact.getByText('v2, v3', { exact: true }).waitFor();
  await impact.getByRole('button', { name: /archive 2 runs and 1 execution/ }).waitFor();
  await shot(page, 'rollback');
  expect(await axe(page)).toEqual([]);
  await impact.getByRole('button', { name: /archive 2 runs and 1 execution/ }).waitFor();
  await page.keyboard.press('Control+Enter');
  await page.getByText('Rolled back: v3 back to Plan in v1').waitFor();
  await page.waitForURL(new RegExp(`/runs/${first}/rollback`));
  const left = await server.api<Listed<{ run_version: number }>>('GET', `/api/pipelines/${pipeline.pipeline_id}/runs`);
  expect(left.items.map((one) => one.run_version)).toEqual([1]);
  // The versions that went stand in the table, without points.
  const points = page.getByRole('region', { name: 'Points to go back to' });
  await points.getByRole('row', { name: /v3.*rolled back/ }).waitFor();
  // What was archived answers 410, and its page says so with both ways on.
  const gone = await fetch(`${server.url}/api/runs/${second}`, { headers: { authorization: `Bearer ${server.token}` } });
  expect(gone.status).toBe(410);
  await page.goto(`${server.url}/runs/${second}/rollback`);
  await page.getByText('This run was rolled back').waitFor();
  await page.getByText('410 rolled_back').waitFor();
  await page.getByRole('button', { name: /Go to v1, which goes on/ }).waitFor();
  expect(await axe(page)).toEqual([]);
  await page.keyboard.press('u');
  await page.getByRole('region', { name: 'Points to go back to' }).getByText('v3', { exact: true }).waitFor();
  expect((await server.api<Listed<unknown>>('GET', `/api/pipelines/${pipeline.pipeline_id}/runs`)).items).toHaveLength(3);
});

it('slice 10: a run after a rollback extends the one that stands', async () => {
  const { runs, pipeline } = await seedVersions('Release notes', 99, 99);
  const [first = '', second = ''] = runs;
  await server.api('POST', '/api/rollback', { rollback_type: 'run_level', source_run_id: second, target_run_id: first, target_checkpoint_position: 2 });
  const next = await server.api<{ run_id: string; run_version: number; extends_from_run_version: number }>('POST', '/api/runs', { pipeline_id: pipeline.pipeline_id, start: true });
  expect([next.run_version, next.extends_from_run_version]).toEqual([3, 1]);
  await waits(server, next.run_id, 'form');
  await signIn(page, server, `/runs/${next.run_id}/rollback`);
  const points = page.getByRole('region', { name: 'Points to go back to' });
  await points.getByRole('row', { name: /^v2.*rolled back/ }).waitFor();
  await points.getByRole('row', { name: /^v3/ }).waitFor();
  // A later run stands in the way of undoing, and is named.
  await page.getByRole('button', { name: /^Undo: v2 back to Report in v1/ }).click();
  await page.getByRole('alert').getByText(/run v3 was started since/).waitFor();
});

it('slice 12: lets nobody go back who may not, and fits a phone', async () => {
  const { runs } = await seedVersions('Invoices', 2);
  const viewer = await seedToken(server, 'Vera', 'viewer');
  await page.setViewportSize(PHONE);
  await signIn(page, server, `/runs/${runs[0]}/rollback`, viewer);
  await page.getByText('Your role is viewer; rolling back needs approver.').waitFor();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(PHONE.width);
  expect(await axe(page)).toEqual([]);
});
