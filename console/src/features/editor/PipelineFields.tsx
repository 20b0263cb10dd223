/** The pipeline itself: its name, what it is for, whether it goes on by itself, and what may be spent. */
import { isObject, look, put } from '@/model/definition';
import { Switch } from '@/ui/fields';
import { useEditing } from './context';
import { AreaLine, Group, GroupLine, SwitchLine, TextLine } from './parts';
import { Budget } from './SharedFields';

export function PipelineFields() {
  return (
    <>
      <Group title="Pipeline" first>
        <TextLine at="/pipeline_name" label="Name" />
        <AreaLine at="/pipeline_description" label="What it is for" rows={2} />
        <SwitchLine at="/config/auto_advance" label="Goes on by itself" help="The next checkpoint starts when the one before is done. Hold points still stop it." />
      </Group>
      <Group title="What may be spent before somebody is asked">
        <Purse of="run" label="By each run" />
        <Purse of="pipeline" label="By all runs" />
      </Group>
    </>
  );
}

function Purse({ of, label }: { of: 'run' | 'pipeline'; label: string }) {
  const { definition, change, off } = useEditing();
  const at = `/config/budgets/${of}`;
  const on = isObject(look(definition, at));
  const toggle = (next: boolean) =>
    change(at, (now) => {
      const after = put(now, at, next ? { cost_usd: 5 } : undefined);
      const budgets = look(after, '/config/budgets');
      // Budgets for nobody would be a fault.
      return isObject(budgets) && Object.keys(budgets).length === 0 ? put(after, '/config/budgets', undefined) : after;
    });
  return (
    <>
      <GroupLine at={at} label={label} help={on ? undefined : 'No limit.'}>
        <div className="flex h-[30px] items-center">
          <Switch checked={on} disabled={off} label="Ask before more is spent" onChange={toggle} />
        </div>
      </GroupLine>
      {on && <Budget at={at} />}
    </>
  );
}
