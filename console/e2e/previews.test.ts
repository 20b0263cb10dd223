/** T25: hostile outputs in a real browser. Nothing in them runs, loads, asks, leads away or frames the console. */
import { createServer, type Server as Listener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, expect, it } from 'vitest';
import { NAMES, PAYLOADS } from './payloads';
import { eachTest, openPage, seedRun, server, shot, signIn, waits } from './world';

/** Somewhere else: whatever reaches it was loaded or sent. */
let evil: Listener;
const reached: string[] = [];

eachTest(async () => {
  evil = createServer((request, answer) => {
    reached.push(`${request.method} ${request.url}`);
    answer.setHeader('access-control-allow-origin', '*');
    answer.end('');
  });
  await new Promise<void>((resolve) => evil.listen(0, '127.0.0.1', resolve));
});
afterAll(() => void evil.close());

const host = () => `127.0.0.1:${(evil.address() as AddressInfo).port}`;
/** The words of a payload put in. */
const made = (text: string, at: number) => text.replaceAll('EVIL', `http://${host()}`).replaceAll('HOST', host()).replaceAll('RUN', `top.ran(${at})`).replaceAll('TOKEN', `token${at}`);

/** One form with all of them as files; what comes of it waits to be approved. */
async function seed() {
  const fields = PAYLOADS.map((_, at) => ({ name: `f${at}`, type: 'file', label: `File ${at}`, required: false }));
  const pipeline = await server.api<{ pipeline_id: string }>('POST', '/api/pipelines', { pipeline_name: made('<img src=x onerror=RUN>', 900), pipeline_description: 'Hostile outputs' });
  const step = {
    checkpoint_name: made('Files <script>RUN</script>', 901),
    checkpoint_description: 'Many files',
    inputs: { include_previous_version: false },
    execution: {
      mode: 'human_only',
      human_only_config: { instructions: made('<img src=x onerror=RUN>', 902), input_fields: fields, save_as_artifact: true, artifact_name: 'names', artifact_format: 'json' },
      retry_config: { max_auto_retries: 0, on_failure: 'pause_pipeline' },
      timeout_config: { enabled: false },
    },
    human_interaction: { requires_approval_to_start: false, requires_approval_to_complete: true, max_revision_iterations: 1 },
    output: { artifacts: [], validation: { enabled: false } },
  };
  await server.api('POST', `/api/pipelines/${pipeline.pipeline_id}/checkpoints`, step);
  const run = await seedRun(server, pipeline.pipeline_id);
  const { execution } = await waits(server, run.run_id, 'form');
  const form = new FormData();
  form.set('fields', '{}');
  PAYLOADS.forEach(({ ext, text }, at) => form.set(`f${at}`, new File([made(text, at)], at < NAMES.length ? made(NAMES[at] as string, at).replace(/\.\w+$/, `.${ext}`) : `f${at}.${ext}`)));
  const sent = await fetch(`${server.url}/api/executions/${execution.execution_id}/submit`, { method: 'POST', headers: { authorization: `Bearer ${server.token}` }, body: form });
  expect(sent.status, await sent.clone().text()).toBe(200);
  await waits(server, run.run_id, 'approve_complete');
  return execution.execution_id;
}

