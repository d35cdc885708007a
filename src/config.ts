import { resolve } from 'node:path'
import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { parseMailbox } from './kernel/email.ts'
import { isHostRule } from './kernel/host-policy.ts'
import { isNetwork, type Networks, parseNetworks } from './kernel/network.ts'
import { parseSmtpUrl } from './kernel/smtp-url.ts'

const UNITS: Readonly<Record<string, number>> = { '': 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3, TiB: 1024 ** 4 }

/** Wire: what the Gitea API allows by default. */
const ATTACHMENT_TYPES = (
  '.avif,.cpuprofile,.csv,.dmp,.docx,.fodg,.fodp,.fods,.fodt,.gif,.gz,.jpeg,.jpg,.json,.jsonc,.log,.md,.mov,.mp4,.odf,.odg,.odp,' +
  '.ods,.odt,.patch,.pdf,.png,.pptx,.svg,.tgz,.txt,.webm,.webp,.xls,.xlsx,.zip'
).split(',')
/** Wire: the Gitea API's word for no limit of types. */
export const ALL_TYPES = '*/*'

/**
 * Every variable the program reads, as one table: add a line here and it is parsed, checked, documented by
 * `config --markdown` and available as a typed field. The variable is the field's name in capitals with
 * underscores: `databasePoolSize` is read from DATABASE_POOL_SIZE.
 */
