/** The list of pipelines and the history of a definition, in a real browser on the real program. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { axe, eachTest, getRun, page, PHONE, seedForm, seedPipeline, seedReview, seedToken, server, shot, signIn, until } from './world';

eachTest();

const row = (name: string) => page.getByRole('list', { name: 'Pipelines' }).getByRole('listitem').filter({ has: page.getByRole('link', { name, exact: true }) });

it('slice 1: the console loads, connects, and teaches what a pipeline is', async () => {
  await signIn(page, server, '/');
  await page.waitForURL(/\/pipelines/);
  await page.getByText('No pipelines yet').waitFor();
  await page.getByText(/^Live/).waitFor();
  expect(await axe(page)).toEqual([]);
  await shot(page, 'pipelines-empty');
});

it('slice 2: a pipeline is made with a form that says what is missing, and stands in the list with its folder', async () => {
  await signIn(page, server, '/pipelines');
  await page.keyboard.press('n');
  const dialog = page.getByRole('dialog', { name: 'New pipeline' });
  await dialog.getByRole('button', { name: 'Make the pipeline' }).click();
  await dialog.getByText('Give it a name.').waitFor();
  expect(await axe(page)).toEqual([]);
  await dialog.getByLabel(/^Name/).fill('Hiring');
  await dialog.getByLabel('What it is for').fill('From application to offer.');
  await dialog.getByRole('switch').click();
  await dialog.getByRole('button', { name: 'Make the pipeline' }).click();
  await page.waitForURL(/\/edit/);
  await page.getByRole('heading', { level: 1, name: /Hiring/ }).waitFor();
  const [made] = (await server.api<{ items: { pipeline_id: string; pipeline_description: string; config: { auto_advance: boolean } }[] }>('GET', '/api/pipelines')).items;
  expect([made?.pipeline_description, made?.config.auto_advance]).toEqual(['From application to offer.', true]);
  expect(JSON.parse(readFileSync(`${server.home}/pipelines/${made?.pipeline_id}/.pipeline_system/definitions/pipeline.json`, 'utf8')).pipeline_name).toBe('Hiring');
  await page.goto(`${server.url}/pipelines`);
  await row('Hiring').getByText('Has not run yet').waitFor();
  await row('Hiring').getByRole('link', { name: 'Hiring', exact: true }).click();
  await page.getByRole('heading', { level: 1, name: 'Hiring' }).waitFor();
});

it('slice 2: pipelines come from files: what a file would do is said first, and what is wrong stands at its line', async () => {
  await signIn(page, server, '/pipelines');
  await page.getByRole('button', { name: 'Apply a file' }).first().click();
  const dialog = page.getByRole('dialog', { name: 'Apply a file' });
  const file = (text: string) => dialog.locator('input[type=file]').setInputFiles({ name: 'pipeline.yaml', mimeType: 'application/yaml', buffer: Buffer.from(text) });
  const good = readFileSync(new URL('../../examples/first-pipeline.yaml', import.meta.url), 'utf8').replace('pipeline_name: First pipeline', 'pipeline_name: From a file');
  await file(good.replace('max_auto_retries: 0', 'max_auto_retries: 9'));
  await dialog.getByText('between 0 and 5', { exact: false }).waitFor();
  await dialog.locator('.cm-mark-wrong').first().waitFor();
  expect(await axe(page)).toEqual([]);
  await file(good);
  await dialog.getByText(/add checkpoint Goals/i).waitFor();
  await shot(page, 'pipelines-file');
  await dialog.getByRole('button', { name: 'Apply the file' }).click();
  await page.getByText(/^Applied From a file/).waitFor();
  await row('From a file').getByText('Goals, Plan, Report').waitFor();
  // A dropped file is taken as well.
  await page.getByRole('button', { name: 'Apply a file' }).first().click();
  const dropped = await page.evaluateHandle((text) => {
    const data = new DataTransfer();
    data.items.add(new File([text], 'again.yaml'));
    return data;
  }, good);
  await dialog.locator('.cm-content').first().waitFor();
  await dialog.getByText('or paste it, or drop it here').dispatchEvent('drop', { dataTransfer: dropped });
  await dialog.getByText('again.yaml').waitFor();
  await dialog.getByText('Nothing would change.').waitFor();
});

it('slice 3: deleting names what happens, is refused while a run goes, and can be taken back', async () => {
  const { run } = await seedForm(server, 'Going on');
  await seedPipeline(server, 'first-pipeline.yaml', 'To be put away');
  await signIn(page, server, '/pipelines');
  const remove = async (name: string) => {
    await row(name).getByRole('button', { name: /^More about/ }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: `Delete ${name}` }).click();
  };
  await remove('Going on');
  await page.getByRole('dialog').getByRole('alert').waitFor();
  await page.getByRole('dialog').getByRole('link', { name: `run ${run.run_id.slice(-8)}` }).waitFor();
  expect(await axe(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await remove('To be put away');
  await page.getByText('Deleted To be put away').waitFor();
  await until('the row is gone', async () => (await row('To be put away').count()) === 0);
  await page.getByText('1 deleted pipeline can be brought back').waitFor();
  await page.getByRole('button', { name: 'Show' }).click();
  await page.getByRole('region', { name: 'Deleted pipelines' }).getByText('To be put away').waitFor();
  await shot(page, 'pipelines-deleted');
  await page.getByRole('button', { name: 'Bring back' }).click();
  await row('To be put away').waitFor();
  await until('nothing is deleted', async () => (await page.getByText(/can be brought back/).count()) === 0);
  // At once, with u.
  await remove('To be put away');
  await page.getByText('Deleted To be put away').waitFor();
  await page.keyboard.press('u');
  await page.getByText('Brought To be put away back').waitFor();
  await row('To be put away').waitFor();
});

it('slice 3: a pipeline is written out as a file that says the same again', async () => {
  const pipeline = await seedPipeline(server, 'first-pipeline.yaml', 'Written out');
  await signIn(page, server, `/pipelines?item=${pipeline.pipeline_id}`);
  await row('Written out').getByRole('button', { name: /^More about/ }).click();
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('menuitem', { name: 'Export as YAML' }).click()]);
  expect(download.suggestedFilename()).toMatch(/\.yaml$/);
  const again = await server.api<{ changes: unknown[] }>('POST', '/api/pipelines/apply', readFileSync(await download.path(), 'utf8'));
  expect(again.changes).toEqual([]);
});

it('slices 6 and 9: a run is started from the list, and its track, time and history are there', async () => {
  await seedReview(server, 'Quarterly market brief', false);
  await signIn(page, server, '/pipelines');
  const brief = row('Quarterly market brief');
  await brief.getByRole('link', { name: /^v1 waits for you/ }).waitFor();
  await brief.getByRole('img', { name: 'Plan: Waiting for approval' }).waitFor();
  await brief.getByRole('listitem').filter({ hasText: /v1, waits for you/ }).first().waitFor();
  await page.getByText(/of which \d wait/).waitFor();
  expect(await axe(page)).toEqual([]);
  await shot(page, 'pipelines');
  await page.keyboard.press('/');
  await page.keyboard.type('market');
  await until('one row is left', async () => (await page.getByRole('list', { name: 'Pipelines' }).getByRole('link', { name: 'Hiring' }).count()) === 0);
  await page.keyboard.press('Escape');
  await page.keyboard.press('s');
  const dialog = page.getByRole('dialog', { name: 'Start v2 of Quarterly market brief?' });
  await dialog.getByText('extending from v1', { exact: false }).waitFor();
  await dialog.getByRole('button', { name: 'Start v2' }).click();
  await page.waitForURL(/\/runs\//);
  const id = page.url().split('/runs/')[1]?.split('?')[0] ?? '';
  expect((await getRun(server, id)).run_version).toBe(2);
});

it('is walked by keys: j, k, enter, e', async () => {
  await signIn(page, server, '/pipelines');
  const all = page.getByRole('list', { name: 'Pipelines' }).locator(':scope > li');
  await all.first().waitFor();
  await page.keyboard.press('j');
  await until('the second is chosen', async () => (await all.nth(1).getAttribute('aria-current')) === 'true');
  await page.keyboard.press('k');
  await until('the first is chosen', async () => (await all.first().getAttribute('aria-current')) === 'true');
  await page.keyboard.press('e');
  await page.waitForURL(/\/edit/);
});

it('lets nobody change who may not, and says why', async () => {
  const viewer = await seedToken(server, 'Vera', 'viewer');
  await signIn(page, server, '/pipelines', viewer);
  await page.getByRole('button', { name: 'New pipeline' }).and(page.locator('[aria-disabled=true]')).first().waitFor();
  await page.getByRole('button', { name: /^More about/ }).first().click();
  await page.getByRole('menuitem', { name: /^Delete/ }).getByText('Your role is viewer; this needs admin.').waitFor();
});

it('fits a phone', async () => {
  await page.setViewportSize(PHONE);
  await signIn(page, server, '/pipelines');
  await row('Hiring').waitFor();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(PHONE.width);
  expect(await axe(page)).toEqual([]);
});

it('slice 3: the history says who changed what, and how two revisions differ', async () => {
  const pipeline = await seedPipeline(server, 'first-pipeline.yaml', 'With a past');
  const [first] = pipeline.checkpoints;
  await server.api('PUT', `/api/checkpoints/${first?.checkpoint_id}`, { checkpoint_description: 'What is wanted, by whom.' });
  await server.api('PUT', `/api/pipelines/${pipeline.pipeline_id}`, { pipeline_description: 'Another purpose.' });
  await signIn(page, server, `/pipelines/${pipeline.pipeline_id}/history`);
  const revisions = page.getByRole('navigation', { name: 'Revisions' });
  await revisions.getByRole('link').nth(5).waitFor();
  const change = page.getByRole('region', { name: 'What changed' });
  await change.getByText('Another purpose.').waitFor();
  await page.keyboard.press('j');
  await change.getByText('What is wanted, by whom.').waitFor();
  expect(await axe(page)).toEqual([]);
  await shot(page, 'history');
  // Any two, at an address.
  await change.getByLabel('The other revision').selectOption('6');
  await page.waitForURL(/from=/);
  await page.reload();
  await change.getByText('Another purpose.').waitFor();
});
