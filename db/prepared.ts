import type { Db } from './client.ts'

/**
 * A statement that is built once per database handle and then only run: building the text of a hot statement costs more than
 * running it. `build` ends with `.prepare(name)`.
 */
export function prepared<Statement>(build: (db: Db) => Statement): (db: Db) => Statement {
  const statements = new WeakMap<Db, Statement>()
  return (db) => {
    const known = statements.get(db)
    if (known !== undefined) return known
    const made = build(db)
    statements.set(db, made)
    return made
  }
}
