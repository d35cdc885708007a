import type { FirstAdministrator } from '../first-admin.ts'
import { systemClock } from '../kernel/time.ts'

export interface Welcome extends FirstAdministrator {
  baseUrl: string
  hasReference: boolean
}

/** What to do next after the first start, and the generated password, which is shown nowhere else. */
export function welcomeText({ username, password, baseUrl, hasReference }: Welcome): string {
  // Without a password curl asks for it. The variable is not set in the terminal where this is pasted.
  const login = password === undefined ? username : `'${username}:${password}'`
  return `
Hearth is ready: ${baseUrl}

  Administrator   ${username}
  Password        ${password === undefined ? 'the one in ADMIN_PASSWORD' : `${password}   (shown only now)`}
${hasReference ? `  API reference   ${baseUrl}/api/swagger\n` : ''}
Create an access token and a repository, and clone it${password === undefined ? '; curl asks for the password' : ''}:

  curl -u ${login} -H 'content-type: application/json' \\
    -d '{"name":"laptop","scopes":["all"]}' ${baseUrl}/api/v1/users/${username}/tokens
  curl -u ${login} -H 'content-type: application/json' \\
    -d '{"name":"hello","auto_init":true}' ${baseUrl}/api/v1/user/repos
  git clone ${baseUrl}/${username}/hello.git

`
}

const INFO = 30

/** The same for machines: one line, like those of the log, whose filter would hide the password. */
export function welcomeLine({ username, password, baseUrl }: Welcome): string {
  const time = systemClock.now().toISOString()
  const line = { level: INFO, time, url: baseUrl, username, password, msg: 'the first administrator is made' }
  return `${JSON.stringify(line)}\n`
}
