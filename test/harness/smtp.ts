import { SMTPServer, type SMTPServerOptions } from 'smtp-server'

/** A mail as it came over the wire, taken apart. */
export interface ReceivedMail {
  from: string
  /** Of the envelope. */
  to: string[]
  /** Unfolded, as they came. */
  headers: string[]
  /** The plain and the HTML form, decoded. */
  text: string
  html: string
  isEncrypted: boolean
  /** Who signed in; undefined when nobody did. */
  user: string | undefined
}

/** A mail server that speaks real SMTP on a port of its own, and keeps what it gets. */
export interface SmtpSink {
  port: number
  mails: ReceivedMail[]
  /** The mails to an address. */
  to(address: string): ReceivedMail[]
  /** Status with which recipients are refused from now on; undefined takes them. */
  refusal: number | undefined
  /** Connections since the start. */
  connections: number
  stop(): Promise<void>
  /** After `stop`: on the same port again. */
  start(): Promise<void>
}

export interface SinkOptions extends Pick<SMTPServerOptions, 'secure' | 'disabledCommands' | 'allowInsecureAuth'> {
  /** Demanded when it is given. */
  login?: { user: string; password: string }
}

export async function startSmtpSink({ login, ...options }: SinkOptions = {}): Promise<SmtpSink> {
  let server: SMTPServer | undefined
  const sink: SmtpSink = {
    port: 0,
    mails: [],
    to: (address) => sink.mails.filter(({ to }) => to.includes(address)),
    refusal: undefined,
    connections: 0,
    async start() {
      server = createServer(sink, { login, ...options })
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      server.once('error', reject)
      const listener = server.listen(sink.port, '127.0.0.1', resolve)
      await promise
      // A client that breaks off is none of the sink's business.
      server.on('error', () => undefined)
      const address = listener.address()
      if (address === null || typeof address === 'string') throw new Error('the sink has no port')
      sink.port = address.port
    },
    async stop() {
      const { promise, resolve } = Promise.withResolvers<void>()
      if (server === undefined) return
      server.close(resolve)
      await promise
      server = undefined
    },
  }
  await sink.start()
  return sink
}

function createServer(sink: SmtpSink, { login, ...options }: SinkOptions): SMTPServer {
  return new SMTPServer({
    ...options,
    // The certificate for tests that the library brings: nobody vouches for it. `false` keeps it from saying so.
    logger: false,
    disableReverseLookup: true,
    closeTimeout: 100,
    authOptional: login === undefined,
    onConnect(_session, done) {
      sink.connections += 1
      done()
    },
    onAuth({ username, password }, _session, done) {
      if (username === login?.user && password === login?.password) done(null, { user: username })
      else done(replyOf(535, `no ${username} with ${password}`))
    },
    onRcptTo(_address, _session, done) {
      done(sink.refusal === undefined ? null : replyOf(sink.refusal, 'this recipient is not taken'))
    },
    onData(stream, session, done) {
      const chunks: Uint8Array[] = []
      stream.on('data', (chunk: Uint8Array) => chunks.push(chunk))
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope
        sink.mails.push({
          ...parseMail(Buffer.concat(chunks).toString('latin1')),
          from: mailFrom ? mailFrom.address : '',
          to: rcptTo.map(({ address }) => address),
          isEncrypted: session.secure,
          user: typeof session.user === 'string' ? session.user : undefined,
        })
        done()
      })
    },
  })
}

const replyOf = (responseCode: number, text: string) => Object.assign(new Error(text), { responseCode })

/** RFC 5322 and 2046, as far as these mails need it: header fields, and the two parts of an alternative. */
function parseMail(source: string): Pick<ReceivedMail, 'headers' | 'text' | 'html'> {
  const { headers, body } = splitPart(source)
  const boundary = /boundary="([^"]+)"/.exec(headers.join('\n'))?.[1]
  const parts = boundary === undefined ? [source] : body.split(`--${boundary}`).slice(1, -1)
  const decoded = parts.map((part) => splitPart(part.replace(/^\r\n|\r\n$/g, '')))
  const find = (type: string) => decoded.find((part) => part.headers.some((header) => header.includes(type)))
  return { headers, text: decodeBody(find('text/plain')), html: decodeBody(find('text/html')) }
}

interface Part {
  headers: string[]
  body: string
}

function splitPart(source: string): Part {
  const end = source.indexOf('\r\n\r\n')
  const headers = source
    .slice(0, end)
    .replace(/\r\n[ \t]+/g, ' ')
    .split('\r\n')
  return { headers, body: source.slice(end + 4) }
}

function decodeBody(part: Part | undefined): string {
  if (part === undefined) return ''
  const encoding = /content-transfer-encoding: (\S+)/i.exec(part.headers.join('\n'))?.[1] ?? '7bit'
  if (encoding === 'base64') return Buffer.from(part.body, 'base64').toString('utf8')
  const bytes = encoding === 'quoted-printable' ? decodeQuoted(part.body) : part.body
  return Buffer.from(bytes, 'latin1').toString('utf8').replaceAll('\r\n', '\n')
}

const decodeQuoted = (text: string): string =>
  text
    .replace(/=\r\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_, digits: string) => String.fromCharCode(parseInt(digits, 16)))
