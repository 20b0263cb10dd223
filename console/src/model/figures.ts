/** Money, tokens, sizes and counts in words. */

/** "$2.31"; amounts below a cent keep what tells them apart from nothing. */
export function money(usd: number): string {
  if (usd > 0 && usd < 0.01) return `$${usd.toFixed(4)}`;
  if (usd > 0 && usd < 0.1) return `$${usd.toFixed(3)}`;
  return `$${usd.toFixed(2).replace(/\B(?=(\d{3})+(?!\d))/g, ',')}`;
}

const COUNT = new Intl.NumberFormat('en-GB');

/** "18,204" */
export const count = (value: number) => COUNT.format(value);

/** "9.4 kB" */
export function bytes(size: number): string {
  if (size < 1000) return `${size} B`;
  const units = ['kB', 'MB', 'GB', 'TB'];
  let value = size;
  let unit = -1;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}

/** "1 field", "6 fields" */
export const many = (number: number, one: string, more = `${one}s`) => `${count(number)} ${number === 1 ? one : more}`;

/** The beginning of a digest: "sha256 9f31c07a". */
export function digest(text: string): string {
  const [kind, value] = text.includes(':') ? (text.split(':') as [string, string]) : ['sha256', text];
  return `${kind} ${value.slice(0, 8)}`;
}

/** "You, Jonas Okafor"; more than three are counted. */
export function names(all: readonly string[], most = 3): string {
  if (all.length <= most) return all.join(', ');
  return `${all.slice(0, most - 1).join(', ')} and ${all.length - most + 1} more`;
}

/** Two letters for an avatar. */
export function initials(name: string): string {
  const words = name.trim().split(/[\s._-]+/).filter(Boolean);
  const letters = words.length > 1 ? [words[0], words.at(-1)] : [words[0]];
  return letters.map((word) => word?.[0]?.toUpperCase() ?? '').join('') || '?';
}

/** A server's remark as a sentence, without the marks around names. */
export function sentence(text: string): string {
  const plain = text.replaceAll('`', '');
  const begun = plain.charAt(0).toUpperCase() + plain.slice(1);
  return /[.!?]$/.test(begun) ? begun : `${begun}.`;
}