const variables = {
  // Address.
  host: Type.String({ default: '127.0.0.1', description: 'Address to listen on; `0.0.0.0` in the image.' }),
  port: integer(3000, { minimum: 0, maximum: 65535 }, 'Port to listen on; 0 takes a free one.'),
  publicUrl: optional(url(['http', 'https']), 'Address that clients use, for links. Without it: host and port.'),
  trustedProxies: {
    ...list('Addresses or networks of proxies whose `X-Forwarded-For` is believed.'),
    allowed: 'addresses, and networks such as 10.0.0.0/8, separated by commas',
  },
  corsOrigins: list('Origins whose browser pages may call the API; `*` for all, without cookies.'),

  // Storage.
  dataDir: Type.String({ default: './data', description: 'Folder for everything the program keeps.' }),
  repositoriesDir: optional(Type.String(), 'Folder of the Git repositories. Without it: `repositories` in DATA_DIR.'),
  objectStorage: choice(
    ['disk', 's3'],
    'Where large files lie that are not in Git: in a folder, or in a bucket of S3.',
  ),
  objectsDir: optional(Type.String(), 'Folder of these files. Without it: `objects` in DATA_DIR.'),
  s3Endpoint: optional(url(['http', 'https']), "Address of the server of S3. Without it: Amazon's in S3_REGION."),
  s3Region: Type.String({ default: 'us-east-1', minLength: 1, maxLength: 100, description: 'Region of the bucket.' }),
  s3Bucket: optional(Type.String({ minLength: 1, maxLength: 255 }), 'Bucket; needed with OBJECT_STORAGE=s3.'),
  s3AccessKeyId: optional(Type.String({ minLength: 1 }), 'Access key; needed with OBJECT_STORAGE=s3.'),
  s3SecretAccessKey: optional(Type.String({ minLength: 1 }), 'Its secret; needed with OBJECT_STORAGE=s3.'),
  s3Prefix: Type.String({
    default: '',
    pattern: '^([A-Za-z0-9._-]+(/[A-Za-z0-9._-]+)*)?$',
    allowed: 'names of folders with / between them',
    description: 'Folder in the bucket that all files lie in.',
  }),
  databaseUrl: optional(
    url(['postgres', 'postgresql']),
    'PostgreSQL 15 or newer. Without it the program starts its own below DATA_DIR.',
  ),
  databasePoolSize: integer(10, { minimum: 2, maximum: 500 }, 'Connections to the database at most.'),
  databaseTimeoutSeconds: integer(30, { minimum: 1, maximum: 3600 }, 'Longest time of one database statement.'),
  secretKey: optional(
    Type.String({ minLength: 32 }),
    'Secret that encrypts stored credentials. Without it: generated once into `secret.key` in DATA_DIR.',
  ),
  secretKeyPrevious: optional(
    Type.String({ minLength: 32 }),
    'The one before, which still opens what it has sealed; only until `secret rotate` has ended.',
  ),

  // First administrator.
  adminUsername: Type.String({ default: 'admin', minLength: 1, maxLength: 40, description: 'First start only.' }),
  adminPassword: optional(Type.String({ minLength: 1 }), 'First start only. Without it: generated and printed once.'),
  adminEmail: Type.String({
    default: 'admin@localhost.localdomain',
    pattern: '^\\S+@\\S+$',
    allowed: 'an e-mail address',
    description: 'First start only.',
  }),

  // Who may do what.
  allowRegistration: yesNo(true, 'Whether people make accounts for themselves; with `false` only administrators do.'),
  requireSigninView: yesNo(false, 'Whether visitors must sign in to see anything.'),
  maxRepoCreation: integer(-1, { minimum: -1 }, 'Repositories per owner; -1 is no limit.'),
  maxOwned: integer(
    1000,
    { minimum: 1, maximum: 1_000_000 },
    'Tokens, keys, hooks, labels, milestones, locks, teams, blocks, organizations and collaborators of one owner, of each kind.',
  ),
  maxRefs: integer(50_000, { minimum: 1 }, 'Branches and tags of one repository.'),
  freedNameDays: integer(
    0,
    { minimum: 0, maximum: 3650 },
    'Days that a name given up by a rename, or left by a deleted account, is kept from others; 30 is a good choice.',
  ),
  passwordMinLength: integer(8, { minimum: 1, maximum: 128 }, 'Shortest password.'),
  sessionIdleSeconds: integer(
    86_400,
    { minimum: 60, maximum: 31_536_000 },
    'A session in a browser ends when it was not used for so long, unless its owner asked to stay signed in.',
  ),
  sessionMaxSeconds: integer(
    2_592_000,
    { minimum: 60, maximum: 31_536_000 },
    'Longest life of a session in a browser, also of one that is used.',
  ),
  tokenMaxDays: integer(0, { minimum: 0 }, 'Longest life of a new access token in days; 0 is no limit.'),
  queryTokens: choice(['allow', 'refuse'], 'Whether `?token=` and `?access_token=` sign in.'),
  noreplyDomain: Type.String({
    default: 'noreply.localhost',
    description: 'Domain of the addresses of hidden e-mail.',
  }),

  // Signatures.
  signingKey: optional(
    Type.String(),
    'File with the OpenSSH private key (Ed25519, no passphrase) that signs the commits made by the service itself.',
  ),
  signingName: Type.String({ default: 'Hearth', minLength: 1, maxLength: 100, description: 'Name of that signer.' }),
  signingEmail: optional(
    Type.String({ pattern: '^\\S+@\\S+$', allowed: 'an e-mail address' }),
    'Address of that signer. Without it: `hearth` at NOREPLY_DOMAIN.',
  ),
  trustedSigningKeys: list('Fingerprints (`SHA256:...`) of earlier signing keys, whose signatures still count.'),

  // Mail.
  smtpUrl: optional(
    {
      ...url(['smtp', 'smtps']),
      allowed: 'smtp://USER:PASSWORD@HOST:PORT or smtps://..., with %40 for an @ inside a part',
    },
    'Mail server: `smtp://user:password@host:587`, or `smtps://` for TLS from the start. Without it nothing is mailed.',
  ),
  mailFrom: optional(
    {
      ...Type.String({ maxLength: 320 }),
      allowed: 'an address, or a name and an address: Hearth <hearth@example.org>',
    },
    'Sender of all mails; needed with SMTP_URL.',
  ),
  smtpTls: choice(
    ['auto', 'required', 'unverified'],
    'STARTTLS with `smtp://`: where it is offered (and always before a password leaves this machine), always, or without a look at the certificate.',
  ),
  smtpTimeoutSeconds: integer(30, { minimum: 1, maximum: 60 }, 'Longest silence of the mail server.'),
  smtpMaxConnections: integer(2, { minimum: 1, maximum: 8 }, 'Mails on their way at once.'),
  confirmEmails: yesNo(
    false,
    'Whether an address that somebody adds counts only after the link mailed to it was followed; needs SMTP_URL.',
  ),
  emailConfirmationHours: integer(24, { minimum: 1, maximum: 720 }, 'Hours that such a link works.'),

  // Limits.
  maxResponseItems: integer(50, { minimum: 1, maximum: 1000 }, 'Largest page of a list.'),
  defaultPagingNum: integer(30, { minimum: 1, maximum: 1000 }, 'Page of a list when the client names no size.'),
  maxBodyBytes: bytes('16MiB', 'Largest body of a request, except pushes.'),
  attachmentEnabled: yesNo(
    true,
    'Whether files can be added to releases, issues and comments. Those that are there stay.',
  ),
  attachmentMaxSize: {
    ...bytes('100MiB', 'Largest file of an issue or a comment. Clients are told it in whole mebibytes.'),
    minimum: 1024 ** 2,
    allowed: 'a number of bytes with or without KiB, MiB or GiB, at least 1MiB',
  },
  attachmentAllowedTypes: {
    ...list('Endings that names of files of issues and comments may have; `*/*` for all.', [...ATTACHMENT_TYPES]),
    allowed: 'endings that begin with a dot, separated by commas, or */*',
  },
  attachmentMaxOwnerBytes: bytes(
    '0',
    'Bytes of the files of releases, issues and comments in all repositories of one owner; 0 is no limit.',
  ),
  attachmentMaxFiles: integer(
    5,
    { minimum: 1, maximum: 1000 },
    'Files that clients offer to send with one issue or comment. A request has one; MAX_OWNED is the limit of all.',
  ),
  releaseFileMaxSize: bytes('2GiB', 'Largest file of a release.'),
  releaseAllowedTypes: {
    ...list('Endings that names of files of releases may have, such as `.zip`; all without it.'),
    allowed: 'endings that begin with a dot, separated by commas',
  },
  maxActionsLogBytes: bytes('64MiB', 'Log of one job that a runner may send; what comes after it is dropped.'),
  actionsSilentMinutes: integer(
    10,
    { minimum: 1, maximum: 1440 },
    'Minutes after which a job fails whose runner has said nothing.',
  ),
  actionsQueuedHours: integer(
    24,
    { minimum: 1, maximum: 8760 },
    'Hours after which a queued job that no runner has taken is cancelled.',
  ),
  actionsArtifactMaxBytes: bytes('5GiB', 'Largest artifact of a job.'),
  actionsArtifactMaxOwnerBytes: bytes('0', 'Bytes of artifacts in all repositories of one owner; 0 is no limit.'),
  actionsArtifactRetentionDays: integer(
    90,
    { minimum: 1, maximum: 3650 },
    'Days after which the bytes of an artifact go. A workflow can ask for fewer.',
  ),
  maxPushBytes: bytes('2GiB', 'Largest push, and the most that one update of a mirror or one migration may bring.'),
  lfsMaxFileBytes: bytes('10GiB', 'Largest file of Git LFS.'),
  lfsMaxOwnerBytes: bytes('0', 'Bytes of Git LFS in all repositories of one owner; 0 is no limit.'),
  lfsMaxBatchSize: integer(1000, { minimum: 1, maximum: 10_000 }, 'Objects of Git LFS that one request may ask about.'),
  lfsUnusedDays: integer(
    30,
    { minimum: 0, maximum: 3650 },
    'Days after which an object of Git LFS goes that no file in Git stands for; 0 is never.',
  ),
  maxUrlBytes: integer(8192, { minimum: 256, maximum: 65536 }, 'Longest address of a request.'),
  maxHeaderBytes: bytes('16KiB', 'Largest head of a request.'),
  requestTimeoutSeconds: integer(
    60,
    { minimum: 1, maximum: 255 },
    'Longest silence of a client, and longest time that it may take to send or to read 128 KiB.',
  ),
  maxConnectionsPerAddress: integer(
    500,
    { minimum: 0, maximum: 100_000 },
    'Connections of one address (a /64 of IPv6) at once; 0 is no limit. Not counted behind TRUSTED_PROXIES.',
  ),
  gitMaxProcesses: integer(24, { minimum: 2, maximum: 1000 }, 'Git processes at once; others wait.'),
  gitMaxMemoryBytes: bytes(
    '1GiB',
    'Memory of one Git command that reads a repository or takes a push; one that needs more is ended (Linux).',
  ),
  gitMaxMemoryTotal: Type.Optional(
    byteCount(
      'Memory of all Git commands together; more of them wait, then get 503. Without it: half of what the machine, or its cgroup, has.',
    ),
  ),
  gitCacheBytes: bytes(
    '5GiB',
    'Packs, archives and large files on their way to clients, cached on the disk, all together; as much again while Git writes them. 0 caches none.',
  ),
  gitTimeoutSeconds: integer(3600, { minimum: 1 }, 'Longest time of one clone, fetch or push.'),
  passwordHashParallelism: integer(2, { minimum: 1, maximum: 64 }, 'Password checks at once.'),
  passwordHashQueue: integer(64, { minimum: 1 }, 'Password checks waiting before more are refused.'),
  rateLimit: Type.String({
    default: 'off',
    pattern: '^(off|[1-9][0-9]*/[1-9][0-9]*s)$',
    description:
      'Requests per token, per account with a password, and per address of visitors: `off`, or a rule such as `600/60s`.',
    allowed: 'off, or REQUESTS/SECONDSs such as 600/60s',
  }),
  webhookAllowedHosts: {
    ...list(
      'Hosts that webhooks may reach: `external` is all public addresses, `private` those of local networks; also `loopback`, `*`.',
      ['external'],
    ),
    allowed: 'external, private, loopback, *, addresses, networks, and names with * and ?, separated by commas',
  },
  webhookProxy: optional(url(['http']), 'Proxy for webhooks. Addresses are judged here all the same.'),
  webhookTimeoutSeconds: integer(
    10,
    { minimum: 1, maximum: 120 },
    'Longest time of one delivery, its answer included.',
  ),
  migrationsAllowedHosts: {
    ...list('Hosts that repositories may be copied and mirrored from and to; the same words as for webhooks.', [
      'external',
    ]),
    allowed: 'external, private, loopback, *, addresses, networks, and names with * and ?, separated by commas',
  },
  migrationsGitProtocol: yesNo(
    false,
    'Whether repositories may be copied and mirrored from `git://` addresses. Nothing there proves who answers.',
  ),
  migrationMaxItems: integer(
    100_000,
    { minimum: 1, maximum: 10_000_000 },
    'Most issues, and most comments, labels, milestones and releases, that one migration takes over.',
  ),
  authSourceAllowedHosts: {
    ...list(
      'Hosts that providers which people sign in by may have; the same words as for webhooks. One in a local network has to be named.',
      ['external'],
    ),
    allowed: 'external, private, loopback, *, addresses, networks, and names with * and ?, separated by commas',
  },
  mirrorDefaultInterval: integer(
    480,
    { minimum: 1, maximum: 525_600 },
    'Minutes between two updates of a mirror that names no interval.',
  ),
  mirrorMinInterval: integer(10, { minimum: 1, maximum: 525_600 }, 'Least minutes between two updates of a mirror.'),
  shutdownTimeoutSeconds: integer(30, { minimum: 0, maximum: 3600 }, 'Time for running requests to end at a stop.'),
  auditRetentionDays: integer(365, { minimum: 1 }, 'Days that audit entries are kept.'),

  // Ways in.
  enableSwagger: yesNo(true, 'Whether `/api/swagger` and `/swagger.v1.json` exist.'),
  lfsEnabled: yesNo(true, 'Whether Git LFS is served.'),
  sshEnabled: yesNo(false, 'Whether Git over SSH is served.'),
  sshPort: integer(2222, { minimum: 0, maximum: 65535 }, 'Port of Git over SSH; 0 takes a free one.'),
  sshPublicPort: optional(
    Type.Integer({ minimum: 1, maximum: 65535 }),
    'Port that clients use, for `ssh_url`, where another is passed on to SSH_PORT.',
  ),
  sshHostKey: optional(
    Type.String(),
    'File with the OpenSSH private key (Ed25519, no passphrase) that clients know the site by. Without it: generated once into `ssh_host_ed25519_key` in DATA_DIR.',
  ),
  sshMaxConnections: integer(500, { minimum: 1, maximum: 100_000 }, 'Connections of Git over SSH at once.'),

  // OAuth 2.0 and OpenID Connect, as a provider.
  oauth2Enabled: yesNo(true, 'Whether applications can sign people in with their accounts here.'),
  oauth2AccessTokenExpirationTime: integer(
    3600,
    { minimum: 60, maximum: 86_400 },
    'Life of an access token in seconds.',
  ),
  oauth2RefreshTokenExpirationTime: integer(
    730,
    { minimum: 1, maximum: 17_520 },
    'Hours after which a refresh token that was not used ends.',
  ),
  oauth2JwtSigningAlgorithm: choice(
    ['RS256', 'ES256', 'EdDSA'],
    'Algorithm that id tokens are signed with. After a change the old key stays published while its tokens last.',
  ),
  oauth2JwtClaimIssuer: optional(url(['http', 'https']), 'Issuer that id tokens name. Without it: the public address.'),
  oauth2SigningKeyDays: integer(
    90,
    { minimum: 0, maximum: 3650 },
    'Days after which another key signs id tokens; 0 is never.',
  ),
  oauth2EmptyScope: choice(
    ['public', 'all'],
    'What an application may do that asks for no scope: read what is public, or everything. Old clients need `all`.',
  ),
  oauth2RequirePkce: yesNo(false, 'Whether confidential applications must use PKCE too; public ones always must.'),
  oauth2UserinfoAllClaims: yesNo(
    false,
    'Whether userinfo tells name, picture, address and groups whatever the scopes, as old clients expect.',
  ),
  oauth2DefaultApplications: Type.Array(
    Type.Union(['git-credential-oauth', 'git-credential-manager', 'tea', 'none'].map((name) => Type.Literal(name))),
    {
      default: ['git-credential-oauth', 'git-credential-manager', 'tea'],
      description: 'Built-in applications; `none` for none.',
      allowed: 'git-credential-oauth, git-credential-manager and tea, separated by commas, or none',
    },
  ),

  oauth2DeviceFlow: yesNo(false, 'Whether devices without a browser can be allowed by a code (RFC 8628).'),

  // Programs of others.
  enableGitHooks: yesNo(
    false,
    'Whether administrators, and accounts with `allow_git_hook`, may set Git hooks: programs that run here as this one does.',
  ),
  gitHookTimeoutSeconds: integer(60, { minimum: 1, maximum: 3600 }, 'Longest time of one Git hook.'),

  // Looking in.
  logLevel: choice(['info', 'trace', 'debug', 'warn', 'error', 'fatal', 'silent'], 'Least level that is logged.'),
  logFormat: choice(['auto', 'json', 'text'], 'Form of a log line; `auto` is text on a terminal, else JSON.'),
  checkResponses: yesNo(false, 'Check each answer against the API description; `bun run dev` and tests do.'),
} as const

