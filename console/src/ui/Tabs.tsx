/** A segmented control for views of one thing, and tabs for its parts. */
import clsx from 'clsx';
import { Tabs as Radix, ToggleGroup } from 'radix-ui';
import { type ReactNode, useEffect, useRef } from 'react';

export interface Segment {
  value: string;
  label: ReactNode;
  /** A figure after the label. */
  count?: ReactNode;
}

export function SegmentedControl({ value, onChange, segments, label, className }: { value: string; onChange: (value: string) => void; segments: readonly Segment[]; label: string; className?: string }) {
  return (
    <ToggleGroup.Root
      type="single"
      value={value}
      onValueChange={(next) => next && onChange(next)}
      aria-label={label}
      className={clsx('scroll-pane inline-flex max-w-full gap-px overflow-y-hidden rounded-2 border border-line bg-sunken p-0.5', className)}
    >
      {segments.map((segment) => (
        <ToggleGroup.Item
          key={segment.value}
          value={segment.value}
          className="flex h-6 items-center gap-1.5 rounded-1 px-[9px] text-small font-medium whitespace-nowrap text-ink-2 focus-visible:-outline-offset-2 data-[state=on]:bg-raised data-[state=on]:font-name data-[state=on]:text-ink data-[state=on]:shadow-1 max-tablet:h-11 forced-colors:data-[state=on]:border"
        >
          {segment.label}
          {segment.count !== undefined && <span className="text-ink-3">{segment.count}</span>}
        </ToggleGroup.Item>
      ))}
    </ToggleGroup.Root>
  );
}

/** Tabs; the panels are children made with {@link TabPanel}. */
export function Tabs({ value, onChange, tabs, label, children, className }: { value: string; onChange: (value: string) => void; tabs: readonly Segment[]; label: string; children: ReactNode; className?: string }) {
  const list = useRef<HTMLDivElement>(null);
  // The chosen one is in sight, also where there is no room for all.
  useEffect(() => {
    list.current?.querySelector('[data-state=active]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [value]);
  return (
    <Radix.Root value={value} onValueChange={onChange} className={clsx('flex min-h-0 flex-col', className)} activationMode="manual">
      <Radix.List ref={list} aria-label={label} className="scroll-pane flex h-[38px] flex-none gap-[18px] overflow-y-hidden border-b border-line px-5 max-tablet:h-[46px] max-tablet:px-4">
        {tabs.map((tab) => (
          <Radix.Trigger
            key={tab.value}
            value={tab.value}
            className="-mb-px flex items-center gap-1.5 border-b-2 border-transparent font-medium whitespace-nowrap text-ink-3 hover:text-ink focus-visible:-outline-offset-2 data-[state=active]:border-ink data-[state=active]:font-name data-[state=active]:text-ink"
          >
            {tab.label}
            {tab.count !== undefined && <span className="font-body text-ink-3">{tab.count}</span>}
          </Radix.Trigger>
        ))}
      </Radix.List>
      {children}
    </Radix.Root>
  );
}

export function TabPanel({ value, children, className }: { value: string; children: ReactNode; className?: string }) {
  return (
    <Radix.Content value={value} tabIndex={-1} className={clsx('min-h-0 flex-1', className)}>
      {children}
    </Radix.Content>
  );
}
