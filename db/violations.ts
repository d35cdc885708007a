import { DrizzleQueryError } from 'drizzle-orm'
import postgres from 'postgres'

/**
 * The name of the constraint or unique index that a failed statement broke; undefined for any other failure. Uniqueness is an
 * index and a caught conflict, never a select before the insert.
 */
export function violatedConstraint(error: unknown): string | undefined {
  const cause = error instanceof DrizzleQueryError ? error.cause : error
  if (!(cause instanceof postgres.PostgresError) || !cause.code.startsWith('23')) return undefined
  return cause.constraint_name
}
