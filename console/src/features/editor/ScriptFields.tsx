/** Work that a script does: which one, with what, and whether somebody is asked first. */
import { look } from '@/model/definition';
import { useEditing } from './context';
import { AreaLine, Group, JsonLine, SwitchLine, TextLine } from './parts';

const BASE = '/execution/script_config';

export function ScriptFields() {
  const { definition, change } = useEditing();
  const asks = look(definition, `${BASE}/requires_user_input`) === true;
  return (
    <Group title="Script">
      <TextLine at={`${BASE}/script_path`} label="Script" mono placeholder="analyse.py" help="A path inside the pipeline’s scripts folder. A .py file is imported; anything else is run." />
      <TextLine at={`${BASE}/entry_function`} label="Function" mono help="Called in a .py file." />
      <JsonLine at={`${BASE}/parameters`} label="Parameters" objects help="A JSON object; its members are the function’s arguments." />
      <SwitchLine
        at={`${BASE}/requires_user_input`}
        label="Ask first"
        help="Somebody writes something before the script starts."
        onChange={(on) =>
          change(`${BASE}/requires_user_input`, (now) => {
            const execution = now.execution as Record<string, never>;
            const { user_input_prompt: prompt, ...config } = (execution.script_config ?? {}) as Record<string, never>;
            return { ...now, execution: { ...execution, script_config: { ...config, requires_user_input: on, ...(on ? { user_input_prompt: prompt ?? '' } : {}) } } };
          })
        }
      />
      {asks && <AreaLine at={`${BASE}/user_input_prompt`} label="Question" rows={2} help="What the person is asked." />}
    </Group>
  );
}
