/** The program goes away and comes back, with the page open all the while. */
import { expect, it } from 'vitest';
import { axe, eachTest, endSessions, kill, page, seedForm, seedReview, server, shot, signIn, startServer, startWire, until } from './world';

eachTest();

/** A word in the window, which a reload would wipe away. */
const mark = () => page.evaluate(() => void ((window as unknown as { mark: boolean }).mark = true));
const marked = () => page.evaluate(() => (window as unknown as { mark?: boolean }).mark === true);

it('turns decisions off with the reason while the server is gone, and goes on where it was when it is back', async () => {
  const first = await startServer();
  const { execution, run } = await seedReview(first, 'Before it went', false);
  await signIn(page, first, `/review/${execution}`);
  await page.getByText(/^Live/).waitFor();
  await page.getByRole('button', { name: /^Approve revision 1/ }).waitFor();
  await page.getByRole('heading', { name: 'Plan for the first release' }).waitFor();
  await mark();
  const at = await kill(first);
  await page.getByText(/Not connected, showing \d\d:\d\d/).waitFor();
  const decision = page.getByRole('region', { name: 'Decision', exact: true });
  await decision.getByText('Not connected: decisions are off.').waitFor();
  const approve = decision.getByRole('button', { name: /^Approve revision 1/ });
  expect(await approve.getAttribute('aria-disabled')).toBe('true');
  expect(await axe(page)).toEqual([]);
  await shot(page, 'offline');
  // What is decided all the same, with the key, is not sent and not lost.
  await page.keyboard.press('Control+Enter');
  // The work that was shown is still to be read, also in a view whose code was never loaded.
  await page.keyboard.press('2');
  await page.getByText('# Plan for the first release').waitFor();
  await page.getByRole('heading', { level: 1 }).waitFor();

  endSessions(at);
  const again = await startServer(at);
  // Somebody else decides, before this page is back.
  const waiting = (await again.api<{ waiting_for: { digest: string } }>('GET', `/api/executions/${execution}`)).waiting_for;
  await again.api('POST', `/api/executions/${execution}/approve-complete`, { digest: waiting.digest });
  await seedForm(again, 'While it was away');
  // The session has ended meanwhile: the page asks for a token, over the screen as it was.
  const dialog = page.getByRole('dialog', { name: 'Sign in again' });
  await dialog.getByLabel('Token').fill('hp_wrong');
  await page.keyboard.press('Enter');
  await dialog.getByRole('alert').waitFor();
  expect(await axe(page)).toEqual([]);
  await shot(page, 'sign-in-again');
  await dialog.getByLabel('Token').fill(again.token);
  await page.keyboard.press('Enter');
  await dialog.waitFor({ state: 'detached' });
  await page.getByText(/^Live/).waitFor();
  expect(new URL(page.url()).pathname).toBe(`/review/${execution}`);
  await page.getByText(/approved/i).first().waitFor();
  expect(await approve.count()).toBe(0);
  await page.keyboard.press('g');
  await page.keyboard.press('i');
  await page.getByRole('link', { name: /fill in. While it was away/ }).waitFor();
  expect(await page.getByRole('link', { name: /Before it went/ }).count()).toBe(0);
  // And it follows again.
  await seedForm(again, 'And afterwards');
  await page.getByRole('link', { name: /fill in. And afterwards/ }).waitFor();
  expect(await marked()).toBe(true);
  expect((await again.api<{ status: string }>('GET', `/api/runs/${run.run_id}`)).status).toBe('completed');
  await again.stop();
});

it('is still signed in when the server was started again', async () => {
  const first = await startServer();
  await seedForm(first, 'Before it went');
  await signIn(page, first, '/inbox');
  await page.getByText(/^Live/).waitFor();
  await mark();
  const again = await startServer(await kill(first));
  await seedForm(again, 'Afterwards');
  await page.getByRole('link', { name: /fill in. Afterwards/ }).waitFor();
  expect(await marked()).toBe(true);
  await page.reload();
  await page.getByRole('link', { name: /fill in. Before it went/ }).waitFor();
  await again.stop();
});

it('keeps its session when only the connection was away, and misses nothing on any screen', async () => {
  // See shell.test.ts for the inbox; here the log itself, position by position.
  const wire = await startWire(server);
  await seedForm(server, 'First');
  await signIn(page, wire.server, '/events');
  await page.getByText(/^Live/).waitFor();
  await mark();
  wire.cut();
  await page.getByText(/Not connected, showing/).waitFor();
  await seedForm(server, 'Second');
  const head = (await server.api<{ items: { seq: number }[] }>('GET', '/api/events?limit=1')).items[0]?.seq ?? 0;
  wire.mend();
  await until('the page is where the log is', async () => (await page.getByText(/^Live, event/).innerText()).replace(/\D/g, '') === String(head));
  await page.getByText(/Second/).first().waitFor();
  expect(await marked()).toBe(true);
  wire.close();
});

it('misses nothing that happens while it loads', async () => {
  await signIn(page, server, '/inbox');
  await page.getByText(/^Live/).waitFor();
  // Something comes to wait just before the page learns where the log ends, and after it may have asked what waits.
  let asked = false;
  await page.route('**/api/events?limit=1', async (route) => {
    if (!asked) await seedForm(server, 'In between');
    asked = true;
    await route.continue();
  });
  await page.reload();
  await page.getByRole('link', { name: /fill in. In between/ }).waitFor();
  expect(asked).toBe(true);
});
