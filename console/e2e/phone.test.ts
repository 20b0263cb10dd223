/** The console as the browser of a phone lays it out: the page, and what a thumb presses. */
import { expect, it } from 'vitest';
import { form, put, start } from './run-world';
import { eachTest, openPage, PHONE, server, signIn, type TestPage } from './world';

eachTest();

/** What is pressed and lower than 44, outside of running text. */
const low = (phone: TestPage) =>
  phone.evaluate(() =>
    [...document.querySelectorAll('main button, header button, nav a')]
      // Room around it counts, which is drawn as an empty box.
      .filter((one) => one.getClientRects().length > 0 && !one.matches('.sr-only') && Math.max(one.getBoundingClientRect().height, Number.parseFloat(getComputedStyle(one, '::after').height) || 0) < 43.5)
      .map((one) => `${one.getAttribute('aria-label') ?? one.textContent}`.slice(0, 40)),
  );

it('is no wider than a phone, whatever its panes hold, and has room for a thumb', async () => {
  // More checkpoints than fit, one of which waits; a browser of a phone makes a page wider for anything that sticks out.
  const pipeline = await put(server, 'A long way', ['Scope', 'Sources', 'Analysis', 'Draft', 'Legal review', 'Printing'].map((name) => form(name, { approve: true })));
  const run = await start(server, pipeline);
  const phone = await openPage({ viewport: PHONE, isMobile: true, hasTouch: true });
  await signIn(phone, server, '/inbox');
  const paths = ['/inbox', '/pipelines', `/pipelines/${pipeline.pipeline_id}`, `/pipelines/${pipeline.pipeline_id}/edit`, `/pipelines/${pipeline.pipeline_id}/history`, `/runs/${run}`, `/runs/${run}/rollback`, '/compare', '/events', '/artifacts', '/usage', '/settings'];
  for (const path of paths) {
    await phone.goto(server.url + path);
    await phone.getByRole('heading', { level: 1 }).waitFor();
    if (path.startsWith('/runs/')) await phone.getByText('Printing').first().waitFor({ state: 'attached' });
    expect([path, await phone.evaluate(() => window.innerWidth), await low(phone)]).toEqual([path, PHONE.width, []]);
  }
  await phone.context().close();
  expect(phone.complaints).toEqual([]);
});
