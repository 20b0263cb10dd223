/** The form of one checkpoint: every field of its mode, and none of another. */
import { type Draft, type Mode, MODES, modeOf, nameOf } from '@/model/definition';
import { inMode } from '@/model/definition-made';
import { MODE_WORDS } from '@/model/definition-words';
import { Button } from '@/ui/Button';
import { Icon, StatusMark } from '@/ui/Icon';
import { SegmentedControl } from '@/ui/Tabs';
import { AgentFields } from './AgentFields';
import { useEditing } from './context';
import { FormFields } from './FormFields';
import { Group, TextLine } from './parts';
import { ScriptFields } from './ScriptFields';
import { Failing, Holds, Inputs, Instructions, Makes, Task } from './SharedFields';

const ICONS: Record<Mode, React.ReactNode> = {
  agentic: <StatusMark icon="checkpoint" size={14} />,
  script: <Icon name="script" size={14} />,
  human_only: <Icon name="person" size={14} />,
};

export function Checkpoint({ onDraft, onRemove }: { onDraft: (change: (draft: Draft) => Draft) => void; onRemove: () => void }) {
  const { part, change, off } = useEditing();
  if (!part) return null;
  const mode = modeOf(part);
  return (
    <>
      <div className="flex flex-wrap items-center gap-2">
        <h2 className="min-w-0 flex-1 truncate text-title">{nameOf(part) || 'No name'}</h2>
        <fieldset disabled={off} data-at="/execution/mode">
          <SegmentedControl
            label="Done by"
            value={mode}
            onChange={(next) => !off && change('/execution/mode', (now) => inMode(now, next as Mode))}
            segments={MODES.map((value) => ({
              value,
              label: (
                <>
                  {ICONS[value]}
                  {MODE_WORDS[value]}
                </>
              ),
            }))}
          />
        </fieldset>
      </div>
      <Group first>
        <TextLine at="/checkpoint_name" label="Name" />
        <TextLine at="/checkpoint_description" label="What it is for" />
        <Task />
      </Group>
      {mode === 'agentic' && <AgentFields />}
      {mode === 'script' && <ScriptFields />}
      {mode === 'human_only' && <FormFields />}
      <Makes onRename={onDraft} />
      <Holds />
      <Inputs />
      <Instructions />
      <Failing />
      {!off && (
        <Group>
          <Button kind="danger" icon="trash" onClick={onRemove}>
            Remove {nameOf(part) || 'this checkpoint'}
          </Button>
        </Group>
      )}
    </>
  );
}
