import { LRUCache } from 'lru-cache'

/** A bounded cache of answers that stay true: what is asked about ids of objects. Failures are not cached. */
export class Memo<T> {
  readonly #answers: LRUCache<string, { value: T }>

  constructor(max: number) {
    this.#answers = new LRUCache({ max })
  }

  async get(id: number, question: string, answer: () => Promise<T>): Promise<T> {
    const key = `${id} ${question}`
    const known = this.#answers.get(key)
    if (known) return known.value
    const value = await answer()
    this.#answers.set(key, { value })
    return value
  }

  /** The same for several questions: `answer` is asked once, for those whose answer is not known. */
  async getAll(
    id: number,
    questions: readonly string[],
    answer: (unknown: string[]) => Promise<Map<string, T>>,
  ): Promise<Map<string, T>> {
    const found = new Map<string, T>()
    const unknown: string[] = []
    for (const question of questions) {
      const known = this.#answers.get(`${id} ${question}`)
      if (known) found.set(question, known.value)
      else unknown.push(question)
    }
    if (unknown.length === 0) return found
    for (const [question, value] of await answer(unknown)) {
      found.set(question, value)
      this.#answers.set(`${id} ${question}`, { value })
    }
    return found
  }

  /** For an answer that turned out to be less than the whole. */
  drop(id: number, question: string): void {
    this.#answers.delete(`${id} ${question}`)
  }

  /** Everything about one repository. */
  forget(id: number): void {
    for (const key of this.#answers.keys()) if (key.startsWith(`${id} `)) this.#answers.delete(key)
  }
}
