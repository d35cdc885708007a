import { expect, test } from 'bun:test'
import { createKeyedMutex } from '../../src/kernel/keyed-mutex.ts'

test('work on one key runs one after the other, in the order of arrival, and other keys do not wait', async () => {
  const mutex = createKeyedMutex<string>()
  const events: string[] = []
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const work = (key: string, name: string, until?: Promise<void>) =>
    mutex.run(key, async () => {
      events.push(`${name} starts`)
      await until
      events.push(`${name} ends`)
      return name
    })
  const all = [work('a', '1', gates[0]?.promise), work('a', '2', gates[1]?.promise), work('a', '3')]
  await work('b', 'other')
  gates[1]?.resolve()
  gates[0]?.resolve()
  expect(await Promise.all(all)).toEqual(['1', '2', '3'])
  expect(events).toEqual([
    '1 starts',
    'other starts',
    'other ends',
    '1 ends',
    '2 starts',
    '2 ends',
    '3 starts',
    '3 ends',
  ])
})

test('work that fails lets the next one run', async () => {
  const mutex = createKeyedMutex<number>()
  const failed = mutex.run(1, () => Promise.reject(new Error('failed')))
  const next = mutex.run(1, async () => 'ran')
  expect(failed).rejects.toThrow('failed')
  expect(await next).toBe('ran')
})
