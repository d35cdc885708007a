// The floor that clones are compared with: Bun.serve alone, which asks Hearth (the address in the first word) once and then
// answers the same from its own files.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const folder = mkdtempSync(join(tmpdir(), 'hearth-bare-git-'))
process.on('SIGTERM', () => {
  rmSync(folder, { recursive: true, force: true })
  process.exit(0)
})

const upstream = new URL(process.argv[2] ?? '')
const authorization = `Basic ${btoa(`${upstream.username}:${upstream.password}`)}`
const known = new Map<string, { type: string; path: string }>()

const server = Bun.serve({
  port: 0,
  async fetch(request) {
    const { pathname, search } = new URL(request.url)
    const asked = await request.text()
    const key = `${pathname}${search} ${asked}`
    const answer = known.get(key) ?? (await ask(request, `${pathname}${search}`, asked))
    known.set(key, answer)
    return new Response(Bun.file(answer.path), { headers: { 'content-type': answer.type } })
  },
})

async function ask({ method, headers }: Request, target: string, body: string) {
  const response = await fetch(new URL(target, upstream.origin), {
    method,
    headers: {
      authorization,
      'git-protocol': headers.get('git-protocol') ?? '',
      'content-type': headers.get('content-type') ?? '',
    },
    ...(method === 'POST' && { body }),
  })
  if (!response.ok) throw new Error(`${target}: ${response.status}`)
  const path = join(folder, String(known.size))
  await Bun.write(path, await response.arrayBuffer())
  return { type: response.headers.get('content-type') ?? '', path }
}

process.stdout.write(`${server.url.origin}\n`)
