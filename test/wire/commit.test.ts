import { expect, test } from 'bun:test'
import { parseSubmodules } from '../../src/features/contents/submodules.ts'
import { contentDisposition } from '../../src/http/download.ts'
import { sniffMediaType } from '../../src/http/media-type.ts'
import { gitTime } from '../../src/wire/commit.ts'

test.each([
  ['2024-05-06T07:08:09Z', 0, '2024-05-06T07:08:09Z'],
  ['2024-05-06T07:08:09Z', 120, '2024-05-06T09:08:09+02:00'],
  ['2024-05-06T00:08:09Z', -570, '2024-05-05T14:38:09-09:30'],
  ['2024-05-06T07:08:09Z', 99_999, '2024-05-06T07:08:09Z'],
  ['-000500-01-01T00:00:00Z', 60, '0001-01-02T01:00:00+01:00'],
  ['+100000-01-01T00:00:00Z', 60, '9999-12-30T01:00:00+01:00'],
])('the time %s at %i minutes is told as %s', (at, offsetMinutes, wanted) => {
  expect(gitTime({ date: new Date(at), offsetMinutes })).toBe(wanted)
})

test.each([
  ['a.txt', 'inline; filename=a.txt'],
  ['a b.txt', 'inline; filename="a b.txt"'],
  ['a"b\\.txt', 'inline; filename="a\\"b\\\\.txt"'],
  ['a\r\nset-cookie: x', `inline; filename*=UTF-8''a%0D%0Aset-cookie%3A%20x`],
  ['ü (1).txt', `inline; filename*=UTF-8''%C3%BC%20%281%29.txt`],
  ['', 'inline; filename=""'],
])('the name %j is sent as %s', (name, wanted) => {
  expect(contentDisposition('inline', name)).toBe(wanted)
})

test.each([
  ['text', 'hello\n', 'text/plain; charset=utf-8'],
  ['nothing', '', 'text/plain; charset=utf-8'],
  ['a page', '<!doctype html><script>1</script>', 'text/plain; charset=utf-8'],
  ['half a character at the end', Buffer.from('ü').subarray(0, 1), 'text/plain; charset=utf-8'],
  ['wide text', Buffer.from('\ufeffhi', 'utf16le'), 'text/plain; charset=utf-16'],
  ['NUL', Uint8Array.of(65, 0, 65), 'application/octet-stream'],
  ['a picture', Buffer.from('ffd8ffe000104a46', 'hex'), 'image/jpeg'],
  ['sound', Buffer.from('52494646000000005741564500', 'hex'), 'audio/wav'],
])('%s is sent as what it is, and never runs', (_, content, type) => {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content
  expect(sniffMediaType(bytes).type).toBe(type)
})

test('addresses of submodules are read from the sections of .gitmodules', () => {
  const text = `
[submodule "a"]
	url = https://example.com/a.git
	path = libs/a
[submodule "no path"]
	url = https://example.com/b.git
[submodule "quoted"]
	path = "b c"
	branch = main
	url = "../b.git"
`
  expect([...parseSubmodules(text)]).toEqual([
    ['libs/a', 'https://example.com/a.git'],
    ['b c', '../b.git'],
  ])
})
