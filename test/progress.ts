// How far a run of many test files is: one line before each file's results, which Bun prints when the file has ended.
import { systemClock } from '../src/kernel/time.ts'

const FILE = /^\S+\.test\.ts:$/
const FAILED = /^\(fail\) /

/**
 * Passes on what `bun test` says, line by line, and says between two files how far it is.
 * @param total files that will run; undefined where that is not known
 */
export async function* withProgress(
  said: AsyncIterable<Uint8Array>,
  total: number | undefined,
  now = () => systemClock.now().getTime(),
): AsyncGenerator<string> {
  const startedAt = now()
  const seen = new Set<string>()
  let failed = 0
  for await (const line of lines(said)) {
    const plain = Bun.stripANSI(line).trimEnd()
    if (FAILED.test(plain)) failed += 1
    // Bun names a file again where it says more of it.
    if (FILE.test(plain) && !seen.has(plain)) {
      seen.add(plain)
      yield `== file ${seen.size}${total === undefined ? '' : ` of ${total}`}, ${failed} failed, ${time(now() - startedAt)}\n`
    }
    yield line
  }
}

const time = (ms: number): string =>
  ms < 60_000 ? `${Math.floor(ms / 1000)} s` : `${Math.floor(ms / 60_000)} min ${Math.floor((ms % 60_000) / 1000)} s`

/** Each with its end. A last one without an end too. */
async function* lines(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of bytes) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = parts.pop() ?? ''
    for (const part of parts) yield `${part}\n`
  }
  if (rest !== '') yield rest
}

/**
 * How many files Bun will run for these words, which it looks for anywhere in a path. Undefined where there are options: they
 * may choose among the files too.
 */
export async function countFiles(root: string, words: readonly string[]): Promise<number | undefined> {
  if (words.some((word) => word.startsWith('-'))) return undefined
  const wanted = words.map((word) => word.replace(/^\.\//, ''))
  let count = 0
  for await (const path of new Bun.Glob('test/**/*.test.ts').scan(root))
    if (wanted.length === 0 || wanted.some((word) => `${root}/${path}`.includes(word))) count += 1
  return count
}
