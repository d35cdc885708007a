import { DrizzleQueryError } from 'drizzle-orm'
import postgres from 'postgres'
import { conflict, invalid, notFound, Refusal, tooLarge, unavailable } from '../kernel/errors.ts'
import { ObjectStoreError } from '../object-store/store.ts'

/** The refusal for a failure of the database or the disk, over HTTP and SSH alike. Undefined for a bug. */
export function refusalOfFailure(error: unknown): Refusal | undefined {
  if (error instanceof Refusal) return error
  if (isStorageError(error)) return new Refusal(507, 'the disk of the server takes no more')
  if (error instanceof ObjectStoreError) return unavailable('the storage of files is not available, try again')
  return databaseRefusal(error instanceof DrizzleQueryError ? error.cause : error)
}

/** SQLSTATE classes that a client can cause: the constraint is the rule, so its violation is the client's refusal. */
function databaseRefusal(error: unknown): Refusal | undefined {
  if (isConnectionError(error)) return unavailable('the database cannot be reached, try again')
  if (!(error instanceof postgres.PostgresError)) return undefined
  const { code } = error
  if (code === '23505') return conflict('a thing with this name or content exists already')
  // What a row refers to has gone since the gate saw it: a repository, an account, a label.
  if (code === '23503') return notFound()
  if (code === '23001' || code === '23514' || code === '23502') return invalid('the change breaks a rule of the data')
  if (code === '54000') return tooLarge('a value is too large')
  if (code.startsWith('22')) return invalid('a value has the wrong form')
  if (code === '40001' || code === '40P01' || code === '55P03')
    return unavailable('changed at the same time, try again', 1)
  if (code === '57014') return unavailable('the database took too long, try again')
  if (/^(08|53|57P|25P03)/.test(code)) return unavailable('the database is not available, try again')
  return undefined
}

const CONNECTION_ERRORS = new Set([
  'CONNECTION_CLOSED',
  'CONNECTION_ENDED',
  'CONNECTION_DESTROYED',
  'CONNECT_TIMEOUT',
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'ETIMEDOUT',
])

/** The disk is full, over quota, or mounted read-only after an error. Reading goes on. */
const STORAGE_ERRORS = new Set(['ENOSPC', 'EDQUOT', 'EROFS'])

const isStorageError = (error: unknown): boolean =>
  isObject(error) && typeof error.code === 'string' && STORAGE_ERRORS.has(error.code)

const isConnectionError = (error: unknown): boolean =>
  isObject(error) && typeof error.code === 'string' && CONNECTION_ERRORS.has(error.code)

/** For the log: Drizzle's message repeats the statement with its parameters, which may hold secrets. */
export function withoutParameters(error: unknown): unknown {
  return error instanceof DrizzleQueryError ? { message: error.query, cause: error.cause, stack: error.stack } : error
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null
