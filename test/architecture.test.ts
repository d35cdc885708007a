import { expect, test } from 'bun:test'
import { dirname, join, relative, resolve } from 'node:path'

const root = resolve(import.meta.dir, '..')

/** Folders of src that each folder may import from, besides itself. `db` is the tables, `context` holds types only. */
const ground = ['kernel', 'threads']
const below = [...ground, 'db', 'context', 'config', 'log', 'version']
const shared = [...below, 'object-store', 'auth', 'access', 'git', 'wire', 'templates', 'content']
const services = [...shared, 'outbound', 'audit', 'signatures', 'http', 'render', 'mail', 'jobs', 'events']
const entrances = [...services, 'features']
const layers: Readonly<Record<string, readonly string[]>> = {
  kernel: [],
  threads: ['kernel'],
  db: ground,
  config: ground,
  log: ['config'],
  version: [],
  postgres: [...ground, 'config', 'db'],
  'object-store': [...ground, 'config', 'log'],
  storage: ['kernel', 'config', 'postgres'],
  // Types only: what everything else is handed.
  context: [
    'db',
    'config',
    'log',
    'auth',
    'git',
    'jobs',
    'object-store',
    'templates',
    'kernel',
    'http',
    'mail',
    'outbound',
    'render',
    'signatures',
    'actions',
  ],
  auth: below,
  access: [...below, 'auth'],
  git: ground,
  signatures: [...below, 'auth', 'access', 'wire'],
  audit: [...below, 'auth', 'access', 'http'],
  'secret-key': [...below, 'config', 'auth', 'audit', 'jobs'],
  wire: ['kernel', 'db', 'access'],
  templates: ground,
  content: ['kernel', 'templates'],
  // Its rate limit has a periodic task.
  http: [...shared, 'jobs'],
  outbound: ground,
  render: ground,
  mail: [...below, 'auth', 'jobs'],
  jobs: below,
  events: [...below, 'jobs'],
  // Reads, matches and plans workflows. It knows no database.
  actions: [...ground, 'git'],
  features: [...services, 'actions'],
  // From events to runs, which are given what hooks are sent.
  triggers: [...entrances, 'webhooks', 'actions'],
  oauth: entrances,
  webhooks: entrances,
  web: [...entrances, 'oauth'],
  ssh: entrances,
  // The package for programs that use the API: it has nothing of the service.
  client: [],
  'client-types': ['http'],
  app: [...entrances, 'oauth', 'webhooks', 'actions', 'triggers', 'web'],
  assemble: ['*'],
  'first-admin': ['*'],
  service: ['*'],
  doctor: ['*'],
  cli: ['*'],
  main: ['*'],
  // Run by the commands of package.json, not by the program.
  setup: ['kernel', 'threads', 'postgres', 'wire', 'http', 'app', 'client-types'],
}

/** A feature may import features of its own or a lower tier; upward it speaks by events. */
const tierNames: readonly (readonly string[])[] = [
  // Identity.
  [
    'version',
    'users',
    'user-settings',
    'emails',
    'avatars',
    'public-keys',
    'gpg-keys',
    'access-tokens',
    'oauth-applications',
    'two-factor',
    'registration',
    'password-recovery',
    'passkeys',
    'auth-sources',
  ].concat(['organizations', 'teams', 'badges', 'follows', 'blocks']),
  // Repositories.
  [
    'repositories',
    'repository-creation',
    'repository-maintenance',
    'repository-search',
    'stars',
    'watches',
    'topics',
    'collaborators',
    'forks',
    'generation',
    'issue-templates',
    'transfers',
    'mirrors',
    'templates',
    'refs',
    'branches',
    'protections',
    'tags',
    'commits',
    'contents',
    'editorconfig',
    'raw',
    'archives',
    'attachments',
    'releases',
    'transport',
    'git-hooks',
    'lfs',
    'deploy-keys',
    'actions-values',
    'wikis',
    'actions-runners',
  ],
  // Collaboration.
  [
    'migrations',
    'labels',
    'milestones',
    'issues',
    'issue-labels',
    'issue-locks',
    'issue-pins',
    'issue-deadlines',
    'issue-subscriptions',
    'issue-dependencies',
    'time-tracking',
    'issue-search',
    'comments',
    'reactions',
    'pulls',
    'reviews',
    'statuses',
    'actions-runs',
    'actions-workflows',
    'actions-artifacts',
    'runner-protocol',
  ],
  // Reactions to all of the above, and administration.
  [
    'activity',
    'heatmap',
    'issue-references',
    'notifications',
    'admin-users',
    'admin',
    'audit-log',
    'settings',
    'nodeinfo',
    'health',
    'rendering',
    'site-settings',
    'signing-keys',
  ],
]
const tiers: Readonly<Record<string, number>> = Object.fromEntries(
  tierNames.flatMap((names, index) => names.map((name) => [name, index + 1])),
)

