/** The questions that were answered in this window: they go without a word, since their answer was said. */
const answered = new Set<string>();

export const answeredHere = (key: string) => void answered.add(key);
export const isAnsweredHere = (key: string) => answered.has(key);
