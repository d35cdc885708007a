import { connect } from '../../db/connect.ts'
import { type Counted, type Load, type Measured, measure } from './load.ts'
import type { Stage } from './stage.ts'

const SIGN_INS_AT_ONCE = 64
const ACCOUNTS = 1500
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

/** People who share the administrator's password, so that each sign-in costs a hash and none is remembered. */
export async function fillSigners(databaseUrl: string): Promise<void> {
  const sql = connect(databaseUrl, { max: 1, onnotice: () => undefined })
  try {
    await sql`insert into users (name, email, password_hash)
      select 'signer' || n, 'signer' || n || '@localhost.localdomain', (select password_hash from users where name = 'root')
      from generate_series(1, ${ACCOUNTS}::int) n on conflict do nothing`
  } finally {
    await sql.end()
  }
}

/** How requests by token fare while 64 clients sign in with passwords, one after another without a pause. */
export async function measureBesideSignIns(
  stage: Stage,
  counted: Counted,
): Promise<[alone: Measured, beside: Measured]> {
  const load = (name: string): Load => ({
    name,
    requests: 2000,
    connections: 2,
    pauseMs: PAUSE_MS,
    send: () => stage.api('/user'),
  })
  const alone = await measure(load('user by token, 200/s'), counted)
  const crowd = startCrowd(stage)
  const beside = await measure(load('the same beside 64 sign-ins'), counted)
  const signIns = await crowd.stop()
  if (signIns < SIGN_INS_AT_ONCE) throw new Error(`only ${signIns} signed in meanwhile`)
  return [alone, beside]
}

function startCrowd({ url, password }: Stage) {
  let isOver = false
  let signIns = 0
  const worker = async () => {
    while (!isOver) {
      signIns += 1
      const name = `signer${1 + (signIns % ACCOUNTS)}`
      const headers = { authorization: `Basic ${btoa(`${name}:${password}`)}` }
      const response = await fetch(`${url}/api/v1/user`, { headers })
      if (!response.ok) throw new Error(`sign-in: ${response.status} ${await response.text()}`)
      await response.text()
    }
  }
  const done = Promise.all(Array.from({ length: SIGN_INS_AT_ONCE }, worker))
  return {
    async stop() {
      isOver = true
      await done
      return signIns
    },
  }
}
