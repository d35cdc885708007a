import type { OtherServer } from '../mirrors/other-server.ts'

/** What a fake server of the family answers below a repository: rows to cut pages of, or an answer of its own. */
type Content = readonly unknown[] | ((page: number, request: Request) => Response | Promise<Response>)

export interface FakeFamily {
  /** By paths such as `issues`; what is not there is an empty list. */
  content: Record<string, Content>
  /** The repository itself. */
  repository: unknown
  /** Asked for, oldest first: `issues?page=2`. */
  asked: string[]
  /** What `GET /user` answers. */
  user: unknown
}

export const json = (value: unknown, headers: Record<string, string> = {}): Response =>
  new Response(JSON.stringify(value), { headers: { 'content-type': 'application/json', ...headers } })

/** Answers as the API of a server whose Git is `other`. The repository is `them/NAME`. */
export function pretendFamily(other: OtherServer): FakeFamily {
  const fake: FakeFamily = { content: {}, repository: { id: 1 }, asked: [], user: { id: 77 } }
  other.answer = async (request) => {
    const url = new URL(request.url)
    if (!url.pathname.startsWith('/api/v1')) return undefined
    const path = url.pathname.replace(/^\/api\/v1(\/repos\/them\/[^/]+)?\/?/, '')
    const page = Number(url.searchParams.get('page') ?? 1)
    const limit = Number(url.searchParams.get('limit') ?? 1)
    fake.asked.push(path === '' || path === 'user' ? path : `${path}?page=${page}`)
    if (path === '') return json(fake.repository)
    if (path === 'user') return json(fake.user)
    const content = fake.content[path] ?? []
    if (typeof content === 'function') return content(page, request)
    return json(content.slice((page - 1) * limit, page * limit), { 'x-total-count': String(content.length) })
  }
  return fake
}
