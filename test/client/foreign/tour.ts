// A stranger's program that does what the tour of the README does, and says what it saw. Plain Node and Bun run it.
import { createClient, everyItem, RefusedError } from '@hearth-git/hearth'

declare const process: { argv: string[] }
const [, , url = '', token = '', name = ''] = process.argv

const client = createClient(url, { token }).api.v1

const { data: me } = await client.user.get()
if (me === null) throw new Error('nobody is signed in')
const made = await client.user.repos.post({ name, auto_init: true })
if (made.error !== null) throw new RefusedError(made.status, made.error.value)
await client.user.repos.post({ name: `${name}-too` })
const again = await client.user.repos.post({ name })
const repo = client.repos({ owner: me.login })({ repo: name })

const numbers = [1, 2, 3, 4, 5, 6, 7]
for (const number of numbers) await repo.issues.post({ title: `Number ${number}` })
const titles: string[] = []
for await (const issue of everyItem(repo.issues.get, { query: { limit: 3 } })) titles.push(issue.title)

const found: string[] = []
for await (const one of everyItem(client.repos.search.get, { query: { q: name, limit: 1 } })) found.push(one.name)

// A name that is none in an address, with a step that leads away.
const filepath = 'docs/a #1?/%2e%2e.txt'
const written = await repo.contents({ filepath }).post({ content: btoa('12'), message: 'A file' })
const read = await repo.raw({ filepath }).get()
const page = await client.markdown.post({ Text: '# A title' })
const file = await repo.issues({ index: 1 }).assets.post({ attachment: new File(['bytes'], 'a.txt') })
const deleted = await repo.issues({ index: 7 }).delete()
const visitor = await createClient(url).api.v1.user.get()

// Steps that would lead to another path, and a service that is not there, are faults of the program or the network: they throw.
const thrown = (call: () => unknown) =>
  Promise.resolve()
    .then(call)
    .then(String, (error: unknown) => `${error}`)
const steps = await Promise.all(
  ['..', '.', ''].map((owner) => thrown(() => client.repos({ owner })({ repo: name }).get())),
)
const lost = await thrown(() => createClient('http://127.0.0.1:1').api.v1.version.get())

// A service below a path.
const asked: string[] = []
const fetcher = (address: string, init?: RequestInit) => {
  asked.push(address)
  return fetch(address.replace('/forge', ''), init)
}
const below = await createClient(`${url}/forge/`, { fetcher }).api.v1.version.get()

const says = {
  login: me.login,
  conflict: again.error?.status === 409 ? again.error.value.code : again.status,
  titles,
  found,
  written: written.data?.content?.path,
  read: read.data,
  html: page.data,
  file: file.data?.name,
  deleted: [deleted.status, deleted.data],
  steps,
  isLost: /^(TypeError|Error)/.test(lost),
  below: [asked, typeof below.data?.version],
  created: made.data.created_at,
  visitor: visitor.error?.status === 401 ? visitor.error.value.message : visitor.status,
}
console.log(JSON.stringify(says))