const schema = Type.Object(variables)

/** The settings, checked and frozen. Folders are absolute; sizes are bytes. */
export type Config = Readonly<
  Static<typeof schema> & { repositoriesDir: string; objectsDir: string; proxies: Networks }
>

/** A wrong setting. `message` has one line per variable: its name, the value and what is allowed. */
export class ConfigError extends Error {
  /** EX_CONFIG of sysexits.h. */
  readonly exitCode = 78

  readonly fault: string
  readonly remedy: string | undefined

  /** @param remedy what to do about it, where the fault does not say that itself */
  constructor(fault: string, remedy?: string) {
    super(remedy === undefined ? fault : `${fault}. To fix it: ${remedy}`)
    this.fault = fault
    this.remedy = remedy
  }
}

/**
 * Reads the settings from an environment. An empty value counts as absent, as container tools write it.
 * @throws ConfigError naming every wrong variable.
 */
export function loadConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const values: Record<string, unknown> = {}
  const problems: string[] = []
  for (const { name, field, schema } of describeVariables()) {
    const text = env[name]?.trim()
    if (text === undefined || text === '') {
      if (schema.default !== undefined) values[field] = schema.default
      continue
    }
    const value = readValue(schema, text)
    if (Value.Check(schema, value)) values[field] = value
    else
      problems.push(`${name}=${isSecret(name) ? '(hidden)' : JSON.stringify(text)} is not allowed: ${allowed(schema)}`)
  }
  if (problems.length > 0) throw new ConfigError(problems.join('\n'))
  if (!Value.Check(schema, values)) throw new ConfigError('the table of variables has a default that it does not allow')
  const between = [
    ...proxyFaults(values),
    ...hostFaults(values),
    ...mailFaults(values),
    ...storageFaults(values),
    ...endingFaults(values),
  ]
  if (between.length > 0) throw new ConfigError(between.join('\n'))
  const dataDir = resolve(values.dataDir)
  return Object.freeze({
    ...values,
    dataDir,
    repositoriesDir: resolve(values.repositoriesDir ?? `${dataDir}/repositories`),
    objectsDir: resolve(values.objectsDir ?? `${dataDir}/objects`),
    proxies: parseNetworks(values.trustedProxies),
  })
}

