/** Settings in a real browser: a token made, used and withdrawn; the theme; the keys; the server. */
import { expect, it } from 'vitest';
import { axe, eachTest, page, PHONE, seedPipeline, seedToken, server, shot, signIn } from './world';

eachTest(async () => {
  await seedPipeline(server, 'first-pipeline.yaml', 'Market brief');
});

const me = (token: string) => fetch(`${server.url}/api/me`, { headers: { authorization: `Bearer ${token}` } });

it('makes a token that works, shows it once, and withdraws it', async () => {
  await signIn(page, server, '/settings');
  const form = page.getByRole('form', { name: 'Make a token' });
  await form.getByLabel('Whose').fill('Jonas Okafor');
  await form.getByLabel('Role').selectOption('operator');
  await form.getByLabel('Good for').selectOption({ label: '7 days' });
  await form.getByLabel('Market brief').check();
  await page.keyboard.press('Tab');
  await form.getByLabel('Whose').press('Enter');
  const made = page.getByRole('status', { name: 'The new token' });
  const secret = await made.locator('[data-secret]').innerText();
  const answer = await me(secret);
  expect(answer.status).toBe(200);
  expect(await answer.json()).toMatchObject({ name: 'Jonas Okafor', role: 'operator', kind: 'person', pipelines: [expect.any(String)] });
  expect(await axe(page)).toEqual([]);
  await made.getByRole('button', { name: 'I have it' }).click();
  expect(await page.content()).not.toContain(secret);
  const row = page.getByRole('list', { name: 'Tokens' }).getByRole('listitem').filter({ hasText: 'Jonas Okafor' });
  await row.getByText(/Market brief, made .* good until/).waitFor();
  await shot(page, 'settings');
  await row.getByRole('button', { name: 'Revoke the token of Jonas Okafor' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke Jonas Okafor' }).click();
  await page.getByText('Revoked the token of Jonas Okafor').waitFor();
  await row.waitFor({ state: 'detached' });
  expect((await me(secret)).status).toBe(401);
});

it('makes programs operators at most', async () => {
  await signIn(page, server, '/settings?part=tokens');
  const form = page.getByRole('form', { name: 'Make a token' });
  await form.getByLabel('For a program').click();
  expect(await form.getByLabel('Role').inputValue()).toBe('operator');
  await form.getByLabel('Role').selectOption('admin');
  await form.getByLabel('Whose').fill('ci');
  await page.getByRole('button', { name: 'Make a token' }).click();
  await form.getByText(/operator/).last().waitFor();
  expect((await server.api<{ items: { name: string }[] }>('GET', '/api/tokens')).items.some((one) => one.name === 'ci')).toBe(false);
});

it('says who may not, what the server is, and what comes later', async () => {
  const viewer = await seedToken(server, 'Vera', 'viewer');
  await signIn(page, server, '/settings', viewer);
  await page.getByText('Making and withdrawing tokens needs admin; your role is viewer.').waitFor();
  await page.getByText('holdpoint config show --origin').waitFor();
  await page.getByText('Notification channels and webhooks are not part of this version yet', { exact: false }).waitFor();
  const { version } = await server.api<{ version: string }>('GET', '/api/health');
  await page.getByText(version, { exact: true }).waitFor();
  await page.setViewportSize(PHONE);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(PHONE.width);
  expect(await axe(page)).toEqual([]);
});

it('keeps the theme and whether single letters are keys', async () => {
  await signIn(page, server, '/settings?part=appearance');
  const region = page.getByRole('region', { name: 'Appearance' });
  await region.getByRole('radio', { name: 'Dark' }).click();
  expect(await page.evaluate(() => document.documentElement.dataset.theme)).toBe('dark');
  await region.getByRole('switch', { name: 'Single letters are keys' }).click();
  await page.keyboard.press('g');
  await page.keyboard.press('p');
  expect(new URL(page.url()).pathname).toBe('/settings');
  await page.reload();
  expect(await page.evaluate(() => document.documentElement.dataset.theme)).toBe('dark');
  await region.getByRole('switch', { name: 'Single letters are keys' }).click();
  await page.keyboard.press('g');
  await page.keyboard.press('p');
  await page.getByRole('heading', { level: 1, name: 'Pipelines' }).waitFor();
});
