/** A bounded memory of answers that stay true: what is asked about ids of objects. Failures are not kept. */
export class Memo<T> {
  readonly #max: number
  readonly #answers = new Map<string, { value: T }>()

  constructor(max: number) {
    this.#max = max
  }

  async get(id: number, question: string, answer: () => Promise<T>): Promise<T> {
    const key = `${id} ${question}`
    const known = this.#find(key)
    if (known) return known.value
    const value = await answer()
    this.#keep(key, value)
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
      const known = this.#find(`${id} ${question}`)
      if (known) found.set(question, known.value)
      else unknown.push(question)
    }
    if (unknown.length === 0) return found
    for (const [question, value] of await answer(unknown)) {
      found.set(question, value)
      this.#keep(`${id} ${question}`, value)
    }
    return found
  }

  find(id: number, question: string): T | undefined {
    return this.#find(`${id} ${question}`)?.value
  }

  keep(id: number, question: string, value: T): void {
    this.#keep(`${id} ${question}`, value)
  }

  #find(key: string): { value: T } | undefined {
    const known = this.#answers.get(key)
    if (!known) return undefined
    this.#answers.delete(key)
    this.#answers.set(key, known)
    return known
  }

  #keep(key: string, value: T): void {
    this.#answers.set(key, { value })
    if (this.#answers.size <= this.#max) return
    const [oldest] = this.#answers.keys()
    if (oldest !== undefined) this.#answers.delete(oldest)
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
