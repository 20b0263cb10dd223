/** Lists inside the editor's form: fields, agents and outputs are put in order by dragging and by keys. */
import type { Locator } from 'playwright-core';
import { expect, it } from 'vitest';
import { agent, agents, form, put } from './run-world';
import { eachTest, page, server, signIn, until } from './world';

eachTest();

interface Definition {
  checkpoints: { execution: { human_only_config?: { input_fields: { name: string }[] }; agent_config?: { agents: { name: string }[] } }; output: { artifacts: { name: string }[] } }[];
}

/** Takes a row by its grip and puts it where another one stands. */
async function drag(from: Locator, onto: Locator): Promise<void> {
  await from.scrollIntoViewIfNeeded();
  const [a, b] = [await from.boundingBox(), await onto.boundingBox()];
  if (!a || !b) throw new Error('a grip is not on the screen');
  const x = a.x + a.width / 2;
  const way = b.y > a.y ? 1 : -1;
  await page.mouse.move(x, a.y + a.height / 2);
  await page.mouse.down();
  await page.mouse.move(x, a.y + a.height / 2 + way * 10, { steps: 3 });
  await page.mouse.move(x, b.y + b.height / 2 + way * 4, { steps: 10 });
  await page.mouse.up();
}

const grips = (list: Locator) => list.getByRole('button', { name: /^Move / });
const order = async (list: Locator) => (await Promise.all((await grips(list).all()).map((one) => one.getAttribute('aria-label')))).map((label) => label?.replace('Move ', ''));
const stands = (list: Locator, names: string[]) => until(`${names.join(', ')}`, async () => (await order(list)).join() === names.join(), 5000);
const list = (at: string) => page.locator(`[data-at="${at}"]`);

it('slice 4: fields, agents and outputs are put in order by dragging, and it is what is saved', async () => {
  const scope = form('Scope');
  const named = (name: string) => ({ name, type: 'text', label: name, required: false });
  Object.assign(scope.execution, { human_only_config: { ...(scope.execution as unknown as { human_only_config: object }).human_only_config, input_fields: ['goal', 'market', 'weeks'].map(named) } });
  const talk = agents('Talk', 'talk.yaml', { creation_mode: 'predefined', agents: ['Scout', 'Sceptic', 'Editor'].map(agent) }, { artifacts: ['notes', 'brief', 'table'].map((name) => ({ name, format: 'md' })) });
  const { pipeline_id: id } = await put(server, 'To be sorted inside', [scope, talk]);
  await signIn(page, server, `/pipelines/${id}/edit`);

  const fields = list('/execution/human_only_config/input_fields');
  await stands(fields, ['goal', 'market', 'weeks']);
  await drag(grips(fields).nth(2), grips(fields).nth(0));
  await stands(fields, ['weeks', 'goal', 'market']);

  await page.getByRole('list', { name: 'Checkpoints' }).getByRole('button', { name: /Talk/ }).first().click();
  const team = list('/execution/agent_config/agents');
  await drag(grips(team).nth(0), grips(team).nth(2));
  await stands(team, ['Sceptic', 'Editor', 'Scout']);
  const outputs = list('/output/artifacts');
  await drag(grips(outputs).nth(1), grips(outputs).nth(0));
  await stands(outputs, ['brief', 'notes', 'table']);

  // By keys, with the cursor going along and the place said.
  await outputs.locator('[aria-expanded]').first().focus();
  await page.keyboard.press('Alt+ArrowDown');
  await page.getByText('brief, position 2 of 3').waitFor({ state: 'attached' });
  await page.keyboard.press('Alt+ArrowDown');
  await page.getByText('brief, position 3 of 3').waitFor({ state: 'attached' });
  await stands(outputs, ['notes', 'table', 'brief']);

  await page.keyboard.press('Control+s');
  await page.getByText('All is saved').waitFor();
  const { checkpoints } = await server.api<Definition>('GET', `/api/pipelines/${id}`);
  expect(checkpoints[0]?.execution.human_only_config?.input_fields.map((one) => one.name)).toEqual(['weeks', 'goal', 'market']);
  expect(checkpoints[1]?.execution.agent_config?.agents.map((one) => one.name)).toEqual(['Sceptic', 'Editor', 'Scout']);
  expect(checkpoints[1]?.output.artifacts.map((one) => one.name)).toEqual(['notes', 'table', 'brief']);
});
