// Measures how smoothly the page of a run scrolls with 5,000 messages and 1,000 events, and prints one JSON object per
// line. The answers are made up in the browser, on a real server. Usage: node bench/console.mjs [messages] [events]
//
// HOLDPOINT_BIN names the program, CHROMIUM the browser. Nothing is asserted: machines differ.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const { chromium } = createRequire(here('../console/package.json'))('playwright-core');
const program = process.env.HOLDPOINT_BIN ?? join(process.env.CARGO_TARGET_DIR ?? here('../target'), 'debug/holdpoint');
const MESSAGES = Number(process.argv[2] ?? 5000);
const EVENTS = Number(process.argv[3] ?? 1000);

const home = mkdtempSync(join(tmpdir(), 'holdpoint-bench-'));
const server = spawn(program, ['serve', '--home', home, '--port', '0', '--json'], { stdio: ['ignore', 'pipe', 'ignore'], env: { ...process.env, NO_COLOR: '1' } });
const url = await new Promise((resolve) => createInterface({ input: server.stdout }).once('line', (line) => resolve(JSON.parse(line).listening)));
const token = readFileSync(join(home, 'keys/admin.token'), 'utf8').trim();
const api = async (method, path, body) => {
  const answer = await fetch(url + path, { method, headers: { authorization: `Bearer ${token}`, 'content-type': typeof body === 'string' ? 'application/yaml' : 'application/json' }, body: typeof body === 'string' ? body : JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${method} ${path}: ${await answer.text()}`);
  return answer.json();
};

const BEGAN = Date.now() - 4 * 3_600_000;
const time = (second) => new Date(BEGAN + second * 1000).toISOString();
const SENTENCE = 'The share is 6.8 per cent on 412 lanes, and two operators do not report what others drive for them. ';

/** Turns of three agents, every fourth with a call of a tool. */
function conversation(execution) {
  return Array.from({ length: MESSAGES }, (_, at) => {
    const agent = ['Writer', 'Critic', 'Editor'][at % 3];
    const text = SENTENCE.repeat(1 + (at % 7));
    const call = { type: 'tool_use', id: `call${at}`, name: 'file_operations', input: { operation: 'write', path: `draft-${at}.md`, content: SENTENCE } };
    const usage = { calls: 1, input_tokens: 900 + at, output_tokens: 120, cache_read_tokens: 0, cache_write_tokens: 0, cost_usd: 0.004 };
    return { message_id: `${execution}-${at}`, timestamp: time(at * 2), agent_name: agent, role: 'assistant', content: text, parts: [{ type: 'text', text }, ...(at % 4 === 0 ? [call] : [])], usage, scripted: true };
  });
}

function events(real) {
  const last = real.at(-1);
  return [...real, ...Array.from({ length: EVENTS }, (_, at) => ({ ...last, seq: last.seq + at + 1, event_id: `made-${at}`, event_type: 'artifact.created', timestamp: time(at * 8), description: `“Plan” made “part ${at}”.`, metadata: { name: `part ${at}` } }))];
}

/** The time between frames while a pane is scrolled: at a reader's speed, or from top to bottom in the time given. */
const scroll = (page, label, seconds, speed) =>
  page.evaluate(
    async ({ label, seconds, speed }) => {
      const pane = document.querySelector(`[role=region][aria-label="${label}"]`);
      const frames = [];
      const began = performance.now();
      let before = began;
      await new Promise((done) => {
        const step = (now) => {
          frames.push(now - before);
          before = now;
          const passed = (now - began) / 1000;
          if (passed >= seconds) return done();
          if (pane) pane.scrollTop = speed ? passed * speed : (passed / seconds) * (pane.scrollHeight - pane.clientHeight);
          requestAnimationFrame(step);
        };
        requestAnimationFrame(step);
      });
      const sorted = frames.slice(1).sort((a, b) => a - b);
      const at = (share) => Math.round((sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0) * 10) / 10;
      const drawn = pane ? { rows_drawn: pane.querySelectorAll('li').length, height_px: pane.scrollHeight } : {};
      return { frames: sorted.length, fps: Math.round(sorted.length / seconds), p50_ms: at(0.5), p95_ms: at(0.95), longest_ms: at(1), over_50_ms: sorted.filter((one) => one > 50).length, ...drawn };
    },
    { label, seconds, speed },
  );
/** Pixels in a second: a wheel that is turned without a stop. */
const READING = 3000;

const say = (figure, values) => process.stdout.write(`${JSON.stringify({ figure, ...values })}\n`);
let browser;
try {
  const { pipeline } = await api('POST', '/api/pipelines/apply', readFileSync(here('../examples/first-pipeline.yaml'), 'utf8'));
  const run = await api('POST', '/api/runs', { pipeline_id: pipeline.pipeline_id, start: true });
  const listed = await api('GET', `/api/events?run_id=${run.run_id}&limit=500`);
  const checkpoints = await api('GET', `/api/runs/${run.run_id}/checkpoints`);
  const [execution] = checkpoints.items;
  Object.assign(execution, { mode: 'agentic', waiting_for: null, started_at: time(0) });
  const all = events(listed.items.reverse().map((event) => ({ ...event, timestamp: time(0), metadata: { ...event.metadata, begins_with: undefined } })));
  const said = conversation(execution.execution_id);

  browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--headless', '--no-sandbox', '--disable-gpu'] });
  const page = await (await browser.newContext({ viewport: { width: 1280, height: 860 } })).newPage();
  await page.route(/\/api\/runs\/[^/]+\/checkpoints/, (route) => route.fulfill({ json: checkpoints }));
  await page.route(/\/api\/executions\/[^/]+\/conversation/, (route) => route.fulfill({ json: { items: said.toReversed(), next_cursor: null } }));
  await page.route(/\/api\/events\?.*run_id=/, (route) => {
    const from = Number(new URL(route.request().url()).searchParams.get('cursor') ?? 0);
    const newest = [...all].reverse();
    return route.fulfill({ json: { items: newest.slice(from, from + 500), next_cursor: from + 500 < newest.length ? String(from + 500) : null } });
  });
  await page.request.post(`${url}/api/sign-in`, { data: { token }, headers: { origin: url } });
  const began = Date.now();
  await page.goto(`${url}/runs/${run.run_id}`);
  await page.getByRole('region', { name: 'Conversation' }).locator('article').first().waitFor();
  say('console.run.open', { messages: MESSAGES, events: EVENTS, shown_ms: Date.now() - began });
  say('console.run.still', await scroll(page, 'nothing', 2));
  say('console.run.conversation', { messages: MESSAGES, ...(await scroll(page, 'Conversation', 5, READING)) });
  say('console.run.conversation.all', { messages: MESSAGES, ...(await scroll(page, 'Conversation', 5)) });
  await page.keyboard.press('5');
  await page.getByRole('region', { name: 'Events' }).locator('li').first().waitFor();
  say('console.run.events', { events: all.length, ...(await scroll(page, 'Events', 4, READING)) });
} finally {
  await browser?.close();
  const gone = new Promise((resolve) => server.once('exit', resolve));
  server.kill('SIGTERM');
  await gone;
  rmSync(home, { recursive: true, force: true });
}
