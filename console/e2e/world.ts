/** A real server on a home of its own, a real browser, and hands for both. */
import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer, connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { type Browser, type BrowserContextOptions, chromium, type Locator, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
export const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';
export const binary = () => process.env.HOLDPOINT_BIN ?? join(process.env.CARGO_TARGET_DIR ?? here('../../target'), 'debug/holdpoint');
export const SHOTS = here('../../target/console-shots');
const EXAMPLES = here('../../examples');

export const DESK = { width: 1280, height: 860 };
export const PHONE = { width: 390, height: 844 };

export class Server {
  constructor(
    readonly url: string,
    readonly token: string,
    readonly home: string,
    private readonly process: ChildProcess,
  ) {}

  /** A request with the admin's token; refusals are thrown. */
  async api<Answer = never>(method: string, path: string, body?: unknown, token = this.token): Promise<Answer> {
    const text = typeof body === 'string';
    const answer = await fetch(this.url + path, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': text ? 'application/yaml' : 'application/json' }),
        ...(method === 'POST' ? { 'idempotency-key': crypto.randomUUID() } : {}),
      },
      ...(body === undefined ? {} : { body: text ? body : JSON.stringify(body) }),
    });
    const read = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${read}`);
    return (read && answer.headers.get('content-type')?.includes('json') ? JSON.parse(read) : read) as Answer;
  }

  /** Ends the process and removes its home. */
  async stop(): Promise<void> {
    const gone = new Promise((resolve) => this.process.once('exit', resolve));
    this.process.kill('SIGTERM');
    await gone;
    rmSync(this.home, { recursive: true, force: true });
  }
}

/** Starts the real program on a free port, with a temporary home. `at` starts it again where another one stood. */
export async function startServer(at?: { home: string; port: number }): Promise<Server> {
  const home = at?.home ?? mkdtempSync(join(tmpdir(), 'holdpoint-e2e-'));
  // `CONSOLE_FROM_DISK=1` shows what `vite build` made last, without building the program again.
  const site = process.env.CONSOLE_FROM_DISK ? { HOLDPOINT_CONSOLE_DIR: here('../built/site') } : {};
  const child = spawn(binary(), ['serve', '--home', home, '--port', String(at?.port ?? 0), '--json'], { env: { ...process.env, ...site, NO_COLOR: '1' }, stdio: ['ignore', 'pipe', 'pipe'] });
  // A test that fails halfway leaves nothing running.
  process.once('exit', () => child.kill('SIGKILL'));
  let said = '';
  child.stderr.on('data', (piece: Buffer) => (said += piece.toString()));
  const url = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).once('line', (line) => resolve((JSON.parse(line) as { listening: string }).listening));
    child.once('exit', (code) => reject(new Error(`the server ended with ${code}: ${said}`)));
  });
  const token = readFileSync(join(home, 'keys/admin.token'), 'utf8').trim();
  return new Server(url, token, home, child);
}

/** The process alone, for tests of what happens when it goes; its home stays. */
export async function kill(server: Server): Promise<{ home: string; port: number }> {
  const child = (server as unknown as { process: ChildProcess }).process;
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await gone;
  return { home: server.home, port: Number(new URL(server.url).port) };
}

/** Ends the sessions of a server that is not running, as time would. */
export function endSessions(at: { home: string; port: number }): void {
  rmSync(join(at.home, `keys/sessions-${at.port}.json`));
}

export interface Wire {
  /** The server, as it is reached through the wire. */
  server: Server;
  cut: () => void;
  mend: () => void;
  close: () => void;
}

/** A wire between the browser and the server that can be cut and mended; sessions outlive it. */
export async function startWire(server: Server): Promise<Wire> {
  const open = new Set<Socket>();
  let whole = true;
  const port = Number(new URL(server.url).port);
  const wire = createServer((near) => {
    if (!whole) return near.destroy();
    const far = connect(port, '127.0.0.1');
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(from);
      from.on('error', () => to.destroy()).on('close', () => (open.delete(from), to.destroy()));
      from.pipe(to);
    }
  });
  await new Promise<void>((resolve) => wire.listen(0, '127.0.0.1', resolve));
  const { port: own } = wire.address() as { port: number };
  const through = Object.create(server, { url: { value: `http://127.0.0.1:${own}` } }) as Server;
  const drop = () => {
    for (const socket of open) socket.destroy();
  };
  return {
    server: through,
    cut: () => ((whole = false), drop()),
    mend: () => (whole = true),
    close: () => (wire.close(), drop()),
  };
}

