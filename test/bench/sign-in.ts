import { connect } from '../../db/connect.ts'
import { type Counted, type Load, type Measured, measureRound, type Round, summarize } from './load.ts'
import type { CrowdMessage } from './sign-in-crowd.ts'
import type { Stage } from './stage.ts'

const SIGN_INS_AT_ONCE = 64
const TURNS = 6
const ACCOUNTS = 10_000
/** So that there is processor to spare: else the waiting times would only say how many requests were sent. */
const PAUSE_MS = 10

/** What a credential adds to a request that a visitor may make too. */
export function credentialLoads({ api, url, password }: Stage): Omit<Load, 'requests' | 'connections'>[] {
  const basic = { headers: { authorization: `Basic ${btoa(`root:${password}`)}` } }
  const path = '/repos/root/bench'
  return [
    { name: 'get repository, by a visitor', send: () => fetch(`${url}/api/v1${path}`) },
    { name: 'get repository, by token', send: () => api(path) },
    { name: 'get repository, by password', send: () => fetch(`${url}/api/v1${path}`, basic) },
  ]
}

/**
 * People who share the administrator's password, so that each sign-in costs a hash and none is remembered. They come from where they
 * came from before.
 */
export async function fillSigners(databaseUrl: string): Promise<void> {
  const sql = connect(databaseUrl, { max: 1, onnotice: () => undefined })
  try {
    await sql`insert into users (name, email, password_hash)
      select 'signer' || n, 'signer' || n || '@localhost.localdomain', (select password_hash from users where name = 'root')
      from generate_series(1, ${ACCOUNTS}::int) n on conflict do nothing`
    await sql`insert into sign_in_addresses (user_id, network, last_seen_at)
      select id, '127.0.0.1', now() from users where name like 'signer%' on conflict do nothing`
  } finally {
    await sql.end()
  }
}

/**
 * How requests by token fare alone, and while 64 clients sign in with passwords, by turns: a machine that others use as well is not
 * equally quick all the time.
 */
export async function measureBesideSignIns(
  stage: Stage,
  counted: Counted,
): Promise<[alone: Measured, beside: Measured]> {
  const load: Load = {
    name: 'user by token, 200/s',
    requests: 500,
    connections: 2,
    pauseMs: PAUSE_MS,
    send: () => stage.api('/user'),
  }
  const crowd = startCrowd(stage)
  const [alone, beside]: [Round[], Round[]] = [[], []]
  for (let turn = 0; turn < TURNS; turn++) {
    alone.push(await measureRound(load, counted))
    crowd.begin()
    beside.push(await measureRound(load, counted))
    await crowd.end()
  }
  const signIns = crowd.leave()
  if (signIns < SIGN_INS_AT_ONCE * TURNS) throw new Error(`only ${signIns} signed in meanwhile`)
  return [summarize(load.name, alone, counted), summarize('the same beside 64 sign-ins', beside, counted)]
}

/** In a thread of their own: what these clients do shall not be counted as waiting for the server. */
function startCrowd({ url, password }: Stage) {
  const thread = new Worker(new URL('./sign-in-crowd.ts', import.meta.url).href)
  const tell = (message: CrowdMessage) => thread.postMessage(message)
  let signIns = 0
  let failed: (error: Error) => void = () => undefined
  thread.onerror = ({ message }) => failed(new Error(message))
  return {
    begin: () => tell({ url, password, size: SIGN_INS_AT_ONCE, from: signIns + 1 }),
    async end() {
      const { promise, resolve, reject } = Promise.withResolvers<number>()
      failed = reject
      thread.onmessage = ({ data }: MessageEvent<number>) => resolve(data)
      tell(undefined)
      signIns += await promise
    },
    leave() {
      thread.terminate()
      return signIns
    },
  }
}
