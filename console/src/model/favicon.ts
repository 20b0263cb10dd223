/** The tab's icon: the point is amber while something needs you, and ink when nothing does. */
export function favicon(needsYou: boolean, dark: boolean): string {
  const ink = dark ? '#ebedef' : '#191e27';
  const point = needsYou ? '#f8b527' : ink;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path fill="${ink}" d="M1 1h3v14H1zM12 1h3v4h-3zM12 6h3v4h-3zM12 11h3v4h-3z"/><circle cx="8" cy="8" r="2.5" fill="${point}"/></svg>`;
  return `data:image/svg+xml,${encodeURIComponent(svg)}`;
}

/** `(6) Inbox · Holdpoint` */
export const tabTitle = (name: string, waiting: number) => `${waiting > 0 ? `(${waiting}) ` : ''}${name} · Holdpoint`;
