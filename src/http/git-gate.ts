import { judge } from '../access/decide.ts'
import { findRepository } from '../access/load.ts'
import type { RepositoryAccess } from '../access/repository-access.ts'
import type { Actor } from '../auth/actor.ts'
import type { Context } from '../context.ts'
import { GitError } from '../git/errors.ts'
import type { Client } from '../git/model.ts'
import { badRequest, forbidden, notFound, Refusal, tooLarge, unauthorized, unavailable } from '../kernel/errors.ts'
import { networkOf } from '../kernel/network.ts'
import { identify, requireScopes } from './admission.ts'
import { errorResponse } from './errors.ts'
import { clientAddress } from './exchange.ts'
import { withRights } from './repository-gate.ts'

/** The repository that a Git client asked for, and who asks. */
export interface GitAccess {
  actor: Actor | undefined
  repo: RepositoryAccess
  /** Which of its two Git repositories: `NAME.git` or `NAME.wiki.git`. */
  unit: 'repo.code' | 'repo.wiki'
}

export interface PushAccess extends GitAccess {
  actor: Actor
}

export interface GitSubject {
  owner: string
  /** With or without `.git`, and `.wiki` before that for the wiki. */
  repo: string
}

/**
 * The gate of Git over HTTP for reading: same credentials, scopes and rights as the API. An old name serves the repository under
 * its new one, since not every client follows a redirect.
 * @throws Refusal 401 to a caller without credentials whether the repository is hidden or unknown, so that git asks for them;
 * 404 to those who have signed in.
 */
export async function repositoryForFetch(context: Context, request: Request, subject: GitSubject): Promise<GitAccess> {
  return accessForFetch(context, await callerOf(context, request, 'GET'), subject)
}

/** @throws Refusal as `repositoryForFetch`; 403 for a reader, for an archived repository and for a mirror. */
export async function repositoryForPush(context: Context, request: Request, subject: GitSubject): Promise<PushAccess> {
  return accessForPush(context, await callerOf(context, request, 'POST'), subject)
}

/** `repositoryForPush` for a known caller, who came over HTTP or SSH. @throws Refusal as that */
export async function accessForPush(
  context: Context,
  caller: Actor | undefined,
  subject: GitSubject,
): Promise<PushAccess> {
  const { actor, repo, unit } = await accessForFetch(context, caller, subject)
  if (!actor) throw unauthorized()
  const verdict = judge(actor, repo, { unit, level: 'write', isChange: true })
  if (verdict === 'archived') throw forbidden(`${repo.fullName} is archived: it takes no pushes`)
  if (verdict !== 'granted') throw forbidden(`you may not push to ${repo.fullName}`)
  if (repo.repository.isMirror) throw forbidden(`${repo.fullName} is a mirror: it takes no pushes`)
  return { actor, repo, unit }
}

/** `method`: what the scope is judged by; a fetch comes by POST too, but only reads. */
async function callerOf(context: Context, request: Request, method: 'GET' | 'POST'): Promise<Actor | undefined> {
  const actor = await identify(context, request)
  return actor && requireScopes(actor, 'repository', method)
}

/** `repositoryForFetch` for a caller who is known. @throws Refusal as that */
export async function accessForFetch(
  context: Context,
  actor: Actor | undefined,
  subject: GitSubject,
): Promise<GitAccess> {
  const { name, unit } = readName(subject.repo)
  const path = { owner: subject.owner, name }
  const loaded = await findRepository(context.db, path, actor?.user.id)
  const repo = loaded && withRights(context, actor, loaded)
  if (repo && judge(actor, repo, { unit, level: 'read', isChange: false }) === 'granted') return { actor, repo, unit }
  throw actor ? notFound('repository not found') : unauthorized('sign in to reach this repository')
}

/** No repository may be called `NAME.wiki`, so that is always a wiki. */
export function readName(repo: string): Pick<GitAccess, 'unit'> & { name: string } {
  const name = repo.replace(/\.git$/i, '')
  const ofWiki = /^(.+)\.wiki$/i.exec(name)?.[1]
  return ofWiki === undefined ? { name, unit: 'repo.code' } : { name: ofWiki, unit: 'repo.wiki' }
}

/**
 * Does what needs the folder of a repository that was admitted. One that was deleted meanwhile is refused like one that never was:
 * its row goes first, so that it is not admitted again.
 */
export async function withFolder<Result>(admit: () => Promise<unknown>, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof GitError && error.kind === 'not-found') await admit()
    throw error
  }
}

/** Runs the handler of a Git route. What it throws becomes plain text, which git shows to its user. */
export async function answerGit(
  context: Context,
  request: Request,
  handle: () => Promise<Response>,
): Promise<Response> {
  try {
    return await handle()
  } catch (error) {
    const refusal = error instanceof GitError ? refusalOf(context, error) : error
    if (!(refusal instanceof Refusal)) return errorResponse(context, { code: 'UNKNOWN', error, request })
    const headers = new Headers({ 'content-type': 'text/plain;charset=utf-8', ...refusal.details.headers })
    // Wire: credential helpers know by the realm that they can sign in with OAuth.
    if (refusal.status === 401) headers.set('www-authenticate', 'Basic realm="Gitea", charset="UTF-8"')
    return new Response(`${refusal.message}\n`, { status: refusal.status, headers })
  }
}

/** The refusal for a failure of Git. */
export function refusalOf({ log }: Context, error: GitError): Refusal {
  switch (error.kind) {
    case 'busy':
      return unavailable('too many Git operations at once, try again')
    case 'timeout':
      return unavailable('the Git operation took too long')
    case 'too-large':
      return tooLarge(error.message)
    case 'invalid':
      return badRequest(error.message)
    case 'aborted':
      return badRequest('the request was broken off')
    default:
      // A folder that is missing or damaged: only the log says more, since git names folders of the server.
      log.error({ err: error }, 'git failed')
      return new Refusal(500, 'the repository cannot be read; its administrator finds the reason in the log')
  }
}

/** For whom Git works: an account, the jobs of a repository, or the address of a visitor. One client gets a part of all places for Git processes only. */
export function gitClient({ config }: Pick<Context, 'config'>, request: Request, actor: Actor | undefined): Client {
  return clientOf(actor, clientAddress(config, request))
}

/** The same where there is no request. */
export function clientOf(actor: Actor | undefined, address: string | undefined): Client {
  if (actor?.job) return { key: `jobs of ${actor.job.repositoryId}`, isSignedIn: true }
  if (actor) return { key: `account ${actor.user.id}`, isSignedIn: true }
  return { key: `address ${address === undefined ? 'unknown' : networkOf(address)}`, isSignedIn: false }
}
