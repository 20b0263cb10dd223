/** Nobody approves what they did not see: presses that are too quick, screens that are too small, content that changes, and others who answer. */
import { expect, it } from 'vitest';
import { agents, put, start, team } from './run-world';
import { decide, eachTest, getRun, openPage, page, PHONE, ready, seedReview, seedToken, server, signIn, type TestPage, until, waits } from './world';

eachTest();

const SHORT = '# Plan\n\nShip it.\n';
const long = (lines: number) => `# Plan\n\n${Array.from({ length: lines }, (_, at) => `Line ${at + 1} says what is done then.`).join('\n\n')}\n`;

/** A pipeline whose one step makes these files, and waits to be approved. */
async function makes(name: string, files: Record<string, string>) {
  const call = Object.entries(files).map(([path, content]) => ({ tool: 'file_operations', input: { operation: 'write', path, content } }));
  const artifacts = Object.keys(files).map((path) => ({ name: path.split('.')[0], format: path.split('.')[1] }));
  const played = `${name.replaceAll(' ', '-').toLowerCase()}.yaml`;
  return put(server, name, [agents('Plan', played, team('Writer'), { artifacts, approve: true })], { answers: { [played]: { turns: [{ when: { turn: 1 }, call }], default: { say: 'It is written.' } } } });
}

type Pipeline = Awaited<ReturnType<typeof makes>>;

/** Runs of a pipeline, each waiting to be approved. */
async function waiting(pipeline: Pipeline, runs = 1): Promise<{ run: string; execution: string; digest: string }[]> {
  const found = [];
  for (let at = 0; at < runs; at += 1) {
    const run = await start(server, pipeline);
    const { execution, waiting: asked } = await waits(server, run, 'approve_complete');
    found.push({ run, execution: execution.execution_id, digest: asked.digest ?? '' });
  }
  return found;
}

const one = async (pipeline: Pipeline) => (await waiting(pipeline))[0] as Awaited<ReturnType<typeof waiting>>[0];

/** What the page sends, from now on. */
function approvals(of: TestPage = page): string[] {
  const sent: string[] = [];
  of.on('request', (request) => {
    if (request.method() === 'POST' && /approve-complete|approve-start|\/abort$|\/start$/.test(request.url())) sent.push(new URL(request.url()).pathname);
  });
  return sent;
}

const done = (runs: { run: string }[]) => Promise.all(runs.map(async ({ run }) => (await getRun(server, run)).status === 'completed')).then((all) => all.filter(Boolean).length);
const approve = (on: TestPage = page) => on.getByRole('button', { name: /^Approve/ });
const decision = () => page.getByRole('region', { name: 'Decision', exact: true });
const preview = () => page.getByRole('region', { name: 'Selected question' });
const early = () => page.getByText('Read it first, then press again.');

/** Lets the page's time go on by little, until something is there: what comes next finds it in its first moments. */
const slowly = (what: string, look: () => Promise<boolean>) =>
  until(what, async () => {
    if (await look()) return true;
    await page.clock.runFor(20);
    return false;
  });

/** The inbox of a pipeline's questions, with the page's clock stopped; the first one can be decided. */
async function inboxInSlowTime(pipeline: Pipeline): Promise<void> {
  await page.clock.install();
  await signIn(page, server, '/inbox');
  await page.getByRole('link', { name: new RegExp(`good\\? ${pipeline.pipeline_name}`) }).first().click();
  await preview().getByRole('link', { name: pipeline.pipeline_name }).waitFor();
  await ready(/^Approve/);
  await page.clock.pauseAt(await page.evaluate(() => Date.now() + 1000));
}

