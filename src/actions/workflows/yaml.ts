import { type Document, isAlias, isMap, isNode, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml'
import { isStorable, type Json } from './json.ts'
import { MAX_YAML_ALIASES, MAX_YAML_DEPTH, MAX_YAML_VALUES } from './limits.ts'
import { describeProblem, MAX_ERRORS, type Position, WorkflowError, type WorkflowProblem } from './problems.ts'

export interface YamlFile {
  /** All aliases replaced by what they stand for. */
  value: Json
  /** Where a value stands, or what holds it. */
  find(path: readonly string[]): Position
}

export type ReadYaml = { file: YamlFile; errors?: undefined } | { file?: undefined; errors: WorkflowProblem[] }

/** Reads YAML 1.2 with limits: 338 bytes of aliases of aliases would be read for 18 seconds otherwise. */
export function readYaml(text: string): ReadYaml {
  const lines = new LineCounter()
  const positionOf = (offset: number): Position => {
    const { line, col } = lines.linePos(offset)
    return { line: Math.max(line, 1), column: Math.max(col, 1) }
  }
  try {
    const nul = text.indexOf('\0')
    if (nul >= 0) throw new WorkflowError(UNSTORABLE, positionOf(nul))
    const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, logLevel: 'error' })
    if (document.errors.length > 0)
      return {
        errors: document.errors
          .slice(0, MAX_ERRORS)
          .map(({ code, message, pos: [start] }) =>
            describeProblem(REASONS[code] ?? `This is not YAML: ${message}.`, positionOf(start)),
          ),
      }
    if (document.directives?.yaml.version !== '1.2') throw new WorkflowError('Only YAML 1.2 can be read.')
    const value = new Reader(document, positionOf).read(document.contents, 0)
    return { file: { value, find: (path) => positionOf(offsetOf(document, path)) } }
  } catch (error) {
    if (error instanceof WorkflowError) return { errors: [describeProblem(error.message, error.at)] }
    throw error
  }
}

const TOO_DEEP = `Lists and mappings are within each other more than ${MAX_YAML_DEPTH} times.`

const UNSTORABLE = 'A text holds a NUL, or half of a character.'

/** For codes of the library whose messages are for programmers. */
const REASONS: Readonly<Record<string, string>> = {
  MULTIPLE_DOCS: 'The file holds more than one document.',
  RESOURCE_EXHAUSTION: TOO_DEEP,
}

class Reader {
  private values = 0
  private aliases = 0
  private readonly document: Document.Parsed
  private readonly positionOf: (offset: number) => Position

  constructor(document: Document.Parsed, positionOf: (offset: number) => Position) {
    this.document = document
    this.positionOf = positionOf
  }

  read(node: Node | null, depth: number): Json {
    this.values += 1
    if (depth > MAX_YAML_DEPTH) throw this.problem(TOO_DEEP, node)
    if (this.values > MAX_YAML_VALUES) throw this.problem(`There are more than ${MAX_YAML_VALUES} values.`, node)
    if (node === null) return null
    if (isAlias(node)) {
      this.aliases += 1
      if (this.aliases > MAX_YAML_ALIASES)
        throw this.problem(`Aliases are used more than ${MAX_YAML_ALIASES} times.`, node)
      return this.read(node.resolve(this.document) ?? null, depth + 1)
    }
    if (isSeq(node)) return node.items.map((item) => this.read(isNode(item) ? item : null, depth + 1))
    if (isMap(node))
      return Object.fromEntries(
        node.items.map(({ key, value }) => [this.key(key, node), this.read(isNode(value) ? value : null, depth + 1)]),
      )
    return this.scalar(node)
  }

  private key(key: unknown, map: Node): string {
    if (!isScalar(key) || typeof key.value === 'object') throw this.problem('A key has to be a text.', map)
    if (key.value === '<<') throw this.problem('Merge keys (<<) cannot be read.', key)
    return this.text(String(key.value), key)
  }

  private scalar(node: Node): Json {
    const value = isScalar(node) ? node.value : undefined
    if (value === null || value === undefined) return null
    if (typeof value === 'string') return this.text(value, node)
    if (typeof value === 'number' || typeof value === 'boolean') return value
    throw this.problem('This kind of value cannot be read.', node)
  }

  private text(text: string, node: Node): string {
    if (!isStorable(text)) throw this.problem(UNSTORABLE, node)
    return text
  }

  private problem(message: string, node: Node | null): WorkflowError {
    const offset = node?.range?.[0]
    return new WorkflowError(message, offset === undefined ? undefined : this.positionOf(offset))
  }
}

/** Of the value at the path. What stands behind an alias is at the alias. */
function offsetOf(document: Document.Parsed, path: readonly string[]): number {
  let found = 0
  let node: unknown = document.contents
  for (const key of path) {
    if (!isMap(node)) return found
    const pair = node.items.find((item) => isScalar(item.key) && String(item.key.value) === key)
    if (!isScalar(pair?.key)) return found
    found = pair.key.range?.[0] ?? found
    node = pair.value
  }
  return found
}