function proxyFaults({ trustedProxies }: Static<typeof schema>): string[] {
  return trustedProxies
    .filter((entry) => !isNetwork(entry))
    .map((entry) => `TRUSTED_PROXIES=${JSON.stringify(entry)} is not allowed: ${allowed(variables.trustedProxies)}`)
}

function hostFaults(values: Static<typeof schema>): string[] {
  const { webhookAllowedHosts, migrationsAllowedHosts, authSourceAllowedHosts } = values
  const faultsOf = (name: string, words: readonly string[]) =>
    words
      .filter((word) => !isHostRule(word))
      .map((word) => `${name}=${JSON.stringify(word)} is not allowed: ${allowed(variables.webhookAllowedHosts)}`)
  return [
    ...faultsOf('WEBHOOK_ALLOWED_HOSTS', webhookAllowedHosts),
    ...faultsOf('MIGRATIONS_ALLOWED_HOSTS', migrationsAllowedHosts),
    ...faultsOf('AUTH_SOURCE_ALLOWED_HOSTS', authSourceAllowedHosts),
  ]
}

/** What no single variable shows. */
function mailFaults({ smtpUrl, mailFrom, confirmEmails }: Static<typeof schema>): string[] {
  const faults: string[] = []
  if (smtpUrl !== undefined && parseSmtpUrl(smtpUrl) === undefined)
    faults.push(`SMTP_URL=(hidden) is not allowed: ${allowed(variables.smtpUrl)}`)
  if (mailFrom !== undefined && parseMailbox(mailFrom) === undefined)
    faults.push(`MAIL_FROM=${JSON.stringify(mailFrom)} is not allowed: ${allowed(variables.mailFrom)}`)
  if (smtpUrl !== undefined && mailFrom === undefined)
    faults.push('MAIL_FROM is not set, and SMTP_URL needs it: the address that mails come from')
  if (smtpUrl === undefined && confirmEmails)
    faults.push('CONFIRM_EMAILS=true needs SMTP_URL: without it no address could ever be confirmed')
  return faults
}

