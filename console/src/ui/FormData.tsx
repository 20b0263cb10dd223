/** What a person filled in, field by field: where no artifact has it, this is what an approval is about. */
export function FormData({ data, className = '' }: { data: Readonly<Record<string, unknown>>; className?: string }) {
  return (
    <dl aria-label="Filled in" className={`flex flex-col gap-3 ${className}`}>
      {Object.entries(data).map(([name, value]) => (
        <div key={name}>
          <dt className="text-small text-ink-3">{name}</dt>
          <dd className="max-w-[72ch] break-words whitespace-pre-wrap">{typeof value === 'string' ? value : JSON.stringify(value)}</dd>
        </div>
      ))}
    </dl>
  );
}
