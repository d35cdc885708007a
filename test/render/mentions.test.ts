import { expect, test } from 'bun:test'
import { mentionedNames } from '../../src/render/mentions.ts'

test.each([
  ['@Bob and (@carol), "@dave.x"!', ['bob', 'carol', 'dave.x']],
  ['twice @bob @BOB', ['bob']],
  ['bob@example.org, a/@bob and x@bob', []],
  ['`@bob` and ``@bob`` but @carol', ['carol']],
  ['```ts\n@bob\n```\n@carol', ['carol']],
  ['~~~\n@bob\n```\n@bob\n~~~~\n@carol', ['carol']],
  ['   ```\n@bob, to the end of the text', []],
  ['> @bob wrote', ['bob']],
  ['@Club/Crew, @club/crew. and @club/', ['club/crew', 'club']],
  ['nobody', []],
])('%j calls %j', (text, names) => {
  expect(mentionedNames(text)).toEqual(names)
})

test('a text that names a crowd calls fifty, and a hostile one is read in linear time', () => {
  const crowd = Array.from({ length: 200 }, (_, index) => `@user${index}`).join(' ')
  expect(mentionedNames(crowd)).toHaveLength(50)
  const started = process.cpuUsage()
  for (const piece of ['`', '@', '`a', '@`', '```\n', '~~~\n@', 'a@']) mentionedNames(`@${piece.repeat(200_000)}`)
  const { user } = process.cpuUsage(started)
  expect(user / 1e6).toBeLessThan(4)
})
