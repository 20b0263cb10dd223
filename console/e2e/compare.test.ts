/** Two sides in a real browser: runs, revisions, where they first differ, and a stable address. */
import { expect, it } from 'vitest';
import { axe, eachTest, page, PHONE, seedReview, seedRun, server, shot, signIn, waits } from './world';

let seeded: Awaited<ReturnType<typeof seedReview>>;

eachTest(async () => {
  seeded = await seedReview(server, 'Market brief');
});

it('slice 9: compares two revisions of an execution, with the changed words marked', async () => {
  const { execution } = seeded;
  await signIn(page, server, `/compare?a=${execution}@0.1&b=${execution}@1.1`);
  const both = page.getByRole('region', { name: 'Both sides' });
  await both.getByText('Plan in v1, revision 1, try 1').waitFor();
  await both.getByText('Plan in v1, revision 2, try 1').waitFor();
  await both.getByText('first difference').waitFor();
  await both.locator('ins', { hasText: 'stay close' }).first().waitFor();
  await both.locator('del').first().waitFor();
  await page.keyboard.press('n');
  expect(await page.evaluate(() => document.activeElement?.matches('[data-change],[data-stop]'))).toBe(true);
  expect(await axe(page)).toEqual([]);
  await shot(page, 'compare');
  // Side by side or in one column, and turned round: the address keeps it.
  await page.getByRole('radio', { name: 'One column' }).click();
  await page.waitForURL(/view=one/);
  await page.keyboard.press('x');
  await page.waitForURL(new RegExp(`a=${execution}(@|%40)1.1`));
});

it('slice 10: compares two versions, chosen on the page', async () => {
  const second = await seedRun(server, seeded.pipeline.pipeline_id);
  await waits(server, second.run_id, 'approve_complete');
  await signIn(page, server, '/compare');
  await page.getByText('Nothing chosen to compare').waitFor();
  expect(await axe(page)).toEqual([]);
  const [left, right] = [page.getByRole('group', { name: 'Left' }), page.getByRole('group', { name: 'Right' })];
  await left.getByLabel('Pipeline').selectOption({ label: 'Market brief' });
  await left.getByLabel('Run', { exact: true }).selectOption({ label: 'v1' });
  await right.getByLabel('Run', { exact: true }).selectOption({ label: 'v2' });
  await page.waitForURL(new RegExp(`a=${seeded.run.run_id}.*b=${second.run_id}`));
  await page.getByText('v1 and v2').waitFor();
  // The same address shows the same again.
  await page.reload();
  await page.getByText('v1 and v2').waitFor();
  await right.getByLabel('Checkpoint').selectOption({ label: 'Plan' });
  await page.getByRole('region', { name: 'Both sides' }).getByText('Plan in v2').waitFor();
});

it('says what is wrong with an address, and fits a phone', async () => {
  await page.setViewportSize(PHONE);
  await signIn(page, server, `/compare?a=${seeded.run.run_id}&b=00000000-0000-4000-8000-000000000000`);
  await page.getByText('The two could not be compared').waitFor();
  await page.goto(`${server.url}/compare?a=${seeded.execution}@0.1&b=${seeded.execution}@1.1`);
  await page.locator('ins').first().waitFor();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(PHONE.width);
  expect(await axe(page)).toEqual([]);
});
