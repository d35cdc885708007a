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

  return [text, login, id, wrongField, wrongType, wrongPath, wrongMethod, wrongParameter].map(String)
}

/** The application's type is exported too, for programs that build clients of their own. */
export type Routes = App['~Routes']
