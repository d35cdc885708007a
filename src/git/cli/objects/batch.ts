import { GitError } from '../../errors.ts'
import type { ObjectType } from '../../model.ts'
import { isObjectType } from '../../objects.ts'

export interface Question {
  verb: 'info' | 'contents'
  /** Never with a newline: names come from `revisionCandidates` or are ids. */
  name: string
  /** Of `contents`, bytes; more makes the answer `too-large`. */
  maxBytes?: number
}

export type Answer =
  | { kind: 'object'; sha: string; type: ObjectType; size: number; content?: Buffer }
  | { kind: 'missing' | 'ambiguous' | 'too-large' }

interface Waiting {
  question: Question
  resolve(answer: Answer): void
  reject(error: unknown): void
}

export class BatchEnded extends Error {}

/**
 * One `git cat-file --batch-command`. Questions may be asked while others wait; git answers in order. A question costs 0.3-0.7 ms,
 * a spawned cat-file 2.8 ms (platform notes, section 7).
 */
export class BatchProcess {
  readonly ended: Promise<void>
  readonly #child
  readonly #waiting: Waiting[] = []
  #first = 0
  #isEnded = false
  #unsent = ''
  readonly #parser = new AnswerParser()

  constructor(binary: string, folder: string, environment: Record<string, string>) {
    this.#child = Bun.spawn([binary, `--git-dir=${folder}`, 'cat-file', '--batch-command', '--buffer'], {
      env: environment,
      cwd: folder,
      stdin: 'pipe',
      stdout: 'pipe',
      stderr: 'ignore',
      detached: true,
    })
    this.ended = this.#read()
  }

  get pending(): number {
    return this.#waiting.length - this.#first
  }

  get isEnded(): boolean {
    return this.#isEnded
  }

  ask(questions: Question[]): Promise<Answer[]> {
    if (this.#isEnded) return Promise.reject(new BatchEnded())
    const answers = questions.map(
      (question) =>
        new Promise<Answer>((resolve, reject) => {
          this.#waiting.push({ question, resolve, reject })
        }),
    )
    this.#send(`${questions.map(({ verb, name }) => `${verb} ${name}\n`).join('')}flush\n`)
    return Promise.all(answers)
  }

  /** The questions of one turn of the event loop leave in one write. */
  #send(text: string): void {
    if (this.#unsent === '') {
      queueMicrotask(() => {
        const lines = this.#unsent
        this.#unsent = ''
        if (!this.#isEnded) void this.#write(lines)
      })
    }
    this.#unsent += text
  }

  async #write(lines: string): Promise<void> {
    try {
      this.#child.stdin.write(lines)
      await this.#child.stdin.flush()
    } catch {
      // Killed a moment ago: the end of its output, which is read beside this, refuses the questions.
    }
  }

  /** Questions that wait are refused with BatchEnded. The child only reads, so SIGKILL leaves nothing behind. */
  kill(): void {
    this.#isEnded = true
    this.#child.kill('SIGKILL')
  }

  async #read(): Promise<void> {
    try {
      for await (const chunk of this.#child.stdout) this.#take(chunk)
    } catch {
      // A broken answer or pipe: the process is not used again, and the questions are refused below.
    }
    this.kill()
    await this.#child.exited
    for (const waiting of this.#waiting.slice(this.#first)) waiting.reject(new BatchEnded())
    this.#first = this.#waiting.length
  }

  #take(chunk: Uint8Array): void {
    this.#parser.push(chunk)
    for (;;) {
      const waiting = this.#waiting[this.#first]
      if (!waiting) return
      const answer = this.#parser.next(waiting.question)
      if (!answer) return
      this.#first++
      if (this.#first === this.#waiting.length || this.#first > 1000) {
        this.#waiting.splice(0, this.#first)
        this.#first = 0
      }
      waiting.resolve(answer)
    }
  }
}

const MAX_HEADER_BYTES = 8192

interface Content {
  answer: Answer & { kind: 'object' }
  buffer: Buffer
  filled: number
  isDropped: boolean
  /** Bytes still to come, the newline behind the content included. */
  left: number
}

/** Puts answers together from chunks; content is copied once, into a buffer of its own. */
class AnswerParser {
  #bytes: Buffer = Buffer.alloc(0)
  #content: Content | undefined

  push(chunk: Uint8Array): void {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length)
    this.#bytes = this.#bytes.length === 0 ? bytes : Buffer.concat([this.#bytes, bytes])
  }

  next(question: Question): Answer | undefined {
    if (this.#content) return this.#fill(this.#content)
    const end = this.#bytes.indexOf(0x0a)
    if (end < 0) {
      if (this.#bytes.length > MAX_HEADER_BYTES) throw new Error('answer without an end')
      return undefined
    }
    const line = this.#bytes.toString('utf8', 0, end)
    this.#bytes = this.#bytes.subarray(end + 1)
    if (line.endsWith(' missing')) return { kind: 'missing' }
    if (line.endsWith(' ambiguous')) return { kind: 'ambiguous' }
    const [sha = '', type = '', digits = ''] = line.split(' ')
    const size = Number(digits)
    if (!isObjectType(type) || !Number.isSafeInteger(size)) throw new Error('unknown answer')
    const answer = { kind: 'object' as const, sha, type, size }
    if (question.verb === 'info') return answer
    const isDropped = size > (question.maxBytes ?? Number.POSITIVE_INFINITY)
    this.#content = { answer, buffer: Buffer.allocUnsafe(isDropped ? 0 : size), filled: 0, isDropped, left: size + 1 }
    return this.#fill(this.#content)
  }

  /** The content is followed by one newline. What is too large is read and dropped. */
  #fill(content: Content): Answer | undefined {
    const part = this.#bytes.subarray(0, content.left)
    if (!content.isDropped) content.filled += part.copy(content.buffer, content.filled)
    content.left -= part.length
    this.#bytes = this.#bytes.subarray(part.length)
    if (content.left > 0) return undefined
    this.#content = undefined
    return content.isDropped ? { kind: 'too-large' } : { ...content.answer, content: content.buffer }
  }
}

export const batchFailed = () => new GitError('failed', 'program', 'git cat-file ended twice while it was asked')
