/** A conversation that its definition does not show: an admin reads it, others see who spoke and what it cost. */
import { expect, it } from 'vitest';
import { agents, answerAll, put, start, team } from './run-world';
import { axe, eachTest, openPage, page, seedToken, server, shot, signIn, until } from './world';

eachTest();

it('slice 13: shows the words of a hidden conversation to admins alone', async () => {
  const usage = { calls: 1, input_tokens: 1200, output_tokens: 60, cost_micros: 21_000 };
  const write = { tool: 'file_operations', input: { operation: 'write', path: 'offer.md', content: '# Offer\n' } };
  const turns = [{ when: { turn: 1 }, say: 'The floor is forty a day.', call: [write], usage }];
  const pipeline = await put(server, 'Salary offer', [agents('Offer', 'offer.yaml', { ...team('Writer'), show_conversation: false }, { artifacts: [{ name: 'offer', format: 'md' }], approve: true })], { answers: { 'offer.yaml': { turns, default: { say: 'It is written.', usage } } } });
  const run = await start(server, pipeline);
  await answerAll(server, run);
  await signIn(page, server, `/runs/${run}`);
  const conversation = page.getByRole('tabpanel', { name: /Conversation/ });
  await conversation.getByText('The definition does not show this conversation. It is kept, and only an admin reads it.').waitFor();
  await conversation.getByText('The floor is forty a day.').waitFor();

  const other = await openPage();
  await signIn(other, server, `/runs/${run}`, await seedToken(server, 'Otto', 'operator'));
  const theirs = other.getByRole('tabpanel', { name: /Conversation/ });
  await theirs.getByText(/Who spoke, when, and what it cost stands here/).waitFor();
  await theirs.getByText('Its words are kept, and not shown.').first().waitFor();
  await theirs.getByText('Writer', { exact: true }).first().waitFor();
  await until('what it cost is there', async () => /\$0\.02/.test(await theirs.innerText()));
  // Nowhere on the page, whatever is opened.
  for (const tab of ['Logs', 'Events', 'Context', 'Conversation']) {
    await other.getByRole('tab', { name: new RegExp(`^${tab}`) }).click();
    expect(await other.locator('body').innerText()).not.toContain('forty a day');
  }
  expect(await axe(other)).toEqual([]);
  await shot(other, 'run-hidden');
  await other.context().close();
  expect(other.complaints).toEqual([]);
});
