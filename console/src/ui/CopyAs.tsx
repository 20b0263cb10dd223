/** Every action as something to copy: the command, and the request. */
import { useState } from 'react';
import { Button } from './Button';
import { StatusMark } from './Icon';
import { Popover } from './overlays';

export interface Copyable {
  /** `holdpoint answer --approve`, without the program's name where it is the first word anyway. */
  command?: string | undefined;
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  path: string;
  body?: unknown;
}

const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/** The request as a shell command. The token stays a variable: it is never shown. */
export function curl({ method, path, body }: Copyable, origin: string = location.origin): string {
  const lines = [`curl -X ${method} ${quote(origin + path)}`, `-H "Authorization: Bearer $HOLDPOINT_TOKEN"`];
  if (body !== undefined) lines.push(`-H 'Content-Type: application/json'`, `-d ${quote(JSON.stringify(body))}`);
  return lines.join(' \\\n  ');
}

export async function copy(text: string): Promise<void> {
  await navigator.clipboard.writeText(text);
}

/** A button that copies, and says that it did. */
export function Copy({ text, label, children }: { text: string; label: string; children?: string }) {
  const [done, setDone] = useState(false);
  const act = () => {
    void copy(text).then(() => {
      setDone(true);
      setTimeout(() => setDone(false), 2000);
    });
  };
  return (
    <Button kind="quiet" size="small" icon={done ? undefined : 'copy'} label={children ? undefined : done ? 'Copied' : label} onClick={act}>
      {done ? (
        <span className="inline-flex items-center gap-1" role="status">
          <StatusMark icon="passed" size={14} />
          {children && 'Copied'}
        </span>
      ) : (
        children
      )}
    </Button>
  );
}

export function CopyAs({ what, label = 'Copy as a command or request' }: { what: Copyable; label?: string }) {
  const forms = [
    ...(what.command ? [{ name: 'Command', text: what.command }] : []),
    { name: 'curl', text: curl(what) },
  ];
  return (
    <Popover label={label} align="end" trigger={<Button icon="copy" label={label} />}>
      <div className="flex w-[440px] max-w-full flex-col gap-3">
        {forms.map((form) => (
          <div key={form.name}>
            <div className="mb-1 flex items-center justify-between">
              <span className="label">{form.name}</span>
              <Copy text={form.text} label={`Copy ${form.name}`}>
                Copy
              </Copy>
            </div>
            <pre className="fact scroll-pane rounded-2 bg-sunken px-2 py-1.5 whitespace-pre">{form.text}</pre>
          </div>
        ))}
      </div>
    </Popover>
  );
}
