/**
 * A history for `git fast-import`, the same in each run: files that come, change, move, change their mode and go, in folders, with
 * binary ones, links and names that are no ASCII, and a side branch that is merged again after every twenty commits.
 */
export function makeHistory(count: number): string {
  const random = sequence(20_260_101)
  const files = new Map<string, string>()
  const lines: string[] = ['feature done']
  let mark = 0
  const commit = (ref: string, title: string, parents: string, changes: string[]): number => {
    mark += 1
    const zone = ['+0000', '+0530', '-0800'][mark % 3]
    const message = `${title} ${mark}\n\nWith a body: märz ✓\n`
    lines.push(
      `commit ${ref}`,
      `mark :${mark}`,
      `author Ann Äuthor <ann@example.com> ${978_307_200 + mark * 60} ${zone}`,
      `committer Con Committer <con@example.com> ${978_307_200 + mark * 60 + 7} +0100`,
      `data ${Buffer.byteLength(message)}`,
      message + parents,
      ...changes,
      '',
    )
    return mark
  }
  let last = 0
  while (mark < count) {
    const from = last
    for (let step = 0; step < 20 && mark < count; step += 1)
      last = commit(
        'refs/heads/main',
        'Work',
        from === 0 && step === 0 ? '' : `from :${last}`,
        changeSomething(files, random, mark),
      )
    if (from === 0 || mark >= count) continue
    const content = `side of ${mark}\n`
    const side = commit('refs/heads/side', 'Side', `from :${from}`, [put(`sides/${mark}.txt`, content)])
    last = commit('refs/heads/main', 'Merge', `from :${last}\nmerge :${side}`, [put(`sides/${mark - 1}.txt`, content)])
  }
  return `${lines.join('\n')}\ndone\n`
}

const FOLDERS = ['', 'src/', 'src/deep/er/', 'docs/', 'docs/märz/', 'a b/']

function changeSomething(files: Map<string, string>, random: () => number, number: number): string[] {
  const names = [...files.keys()]
  const known = names[Math.floor(random() * names.length)]
  const kind = Math.floor(random() * 10)
  if (known === undefined || kind < 3)
    return add(files, `${FOLDERS[Math.floor(random() * FOLDERS.length)]}file${number}`, number)
  const content = files.get(known) ?? ''
  if (kind === 3) {
    files.delete(known)
    return [`D ${quoted(known)}`]
  }
  if (kind === 4) {
    const moved = `${FOLDERS[Math.floor(random() * FOLDERS.length)]}moved${number}`
    files.delete(known)
    files.set(moved, content)
    return [`R ${quoted(known)} ${quoted(moved)}`]
  }
  if (kind === 5) return [put(known, content, '100755')]
  const rows = content.split('\n')
  rows.splice(Math.floor(random() * rows.length), Math.floor(random() * 3), `line ${number} \t`, 'naïve')
  const changed = rows.join('\n')
  files.set(known, changed)
  return [put(known, changed)]
}

function add(files: Map<string, string>, path: string, number: number): string[] {
  if (number % 29 === 0) return [put(`${path}.link`, '../README', '120000')]
  const content = number % 31 === 0 ? `\0\x01binary ${number}` : `file ${number}\n`.repeat((number % 40) + 1)
  files.set(path, content)
  return [put(path, content)]
}

const put = (path: string, content: string, mode = '100644') =>
  `M ${mode} inline ${quoted(path)}\ndata ${Buffer.byteLength(content)}\n${content}`

const quoted = (path: string) => `"${path}"`

/** A linear congruential generator: numbers from 0 to below 1. */
function sequence(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return state / 2_147_483_648
  }
}
