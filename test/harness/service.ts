import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadConfig } from '../../src/config.ts'
import type { Context } from '../../src/context.ts'
import { objectOf, parseJson } from '../../src/http/openapi/json.ts'
import { type ServiceOptions, startService } from '../../src/service.ts'
import { type Client, type Credential, createClient } from './client.ts'
import { type ContractChecker, createContractChecker } from './contract.ts'
import { createTestDatabase } from './database.ts'
import { createGitClient, type GitClient } from './git.ts'

export interface TestUser {
  name: string
  password: string
  /** With every scope. */
  token: string
  client: Client
}

export interface TestRepository {
  id: number
  owner: string
  name: string
  /** `/repos/owner/name`. */
  path: string
  /** With the owner's credentials inside. */
  cloneUrl: string
}

/** The whole program on an empty database and an empty volume of its own. */
export interface TestService {
  url: string
  context: Context
  databaseUrl: string
  /** The volume: DATA_DIR and git's working folders. */
  folder: string
  admin: TestUser
  anonymous: Client
  git: GitClient
  /** A client with any credential. */
  client(credential?: Credential): Client
  /** Made by the administrator over the API; names are unique without one. */
  createUser(name?: string): Promise<TestUser>
  /** Made by its owner over the API. */
  createRepository(owner: TestUser, option?: Record<string, unknown>): Promise<TestRepository>
  /** Runs every job that is due, and what these enqueue. */
  drain(): Promise<void>
  stop(): Promise<void>
}

export interface TestServiceOptions extends ServiceOptions {
  /** Variables as in the environment, such as `{ MAX_RESPONSE_ITEMS: '3' }`. */
  settings?: Record<string, string>
  /** False for tests of answers that the description does not cover. */
  checksContract?: boolean
}

/** Most tests only need people. Those of passwords ask for the full cost. */
const CHEAP_HASH = { memoryCost: 64, timeCost: 1 }

const PASSWORD = 'correct horse battery'

export async function startTestService(options: TestServiceOptions = {}): Promise<TestService> {
  const { settings = {}, checksContract = true, ...serviceOptions } = options
  const folder = mkdtempSync(join(tmpdir(), 'hearth-volume-'))
  const database = await createTestDatabase()
  const config = loadConfig({
    PORT: '0',
    DATA_DIR: join(folder, 'data'),
    DATABASE_URL: database.url,
    DATABASE_POOL_SIZE: '8',
    ADMIN_USERNAME: 'root-admin',
    ADMIN_PASSWORD: PASSWORD,
    CHECK_RESPONSES: 'true',
    SHUTDOWN_TIMEOUT_SECONDS: '5',
    LOG_LEVEL: process.env.TEST_LOG ?? 'fatal',
    ...settings,
  })
  const service = await startService(config, { worksJobs: false, hashCost: CHEAP_HASH, ...serviceOptions })
  const { url, context } = service
  const checker = checksContract ? await describedBy(url) : undefined
  const client = (credential?: Credential) => createClient({ url, credential, checker })
  const admin = await signIn(client, config.adminUsername, PASSWORD)
  return {
    url,
    context,
    databaseUrl: database.url,
    folder,
    admin,
    anonymous: client(),
    git: createGitClient(folder),
    client,
    createUser: (name) => createUser(admin, client, name),
    createRepository: (owner, option) => createRepository(url, owner, option),
    drain: () => context.jobs.drain(),
    async stop() {
      await service.stop()
      await database.drop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Undefined while the description is switched off. */
async function describedBy(url: string): Promise<ContractChecker | undefined> {
  const response = await fetch(`${url}/swagger.v1.json`)
  if (response.status === 404) return undefined
  if (!response.ok) throw new Error(`the API description is answered with ${response.status}`)
  return createContractChecker(objectOf(parseJson(await response.text())))
}

let counter = 0
function uniqueName(kind: string): string {
  counter += 1
  return `${kind}${counter}`
}

async function createUser(
  admin: TestUser,
  client: TestService['client'],
  name = uniqueName('user'),
): Promise<TestUser> {
  const email = `${name}@localhost.localdomain`
  const json = { username: name, email, password: PASSWORD, must_change_password: false }
  expectStatus(await admin.client.post('/admin/users', json), 201)
  return signIn(client, name, PASSWORD)
}

async function signIn(client: TestService['client'], name: string, password: string): Promise<TestUser> {
  const basic = client({ basic: `${name}:${password}` })
  const answer = await basic.post(`/users/${name}/tokens`, { name: uniqueName('token'), scopes: ['all'] })
  expectStatus(answer, 201)
  const token = answer.string('sha1')
  return { name, password, token, client: client({ token }) }
}

async function createRepository(
  url: string,
  owner: TestUser,
  option: Record<string, unknown> = {},
): Promise<TestRepository> {
  const answer = await owner.client.post('/user/repos', { name: uniqueName('repository'), auto_init: true, ...option })
  expectStatus(answer, 201)
  const name = answer.string('name')
  const cloneUrl = new URL(`/${owner.name}/${name}.git`, url)
  cloneUrl.username = owner.name
  cloneUrl.password = owner.token
  return {
    id: answer.number('id'),
    owner: owner.name,
    name,
    path: `/repos/${owner.name}/${name}`,
    cloneUrl: cloneUrl.href,
  }
}

function expectStatus({ status, text }: { status: number; text: string }, wanted: number): void {
  if (status !== wanted) throw new Error(`the harness expected ${wanted}, not ${status}: ${text}`)
}
