/** The log in a real browser: filters in the address, live lines, a pause, one event in full, taking it away. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { axe, eachTest, page, PHONE, seedForm, seedPipeline, server, shot, signIn, until } from './world';

let seeded: Awaited<ReturnType<typeof seedForm>>;

eachTest(async () => {
  seeded = await seedForm(server, 'Market brief');
  await seedForm(server, 'Supplier onboarding');
});

const log = () => page.getByRole('region', { name: /events?$/ });
const rows = () => log().getByRole('listitem').getByRole('button');

it('slice 19: filters by pipeline and type, and keeps the filter in the address', async () => {
  await signIn(page, server, '/events');
  await rows().filter({ hasText: 'token.issued' }).first().waitFor();
  await page.getByRole('button', { name: 'Pipeline', exact: true }).click();
  await page.getByRole('dialog', { name: 'Pipeline' }).getByLabel('Pipeline').selectOption({ label: 'Market brief' });
  await page.waitForURL(new RegExp(`pipeline_id=${seeded.pipeline.pipeline_id}`));
  await page.keyboard.press('Escape');
  await until('nothing of another', async () => (await rows().filter({ hasText: 'token.issued' }).count()) === 0 && (await rows().count()) > 0);
  await page.getByRole('button', { name: 'Type', exact: true }).click();
  const types = page.getByRole('dialog', { name: 'Type' });
  await types.getByLabel('run.started').check();
  await types.getByLabel('execution.started').check();
  await page.keyboard.press('Escape');
  await page.waitForURL(/event_type=run.started(,|%2C)execution.started/);
  await until('two lines', async () => (await rows().count()) === 2);
  expect(await axe(page)).toEqual([]);
  await page.reload();
  await until('the same two lines', async () => (await rows().count()) === 2);
  await page.keyboard.press('c');
  await rows().filter({ hasText: 'token.issued' }).first().waitFor();
  expect(new URL(page.url()).search).toBe('');
});

it('slice 19: follows what happens, and holds still when it is told to', async () => {
  await signIn(page, server, '/events?event_type=pipeline.created');
  await until('two lines', async () => (await rows().count()) === 2);
  await page.getByText(/^Live/).waitFor();
  await seedPipeline(server, 'first-pipeline.yaml', 'Third');
  await until('a third line', async () => (await rows().count()) === 3);
  await page.keyboard.press('.');
  await page.getByText('paused').waitFor();
  await seedPipeline(server, 'first-pipeline.yaml', 'Fourth');
  await page.getByRole('button', { name: /Show 1 new/ }).waitFor();
  expect(await rows().count()).toBe(3);
  await page.keyboard.press('.');
  await until('a fourth line', async () => (await rows().count()) === 4);
});

it('slice 19: shows one event in full, and how the chain is verified', async () => {
  await signIn(page, server, `/events?run_id=${seeded.run.run_id}`);
  await rows().first().waitFor();
  await page.keyboard.press('j');
  const one = page.getByRole('region', { name: 'The event' });
  await one.getByText(/^sha256:[0-9a-f]{64}$/).first().waitFor();
  await one.getByText('Row before', { exact: true }).waitFor();
  await page.waitForURL(/event=/);
  expect(await axe(page)).toEqual([]);
  await shot(page, 'events');
  await page.keyboard.press('Escape');
  await one.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: /^Verify/ }).click();
  await page.getByText('holdpoint audit verify').waitFor();
  await page.getByText(/The log ends at position/).waitFor();
  await page.getByRole('button', { name: 'Check it now' }).click();
  await page.getByText('It is what was written').waitFor();
  expect(await axe(page)).toEqual([]);
  await shot(page, 'events-verified');
});

it('slice 19: exports what the filter lets through, one event per line', async () => {
  await signIn(page, server, '/events?event_type=run.started');
  await rows().first().waitFor();
  await page.getByRole('button', { name: 'Export', exact: true }).click();
  const coming = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Export as JSON lines' }).click();
  const file = await coming;
  expect(file.suggestedFilename()).toBe('holdpoint-events.jsonl');
  const lines = readFileSync(await file.path(), 'utf8').trimEnd().split('\n');
  expect(lines.map((line) => (JSON.parse(line) as { event_type: string }).event_type)).toEqual(['run.started', 'run.started']);
  await page.getByText('Exported all 2 that fit').waitFor();
});

it('teaches where nothing fits, and fits a phone', async () => {
  await page.setViewportSize(PHONE);
  await signIn(page, server, '/events?actor=Nobody');
  await page.getByText('Nothing fits the filter').waitFor();
  await page.getByRole('button', { name: 'Clear the filter' }).click();
  await rows().first().click();
  await page.getByRole('dialog', { name: 'Event' }).waitFor();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(PHONE.width);
  expect(await axe(page)).toEqual([]);
});
