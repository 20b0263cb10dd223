/** The text of a diagram, ready to be drawn. */

/** How a diagram looks and what it may do is the console's business, so the text's own settings are left out. */
export function plain(text: string): string {
  return text
    .replace(/^\s*---\n([\s\S]*?)\n---\s*\n/, (_, head: string) => {
      const title = /^title:.*$/m.exec(head);
      return title ? `---\n${title[0]}\n---\n` : '';
    })
    .replace(/%%\{[\s\S]*?\}%%/g, '')
    .replace(/\b(url|image|image-set)\s*\(/gi, 'none(')
    // Labels are text with line breaks, and no other markup; `<<interface>>` is none.
    .replace(/(?<!<)<(?!br\s*\/?>)[/!?]?[a-z][^>]*>/gi, '');
}
