import { addSource, type SourceOption } from '../../src/features/auth-sources/sources.ts'
import { createVisitor, type PageAnswer, type Visitor } from '../harness/browser.ts'
import type { TestProvider } from '../harness/openid-provider.ts'
import type { TestService } from '../harness/service.ts'

/** Lets the service sign people in by the provider. */
export const addTestSource = (
  { context }: TestService,
  { issuer, clientId, secret }: Pick<TestProvider, 'issuer' | 'clientId' | 'secret'>,
  { name = 'corp', ...option }: Partial<SourceOption> & { name?: string } = {},
) =>
  addSource(
    context,
    {
      name,
      label: 'Corp <ID>',
      scopes: ['openid', 'profile', 'email'],
      issuer,
      clientId,
      secret,
      isTried: true,
      ...option,
    },
    'command line',
  )

/** Asks the service, then the provider. @returns where the provider sends the browser back to */
export async function leave(visitor: Visitor, { name = 'corp', query = '' } = {}): Promise<string> {
  const begun = await visitor.get(`/user/oauth2/${name}${query}`)
  if (begun.status !== 303) throw new Error(`the sign-in is answered with ${begun.status}: ${begun.text}`)
  const there = await fetch(begun.location, { redirect: 'manual' })
  return there.headers.get('location') ?? ''
}

/** The whole way there and back. */
export const comeBy = async (visitor: Visitor, option: { name?: string; query?: string } = {}): Promise<PageAnswer> =>
  visitor.get(await leave(visitor, option))

/** The account of a browser; the status where there is none. */
export async function whoIs(visitor: Visitor): Promise<string | number> {
  const answer = await visitor.get('/api/v1/user')
  return answer.status === 200 ? String(JSON.parse(answer.text).login) : answer.status
}

export const newVisitor = ({ url }: TestService): Visitor => createVisitor(url)
