// A program that uses the typed client, as a stranger would write it. It is compiled, not run: each expected error below
// is itself an error when it stops being one (see consumer.test.ts).
import { type App, createClient } from 'hearth'

const client = createClient('http://localhost:3000', { token: 'secret' })
const { version, user, users } = client.api.v1

export async function use(): Promise<string[]> {
  const answer = await version.get()
  const text: string | undefined = answer.data?.version
  const caller = await user.get()
  const login: string | undefined = caller.data?.login
  const other = await users({ username: 'ann' }).get()
  const id: number | undefined = other.data?.id

  const issues = client.api.v1.repos({ owner: 'ann' })({ repo: 'tools' }).issues
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

/** The application's type is exported too, for programs that build clients of their own. */
export type Routes = App['~Routes']
