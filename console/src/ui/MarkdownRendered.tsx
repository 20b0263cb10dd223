/** Draws Markdown as elements: no raw HTML, nothing loaded from elsewhere, links that say where they lead. */
import clsx from 'clsx';
import ReactMarkdown, { type Components } from 'react-markdown';
import remarkGfm from 'remark-gfm';
import './serif';

const components: Components = {
  h1: ({ children }) => <h3 className="mt-5 mb-1 text-[18px] leading-[26px] first:mt-0">{children}</h3>,
  h2: ({ children }) => <h4 className="mt-5 mb-1 text-[17px] leading-[26px] font-name first:mt-0">{children}</h4>,
  h3: ({ children }) => <h5 className="mt-4 mb-1 font-name first:mt-0">{children}</h5>,
  p: ({ children }) => <p className="mb-[9px]">{children}</p>,
  ul: ({ children }) => <ul className="mb-[9px] list-disc pl-6">{children}</ul>,
  ol: ({ children, start }) => (
    <ol start={start} className="mb-[9px] list-decimal pl-6">
      {children}
    </ol>
  ),
  blockquote: ({ children }) => <blockquote className="mb-[9px] border-l-2 border-line-2 pl-4 text-ink-2">{children}</blockquote>,
  code: ({ children }) => <code className="rounded-1 bg-sunken px-1 font-mono text-[13px]">{children}</code>,
  pre: ({ children }) => <pre className="scroll-pane mb-[9px] rounded-2 bg-sunken px-3 py-2 text-[12px] leading-5 [&_code]:bg-transparent [&_code]:p-0 [&_code]:text-[12px]">{children}</pre>,
  hr: () => <hr className="my-4 border-line" />,
  table: ({ children }) => (
    <div className="scroll-pane mb-[9px]">
      <table className="font-sans text-body">{children}</table>
    </div>
  ),
  th: ({ children }) => <th className="label border-b border-line-2 py-1 pr-4 text-left">{children}</th>,
  td: ({ children }) => <td className="border-b border-line py-1 pr-4 align-top">{children}</td>,
  // An address that was taken out leads nowhere, so it is no link.
  a: ({ href, children }) =>
    href ? (
      <a href={href} target="_blank" rel="noreferrer noopener" className="underline decoration-line-2 underline-offset-2 hover:decoration-ink">
        {children}
      </a>
    ) : (
      <span>{children}</span>
    ),
  // A picture from elsewhere would tell that elsewhere who reads; its text stands for it.
  img: ({ alt, src }) =>
    typeof src === 'string' && src.startsWith('data:image/') ? <img src={src} alt={alt ?? ''} /> : <span className="text-ink-3">[picture: {alt || String(src)}]</span>,
  input: ({ checked }) => <span className="font-mono">{checked ? '[x] ' : '[ ] '}</span>,
};

export default function MarkdownRendered({ text, className }: { text: string; className?: string | undefined }) {
  return (
    <div className={clsx('work max-w-[72ch] [overflow-wrap:anywhere]', className)}>
      <ReactMarkdown remarkPlugins={[remarkGfm]} components={components} skipHtml>
        {text}
      </ReactMarkdown>
    </div>
  );
}
