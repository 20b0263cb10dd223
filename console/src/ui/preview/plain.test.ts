import { expect, it } from 'vitest';
import { plain } from './plain';

it('leaves the diagram and takes out its own settings and markup', () => {
  expect(plain('---\ntitle: Lanes\nconfig:\n  securityLevel: loose\n---\ngraph TD\n A')).toBe('---\ntitle: Lanes\n---\ngraph TD\n A');
  expect(plain('%%{init: {"theme": "dark"}}%%\ngraph TD')).toBe('\ngraph TD');
  expect(plain('A["one<br/>two <img src=x onerror=y>"]')).toBe('A["one<br/>two "]');
  expect(plain('class A { <<interface>> }\nA <|-- B\nA <--> B')).toBe('class A { <<interface>> }\nA <|-- B\nA <--> B');
  expect(plain('style A fill:url(https://a.test)')).toBe('style A fill:none(https://a.test)');
});