interface Made {
  pipeline: { pipeline_id: string; pipeline_name: string; checkpoints: { checkpoint_id: string; checkpoint_name: string }[] };
}
interface Run {
  run_id: string;
  run_version: number;
  status: string;
  current_execution?: { execution_id: string; status: string; waiting_for?: { kind: string; digest?: string } } | null;
}

/** A pipeline from an example's file, under another name if one is given. */
export async function seedPipeline(server: Server, file = 'first-pipeline.yaml', name?: string): Promise<Made['pipeline']> {
  let text = readFileSync(join(EXAMPLES, file), 'utf8');
  if (name) text = text.replace(/^pipeline_name: .*$/m, `pipeline_name: ${name}`);
  const applied = await server.api<Made>('POST', '/api/pipelines/apply', text);
  return applied.pipeline;
}

export const seedRun = (server: Server, pipeline: string): Promise<Run> => server.api('POST', '/api/runs', { pipeline_id: pipeline, start: true });

export const getRun = (server: Server, id: string): Promise<Run> => server.api('GET', `/api/runs/${id}`);

/** Waits for a condition, and says what was there last if it does not come. */
export async function until<Value>(what: string, look: () => Promise<Value | undefined | false>, most = 20_000): Promise<Value> {
  const end = Date.now() + most;
  for (;;) {
    const found = await look();
    if (found) return found;
    if (Date.now() > end) throw new Error(`waited in vain for: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Presses a key that only shows something, until it is shown: right after a change of the screen nobody may listen yet. */
export const press = (key: string, shows: Locator) =>
  until(`what ${key} shows`, async () => {
    await page.keyboard.press(key);
    return shows.waitFor({ timeout: 1000 }).then(
      () => true,
      () => false,
    );
  });

/** The button that decides, once its question can be decided: it was on the screen long enough, and so was all of its content. */
export async function ready(name: RegExp | string, on: Page = page): Promise<Locator> {
  const button = on.getByRole('button', { name }).and(on.locator('[data-ready=true]:not([aria-disabled=true])')).first();
  await button.waitFor();
  return button;
}

/** Decides with a key, once the question can be decided. */
export async function decide(keys: string, name: RegExp | string, on: Page = page): Promise<void> {
  await ready(name, on);
  await on.keyboard.press(keys);
}

/** The run once it waits for somebody, with what is asked. */
export const waits = (server: Server, run: string, kind?: string) =>
  until(`a run that waits${kind ? ` for ${kind}` : ''}`, async () => {
    const now = await getRun(server, run);
    const waiting = now.current_execution?.waiting_for;
    return waiting && (!kind || waiting.kind === kind) ? { run: now, execution: now.current_execution as NonNullable<Run['current_execution']>, waiting } : undefined;
  });

/** Two scripted agents make a plan and it waits to be approved; with `revised`, for the second time. */
export async function seedReview(server: Server, name = 'Team with review', revised = true) {
  mkdirSync(join(server.home, 'scripts'), { recursive: true });
  cpSync(join(EXAMPLES, 'team/answers/team.yaml'), join(server.home, 'scripts/team.yaml'));
  const pipeline = await seedPipeline(server, 'team/team.yaml', name);
  const run = await seedRun(server, pipeline.pipeline_id);
  const first = await waits(server, run.run_id, 'approve_complete');
  if (revised) {
    await server.api('POST', `/api/executions/${first.execution.execution_id}/reject`, { feedback: 'Say who watches the installs.', digest: first.waiting.digest });
    await until('the second revision', async () => {
      const now = await server.api<{ revision_iteration: number; waiting_for?: unknown }>('GET', `/api/executions/${first.execution.execution_id}`);
      return now.revision_iteration === 1 && now.waiting_for;
    });
  }
  return { pipeline, run, execution: first.execution.execution_id };
}

/** A run of the example that waits for its first form. */
export async function seedForm(server: Server, name?: string) {
  const pipeline = await seedPipeline(server, 'first-pipeline.yaml', name);
  const run = await seedRun(server, pipeline.pipeline_id);
  const { execution } = await waits(server, run.run_id, 'form');
  return { pipeline, run, execution: execution.execution_id };
}

/** A token of another person. */
export async function seedToken(server: Server, name: string, role: string): Promise<string> {
  const made = await server.api<{ token: string }>('POST', '/api/tokens', { name, role });
  return made.token;
}

let browser: Browser | undefined;

export async function startBrowser(): Promise<Browser> {
  browser ??= await chromium.launch({
    executablePath: CHROMIUM,
    args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
  });
  return browser;
}

export async function stopBrowser(): Promise<void> {
  await browser?.close();
  browser = undefined;
}

export type TestPage = Page & { complaints: string[] };

/** A page that fails the test when the console writes an error or breaks its policy. */
export async function openPage(options: BrowserContextOptions = {}): Promise<TestPage> {
  const context = await (await startBrowser()).newContext({ viewport: DESK, colorScheme: 'light', reducedMotion: 'reduce', ...options });
  // `SLOW=500` lets each answer take up to that many milliseconds more, which finds tests and screens that hope for an order.
  const slow = Number(process.env.SLOW ?? 0);
  if (slow > 0) await context.route(/\/(assets|api)\/(?!stream)/, (route) => new Promise((over) => setTimeout(over, Math.random() * slow)).then(() => route.fallback()));
  const page = (await context.newPage()) as TestPage;
  page.complaints = [];
  page.on('pageerror', (error) => page.complaints.push(String(error)));
  page.on('console', (message) => {
    // A refused request is written by the browser itself, and stands on the page as well.
    if (message.type() === 'error' && !/Failed to load resource/.test(message.text())) page.complaints.push(message.text());
  });
  return page;
}

/** The server of this file, once `eachTest` was called. */
export let server: Server;
/** The page of this test. */
export let page: TestPage;

/** A server for the tests of a file, with what `seed` puts there, and a page for each test, which may not complain. */
export function eachTest(seed?: () => Promise<unknown>): void {
  beforeAll(async () => {
    server = await startServer();
    await seed?.();
  });
  afterAll(async () => {
    await stopBrowser();
    await server.stop();
  });
  beforeEach(async () => {
    page = await openPage();
  });
  afterEach(async ({ task }) => {
    if (task.result?.state === 'fail') await report(page, task.name);
    await page.context().close();
    expect(page.complaints).toEqual([]);
  });
}

/** Where a failed test left the page: its address and its text among the output, and a picture in `target/console-shots/`. */
async function report(page: Page, name: string): Promise<void> {
  const text = await page
    .locator('body')
    .innerText({ timeout: 2000 })
    .catch((error: unknown) => `nothing can be read: ${String(error)}`);
  process.stdout.write(`“${name}” failed at ${page.url()}\n${text.slice(0, 3000)}\n`);
  mkdirSync(SHOTS, { recursive: true });
  await page.screenshot({ path: join(SHOTS, `failed-${name.replace(/\W+/g, '-').slice(0, 60)}.png`), timeout: 5000 }).catch(() => undefined);
}

/** Closes the browser and opens it again, as somebody does who comes back. */
export async function reopen(): Promise<void> {
  const storageState = await page.context().storageState();
  await page.context().close();
  page = await openPage({ storageState });
}

/** Signs in like a person who pastes a token, and goes to a path. */
export async function signIn(page: Page, server: Server, path = '/', token = server.token): Promise<void> {
  const answer = await page.request.post(`${server.url}/api/sign-in`, { data: { token }, headers: { origin: server.url } });
  if (!answer.ok()) throw new Error(`signing in was refused: ${answer.status()}`);
  await page.goto(server.url + path);
  await page.getByRole('heading', { level: 1 }).waitFor();
}

/** Pictures in both themes at both widths, in `target/console-shots/`. */
export async function shot(page: Page, name: string): Promise<void> {
  mkdirSync(SHOTS, { recursive: true });
  for (const theme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
    for (const [size, viewport] of [['1280', DESK], ['390', PHONE]] as const) {
      await page.setViewportSize(viewport);
      await page.evaluate(() => document.fonts.ready);
      await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
      await page.screenshot({ path: join(SHOTS, `${name}-${size}-${theme}.png`) });
    }
  }
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
  await page.setViewportSize(DESK);
}

const AXE = readFileSync(here('../node_modules/axe-core/axe.min.js'), 'utf8');

/** What a reader or a keyboard would stumble over (WCAG 2.2 AA); empty when all is well. */
export async function axe(page: Page): Promise<string[]> {
  // Given to the page by the debugger, which its policy does not bind.
  await page.evaluate(AXE);
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: { run: (where: unknown, options: unknown) => Promise<{ violations: { id: string; help: string; nodes: { html: string; failureSummary: string }[] }[] }> } };
    const found = await axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] });
    return found.violations.map((one) => `${one.id}: ${one.help}: ${one.nodes.map((node) => `${node.html.slice(0, 160)} ${node.failureSummary}`).slice(0, 3).join(' | ')}`);
  });
}
