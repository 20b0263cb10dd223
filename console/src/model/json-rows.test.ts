import { expect, it } from 'vitest';
import { holds, parse, rows } from './json-rows';

const text = (it: ReturnType<typeof rows>) => it.map((row) => `${' '.repeat(row.depth)}${row.name === undefined ? '' : `${row.name}: `}${row.text}${row.folded ? ` ${row.inside}` : ''}${row.last ? '' : ','}`);

it('lists values with their names, and folds what is closed', () => {
  const value = parse('{"a": [1, {"b/c": null}], "d": {}, "e": "x"}');
  expect(text(rows(value, new Set()))).toEqual(['{,', ' a: [,', '  1,', '  {,', '   b/c: null', '  }', ' ],', ' d: {},', ' e: "x"', '}']);
  expect(text(rows(value, new Set(['/a'])))).toEqual(['{,', ' a: [ 2,', ' d: {},', ' e: "x"', '}']);
});

it('finds names and values', () => {
  const found = rows(parse('{"Lane": "Malmö", "n": 12}'), new Set());
  expect(found.filter((row) => holds(row, 'lane')).length).toBe(1);
  expect(found.filter((row) => holds(row, 'malmö')).length).toBe(1);
});

it('keeps a name that would be special elsewhere', () => {
  expect(text(rows(parse('{"__proto__": {"x": true}}'), new Set()))).toEqual(['{,', ' __proto__: {,', '  x: true', ' }', '}']);
});
