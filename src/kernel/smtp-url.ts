/** A mail server as its address in the settings names it. */
export interface SmtpServer {
  host: string
  port: number
  /** TLS from the first byte (`smtps://`, RFC 8314); otherwise by STARTTLS (RFC 3207) where the server offers it. */
  isSecure: boolean
  user: string
  password: string
  /** Whether the way to it leaves this machine. */
  isRemote: boolean
}

const LOOPBACK = /^(localhost|127(\.\d+){3}|::1)$/

/** Reads `smtp://user:password@host:587` or `smtps://...`; undefined for what is none, or says more than that. */
export function parseSmtpUrl(text: string): SmtpServer | undefined {
  if (!URL.canParse(text)) return undefined
  const { protocol, hostname, port, username, password, pathname, search, hash } = new URL(text)
  const isSecure = protocol === 'smtps:'
  const host = hostname.replace(/^\[(.*)\]$/, '$1')
  const [user, secret] = [decoded(username), decoded(password)]
  if (!isSecure && protocol !== 'smtp:') return undefined
  if (host === '' || port === '0' || !['', '/'].includes(pathname) || search !== '' || hash !== '') return undefined
  if (user === undefined || secret === undefined || (user === '') !== (secret === '')) return undefined
  const usual = isSecure ? 465 : 587
  return {
    host,
    port: port === '' ? usual : Number(port),
    isSecure,
    user,
    password: secret,
    isRemote: !LOOPBACK.test(host),
  }
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
