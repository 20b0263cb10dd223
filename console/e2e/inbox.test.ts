/** The inbox in a real browser, on the real program. */
import { expect, it } from 'vitest';
import { axe, decide, eachTest, getRun, page, PHONE, seedForm, seedReview, seedToken, server, shot, signIn, until } from './world';

eachTest();

it('teaches when nothing waits, and takes up what comes without a reload', async () => {
  await signIn(page, server, '/inbox');
  await page.getByText('Nothing waits for you').waitFor();
  expect(await page.title()).toBe('Inbox · Holdpoint');
  await page.getByText(/^Live/).waitFor();
  await seedForm(server, 'Supplier onboarding');
  await page.getByRole('heading', { name: '“Goals” has a form to fill in.' }).waitFor();
  await page.getByText('When it is sent, it waits to be approved; then Plan comes next.').waitFor();
  await until('the count in the title', async () => (await page.title()) === '(1) Inbox · Holdpoint');
});

it('shows what is asked, what changed, and what it costs', async () => {
  await seedReview(server, 'Quarterly plan');
  await signIn(page, server, '/');
  await page.waitForURL(/\/inbox/);
  await page.getByRole('heading', { name: 'Is the result of “Plan” good?' }).waitFor();
  const preview = page.getByRole('region', { name: 'Selected question' });
  await preview.getByText('Changed since rev 1').waitFor();
  await preview.locator('ins').first().waitFor();
  await page.keyboard.press('d');
  await until('no marks', async () => (await preview.locator('ins').count()) === 0);
  await page.keyboard.press('d');
  expect(await axe(page)).toEqual([]);
  await shot(page, 'inbox');
});

it('is cleared with one hand: j, k, r, a', async () => {
  const { run, execution } = await seedReview(server, 'Release notes', false);
  await signIn(page, server, '/inbox');
  const row = page.getByRole('link', { name: /good\? Release notes/ });
  await row.waitFor();
  await until('the row is selected', async () => {
    if ((await row.getAttribute('aria-current')) === 'true') return true;
    await page.keyboard.press('j');
    return false;
  });
  await page.keyboard.press('k');
  await page.keyboard.press('j');
  await row.click();
  await page.keyboard.press('r');
  await page.getByRole('dialog').getByLabel(/What should change/).fill('Name who watches.');
  await decide('Control+Enter', /^Ask for a revision/);
  await page.getByText('Asked for revision 2 of Plan').waitFor();
  await until('the second revision', async () => (await server.api<{ revision_iteration: number; waiting_for?: unknown }>('GET', `/api/executions/${execution}`)).waiting_for);
  await until('the row is back', async () => (await row.count()) === 1);
  await row.click();
  const preview = page.getByRole('region', { name: 'Selected question' });
  await preview.getByText('Changed since rev 1').waitFor();
  await decide('a', /^Approve/);
  await page.getByText('Approved Plan, revision 2').waitFor();
  expect((await getRun(server, run.run_id)).status).toBe('completed');
  await until('the row is gone', async () => (await row.count()) === 0);
});

it('lets nobody decide who may not, and says why', async () => {
  const viewer = await seedToken(server, 'Vera', 'viewer');
  await signIn(page, server, '/inbox', viewer);
  await page.getByText('Waiting on others').waitFor();
  await page.getByText(/Your role is viewer/).first().waitFor();
});

it('works on a phone, with the first question opened in its place', async () => {
  await page.setViewportSize(PHONE);
  await signIn(page, server, '/inbox');
  const card = page.getByRole('region', { name: 'Selected question' });
  await card.waitFor();
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: /Inbox/ }).waitFor();
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  expect(wide).toBeLessThanOrEqual(PHONE.width);
  expect(await axe(page)).toEqual([]);
});
