import type { Sql } from '../../db/client.ts'
import { createListener } from '../../db/listener.ts'
import type { AccessTokenRow } from '../../db/schema/credentials.ts'
import type { UserRow } from '../../db/schema/users.ts'
import type { Clock } from '../kernel/time.ts'
import type { Log } from '../log.ts'

/** A token with all that its recognition read. */
export interface RecognizedToken {
  token: AccessTokenRow
  user: UserRow
  /** Set when the token reaches only these repositories. */
  repositoryIds: readonly number[] | undefined
}

/** Tokens that were looked up a moment ago, so that a client which sends one with every request does not cost a statement each time. */
export interface RecognizedTokens {
  get(hash: string): RecognizedToken | undefined
  /** Reads a token and keeps it, unless something of an account changes meanwhile. */
  read(hash: string, look: () => Promise<RecognizedToken | undefined>): Promise<RecognizedToken | undefined>
  /** Resolves when every change that was committed before the call is known here. */
  settle(): Promise<void>
  start(): void
  stop(): void
}

/** Triggers on accounts and tokens send the account's id to it (see db/migrations). */
const CHANNEL = 'hearth_accounts'

const KEPT_MS = 60_000

/**
 * A process that did not run for so long (stopped, frozen, out of memory) may be handed a request before the messages of that time:
 * nothing that is kept counts until these are heard.
 */
const SLEPT_MS = 750
const TURN_MS = 250

interface Options {
  clock: Clock
  log: Log
  /** How many tokens are kept; 0 keeps none. */
  maxTokens: number
  beatMs?: number
}

interface Entry extends RecognizedToken {
  until: number
}

/**
 * Every commit that changes an account or a token is heard of and drops what is kept of that account. While nothing is
 * heard for certain, nothing is kept.
 */
export function createRecognizedTokens(sql: Sql, { clock, log, maxTokens, beatMs }: Options): RecognizedTokens {
  const entries = new Map<string, Entry>()
  const hashesOf = new Map<number, Set<string>>()
  /** Grows with every message: what was read before one may be older than it. */
  let changes = 0

  const drop = (hash: string) => {
    const userId = entries.get(hash)?.user.id
    entries.delete(hash)
    if (userId === undefined) return
    const hashes = hashesOf.get(userId)
    hashes?.delete(hash)
    if (hashes?.size === 0) hashesOf.delete(userId)
  }
  const listener = createListener(sql, {
    channel: CHANNEL,
    beatMs,
    heard(payload) {
      changes += 1
      for (const hash of [...(hashesOf.get(Number(payload)) ?? [])]) drop(hash)
    },
    deaf(err) {
      changes += 1
      entries.clear()
      hashesOf.clear()
      log.debug({ err }, 'tokens are not kept: changes of accounts cannot be heard of')
    },
  })
  let lastTurn = performance.now()
  let sleeps = 0
  let isAwake = true
  let turns: Timer | undefined
  const turn = () => {
    const hasSlept = performance.now() - lastTurn > SLEPT_MS
    lastTurn = performance.now()
    if (!hasSlept) return
    isAwake = false
    const mine = ++sleeps
    void listener.settle().then(() => {
      // Unless it slept again before the answer was read.
      if (mine === sleeps) isAwake = true
    })
  }
  const keep = (hash: string, found: RecognizedToken) => {
    drop(hash)
    // The oldest come first: a map keeps the order of insertion.
    for (const oldest of entries.keys()) {
      if (entries.size < maxTokens) break
      drop(oldest)
    }
    entries.set(hash, { ...found, until: clock.now().getTime() + KEPT_MS })
    const hashes = hashesOf.get(found.user.id)
    if (hashes) hashes.add(hash)
    else hashesOf.set(found.user.id, new Set([hash]))
  }
  return {
    get(hash) {
      const entry = entries.get(hash)
      if (entry === undefined) return undefined
      turn()
      if (!isAwake) return undefined
      if (entry.until > clock.now().getTime()) return entry
      drop(hash)
      return undefined
    },
    async read(hash, look) {
      const before = changes
      const mayKeep = maxTokens > 0 && listener.isLive
      const found = await look()
      if (found && mayKeep && changes === before && listener.isLive) keep(hash, found)
      return found
    },
    settle: () => listener.settle(),
    start() {
      if (maxTokens === 0) return
      listener.start()
      turns = setInterval(turn, TURN_MS)
    },
    stop() {
      clearInterval(turns)
      listener.stop()
    },
  }
}
