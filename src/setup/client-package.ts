import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { description, license, name, version } from '../../package.json'
import { describeRoutes } from '../app/describe.ts'
import { declareClient } from '../client-types/declarations.ts'
import { apiWords } from '../http/openapi/glossary/glossary.ts'
import { objectOf } from '../http/openapi/json.ts'
import { Models } from '../http/openapi/schemas.ts'
import { hookPayloads } from '../wire/hook-schema.ts'

const root = resolve(import.meta.dir, '../..')
const sources = join(root, 'src/client')

/** The package of the client, whole or not at all. @throws Error with what the bundler or the compiler said */
export async function buildClient(folder: string): Promise<void> {
  const draft = `${folder}.new-${process.pid}`
  try {
    mkdirSync(draft, { recursive: true })
    await bundle(draft)
    declareSources(draft)
    const files: Record<string, string> = {
      'api.d.ts': await declareApi(),
      'index.d.ts': INDEX,
      'package.json': `${JSON.stringify(MANIFEST, null, 2)}\n`,
    }
    for (const [path, text] of Object.entries(files)) writeFileSync(join(draft, path), text)
    rmSync(folder, { recursive: true, force: true })
    renameSync(draft, folder)
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}

const INDEX = `export { type Answer, type CallOptions, type Refusal, RefusedError } from './answer.js'
export * from './api.js'
export type { ClientOptions } from './client.js'
export { everyItem, everyPage } from './pages.js'
`

const MANIFEST = {
  ...{ name, version, license },
  description: `Typed client of the API of Hearth. ${description}`,
  type: 'module',
  sideEffects: false,
  exports: { '.': { types: './index.d.ts', default: './index.js' } },
}

/** One file of JavaScript for browsers, Node and Bun, with the part of Eden that it uses inside. */
async function bundle(folder: string): Promise<void> {
  const eden = await Bun.file(join(root, 'node_modules/@elysiajs/eden/LICENSE')).text()
  await Bun.build({
    entrypoints: [join(sources, 'index.ts')],
    outdir: folder,
    target: 'browser',
    format: 'esm',
    banner: `/*! With parts of @elysiajs/eden:\n${eden}*/`,
  })
}

/** The types of what is written by hand. */
function declareSources(folder: string): void {
  const files = ['answer.ts', 'client.ts', 'pages.ts'].map((file) => join(sources, file))
  const kind = ['--ignoreConfig', '--declaration', '--emitDeclarationOnly', '--outDir', folder]
  const language = [
    '--target',
    'ESNext',
    '--module',
    'Preserve',
    '--moduleResolution',
    'bundler',
    '--types',
    'bun-types',
  ]
  const rules = ['--strict', '--skipLibCheck', '--allowImportingTsExtensions', '--rewriteRelativeImportExtensions']
  const { exitCode, stdout } = Bun.spawnSync([process.execPath, 'x', 'tsc', ...kind, ...language, ...rules, ...files], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  if (exitCode !== 0) throw new Error(`the declarations of the client could not be written:\n${stdout}`)
  // Whoever reads them has no sources.
  for (const path of readdirSync(folder).filter((one) => one.endsWith('.d.ts'))) {
    const text = readFileSync(join(folder, path), 'utf8')
    writeFileSync(join(folder, path), text.replace(/ from '(\.\/\w+)\.ts'/g, " from '$1.js'"))
  }
}

async function declareApi(): Promise<string> {
  const document = await describeRoutes()
  const models = new Models(apiWords)
  const payloads = Object.entries(hookPayloads).map(([event, schema]) => [event, String(models.describe(schema).$ref)])
  const components = objectOf(document.components)
  const schemas = { ...objectOf(components.schemas), ...models.components() }
  return declareClient({ ...document, components: { ...components, schemas } }, Object.fromEntries(payloads))
}
