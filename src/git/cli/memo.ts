/** A bounded memory of answers that stay true: what is asked about ids of objects. Failures are not kept. */
export class Memo<T> {
  readonly #max: number
  readonly #answers = new Map<string, { value: T }>()

  constructor(max: number) {
    this.#max = max
  }

  async get(id: number, question: string, answer: () => Promise<T>): Promise<T> {
    const key = `${id} ${question}`
    const known = this.#answers.get(key)
    if (known) {
      this.#answers.delete(key)
      this.#answers.set(key, known)
      return known.value
    }
    const value = await answer()
    this.#answers.set(key, { value })
    if (this.#answers.size > this.#max) {
      const [oldest] = this.#answers.keys()
      if (oldest !== undefined) this.#answers.delete(oldest)
    }
    return value
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
