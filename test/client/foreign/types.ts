// What a stranger's program may and may not say. It is compiled, not run: each expected error below is itself an error when it stops
// being one.
import { type Client, createClient, everyItem, type HookPayloads, type Issue } from '@hearth-git/hearth'

const client: Client = createClient('http://localhost:3000', { token: 'secret' })
const { version, user, users, repos } = client.api.v1

export async function answers(): Promise<string[]> {
  const answer = await version.get()
  const text: string | undefined = answer.data?.version
  const caller = await user.get()
  const login: string | undefined = caller.data?.login
  const other = await users({ username: 'ann' }).get()
  const id: number | undefined = other.data?.id

  const issues = repos({ owner: 'ann' })({ repo: 'tools' }).issues
  const made = await issues.post({ title: 'A title', body: 'A text' })
  const state: 'open' | 'closed' | undefined = made.data?.state
  // @ts-expect-error: a field that the body does not have
  await issues.post({ title: 'A title', colour: 'red' })
  // @ts-expect-error: a field of another type in the body
  await issues.post({ title: 1 })
  // @ts-expect-error: a body without a field that it needs
  await issues.post({ body: 'A text' })
  // @ts-expect-error: a field that the answer does not have
  const wrongField = caller.data?.password
  // @ts-expect-error: a field of another type
  const wrongType: number | undefined = caller.data?.login
  // @ts-expect-error: a path that does not exist
  const wrongPath = client.api.v1.nothing
  // @ts-expect-error: a method that the path does not have
  const wrongMethod = version.post
  // @ts-expect-error: a parameter under another name
  const wrongParameter = users({ name: 'ann' })

  return [text, login, id, state, wrongField, wrongType, wrongPath, wrongMethod, wrongParameter].map(String)
}

export async function queries(): Promise<void> {
  const issues = repos({ owner: 'ann' })({ repo: 'tools' }).issues
  await issues.get({ query: { limit: 3, labels: ['bug', 'help'], since: '2026-01-01T00:00:00Z' } })
  // @ts-expect-error: a parameter of another type
  await issues.get({ query: { limit: '3' } })
  // @ts-expect-error: a parameter that the list does not have
  await issues.get({ query: { colour: 'red' } })
  for await (const issue of everyItem(issues.get, { query: { state: 'open' } })) {
    const one: Issue = issue
    // @ts-expect-error: a field that issues do not have
    const wrong = one.colour
    String(wrong)
  }
  // A list that stands inside an answer.
  for await (const repo of everyItem(repos.search.get, { query: { q: 'tools', sort: 'stars' } })) {
    const name: string = repo.full_name
    String(name)
  }
}

export async function refusals(): Promise<string> {
  const { data, error } = await user.repos.post({ name: 'tools' })
  if (error === null) return data.full_name
  switch (error.status) {
    case 409:
      return `${error.value.message} ${error.value.url} ${error.value.code} ${error.value.request_id}`
    case 422:
      return (error.value.errors ?? []).map((one) => (typeof one === 'string' ? one : one.field)).join()
    // @ts-expect-error: a status that the operation does not have
    case 418:
      return ''
    default: {
      // @ts-expect-error: a code that there is not
      if (error.value.code === 'teapot') return ''
      // @ts-expect-error: what is no refusal of ours
      const wrong = error.value.type === 'validation' ? error.value.expected : ''
      return String(wrong)
    }
  }
}

export async function texts(): Promise<number | undefined> {
  const html = await client.api.v1.markdown.post({ Text: '# A title' })
  const text: string | null = html.data
  const raw = await repos({ owner: 'ann' })({ repo: 'tools' }).raw({ filepath: 'a/b.txt' }).get()
  const bytes: ArrayBuffer | string | null = raw.data
  return text?.length ?? (typeof bytes === 'string' ? bytes.length : bytes?.byteLength)
}

/** What a receiver of webhooks writes. */
export function received<Event extends keyof HookPayloads>(event: Event, payload: HookPayloads[Event]): string {
  // @ts-expect-error: an event that there is not
  received('garden', payload)
  return `${event} of ${payload.sender.login}`
}

export const pushed = ({ commits, ref }: HookPayloads['push']): string => `${ref}: ${commits[0]?.message}`
