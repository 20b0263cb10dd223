/** Work that agents do: who they are, how they talk, what they may use. */
import { isObject, listAt, type Loose, look, textAt } from '@/model/definition';
import { inCreation } from '@/model/definition-made';
import { CREATION, DISCUSSION, TOOLS } from '@/model/definition-words';
import { Avatar } from '@/ui/Avatar';
import { Chips } from './Chips';
import { useEditing } from './context';
import { AreaLine, ChoiceLine, Group, GroupLine, MaybeLine, NumberLine, SwitchLine, TextLine } from './parts';
import { Rows } from './Rows';

const BASE = '/execution/agent_config';

export function AgentFields() {
  const { definition, change, set, off } = useEditing();
  const mode = textAt(definition, `${BASE}/creation_mode`);
  const talk = DISCUSSION.find((one) => one.value === textAt(definition, `${BASE}/discussion_mode`));
  const tools = listAt(definition, `${BASE}/tools`).map(String);
  return (
    <Group title="Agents">
      <ChoiceLine
        at={`${BASE}/creation_mode`}
        label="Team"
        options={CREATION}
        onChange={(next) =>
          change(`${BASE}/creation_mode`, (now) => {
            const config = look(now, BASE);
            return { ...now, execution: { ...(isObject(now.execution) ? now.execution : {}), agent_config: inCreation(isObject(config) ? config : {}, next) } };
          })
        }
      />
      {mode === 'single' && (
        <>
          <TextLine at={`${BASE}/agent/name`} label="Name" />
          <AreaLine at={`${BASE}/agent/system_prompt`} label="System prompt" help="Who it is." />
          <AreaLine at={`${BASE}/agent/task_prompt`} label="Its task" help="Stands under the task of the checkpoint." />
        </>
      )}
      {mode === 'predefined' && (
        <GroupLine at={`${BASE}/agents-list`} label="Agents">
          <Rows at={`${BASE}/agents`} what="agent" empty="Nobody yet. The order counts: the last one writes, merges or judges." make={newAgent} row={agentRow}>
            {(at) => (
              <>
                <TextLine above at={`${at}/name`} label="Name" />
                <TextLine above at={`${at}/role`} label="Role" help="What it does, in a few words." />
                <AreaLine above at={`${at}/system_prompt`} label="System prompt" />
                <AreaLine above at={`${at}/task_prompt`} label="Its task" />
              </>
            )}
          </Rows>
        </GroupLine>
      )}
      {mode === 'meta_agent' && (
        <>
          <AreaLine at={`${BASE}/meta_agent_instructions`} label="Wanted team" rows={4} help="What the meta-agent is told. What it makes is recorded and shown." />
          <NumberLine at={`${BASE}/max_agents`} label="Agents, at most" />
        </>
      )}
      {(mode === 'predefined' || mode === 'meta_agent') && (
        <>
          <ChoiceLine at={`${BASE}/discussion_mode`} label="They talk" options={DISCUSSION} help={talk?.help} />
          <NumberLine at={`${BASE}/max_turns`} label="Turns, at most" help="One agent’s answer, with all its tool calls, is one turn." />
          <SwitchLine at={`${BASE}/show_conversation`} label="Show the talk" help="Whether the conversation is shown while it runs." />
        </>
      )}
      <GroupLine at={`${BASE}/tools`} label="May use">
        <Chips label="May use" chosen={tools} known={TOOLS} off={off} own="another tool" onChange={(next) => set(`${BASE}/tools`, next)} />
      </GroupLine>
      <MaybeLine at={`${BASE}/model`} label="Model" mono placeholder="the server’s default" help="provider/model, or script/FILE for scripted answers." />
    </Group>
  );
}

const newAgent = (count: number): Loose => ({ name: `Agent ${count + 1}`, role: '', system_prompt: '', task_prompt: '' });

const agentRow = (agent: Loose) => (
  <>
    <Avatar name={textAt(agent, '/name') || '?'} kind="agent" />
    <span className="w-[82px] flex-none truncate font-name">{textAt(agent, '/name') || 'No name'}</span>
    <span className="truncate text-ink-2">{textAt(agent, '/role') || 'No role'}</span>
  </>
);
