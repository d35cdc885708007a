import type { ActionsJsonRecord } from '../../../db/schema/actions.ts'
import type { Context } from '../../context.ts'
import type { Cause } from './cause.ts'

/** Wire: the `github` context of a run, as runners of the Gitea API get it. What belongs to one job is added when a runner takes it. */
export function githubContext(
  { baseUrl }: Pick<Context, 'baseUrl'>,
  { repository, owner, actor, ref, sha, event, payload }: Cause,
  run: { id: number; number: number; workflowFile: string; isProtected: boolean },
): ActionsJsonRecord {
  const fullName = `${owner.name}/${repository.name}`
  return {
    ...EMPTY,
    actor: actor?.name ?? '',
    triggering_actor: actor?.name ?? '',
    api_url: `${baseUrl}/api/v1`,
    event: payload,
    event_name: event.name,
    gitea_default_actions_url: 'https://github.com',
    ref: fullRef(ref),
    ref_name: ref.name,
    ref_protected: run.isProtected,
    ref_type: ref.kind,
    repository: fullName,
    repositoryUrl: `${baseUrl}/${fullName}.git`,
    repository_owner: owner.name,
    run_attempt: '1',
    run_id: String(run.id),
    run_number: String(run.number),
    secret_source: 'Actions',
    // Wire: with a slash at the end.
    server_url: `${baseUrl}/`,
    sha,
    workflow: run.workflowFile,
  }
}

export const fullRef = ({ kind, name }: Cause['ref']): string => `refs/${kind === 'branch' ? 'heads' : 'tags'}/${name}`

/** Wire: there, and filled by the runner or by nobody. */
const EMPTY = {
  action: '',
  action_path: '',
  action_ref: '',
  action_repository: '',
  action_status: '',
  base_ref: '',
  env: '',
  event_path: '',
  graphql_url: '',
  head_ref: '',
  path: '',
  retention_days: '',
  workspace: '',
}
