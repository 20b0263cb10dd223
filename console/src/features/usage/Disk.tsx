/** What pipelines keep on disk, and what would go with the next clean-up. */
import { Link } from '@tanstack/react-router';
import { useDisk, useRetention } from '@/api/hooks/usage';
import { bytes, count, many } from '@/model/figures';
import { kept } from '@/model/usage';
import { Copy } from '@/ui/CopyAs';
import { ErrorBlock, Loading } from '@/ui/states';
import { Time } from '@/ui/values';
import { Strip } from './Bars';

export function Disk() {
  const disk = useDisk();
  const most = Math.max(1, ...(disk.data?.items.map((one) => one.bytes) ?? []));
  return (
    <section aria-labelledby="disk">
      <h2 id="disk" className="mb-1 flex items-baseline gap-3 text-page">
        Disk <span className="text-small font-body tracking-normal text-ink-3">{disk.data && `${bytes(disk.data.bytes)} by ${many(disk.data.items.length, 'pipeline')}`}</span>
      </h2>
      {disk.error && <ErrorBlock title="The disk could not be looked at" problem={disk.error} />}
      {disk.isPending && <Loading label="Disk" rows={2} />}
      {disk.data?.items.length === 0 && <p className="text-ink-2">No pipeline keeps anything yet.</p>}
      <ul aria-label="Disk by pipeline">
        {disk.data?.items.map((one) => (
          <Strip
            key={one.pipeline_id}
            title={one.pipeline_name ?? one.pipeline_id}
            length={one.bytes / most}
            name={
              <Link to="/pipelines/$pipelineId" params={{ pipelineId: one.pipeline_id }} className="hover:underline">
                {one.pipeline_name ?? one.pipeline_id}
              </Link>
            }
            figure={
              <>
                {bytes(one.bytes)}
                {(one.archived_bytes > 0 || one.errored_bytes > 0) && (
                  <span className="text-ink-3">
                    {one.archived_bytes > 0 && `, ${bytes(one.archived_bytes)} archived`}
                    {one.errored_bytes > 0 && `, ${bytes(one.errored_bytes)} failed`}
                  </span>
                )}
              </>
            }
          />
        ))}
      </ul>
    </section>
  );
}

export function Retention() {
  const { data, error, isPending } = useRetention();
  const none = data && data.folders.length === 0 && data.blobs === 0;
  return (
    <section aria-labelledby="retention">
      <h2 id="retention" className="mb-1 flex items-baseline gap-3 text-page">
        Retention <span className="text-small font-body tracking-normal text-ink-3">{data && (none ? 'nothing would go now' : `${bytes(data.bytes)} would go now`)}</span>
      </h2>
      <p className="max-w-[640px] text-ink-2">
        Archives of rollbacks and folders of failed executions go when their time is over (<code className="fact">files.archive_retention_days</code>, <code className="fact">files.error_retention_days</code>). A rollback whose archive is gone cannot be undone. Outputs of runs are never
        removed. Nothing goes by itself from here:
      </p>
      <div className="my-2 flex flex-wrap gap-2">
        {['holdpoint gc --dry-run', 'holdpoint gc'].map((text) => (
          <span key={text} className="inline-flex items-center gap-2 rounded-2 bg-sunken pl-2">
            <code className="fact">{text}</code>
            <Copy text={text} label={`Copy ${text}`} />
          </span>
        ))}
      </div>
      {error && <ErrorBlock title="What would go could not be worked out" problem={error} className="max-w-[560px]" />}
      {isPending && <Loading label="What would go" rows={2} />}
      {data && !none && (
        <div className="scroll-pane">
          <table className="w-full text-left text-small">
            <thead>
              <tr className="border-b border-line">
                {['What', 'Folder', 'Since', 'Size'].map((head, at) => (
                  <th key={head} scope="col" className={at === 3 ? 'label py-1 text-right' : 'label py-1 pr-4'}>
                    {head}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {data.folders.map((folder) => (
                <tr key={`${folder.pipeline_id}${folder.path}`} className="border-b border-line">
                  <td className="py-1 pr-4 whitespace-nowrap">{kept(folder.kind)}</td>
                  <td className="fact max-w-[420px] truncate py-1 pr-4" title={folder.path}>
                    {folder.path}
                  </td>
                  <td className="py-1 pr-4 whitespace-nowrap">
                    <Time at={folder.since} as="moment" />
                  </td>
                  <td className="py-1 text-right whitespace-nowrap">{bytes(folder.bytes)}</td>
                </tr>
              ))}
            </tbody>
          </table>
          {data.blobs > 0 && <p className="py-1 text-small text-ink-2">And {count(data.blobs)} pieces of content that nothing names.</p>}
        </div>
      )}
    </section>
  );
}
