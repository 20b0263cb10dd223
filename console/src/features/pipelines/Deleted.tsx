/** What was put away, to be brought back. */
import { usePipelines } from '@/api/hooks/pipelines';
import { many } from '@/model/figures';
import { Button } from '@/ui/Button';
import { StatusMark } from '@/ui/Icon';
import { GroupHeading } from '@/ui/page';
import { RowBody } from '@/ui/Row';
import { ErrorBlock } from '@/ui/states';
import { Time } from '@/ui/values';
import type { BringBack } from './Acts';

interface Props {
  open: boolean;
  onOpen: (open: boolean) => void;
  off: string | undefined;
  bring: BringBack;
}

export function Deleted({ open, onOpen, off, bring }: Props) {
  const deleted = usePipelines(true);
  const all = deleted.data?.pages.flatMap((page) => page.items) ?? [];
  if (deleted.error) return <ErrorBlock title="Deleted pipelines could not be read" problem={deleted.error} className="m-5 max-w-[560px]" />;
  if (all.length === 0) return null;
  return (
    <section aria-label="Deleted pipelines">
      <p className="flex items-center gap-[9px] px-5 py-[14px] text-small text-ink-3 max-tablet:px-4">
        <StatusMark icon="archived" size={14} />
        {many(all.length, 'deleted pipeline')} can be brought back.
        <button type="button" aria-expanded={open} onClick={() => onOpen(!open)} className="touch-target rounded-1 font-value text-ink underline underline-offset-2">
          {open ? 'Hide' : 'Show'}
        </button>
      </p>
      {bring.error && <ErrorBlock title="It was not brought back" problem={bring.error} className="mx-5 mb-3 max-w-[560px]" />}
      {open && (
        <>
          <GroupHeading end={all.length}>Deleted</GroupHeading>
          <ul>
            {all.map((pipeline) => (
              <li key={pipeline.pipeline_id} className="relative">
                <RowBody
                  icon={<StatusMark icon="archived" tone="ink-3" />}
                  dim
                  name={pipeline.pipeline_name}
                  meta={
                    <>
                      Deleted {pipeline.deleted_at && <Time at={pipeline.deleted_at} as="since" />}, {many(pipeline.runs.total, 'run')}
                    </>
                  }
                  right={
                    <Button size="small" busy={bring.busy === pipeline.pipeline_id} off={off} offAt="hidden" onClick={() => bring.back(pipeline)}>
                      Bring back
                    </Button>
                  }
                />
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}
