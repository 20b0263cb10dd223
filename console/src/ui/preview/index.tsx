/**
 * An output with its views: as it is meant, as it is written, and how it differs from another. Every screen that
 * shows an output shows it with this; nothing in an output can run, load, or lead anywhere by itself.
 */
import { type ReactNode, useState } from 'react';
import { downloadPath } from '@/api/hooks/artifacts';
import { isDrawn, type Shows } from '@/model/preview';
import { bytes } from '@/model/figures';
import { Icon } from '../Icon';
import { SegmentedControl } from '../Tabs';
import { ArtifactContent, type View } from './ArtifactContent';

interface Props {
  artifact: Shows;
  /** With it there is a view of the difference. */
  against?: Shows | undefined;
  /** What the other one is called: "v6", "rev 2". */
  againstName?: string | undefined;
  /** The view, where the address has it; else the part keeps it. */
  view?: View | undefined;
  onView?: ((view: View) => void) | undefined;
  /** Beside the name: a tag, a time. */
  meta?: ReactNode;
}

export function ArtifactPreview({ artifact, against, againstName = 'the other', view, onView, meta }: Props) {
  const [kept, setKept] = useState<View>('rendered');
  const wanted = view ?? kept;
  const drawn = isDrawn(artifact);
  const shown: View = (wanted === 'diff' && !against) || (wanted === 'rendered' && !drawn) ? (drawn ? 'rendered' : 'raw') : wanted;
  const segments = [
    ...(drawn ? [{ value: 'rendered', label: 'Rendered' }] : []),
    { value: 'raw', label: 'Raw' },
    ...(against ? [{ value: 'diff', label: `Diff to ${againstName}` }] : []),
  ];
  return (
    <section aria-label={artifact.file_name} className="flex min-h-0 flex-1 flex-col">
      <header className="flex min-h-10 flex-none flex-wrap items-center gap-x-2 gap-y-1 border-b border-line px-5 py-1.5 max-tablet:px-4">
        <Icon name="file" size={14} className="text-ink-3" />
        <span className="min-w-0 truncate font-name">{artifact.file_name}</span>
        {meta}
        <span className="text-small text-ink-3">{bytes(artifact.size_bytes)}</span>
        <span className="flex-1" />
        {segments.length > 1 && <SegmentedControl label="View" value={shown} segments={segments} onChange={(next) => (onView ?? setKept)(next as View)} />}
        <a
          href={downloadPath(artifact.artifact_record_id)}
          download={artifact.file_name}
          aria-label={`Download ${artifact.file_name}`}
          title={`Download ${artifact.file_name}`}
          className="grid size-[30px] flex-none place-items-center rounded-2 text-ink-2 hover:bg-hover hover:text-ink"
        >
          <Icon name="download" />
        </a>
      </header>
      <ArtifactContent artifact={artifact} view={shown} against={against} />
    </section>
  );
}

export { ArtifactContent, type View } from './ArtifactContent';