it('a doubled key decides once, and the second press is answered with a hint', async () => {
  const pipeline = await makes('Doubled key', { 'plan.md': SHORT });
  const runs = await waiting(pipeline, 3);
  await inboxInSlowTime(pipeline);
  const sent = approvals();
  // Two presses on one question.
  await page.keyboard.press('a');
  await page.keyboard.press('a');
  await slowly('the first approval', async () => (await page.getByText('Approved Plan, revision 1').count()) > 0);
  await slowly('the next question', async () => (await page.locator('[data-ready=false]').count()) > 0 && (await approve().count()) > 0);
  // And one on the next, which has just appeared.
  await page.keyboard.press('a');
  await slowly('the hint', async () => sent.length > 1 || (await early().isVisible()));
  expect(sent.length).toBe(1);
  expect(await early().count()).toBe(1);
  expect(await done(runs)).toBe(1);
  // A press that began late enough decides.
  await page.clock.runFor(1000);
  await decide('a', /^Approve/);
  await slowly('the second approval', async () => (await done(runs)) === 2);
});

it('a held key decides once in the inbox', async () => {
  const pipeline = await makes('Held key', { 'plan.md': SHORT });
  const runs = await waiting(pipeline, 4);
  await signIn(page, server, '/inbox');
  await page.getByRole('link', { name: /good\? Held key/ }).first().click();
  await preview().getByRole('link', { name: 'Held key' }).waitFor();
  await ready(/^Approve/);
  const sent = approvals();
  await page.keyboard.down('a');
  await page.getByText('Approved Plan, revision 1').waitFor();
  // The next question can be decided, and the key goes on repeating.
  await until('the next question', async () => {
    await page.keyboard.down('a');
    return sent.length > 1 || ((await done(runs)) === 1 && (await page.locator('[data-ready=true]').count()) > 0);
  });
  for (let times = 0; times < 20; times += 1) await page.keyboard.down('a');
  expect(sent.length).toBe(1);
  // Neither does another key or a click decide while it is down.
  await (await ready(/^Approve/)).click();
  await page.getByText('Release the key, then press again.').waitFor();
  expect(sent.length).toBe(1);
  expect(await done(runs)).toBe(1);
  await page.keyboard.up('a');
  await decide('a', /^Approve/);
  await until('the second approval', async () => (await done(runs)) === 2);
});

it('Ctrl+Enter twice in the review decides once, and nothing is chosen on the next question', async () => {
  const runs = await waiting(await makes('Twice', { 'plan.md': SHORT }), 2);
  await signIn(page, server, `/review/${runs[0]?.execution ?? ''}`);
  await ready(/^Approve revision 1/);
  const before = page.url();
  const sent = approvals();
  await page.keyboard.press('Control+Enter');
  await page.keyboard.press('Control+Enter');
  await until('the next question', async () => new URL(page.url()).pathname !== new URL(before).pathname);
  await decision().getByRole('button', { name: /^(Decide|Approve)/ }).first().waitFor();
  await page.keyboard.press('Control+Enter');
  await until('no decision', async () => sent.length > 1 || (await decision().getByText('Choose what to do first.').count()) > 0);
  expect(sent.length).toBe(1);
  // Neither Enter nor Space is on a button that decides.
  await page.keyboard.press('Enter');
  await page.keyboard.press('Space');
  expect(await page.evaluate(() => document.activeElement?.hasAttribute('data-ready'))).toBe(false);
  await decision().getByText('Choose what to do first.').waitFor();
  expect(await decision().getByRole('radio', { checked: true }).count()).toBe(0);
  await page.keyboard.down('Control');
  for (let times = 0; times < 5; times += 1) await page.keyboard.down('Enter');
  await page.keyboard.up('Enter');
  await page.keyboard.up('Control');
  expect(sent.length).toBe(1);
  expect(await done(runs)).toBe(1);
});

