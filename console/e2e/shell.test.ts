/** The frame around all screens: signing in, keys, palette, addresses, the live connection, weight. */
import { expect, it } from 'vitest';
import { axe, eachTest, endSessions, kill, page, seedForm, server, shot, signIn, startServer, startWire, until } from './world';

let seeded: Awaited<ReturnType<typeof seedForm>>;

eachTest(async () => {
  seeded = await seedForm(server);
});

it('says how to sign in, refuses a wrong token, and takes a right one', async () => {
  await page.goto(`${server.url}/events`);
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await page.getByText('holdpoint open').first().waitFor();
  expect(await axe(page)).toEqual([]);
  await shot(page, 'sign-in');
  await page.getByLabel('Or paste a token').fill('hp_wrong');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').waitFor();
  await page.getByLabel('Or paste a token').fill(server.token);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Events' }).waitFor();
});

it('stands at every address, without a complaint or a barrier', async () => {
  const { run, pipeline, execution } = seeded;
  const paths = [
    '/inbox',
    '/pipelines',
    `/pipelines/${pipeline.pipeline_id}`,
    `/pipelines/${pipeline.pipeline_id}/edit`,
    `/pipelines/${pipeline.pipeline_id}/history`,
    `/runs/${run.run_id}`,
    `/runs/${run.run_id}/rollback`,
    `/review/${execution}`,
    '/compare',
    '/events',
    '/artifacts',
    '/usage',
    '/settings',
    '/sessions',
    '/loops',
    '/runs/no/such/address',
  ];
  await signIn(page, server, '/inbox');
  for (const path of paths) {
    await page.goto(server.url + path);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.getByText(/^Live/).waitFor();
    expect(await axe(page), path).toEqual([]);
  }
});

it('sends the page with a strict policy, files for ever, and problems for what is not there', async () => {
  const answer = await fetch(`${server.url}/runs/anything`);
  const policy = answer.headers.get('content-security-policy') ?? '';
  expect(policy).toContain("script-src 'self';");
  expect(policy).not.toContain('unsafe');
  const html = await answer.text();
  const script = /src="(\/assets\/[^"]+)"/.exec(html)?.[1] ?? '';
  const file = await fetch(server.url + script, { headers: { 'accept-encoding': 'br' } });
  expect([file.status, file.headers.get('cache-control'), file.headers.get('content-encoding') ?? 'br']).toEqual([200, 'public, max-age=31536000, immutable', 'br']);
  for (const path of ['/assets/none.js', '/nothing-here', '/api/nothing-here']) {
    const missing = await fetch(server.url + path, { headers: { authorization: `Bearer ${server.token}` } });
    expect([path, missing.status, missing.headers.get('content-type')]).toEqual([path, 404, 'application/problem+json']);
  }
});

it('goes by keys: g p, the palette, the sheet of keys', async () => {
  await signIn(page, server, '/inbox');
  await page.keyboard.press('g');
  await page.keyboard.press('p');
  await page.getByRole('heading', { level: 1, name: 'Pipelines' }).waitFor();
  await page.keyboard.press('Control+k');
  await page.getByPlaceholder('Find a verb, a pipeline, a run').fill('event');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Events' }).waitFor();
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keys' }).waitFor();
  expect(await axe(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
});

it('says so when the connection is cut, turns decisions off, and heals without a gap', async () => {
  const wire = await startWire(server);
  await signIn(page, wire.server, '/inbox');
  await page.getByText(/^Live/).waitFor();
  wire.cut();
  await page.getByText(/Not connected, showing \d\d:\d\d/).waitFor();
  await page.getByText('Not connected: decisions are off.').first().waitFor();
  await seedForm(server, 'While nobody listened');
  wire.mend();
  await page.getByText(/^Live/).waitFor();
  await page.getByRole('link', { name: /fill in. While nobody listened/ }).waitFor();
  wire.close();
});

it('asks to sign in again when the session is over', async () => {
  const other = await startServer();
  await signIn(page, other, '/inbox');
  await page.getByText(/^Live/).waitFor();
  const at = await kill(other);
  endSessions(at);
  const again = await startServer(at);
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await again.stop();
});

it('loads little at first', async () => {
  let bytes = 0;
  const session = await page.context().newCDPSession(page);
  await session.send('Network.enable');
  session.on('Network.loadingFinished', (event) => (bytes += event.encodedDataLength));
  await signIn(page, server, '/inbox');
  await page.getByText(/^Live/).waitFor();
  await until('all has come', async () => bytes > 100_000);
  expect(bytes).toBeLessThan(350_000);
});
