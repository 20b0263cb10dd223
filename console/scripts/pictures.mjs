// Makes the pictures of the README from the demo: `node scripts/pictures.mjs [PROGRAM]`.
// Starts the demo on a home of its own, does with it what a person would, and ends it.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const program = process.argv[2] ?? process.env.HOLDPOINT_BIN ?? here('../../target/release/holdpoint');
const folder = here('../../docs/pictures');
const MOST_KB = 600;

const home = mkdtempSync(join(tmpdir(), 'holdpoint-pictures-'));
const demo = spawn(program, ['demo', '--home', join(home, 'home'), '--port', '0', '--json'], { env: { ...process.env, NO_BROWSER: '1' }, stdio: ['ignore', 'pipe', 'inherit'] });
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--headless', '--no-sandbox', '--disable-gpu'] });
let bytes = 0;
try {
  const { listening, sign_in: address, run_id: run, execution_id: execution } = await new Promise((resolve, reject) => {
    createInterface({ input: demo.stdout }).once('line', (line) => resolve(JSON.parse(line)));
    demo.once('exit', (code) => reject(new Error(`the demo ended with ${code}`)));
  });
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, colorScheme: 'light', reducedMotion: 'reduce' });
  page.setDefaultTimeout(15_000);
  const painter = await browser.newPage();
  mkdirSync(folder, { recursive: true });

  /** The page as a small WebP, which the browser itself writes. */
  const picture = async (name) => {
    await page.evaluate(() => document.fonts.ready);
    const png = (await page.screenshot()).toString('base64');
    const webp = await painter.evaluate(async (data) => {
      const image = new Image();
      image.src = `data:image/png;base64,${data}`;
      await image.decode();
      const canvas = document.createElement('canvas');
      canvas.width = image.width;
      canvas.height = image.height;
      canvas.getContext('2d').drawImage(image, 0, 0);
      return canvas.toDataURL('image/webp', 0.86).split(',')[1];
    }, png);
    const path = join(folder, `${name}.webp`);
    writeFileSync(path, Buffer.from(webp, 'base64'));
    bytes += statSync(path).size;
  };
  const get = async (path) => (await page.request.get(listening + path)).json();
  // A question can be decided once it was on the screen for a moment, with all of its content.
  const ready = () => page.locator('[data-ready=true]:not([aria-disabled=true])').first().waitFor();
  const heading = (name) => page.getByRole('heading', { name }).first().waitFor();

  await page.goto(address);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('Is the result of “Plan” good?').first().waitFor();
  await page.goto(`${listening}/inbox`);
  await page.getByText('Plan for the first release').first().waitFor();
  await page.getByText(/^Live/).waitFor();
  await picture('1-inbox');

  await page.goto(`${listening}/review/${execution}`);
  await page.getByText('Plan for the first release').first().waitFor();
  await page.getByText(/^Live/).waitFor();
  await picture('2-review');

  await page.keyboard.press('r');
  await page.getByRole('region', { name: 'Decision', exact: true }).getByRole('textbox').fill('Say who watches the installs, and what happens in week 6.');
  await picture('3-send-back');
  await ready();
  await page.keyboard.press('Control+Enter');
  await page.getByText(/Asked for/).first().waitFor();
  // It comes back as the next revision, with what changed marked.
  await page.goto(`${listening}/review/${execution}`);
  await page.getByRole('button', { name: /^Approve revision 2/ }).waitFor();
  await ready();
  await page.keyboard.press('Control+Enter');
  await page.getByText(/^Approved Plan, revision 2/).waitFor();

  const { previous_run_id: before } = await get(`/api/runs/${run}`);
  await page.goto(`${listening}/compare?a=${before}&b=${run}`);
  await page.getByText(/1 of \d+ changes?/).first().waitFor();
  await page.getByText(/^Live/).waitFor();
  await picture('4-compare');

  const report = (await get('/api/runs')).items.find((one) => one.pipeline_name === 'Weekly report');
  await page.goto(`${listening}/runs/${report.run_id}/rollback?to=0`);
  await heading(/^Back to/);
  await page.getByLabel('Why').fill('The figures are of the wrong week.');
  await page.getByText(/^Live/).waitFor();
  await picture('5-rollback');

  await page.getByRole('button', { name: /^Roll back, archive/ }).click();
  await page.waitForURL(/done=/);
  await page.getByRole('button', { name: /^Undo/ }).first().waitFor();
  await picture('6-undo');
} finally {
  await browser.close();
  demo.removeAllListeners('exit');
  const gone = new Promise((resolve) => demo.once('exit', resolve));
  if (demo.exitCode === null && demo.kill('SIGTERM')) await gone;
  rmSync(home, { recursive: true, force: true });
}
console.log(`pictures: ${Math.round(bytes / 1000)} kB in docs/pictures, limit ${MOST_KB} kB`);
if (bytes > MOST_KB * 1000) process.exit(1);