it('a double click decides once, also where the next question has its button in the same place', async () => {
  const pipeline = await makes('Double click', { 'plan.md': SHORT });
  const runs = await waiting(pipeline, 2);
  await inboxInSlowTime(pipeline);
  const sent = approvals();
  const box = (await approve().first().boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  await page.mouse.dblclick(x, y);
  await slowly('the first approval', async () => (await page.getByText('Approved Plan, revision 1').count()) > 0);
  await slowly('the next question', async () => (await page.locator('[data-ready=false]').count()) > 0 && (await approve().count()) > 0);
  await page.mouse.click(x, y, { clickCount: 2 });
  await slowly('the hint', async () => sent.length > 1 || (await early().isVisible()));
  expect(sent.length).toBe(1);
  expect(await early().count()).toBe(1);
  expect(await done(runs)).toBe(1);
});

it('a phone offers the review instead of Approve, until every output was opened', async () => {
  const files = { 'plan.md': SHORT, 'sums.json': '{"total": 12}\n', 'table.csv': 'lane,rate\nOslo,7\n', 'note.txt': 'Read me.\n' };
  const { run, execution } = await one(await makes('On a phone', files));
  const phone = await openPage({ viewport: PHONE, isMobile: true, hasTouch: true });
  await signIn(phone, server, '/inbox');
  const card = phone.getByRole('region', { name: 'Selected question' });
  await card.getByRole('link', { name: 'On a phone' }).waitFor();
  await card.getByRole('button', { name: 'Review', exact: true }).waitFor();
  const sent = approvals(phone);
  expect(await approve(phone).count()).toBe(0);
  await card.getByRole('button', { name: 'Review', exact: true }).tap();
  await phone.waitForURL(`**/review/${execution}*`);
  await phone.getByText('3 of 4 outputs have not been opened.').first().waitFor();
  await phone.getByRole('button', { name: 'Approve', exact: true }).tap({ force: true });
  expect(await phone.getByRole('dialog').count()).toBe(0);
  const closed = phone.getByRole('menuitem', { name: 'not seen whole' });
  for (const left of ['2 of 4 outputs have not been opened.', '1 of 4 outputs has not been opened.', undefined]) {
    await phone.getByRole('button', { name: '4 artifacts' }).tap();
    await closed.first().tap();
    if (left) await phone.getByText(left).first().waitFor();
  }
  await phone.getByRole('button', { name: 'Approve', exact: true }).and(phone.locator(':not([aria-disabled=true])')).tap();
  await phone.getByRole('dialog').getByText('Covers 4 outputs, all seen whole').waitFor();
  expect(sent).toEqual([]);
  await (await ready('Approve revision 1', phone)).tap();
  await until('it is done', async () => (await getRun(server, run)).status === 'completed');
  await phone.context().close();
  expect(phone.complaints).toEqual([]);
});

it('a small window offers the review, until the excerpt was scrolled through', async () => {
  const pipeline = await makes('Small window', { 'plan.md': long(3) });
  await one(pipeline);
  await page.setViewportSize({ width: 900, height: 420 });
  await signIn(page, server, '/inbox');
  await page.getByRole('link', { name: /good\? Small window/ }).click();
  await preview().getByText('Line 1 says').waitFor();
  await preview().getByText('Covers plan.md, not seen whole yet').waitFor();
  await preview().getByRole('button', { name: 'Review', exact: true }).waitFor();
  expect(await approve().count()).toBe(0);
  const sent = approvals();
  // Hovering the text itself would jump to it.
  await page.mouse.move(760, 100);
  await until('all of it was seen', async () => {
    await page.mouse.wheel(0, 60);
    return (await approve().count()) > 0;
  });
  await preview().getByText('Covers plan.md, seen whole').waitFor();
  expect(sent).toEqual([]);
});

it('a zoomed window approves in the review when all of it was scrolled through, not when its end was jumped to', async () => {
  const { run, execution } = await one(await makes('Zoomed', { 'plan.md': long(60) }));
  await page.setViewportSize({ width: 720, height: 450 });
  await signIn(page, server, `/review/${execution}`);
  const text = page.getByRole('region', { name: 'plan.md' }).getByRole('region');
  await text.getByText('Line 1 says').waitFor();
  const side = (name: string) => page.getByRole('radio', { name }).click();
  const sent = approvals();
  const missing = 'Not all of plan.md has been on the screen: scroll through it.';
  await side('Decide');
  await decision().getByText(missing).waitFor();
  await page.keyboard.press('Control+Enter');
  await side('Work');
  await text.focus();
  await page.keyboard.press('End');
  await text.getByText('Line 60 says').waitFor();
  await until('the end is in sight', () => text.evaluate((it) => it.scrollTop + it.clientHeight >= it.scrollHeight - 1));
  await side('Decide');
  await decision().getByText(missing).waitFor();
  await page.keyboard.press('Control+Enter');
  expect(sent).toEqual([]);
  await side('Work');
  await text.focus();
  await until('the end, by pages', async () => {
    await page.keyboard.press('PageDown');
    return text.evaluate((it) => it.scrollTop + it.clientHeight >= it.scrollHeight - 1);
  });
  await side('Decide');
  await decision().getByText('Covers plan.md, seen whole').waitFor();
  await decide('Control+Enter', /^Approve revision 1/);
  await until('it is done', async () => (await getRun(server, run)).status === 'completed');
});

it('an answer that comes after somebody else’s decides nothing, and not what follows', async () => {
  const { run, execution } = await seedReview(server, 'Late answer', false);
  const mara = await seedToken(server, 'Mara Lindqvist', 'approver');
  const shown = await server.api<{ waiting_for?: { digest?: string } }>('GET', `/api/executions/${execution}`);
  await signIn(page, server, `/review/${execution}`);
  await ready(/^Approve revision 1/);
  // The page keeps hearing the question as it was.
  await page.route(`**/api/executions/${execution}`, (route) => route.fulfill({ json: shown }));
  await server.api('POST', `/api/executions/${execution}/reject`, { feedback: 'Name who watches.', digest: shown.waiting_for?.digest }, mara);
  await until('the second revision', async () => {
    const now = await server.api<{ revision_iteration: number; waiting_for?: unknown }>('GET', `/api/executions/${execution}`);
    return now.revision_iteration === 1 && now.waiting_for;
  });
  await decide('Control+Enter', /^Approve revision 1/);
  await page.getByText('The content has changed since it was shown. Nothing was decided.').waitFor();
  expect((await getRun(server, run.run_id)).status).toBe('in_progress');
});

it('content that changes under the eyes is seen anew before it is approved', async () => {
  const pipeline = await makes('Under the eyes', { 'plan.md': long(60) });
  const { run, execution, digest } = await one(pipeline);
  await signIn(page, server, `/review/${execution}?view=raw`);
  const text = () => page.getByRole('region', { name: 'Text of plan.md' });
  await text().getByText('Line 1 says').waitFor();
  await text().focus();
  await until('all of it was seen', async () => {
    await page.keyboard.press('PageDown');
    return (await decision().getByText('Covers plan.md, seen whole').count()) > 0;
  });
  await ready(/^Approve revision 1/);
  await page.getByText(/^Live/).waitFor();
  const sent = approvals();
  await server.api('POST', `/api/executions/${execution}/reject`, { feedback: 'Again.', digest });
  const show = page.getByRole('button', { name: 'Show revision 2' });
  await show.waitFor();
  await page.keyboard.press('Control+Enter');
  const box = (await show.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
  await page.mouse.dblclick(box.x + box.width / 2, box.y + box.height / 2);
  const again = page.getByRole('button', { name: /^Approve revision 2/ });
  await again.waitFor();
  await decision().getByText(/^Not all of plan\.md has been on the screen|^Lines of plan\.md are folded/).waitFor();
  expect(await again.getAttribute('aria-disabled')).toBe('true');
  await page.keyboard.press('Control+Enter');
  expect(sent).toEqual([]);
  expect((await getRun(server, run)).status).toBe('in_progress');
});
