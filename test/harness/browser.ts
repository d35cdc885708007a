/** A browser without a screen: keeps cookies, follows nothing, and says where its requests come from. */
export interface Visitor {
  get(path: string, headers?: Record<string, string>): Promise<PageAnswer>
  /** Sends a form as a page of the service would; `headers` say otherwise. */
  post(path: string, fields?: Record<string, string>, headers?: Record<string, string | undefined>): Promise<PageAnswer>
  /** The value of a cookie, by its name. */
  cookie(name: string): string | undefined
  cookies: Map<string, string>
  /** Signs in, with a password and, where it is asked for, a code. @throws unless that leads on */
  signIn(user: { name: string; password: string }, code?: string): Promise<void>
}

export interface PageAnswer {
  status: number
  /** Where it leads; empty where it does not. */
  location: string
  headers: Headers
  text: string
}

const FROM_HERE = { 'sec-fetch-site': 'same-origin' }

export function createVisitor(url: string): Visitor {
  const cookies = new Map<string, string>()
  const send = async (path: string, init: RequestInit): Promise<PageAnswer> => {
    const headers = new Headers(init.headers)
    if (!headers.has('user-agent')) headers.set('user-agent', 'Mozilla/5.0 (a test)')
    if (cookies.size > 0) headers.set('cookie', [...cookies].map(([name, value]) => `${name}=${value}`).join('; '))
    const answer = await fetch(new URL(path, url), { ...init, headers, redirect: 'manual' })
    for (const line of answer.headers.getSetCookie()) keep(cookies, line)
    return {
      status: answer.status,
      location: answer.headers.get('location') ?? '',
      headers: answer.headers,
      text: await answer.text(),
    }
  }
  const visitor: Visitor = {
    cookies,
    cookie: (name) => cookies.get(name),
    get: (path, headers = {}) => send(path, { headers }),
    post(path, fields = {}, headers = FROM_HERE) {
      const given = Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined)
      // The forms of the service have a field at least; without one there is no body, and no word of its kind.
      const body = new URLSearchParams({ button: '', ...fields })
      return send(path, { method: 'POST', headers: Object.fromEntries(given), body })
    },
    async signIn({ name, password }, code) {
      const answer = await visitor.post('/user/login', { user_name: name, password })
      if (answer.status !== 303) throw new Error(`signing in is answered with ${answer.status}: ${answer.text}`)
      if (code === undefined) return
      const second = await visitor.post('/user/two_factor', { passcode: code })
      if (second.status !== 303 || second.location !== '/')
        throw new Error(`the code is answered with ${second.status}`)
    },
  }
  return visitor
}

function keep(cookies: Map<string, string>, line: string): void {
  const [pair = '', ...attributes] = line.split(';').map((part) => part.trim())
  const [name = '', value = ''] = pair.split('=')
  if (attributes.includes('Max-Age=0')) cookies.delete(name)
  else cookies.set(name, value)
}

/** The token of the forms on a page. */
export function formTokenIn({ text }: PageAnswer): string {
  const [, token] = /name="_csrf" value="([^"]+)"/.exec(text) ?? []
  if (token === undefined) throw new Error('the page has no form token')
  return token
}
