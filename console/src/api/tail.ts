/** The end of a long list: its newest items, oldest first, and what of it is not here. */

export interface Tail<Item> {
  items: Item[];
  /** The cursor of the items before these; null: there are none. */
  earlier: string | null;
}

interface Page<Item> {
  /** Newest first. */
  items: readonly Item[];
  next_cursor?: string | null | undefined;
}

export const tail = <Item>(page: Page<Item>): Tail<Item> => ({ items: [...page.items].reverse(), earlier: page.next_cursor ?? null });

/** The newest items with what was loaded before them, unless something is missing in between. */
export function joined<Item>(before: Tail<Item> | undefined, now: Tail<Item>, id: (item: Item) => string): Tail<Item> {
  const first = now.items[0];
  if (!before || !first) return now;
  const at = before.items.findIndex((one) => id(one) === id(first));
  return at < 1 ? now : { items: [...before.items.slice(0, at), ...now.items], earlier: before.earlier };
}

/** With one more page in front; as it is, where that page is here by now. */
export function extended<Item>(now: Tail<Item>, cursor: string, page: Page<Item>): Tail<Item> {
  if (now.earlier !== cursor) return now;
  const { items, earlier } = tail(page);
  return { items: [...items, ...now.items], earlier };
}
