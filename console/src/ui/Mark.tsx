/** The mark: an H of the solid bar, the point and the broken bar. The logo has the word beside it. */
const H = 'M1 1h3.5v14H1zM11.5 1H15v3.5h-3.5zM11.5 6.25H15v3.5h-3.5zM11.5 11.5H15V15h-3.5z';
const WORD =
  'M25.2.85v17.3M25.2 11.8a4.3 4.3 0 0 1 8.6 0v6.35M38.1 12.25a4.75 4.75 0 1 0 9.5 0a4.75 4.75 0 1 0-9.5 0M51.9.85v17.3M56.2 12.25a4.75 4.75 0 1 0 9.5 0a4.75 4.75 0 1 0-9.5 0M65.7.85v17.3M71.2 6.35v16.4M71.2 12.25a4.75 4.75 0 1 0 9.5 0a4.75 4.75 0 1 0-9.5 0M84.4 12.25a4.75 4.75 0 1 0 9.5 0a4.75 4.75 0 1 0-9.5 0M98.2 6.35v11.8M103.7 6.35v11.8M103.7 11.8a4.3 4.3 0 0 1 8.6 0v6.35M118.4 3.2v10.6a3.2 3.2 0 0 0 3.2 3.2h1M115.3 7.5h7.3';

export function Mark({ size = 18, className }: { size?: number; className?: string }) {
  return (
    <svg viewBox="0 0 16 16" width={size} height={size} className={className} aria-hidden="true">
      <path fill="currentColor" d={H} />
      <circle cx="8" cy="8" r="2.25" fill="var(--color-hold)" />
    </svg>
  );
}

export function Logo({ className }: { className?: string }) {
  return (
    <svg viewBox="0 0 124 24" width="108" height="21" className={className} aria-hidden="true">
      <g transform="translate(-1.236 -.386) scale(1.236)">
        <path fill="currentColor" d={H} />
        <circle cx="8" cy="8" r="2.25" fill="var(--color-hold)" />
      </g>
      <path d={WORD} fill="none" stroke="currentColor" strokeWidth="2.3" />
      <circle cx="98.2" cy="3" r="1.65" fill="currentColor" />
    </svg>
  );
}
