/**
 * What the sanitizer writes. Most of that is letter for letter what stands in the source, tag after tag: it is copied in long
 * pieces then, which spares a string for each tag and each word between two.
 */
export class Output {
  private written = ''
  private keptFrom = 0
  private keptTo = 0
  private readonly source: string

  constructor(source: string) {
    this.source = source
  }

  /** Writes what stands in the source between the two offsets. */
  keep(from: number, to: number): void {
    if (this.keptTo !== from) {
      this.copyKept()
      this.keptFrom = from
    }
    this.keptTo = to
  }

  /** Takes back the end of what was kept last, from this offset on. */
  takeBack(from: number): string {
    const piece = this.source.slice(from, this.keptTo)
    this.keptTo = from
    return piece
  }

  write(piece: string): void {
    this.copyKept()
    this.written += piece
  }

  finish(): string {
    this.copyKept()
    return this.written
  }

  private copyKept(): void {
    if (this.keptTo > this.keptFrom) this.written += this.source.slice(this.keptFrom, this.keptTo)
    this.keptFrom = this.keptTo
  }
}
