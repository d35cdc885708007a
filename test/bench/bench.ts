// `bun run bench [webhooks|oauth|repository|files] [options]`: see README.md.
const HELP = `Usage: bun run bench [webhooks|oauth|repository|files] [options]

Measures the compiled program, with a PostgreSQL of its own, and prints the figures. It takes minutes, and needs a quiet machine.

  (no word)    Requests beside the same statements without Hearth; clones beside plain git.
                 --repositories N   in the database; 10000
                 --git MiB          of the cloned repository; 20, and 0 leaves Git out
                 --scale FACTOR     of the number of requests; 1
  webhooks     How soon and how fast receivers are told. --events N (300), --fan-out N (500)
  oauth        What it costs to sign people in to other programs. --scale FACTOR (1)
  repository   Reading and forking repositories. --fork MiB (200), --history MiB (20), --scale FACTOR (1)
  files        A large file of a release, in and out. --files MiB (1024)

test/bench/README.md says how it is done, and what was measured.
`

const [word] = process.argv.slice(2)
switch (word) {
  case '--help':
  case '-h':
    process.stdout.write(HELP)
    break
  case 'webhooks':
    await import('./webhooks.ts')
    break
  case 'oauth':
    await import('./oauth.ts')
    break
  case 'files':
    await import('./files.ts')
    break
  case 'repository':
    await import('./repository.ts')
    break
  default:
    if (word === undefined || word.startsWith('--')) await import('./run.ts')
    else {
      process.stderr.write(`There is nothing called "${word}" to measure.\n\n${HELP}`)
      process.exitCode = 64
    }
}

export {}
