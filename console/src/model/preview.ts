/** Which way an output is shown, by its format. */
import type { Artifact } from '@/api/types';

export type Shown = 'json' | 'markdown' | 'mermaid' | 'csv' | 'html' | 'picture' | 'text';

const SHOWN: Record<string, Shown> = {
  json: 'json',
  md: 'markdown',
  markdown: 'markdown',
  mmd: 'mermaid',
  mermaid: 'mermaid',
  csv: 'csv',
  tsv: 'csv',
  html: 'html',
  htm: 'html',
  svg: 'picture',
  png: 'picture',
  jpg: 'picture',
  jpeg: 'picture',
  gif: 'picture',
  webp: 'picture',
};

export type Shows = Pick<Artifact, 'artifact_record_id' | 'file_name' | 'format' | 'size_bytes' | 'checksum'>;

export const shownAs = (artifact: Pick<Shows, 'format'>): Shown => SHOWN[artifact.format.toLowerCase()] ?? 'text';

/** Whether it has a form of its own besides its text. */
export const isDrawn = (artifact: Pick<Shows, 'format'>) => shownAs(artifact) !== 'text';

/** Prose is set in serif and wrapped; everything else keeps its lines. */
export const isProse = (artifact: Pick<Shows, 'format'>) => /^(md|markdown|txt)$/i.test(artifact.format);

const PICTURES: Record<string, string> = { svg: 'image/svg+xml', jpg: 'image/jpeg' };
export const pictureType = (format: string) => PICTURES[format.toLowerCase()] ?? `image/${format.toLowerCase()}`;

/** Whether rendering Markdown leaves out something of its text: HTML and comments are not drawn. An address in angle brackets is. */
export const leavesOut = (text: string): boolean => /<(?!https?:|mailto:)[a-z/!?]/i.test(text);
