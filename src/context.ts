import type { Channels } from '../db/channels.ts'
import type { Db, Sql } from '../db/client.ts'
import type { Workflows } from './actions/workflows/workflows.ts'
import type { Passwords } from './auth/password.ts'
import type { Secrets } from './auth/secrets.ts'
import type { SignInJournal } from './auth/sign-ins.ts'
import type { VerifiedPasswords } from './auth/verified.ts'
import type { Config } from './config.ts'
import type { Git } from './git/engine.ts'
import type { Jobs } from './jobs/jobs.ts'
import type { Clock } from './kernel/time.ts'
import type { Log } from './log.ts'
import type { Mailer } from './mail/mailer.ts'
import type { ObjectStore } from './object-store/store.ts'
import type { Outbound } from './outbound/client.ts'
import type { Providers } from './outbound/openid.ts'
import type { HostPlaces } from './outbound/places.ts'
import type { Renderer } from './render/renderer.ts'
import type { InstanceSigning } from './signatures/instance.ts'
import type { OpenPgp } from './signatures/openpgp.ts'
import type { Templates } from './templates/templates.ts'

/** Everything a rule may need from outside, built once in main or in a test and handed on. Types only: nothing runs here. */
export interface Context {
  readonly config: Config
  readonly db: Db
  readonly sql: Sql
  /** What other processes commit, as soon as they do. */
  readonly channels: Channels
  readonly git: Git
  /** Large files outside of Git and the database. */
  readonly objects: ObjectStore
  readonly jobs: Jobs
  readonly templates: Templates
  readonly renderer: Renderer
  /** Reads and plans files of workflows, in a thread. */
  readonly workflows: Workflows
  /** Undefined without SMTP_URL: nothing is mailed. */
  readonly mailer: Mailer | undefined
  /** Requests to addresses that users give. */
  readonly outbound: Outbound
  /** Of OpenID Connect, which people sign in by. */
  readonly providers: Providers
  /** What is on its way to each host of theirs. */
  readonly hostPlaces: HostPlaces
  readonly passwords: Passwords
  readonly verified: VerifiedPasswords
  readonly signIns: SignInJournal
  /** Encrypts what must be read back: second factors, secrets of hooks and mirrors. */
  readonly secrets: Secrets
  readonly openPgp: OpenPgp
  /** The key by which the instance signs what it commits itself. */
  readonly signing: InstanceSigning
  readonly clock: Clock
  readonly log: Log
  /** The address people and links use, without a trailing slash. */
  readonly baseUrl: string
  /** The same for Git over SSH: `git@host:`, or `ssh://git@host:port/` where the port is not the usual one. */
  readonly sshRoot: string
  /** Fires when the process is asked to stop. */
  readonly stopping: AbortSignal
}