function endingFaults(values: Static<typeof schema>): string[] {
  const faultsOf = (field: 'releaseAllowedTypes' | 'attachmentAllowedTypes', besides: readonly string[] = []) =>
    values[field]
      .filter((ending) => !/^\.[^\s/]+$/.test(ending) && !besides.includes(ending))
      .map((ending) => `${variableOf(field)}=${JSON.stringify(ending)} is not allowed: ${allowed(variables[field])}`)
  return [...faultsOf('releaseAllowedTypes'), ...faultsOf('attachmentAllowedTypes', [ALL_TYPES])]
}

function storageFaults(values: Static<typeof schema>): string[] {
  if (values.objectStorage !== 's3') return []
  return (['s3Bucket', 's3AccessKeyId', 's3SecretAccessKey'] as const)
    .filter((field) => values[field] === undefined)
    .map((field) => `${variableOf(field)} is not set, and OBJECT_STORAGE=s3 needs it`)
}

/** The settings of this process. The only place that reads the environment. */
export const loadProcessConfig = (): Config => loadConfig(process.env)

export interface Variable {
  name: string
  field: string
  schema: TSchema
}

/** The table in its written order, for documentation and `config`. */
export function describeVariables(): Variable[] {
  return Object.entries<TSchema>(variables).map(([field, schema]) => ({
    field,
    schema,
    name: variableOf(field),
  }))
}