interface Source {
  path: string
  text: string
  imports: string[]
}

/** Also type imports, re-exports and imports for their effect: each is a dependency. */
const IMPORT = /(?:^|\n)\s*(?:import|export)\b(?:[^'"`;]*?from)?\s+'(\.[^']+)'|\bimport\s*\(\s*'(\.[^']+)'/g

async function readSources(): Promise<Source[]> {
  const sources: Source[] = []
  for await (const path of new Bun.Glob('{src,db}/**/*.ts').scan(root)) {
    const text = await Bun.file(join(root, path)).text()
    const targets = [...text.matchAll(IMPORT)].map(([, fixed, dynamic]) => fixed ?? dynamic ?? '')
    // Data is of no layer.
    const code = targets.filter((target) => !target.endsWith('.json'))
    const imports = code.map((target) => relative(root, resolve(root, dirname(path), target)))
    sources.push({ path, text, imports })
  }
  return sources
}

const sources = await readSources()

/** `src/http/errors.ts` is of `http`, `src/main.ts` of `main`, `db/client.ts` of `db`. */
function layerOf(path: string): string {
  const [top = '', second = ''] = path.split('/')
  return top === 'db' ? 'db' : second.replace(/\.ts$/, '')
}

const featureOf = (path: string): string => path.split('/')[2] ?? ''

/** Paths of sources whose code, without comments, has what is forbidden. */
const withText = (pattern: RegExp, allowed: readonly string[]): string[] =>
  sources
    .filter(({ path }) => !allowed.some((prefix) => path.startsWith(prefix)))
    .filter(({ text }) => pattern.test(text.replace(/\/\*[\s\S]*?\*\/|(^|\s)\/\/.*/g, '')))
    .map(({ path }) => path)

test('the imports are seen', () => {
  expect(sources.length).toBeGreaterThan(100)
  expect(sources.flatMap(({ imports }) => imports).length).toBeGreaterThan(500)
})

/** What is in no table yet, each with what to do about it. */
function placeless(paths: readonly string[]): string[] {
  const folders = new Set(paths.map(layerOf))
  const features = new Set(paths.filter((path) => layerOf(path) === 'features').map(featureOf))
  return [
    ...[...folders]
      .filter((name) => layers[name] === undefined)
      .map((name) => `src/${name} is new: add it to \`layers\` in this file, with the folders that it may import`),
    ...[...features]
      .filter((name) => tiers[name] === undefined)
      .map((name) => `src/features/${name} is new: add '${name}' to the tier in \`tierNames\` that it belongs to`),
  ]
}

test('a new folder is told where it belongs', () => {
  expect(placeless(['src/features/stars/store.ts', 'src/main.ts'])).toEqual([])
  expect(placeless(['src/features/gardens/store.ts', 'src/garden/rake.ts'])).toEqual([
    'src/garden is new: add it to `layers` in this file, with the folders that it may import',
    "src/features/gardens is new: add 'gardens' to the tier in `tierNames` that it belongs to",
  ])
})

test('every folder has its place in the table', () => {
  expect(placeless(sources.map(({ path }) => path))).toEqual([])
})

test('imports go down only', () => {
  const wrong = sources.flatMap(({ path, imports }) => {
    const own = layerOf(path)
    const allowed = layers[own] ?? []
    const isAllowed = (layer: string) => layer === own || allowed.includes(layer) || allowed.includes('*')
    return imports.filter((target) => !isAllowed(layerOf(target))).map((target) => `${path} -> ${target}`)
  })
  expect(wrong).toEqual([])
})

test('workflows are read and planned without a database', () => {
  const allowed = ['src/actions/workflows/', 'src/kernel/', 'src/threads/', 'src/git/']
  const wrong = sources
    .filter(({ path }) => path.startsWith('src/actions/workflows/'))
    .flatMap(({ path, imports }) =>
      imports
        .filter((target) => !allowed.some((prefix) => target.startsWith(prefix)))
        .map((target) => `${path} -> ${target}`),
    )
  expect(wrong).toEqual([])
})

test('a feature imports its own and lower tiers', () => {
  const wrong = sources
    .filter(({ path }) => layerOf(path) === 'features')
    .flatMap(({ path, imports }) =>
      imports
        .filter((target) => layerOf(target) === 'features')
        .filter((target) => (tiers[featureOf(target)] ?? 9) > (tiers[featureOf(path)] ?? 0))
        .map((target) => `${path} -> ${target}`),
    )
  expect(wrong).toEqual([])
})

test('no imports go in a circle', () => {
  const byPath = new Map(sources.map((source) => [source.path, source]))
  const done = new Set<string>()
  const circles: string[] = []
  const visit = (path: string, trail: readonly string[]): void => {
    if (trail.includes(path)) circles.push([...trail.slice(trail.indexOf(path)), path].join(' -> '))
    if (done.has(path) || trail.includes(path)) return
    for (const target of byPath.get(path)?.imports ?? []) visit(target, [...trail, path])
    done.add(path)
  }
  for (const { path } of sources) visit(path, [])
  expect(circles).toEqual([])
})

test.each([
  ['the environment is read by config.ts', /\bprocess\.env\b|\bBun\.env\b|\bimport\.meta\.env\b/, ['src/config.ts']],
  ['git is started by git/cli', /\bspawn(Sync)?\s*\(\s*\[?\s*'git'/, ['src/git/cli/']],
  [
    'processes are started by git/cli and postgres',
    /\bspawn(Sync)?\(|\bexecSync\(|node:child_process/,
    // Besides the program: the commands that install, build and generate.
    ['src/git/cli/', 'src/postgres/', 'src/setup/', 'db/generate.ts'],
  ],
  ['the clock is read by kernel/time.ts', /\bDate\.now\(|\bnew Date\(\)/, ['src/kernel/time.ts']],
  [
    'lists are linked by http/paging.ts',
    /x-total-count|headers(\.link\b|\['link'\]|\.set\('link')/i,
    // Besides who only reads them: the client, and the lists of other servers.
    ['src/http/', 'src/client/', 'src/features/migrations/source.ts'],
  ],
  [
    'the table of jobs is read and written by src/jobs',
    /\b(from|into|update|join)\s+"?jobs\b"?|schema\/jobs\.ts'/i,
    ['src/jobs/', 'db/schema/jobs.ts'],
  ],
  // It stops everybody for milliseconds: back-pressure keeps memory flat.
  ['memory is collected by the runtime', /\bBun\.gc\b|\bglobal(This)?\.gc\b/, []],
  // What it loads is large, and few replicas ever need it.
  [
    'nothing is imported while running',
    /\bimport\s*\(\s*['"`\w]|\brequire\s*\(\s*['"`]/,
    ['src/features/passkeys/library.ts'],
  ],
] as const)('%s alone', (_, pattern, allowed) => {
  expect(withText(pattern, allowed)).toEqual([])
})

/**
 * What the files of the features may not contain, by the last word of their names: `star-routes.ts` is of the role `routes`. A file
 * whose name ends in none of these words holds rules, as `service.ts` does.
 */
const ROLES: Readonly<Record<string, readonly RegExp[]>> = {
  // Routes query nothing.
  routes: [/from 'drizzle-orm'/],
  schema: [/from 'drizzle-orm'/, /\/context\.ts'/, /\bnew Response\(/],
  // Stores decide nothing.
  store: [/from 'elysia'/, /\bnew Response\(/, /\/http\//, /\/kernel\/errors\.ts/, /\.transaction\(/],
  // Sends what is too large for a value: files, archives.
  serve: [/from 'elysia'/, /from 'drizzle-orm'/],
  // Rules answer nothing.
  service: [/from 'elysia'/, /\bnew Response\(/],
}

const roleOf = (path: string): string => {
  const word = path.match(/(?:^|[/-])([a-z]+)\.ts$/)?.[1] ?? ''
  return word in ROLES ? word : 'service'
}

/** Folders whose files are told apart by role. */
const WITH_ROLES = ['features', 'webhooks']

test('routes query nothing, rules answer nothing, stores decide nothing', () => {
  const wrong = sources
    .filter(({ path }) => WITH_ROLES.includes(layerOf(path)))
    .flatMap(({ path, text }) =>
      (ROLES[roleOf(path)] ?? []).filter((code) => code.test(text)).map((code) => `${path}: ${code.source}`),
    )
  expect(wrong).toEqual([])
})

test('the inside of the Git engine is imported by what builds it', () => {
  const outside = sources.filter(({ path }) => !path.startsWith('src/git/') && path !== 'src/assemble.ts')
  const wrong = outside.flatMap(({ path, imports }) =>
    imports.filter((target) => target.startsWith('src/git/cli/')).map((target) => `${path} -> ${target}`),
  )
  expect(wrong).toEqual([])
})

test('presenters ask nothing', () => {
  expect(
    sources
      .filter(({ path }) => layerOf(path) === 'wire')
      .filter(({ text }) => /\/context\.ts'|\/db\/client\.ts'|import \{[^}]*\bElysia\b/.test(text))
      .map(({ path }) => path),
  ).toEqual([])
})

/** Tables of data and files that a program writes, which nobody reads from top to bottom. */
const DATA = [
  ...['src/templates/', 'src/auth/scopes.ts', 'src/config.ts', 'src/features/runner-protocol/messages/'],
  'src/http/openapi/glossary/',
]

test('no file of code is longer than 400 lines', () => {
  const long = sources
    .filter(({ path }) => !DATA.some((prefix) => path.startsWith(prefix)))
    .filter(({ text }) => text.split('\n').length > 400)
  expect(long.map(({ path }) => path)).toEqual([])
})
