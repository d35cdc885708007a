import { Value } from '@sinclair/typebox/value'
import type { RepositoryAccess } from '../../access/repository-access.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { unchangedAnswer } from '../../http/answers.ts'
import { badRequest } from '../../kernel/errors.ts'
import type { ContentsResponse } from '../../wire/contents.ts'
import { getNamedRevision } from '../commits/revision.ts'
import { GetFilesOptions } from './schema.ts'
import { readFiles } from './service.ts'

/** The names in the query's JSON. @throws Refusal 400 for anything else, and without any */
export function readFileNames(body: string | undefined): string[] {
  const value = parse(body ?? '')
  if (!Value.Check(GetFilesOptions, value)) throw badRequest('the query key "body" needs {"files": ["..."]}')
  return value.files
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

interface Asked {
  actor: Actor | undefined
  request: Request
  set: { headers: Record<string, string | number | undefined> }
}

/** Wire: of more names than a page of a list has, the first are answered. */
export async function answerFiles(
  context: Context,
  asked: Asked,
  { repo, ref, names }: { repo: RepositoryAccess; ref: string | undefined; names: readonly string[] },
): Promise<(ContentsResponse | null)[] | Response> {
  const revision = await getNamedRevision(context, repo, ref)
  const paths = names.slice(0, context.config.maxResponseItems).map((name) => name.replace(/^\/+|\/+$/g, ''))
  const versions = [repo.version, revision.kind, ref, revision.commit.sha, ...paths]
  const unchanged = asked.request.method === 'GET' ? unchangedAnswer(context, asked, versions) : undefined
  if (unchanged) return unchanged
  return readFiles(context, { repo, revision, ref: ref ?? revision.name }, { paths, signal: asked.request.signal })
}