const variableOf = (field: string): string => field.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()

/** Whether a value must not be shown: passwords, keys, and addresses that hold them. */
export const isSecret = (name: string): boolean => /PASSWORD$|SECRET|DATABASE_URL|SMTP_URL/.test(name)

/** What a variable accepts, in words. */
export function allowed(schema: TSchema): string {
  if (typeof schema.allowed === 'string') return schema.allowed
  if (schema.type === 'boolean') return 'true or false'
  if (schema.type === 'array') return 'a list separated by commas'
  if (schema.type === 'integer') {
    const range = schema.maximum === undefined ? `at least ${schema.minimum}` : `${schema.minimum} to ${schema.maximum}`
    return `a whole number, ${range}`
  }
  if (schema.minLength !== undefined && schema.minLength > 1) return `at least ${schema.minLength} characters`
  if (schema.maxLength !== undefined) return `${schema.minLength ?? 0} to ${schema.maxLength} characters`
  return schema.pattern === undefined ? 'any text' : `text like ${schema.pattern}`
}

/** The text of a variable as the type that its schema wants; text that does not fit is left for the check to refuse. */
function readValue(schema: TSchema, text: string): unknown {
  if (schema.type === 'boolean') return text === 'true' ? true : text === 'false' ? false : text
  if (schema.type === 'array')
    return text
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== '')
  if (schema.type !== 'integer') return text
  const [, digits, unit = ''] = /^(-?\d{1,15})(\w*)$/.exec(text) ?? []
  const factor = unit === '' || schema.unit === 'bytes' ? UNITS[unit] : undefined
  return digits === undefined || factor === undefined ? text : Number(digits) * factor
}

