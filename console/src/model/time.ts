/** Times as people read them. Relative to the minute, a clock time within a day, a date beyond. */

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const two = (value: number) => String(value).padStart(2, '0');

/** "16 min", "1 h 05", "26 h", "3 d". */
export function ago(from: Date | string, now: Date = new Date()): string {
  return span(now.getTime() - new Date(from).getTime());
}

/** "16 min ago", "just now". */
export function since(from: Date | string, now: Date = new Date()): string {
  const past = ago(from, now);
  return past === 'now' ? 'just now' : `${past} ago`;
}

/** A length of time: "12 s", "16 min", "1 h 05", "26 h", "3 d". */
export function span(milliseconds: number): string {
  const past = Math.max(0, milliseconds);
  if (past < MINUTE) return 'now';
  if (past < HOUR) return `${Math.floor(past / MINUTE)} min`;
  if (past < 10 * HOUR) return `${Math.floor(past / HOUR)} h ${two(Math.floor((past % HOUR) / MINUTE))}`;
  if (past < 2 * DAY) return `${Math.floor(past / HOUR)} h`;
  return `${Math.floor(past / DAY)} d`;
}

/** How long something took, to the tenth of a second below a minute: "3.1 s", "2 min 04", "1 h 05". */
export function took(milliseconds: number): string {
  if (milliseconds < 10_000) return `${(milliseconds / 1000).toFixed(1)} s`;
  if (milliseconds < MINUTE) return `${Math.round(milliseconds / 1000)} s`;
  if (milliseconds < HOUR) return `${Math.floor(milliseconds / MINUTE)} min ${two(Math.floor((milliseconds % MINUTE) / 1000))}`;
  return span(milliseconds);
}

/** "11:42" */
export function clock(time: Date | string, seconds = false): string {
  const at = new Date(time);
  return `${two(at.getHours())}:${two(at.getMinutes())}${seconds ? `:${two(at.getSeconds())}` : ''}`;
}

/** "9 July", with the year where it is another. */
export function date(time: Date | string, now: Date = new Date()): string {
  const at = new Date(time);
  const year = at.getFullYear() === now.getFullYear() ? undefined : 'numeric';
  return new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'long', year }).format(at);
}

/** A clock time today, a date and a clock time otherwise. */
export function moment(time: Date | string, now: Date = new Date()): string {
  const at = new Date(time);
  return at.toDateString() === now.toDateString() ? clock(at) : `${date(at, now)}, ${clock(at)}`;
}

/** Made once: making one costs more than drawing the row that it is for. */
const EXACT = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'long' });

/** The absolute time with its zone, for those who point at it. */
export function exact(time: Date | string): string {
  return EXACT.format(new Date(time));
}
