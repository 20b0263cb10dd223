/** What work cost and keeps, in a real browser, and outputs by name. */
import { expect, it } from 'vitest';
import { axe, eachTest, page, press, PHONE, seedReview, seedToken, server, shot, signIn } from './world';

let seeded: Awaited<ReturnType<typeof seedReview>>;

eachTest(async () => {
  seeded = await seedReview(server, 'Market brief');
});

it('adds up by pipeline, model and agent, in bars and in a table', async () => {
  await signIn(page, server, '/usage');
  const { total } = await server.api<{ total: { calls: number } }>('GET', '/api/usage');
  expect(total.calls).toBeGreaterThan(0);
  await page.getByRole('list', { name: 'Calls by pipeline' }).getByText('Market brief').waitFor();
  await page.keyboard.press('3');
  await page.waitForURL(/by=model/);
  await page.getByRole('list', { name: 'Calls by model' }).getByText('script/team.yaml').waitFor();
  await page.keyboard.press('4');
  const table = page.getByRole('region', { name: 'Table by agent' });
  await table.getByRole('rowheader', { name: 'Writer' }).waitFor();
  await table.getByRole('rowheader', { name: 'Critic' }).waitFor();
  expect(await axe(page)).toEqual([]);
  await shot(page, 'usage');
});

it('says what is on the disk, and what would go with which command', async () => {
  await signIn(page, server, '/usage');
  await page.getByRole('list', { name: 'Disk by pipeline' }).getByText(/kB/).waitFor();
  await page.getByText('nothing would go now').waitFor();
  await page.getByText('holdpoint gc', { exact: true }).waitFor();
  const viewer = await seedToken(server, 'Vera', 'viewer');
  await page.context().clearCookies();
  await signIn(page, server, '/usage', viewer);
  await page.getByText('What would go could not be worked out').waitFor();
  await page.setViewportSize(PHONE);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(PHONE.width);
  expect(await axe(page)).toEqual([]);
});

it('slice 9: shows outputs by name, their versions, where each came from, and the one before', async () => {
  await signIn(page, server, '/artifacts');
  await page.getByRole('navigation', { name: 'Names' }).getByRole('button', { name: /plan.*Market brief, 2 versions/ }).waitFor();
  const origin = page.getByRole('region', { name: 'Where it came from' });
  await origin.getByText('revision 2, try 1').waitFor();
  await origin.getByText(/^sha256 /).first().waitFor();
  await page.getByRole('heading', { name: /^Plan for the first release/ }).waitFor();
  expect(await axe(page)).toEqual([]);
  await shot(page, 'artifacts');
  await press('d', page.locator('ins', { hasText: 'stay close' }));
  await page.keyboard.press('h');
  await origin.getByText('revision 1, try 1, replaced by a later one').waitFor();
  const coming = page.waitForEvent('download');
  await page.getByRole('link', { name: /^Download/ }).click();
  expect((await coming).suggestedFilename()).toMatch(/^plan.*\.md$/);
  await page.setViewportSize(PHONE);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(PHONE.width);
  expect(await axe(page)).toEqual([]);
});

it('says where the sessions and the loops are', async () => {
  await signIn(page, server, '/sessions');
  await page.getByText('Sessions are not part of this version yet').waitFor();
  await page.goto(`${server.url}/loops`);
  await page.getByText('Loops are not part of this version yet').waitFor();
  await page.getByRole('button', { name: /Go to pipelines/ }).click();
  await page.getByRole('heading', { level: 1, name: 'Pipelines' }).waitFor();
  expect(seeded.run.run_id).toBeTruthy();
});