function integer(fallback: number, range: { minimum: number; maximum?: number }, description: string) {
  return Type.Integer({ default: fallback, ...range, description })
}

function byteCount(description: string) {
  const allowed = 'a number of bytes, or one with KiB, MiB or GiB'
  return Type.Integer({ minimum: 0, unit: 'bytes', description, allowed })
}

function bytes(fallback: string, description: string) {
  const schema = byteCount(description)
  return { ...schema, default: readValue(schema, fallback), shownDefault: fallback }
}

function yesNo(fallback: boolean, description: string) {
  return Type.Boolean({ default: fallback, description })
}

function choice<const Name extends string>(names: readonly [Name, ...Name[]], description: string) {
  const pattern = `^(${names.join('|')})$`
  return Type.Unsafe<Name>(
    Type.String({ pattern, default: names[0], description, allowed: `one of ${names.join(', ')}` }),
  )
}

function list(description: string, byDefault: readonly string[] = []) {
  return Type.Array(Type.String(), { default: [...byDefault], description })
}

function optional<Schema extends TSchema>(schema: Schema, description: string) {
  return Type.Optional({ ...schema, description })
}

function url(schemes: readonly string[]) {
  const pattern = `^(${schemes.join('|')})://\\S+$`
  return Type.String({
    pattern,
    allowed: `an address that begins with ${schemes.map((name) => `${name}://`).join(' or ')}`,
  })
}
