import { createHash } from 'node:crypto'
import type { RunnerTask } from './runner.ts'

const SERVICE = '/twirp/github.actions.results.api.v1.ArtifactService'

/** What a protocol's answer says, and its status. */
export interface ProtocolAnswer {
  status: number
  body: Record<string, unknown>
}

export type ArtifactClient = ReturnType<typeof artifactClient>

export const runtimeTokenOf = ({ body }: RunnerTask): string => String(body.context.gitea_runtime_token)

/** Speaks for a job as @actions/artifact does: run and job are read from the token. */
export function artifactClient(url: string, token: string) {
  const [, claims = ''] = token.split('.')
  const { scp } = JSON.parse(Buffer.from(claims, 'base64url').toString())
  const [, run = '', job = ''] = /^Actions\.Results:(\d+):(\d+)$/.exec(scp) ?? []
  const ids = { workflow_run_backend_id: run, workflow_job_run_backend_id: job }

  async function call(method: string, message: object = {}): Promise<ProtocolAnswer> {
    const response = await fetch(`${url}${SERVICE}/${method}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify({ ...ids, ...message }),
    })
    return { status: response.status, body: Object(await response.json()) }
  }

  const put = async (address: string, more: string, body: string | Uint8Array<ArrayBuffer>) =>
    (await fetch(`${address}&${more}`, { method: 'PUT', body })).status

  const client = {
    call,
    ids,
    /** Begins an artifact; where its bytes go. */
    async create(name: string, more: object = {}): Promise<string> {
      const made = await call('CreateArtifact', { name, version: 4, ...more })
      if (made.status !== 200) throw new Error(`CreateArtifact: ${made.status} ${made.body.msg}`)
      return String(made.body.signed_upload_url)
    },
    stage: (address: string, id: string, content: string | Uint8Array<ArrayBuffer>) =>
      put(address, `comp=block&blockid=${encodeURIComponent(btoa(id))}`, content),
    commit: (address: string, ids: readonly string[]) =>
      put(address, 'comp=blocklist', blockList(ids.map((id) => btoa(id)))),
    finalize: (name: string, content: string) =>
      call('FinalizeArtifact', { name, size: String(Buffer.byteLength(content)), hash: `sha256:${digest(content)}` }),
    /** All of it; the id. */
    async upload(name: string, content: string, more: object = {}): Promise<number> {
      const address = await client.create(name, more)
      const [first, second] = [content.slice(0, 3), content.slice(3)]
      const staged = await Promise.all([client.stage(address, 'b', second), client.stage(address, 'a', first)])
      const statuses = [...staged, await client.commit(address, ['a', 'b'])]
      const { status, body } = await client.finalize(name, content)
      if ([...statuses, status].join() !== '201,201,201,200')
        throw new Error(`upload: ${statuses} ${status} ${body.msg}`)
      return Number(body.artifact_id)
    },
    async names(filter: object = {}): Promise<string[]> {
      const { body } = await call('ListArtifacts', filter)
      return (body.artifacts as { name: string }[]).map(({ name }) => name)
    },
    async address(name: string): Promise<string> {
      return String((await call('GetSignedArtifactURL', { name })).body.signed_url)
    },
    download: async (name: string): Promise<string> => (await fetch(await client.address(name))).text(),
  }
  return client
}

export const blockList = (ids: readonly string[]): string =>
  `<?xml version="1.0" encoding="UTF-8" standalone="yes"?><BlockList>${ids.map((id) => `<Latest>${id}</Latest>`).join('')}</BlockList>`

export const digest = (content: string): string => createHash('sha256').update(content).digest('hex')
