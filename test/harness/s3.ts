import { createHash, createHmac } from 'node:crypto'

/** What a bucket has, and what is on its way into it. */
export interface S3Server {
  url: string
  /** Settings for a service that uses it. */
  settings: Record<string, string>
  objects: Map<string, Uint8Array>
  /** Uploads in parts that were neither completed nor aborted. */
  openUploads(): number
  /** All requests so far: method and path. */
  requests: string[]
  /** What every request is answered from now on; undefined: what is right. */
  failWith: Response | undefined
  stop(): Promise<void>
}

const BUCKET = 'hearth-test'
const KEY_ID = 'key-of-the-test'
const SECRET = 'secret-of-the-test'
/** Objects on a page of a list, so that few make several pages. */
const PAGE = 2

/**
 * A server of the S3 protocol with one bucket in memory: objects, ranges, uploads in parts and lists (version 2). It refuses what is
 * not signed as the protocol says (AWS Signature Version 4). Servers to install were tried: s3rver 3.7.1 compares no signatures and
 * cannot page under Bun, its fork 5.0.0 computes those of lists wrongly.
 */
export function startS3(): S3Server {
  const objects = new Map<string, Uint8Array>()
  const times = new Map<string, string>()
  const uploads = new Map<string, Map<number, Uint8Array>>()
  const state = { failWith: undefined as Response | undefined, requests: [] as string[] }

  const store = (key: string, content: Uint8Array) => {
    objects.set(key, content)
    times.set(key, new Date().toISOString())
    return new Response(null, { headers: { etag: etagOf(content) } })
  }

  const upload = async (request: Request, key: string, query: URLSearchParams) => {
    const id = query.get('uploadId')
    if (id === null) {
      const opened = crypto.randomUUID()
      uploads.set(opened, new Map())
      return xml(`<InitiateMultipartUploadResult><Bucket>${BUCKET}</Bucket><Key>${key}</Key>
        <UploadId>${opened}</UploadId></InitiateMultipartUploadResult>`)
    }
    const parts = uploads.get(id)
    if (!parts) return refuse(404, 'NoSuchUpload')
    if (request.method === 'DELETE') {
      uploads.delete(id)
      return new Response(null, { status: 204 })
    }
    if (request.method === 'PUT') {
      const content = await request.bytes()
      parts.set(Number(query.get('partNumber')), content)
      return new Response(null, { headers: { etag: etagOf(content) } })
    }
    const named = [...(await request.text()).matchAll(/<PartNumber>(\d+)<\/PartNumber>/g)].map(([, n]) => Number(n))
    const whole = Buffer.concat(named.map((number) => parts.get(number) ?? new Uint8Array()))
    uploads.delete(id)
    store(key, whole)
    return xml(`<CompleteMultipartUploadResult><ETag>${etagOf(whole)}</ETag></CompleteMultipartUploadResult>`)
  }

  const list = (query: URLSearchParams) => {
    const from = query.get('continuation-token') ?? ''
    const keys = [...objects.keys()].filter((key) => key.startsWith(query.get('prefix') ?? '') && key > from).sort()
    const shown = keys.slice(0, PAGE)
    const contents = shown.map(
      (key) => `<Contents><Key>${key}</Key><LastModified>${times.get(key)}</LastModified><ETag>"x"</ETag>
        <Size>${objects.get(key)?.length}</Size><StorageClass>STANDARD</StorageClass></Contents>`,
    )
    const isCut = keys.length > PAGE
    const next = isCut ? `<NextContinuationToken>${shown.at(-1)}</NextContinuationToken>` : ''
    return xml(`<ListBucketResult><Name>${BUCKET}</Name><KeyCount>${shown.length}</KeyCount><MaxKeys>${PAGE}</MaxKeys>
      <IsTruncated>${isCut}</IsTruncated>${next}${contents.join('')}</ListBucketResult>`)
  }

  const answer = async (request: Request): Promise<Response> => {
    const { pathname, searchParams: query } = new URL(request.url)
    state.requests.push(`${request.method} ${pathname}`)
    if (state.failWith) return state.failWith.clone()
    if (!isSigned(request)) return refuse(403, 'SignatureDoesNotMatch')
    const [, bucket, ...rest] = pathname.split('/')
    const key = decodeURIComponent(rest.join('/'))
    if (bucket !== BUCKET) return refuse(404, 'NoSuchBucket')
    if (key === '') return list(query)
    if (query.has('uploads') || query.has('uploadId')) return upload(request, key, query)
    if (request.method === 'PUT') return store(key, await request.bytes())
    if (request.method === 'DELETE') {
      objects.delete(key)
      return new Response(null, { status: 204 })
    }
    const content = objects.get(key)
    return content === undefined ? refuse(404, 'NoSuchKey') : send(request, content)
  }

  const server = Bun.serve({ hostname: '127.0.0.1', port: 0, maxRequestBodySize: 2 ** 31, fetch: answer })
  const url = `http://127.0.0.1:${server.port}`
  return Object.assign(state, {
    url,
    settings: {
      OBJECT_STORAGE: 's3',
      S3_ENDPOINT: url,
      S3_BUCKET: BUCKET,
      S3_ACCESS_KEY_ID: KEY_ID,
      S3_SECRET_ACCESS_KEY: SECRET,
      S3_PREFIX: 'hearth/files',
    },
    objects,
    openUploads: () => uploads.size,
    stop: () => server.stop(true),
  })
}

function send(request: Request, content: Uint8Array): Response {
  const [, from, to] = /^bytes=(\d+)-(\d*)$/.exec(request.headers.get('range') ?? '') ?? []
  const head = { etag: etagOf(content), 'last-modified': new Date().toUTCString() }
  if (from === undefined) return new Response(new Uint8Array(content), { headers: head })
  const part = content.slice(Number(from), to === '' ? undefined : Number(to) + 1)
  return new Response(part, { status: 206, headers: head })
}

const etagOf = (content: Uint8Array): string => `"${createHash('md5').update(content).digest('hex')}"`

const xml = (text: string) =>
  new Response(`<?xml version="1.0" encoding="UTF-8"?>${text}`, { headers: { 'content-type': 'application/xml' } })

const refuse = (status: number, code: string) =>
  new Response(`<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>refused</Message></Error>`, {
    status,
    headers: { 'content-type': 'application/xml' },
  })

/** AWS Signature Version 4, in the header. */
function isSigned(request: Request): boolean {
  const { headers } = request
  const [, scope = '', names = '', signature] =
    /^AWS4-HMAC-SHA256 Credential=[^/]+\/([^,]+), ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]+)$/.exec(
      headers.get('authorization') ?? '',
    ) ?? []
  const { pathname, search } = new URL(request.url)
  const query = search
    .slice(1)
    .split('&')
    .map((pair) => (pair === '' || pair.includes('=') ? pair : `${pair}=`))
    .sort()
    .join('&')
  const signed = names.split(';').map((name) => `${name}:${headers.get(name)}\n`)
  const payload = headers.get('x-amz-content-sha256')
  const canonical = [request.method, pathname, query, signed.join(''), names, payload].join('\n')
  const text = ['AWS4-HMAC-SHA256', headers.get('x-amz-date'), scope, sha256(canonical)].join('\n')
  const key = scope
    .split('/')
    .reduce((above: string | Buffer, part) => createHmac('sha256', above).update(part).digest(), `AWS4${SECRET}`)
  return createHmac('sha256', key).update(text).digest('hex') === signature
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