it('shows at least 80 hostile outputs, and nothing of them comes to life', { timeout: 240_000 }, async () => {
  expect(PAYLOADS.length).toBeGreaterThanOrEqual(80);
  const id = await seed();
  const page = await openPage({ acceptDownloads: true });
  const ran: unknown[] = [];
  const dialogs: string[] = [];
  const strayed: string[] = [];
  await page.exposeFunction('ran', (at: unknown) => void ran.push(at));
  page.on('dialog', (dialog) => {
    dialogs.push(dialog.message());
    void dialog.dismiss();
  });
  // First, that the traps would close.
  await page.goto(`${server.url}/readyz`);
  await page.evaluate(() => (globalThis as unknown as { ran: (at: number) => void }).ran(1));
  await page.evaluate(() => alert('here'));
  await fetch(`http://${host()}/trap`);
  expect([ran.splice(0), dialogs.splice(0), reached.splice(0)]).toEqual([[1], ['here'], ['GET /trap']]);
  page.context().on('page', (opened) => strayed.push(`a window with ${opened.url()}`));
  page.on('download', (download) => strayed.push(`a download of ${download.url()}`));
  page.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith('data:') && !url.startsWith('blob:') && (!url.startsWith(server.url) || url.includes('pwned'))) strayed.push(`${request.method()} ${url}`);
  });
  await signIn(page, server, `/review/${id}`);
  page.on('framenavigated', (frame) => {
    const url = frame.url();
    const own = frame === page.mainFrame() ? url.startsWith(`${server.url}/review/`) : url === 'about:srcdoc' || url === 'about:blank';
    if (!own) strayed.push(`${frame === page.mainFrame() ? 'the page' : 'a frame'} went to ${url}`);
  });
  const go = (at: number, view: string) =>
    page.evaluate((path) => history.pushState({}, '', path), `/review/${id}?artifact=f${at}&view=${view}`);
  let drawn = 0;
  for (const [at, { ext, text }] of PAYLOADS.entries()) {
    await go(at, 'rendered');
    const section = page.getByRole('region', { name: `f${at}.${ext}`, exact: true }).first();
    await section.waitFor();
    if (ext === 'html') {
      const frame = section.frameLocator('iframe');
      await frame.getByText(`token${at}`).first().waitFor({ state: 'attached' });
      expect(await section.locator('iframe').getAttribute('sandbox')).toBe('');
      // What can be pressed is pressed.
      const before = page.complaints.length;
      for (const one of await frame.locator('a,button,summary,input').all()) await one.dispatchEvent('click', {}, { timeout: 1000 }).catch(() => {});
      // The browser remarks that this test's own hand could not run anything there.
      page.complaints.length = before;
    } else if (ext === 'mmd') {
      await section.locator('img, [role=note]').first().waitFor();
      drawn += await section.locator('img').count();
    } else if (ext === 'svg') {
      await section.locator('img').first().waitFor();
    } else {
      await section.getByText(`token${at}`).first().waitFor();
      for (const link of await section.locator('a:not([download])').all()) {
        expect(await link.getAttribute('href')).toMatch(/^(https?:|mailto:|\/|#|x)/);
        expect(await link.getAttribute('rel')).toBe('noreferrer noopener');
      }
    }
    expect(await page.locator('img[src^="http"]').count(), `picture from elsewhere in ${at}`).toBe(0);
    expect(page.complaints, text).toEqual([]);
    await go(at, 'raw');
    await page.getByRole('region', { name: `Text of f${at}.${ext}` }).waitFor();
  }
  expect(drawn, 'diagrams that were drawn').toBeGreaterThanOrEqual(8);
  await go(PAYLOADS.findIndex((one) => one.text.includes('Signed out')), 'rendered');
  await page.locator('iframe').waitFor();
  await shot(page, 'preview-html');
  await go(PAYLOADS.findIndex((one) => one.ext === 'mmd'), 'rendered');
  await page.locator('main section img').first().waitFor();
  await shot(page, 'preview-mermaid');

  expect({ ran, dialogs, strayed, reached }).toEqual({ ran: [], dialogs: [], strayed: [], reached: [] });
  expect(await page.title()).not.toContain('pwned');
  expect(await page.evaluate(() => ({}) as { polluted?: boolean })).toEqual({});
  expect(page.url()).toContain(`${server.url}/review/${id}`);
  // The outputs themselves are files to keep, wherever they are opened.
  const answer = await page.request.get(`${server.url}/api/artifacts/list?execution_id=${id}`);
  const { items } = (await answer.json()) as { items: { artifact_record_id: string; artifact_name: string }[] };
  const bytes = await page.request.get(`${server.url}/api/artifacts/${items[0]?.artifact_record_id}/download`);
  expect(bytes.headers()['content-disposition']).toMatch(/^attachment/);
  expect(bytes.headers()['x-content-type-options']).toBe('nosniff');
  expect(bytes.headers()['content-security-policy']).toMatch(/^sandbox;/);
  expect(page.complaints).toEqual([]);
  await page.context().close();
});

it('lets nothing put the console into a frame', async () => {
  const page = await openPage();
  const answer = await page.request.get(`${server.url}/inbox`);
  expect(answer.headers()['content-security-policy']).toContain("frame-ancestors 'none'");
  expect(answer.headers()['x-frame-options']?.toLowerCase()).toBe('deny');
  await page.context().close();
});
