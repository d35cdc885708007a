import type { UserRow, Visibility } from '../../../db/schema/users.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { invalid } from '../../kernel/errors.ts'
import { editUser, requireWebsite } from '../users/edit.ts'
import type { UserSettingsOptions } from './schema.ts'

const DIFF_VIEW_STYLES = ['', 'unified', 'split']

/**
 * @param option beyond what the API takes, who may know of the account
 * @throws Refusal 422 for a website, language, theme or style that cannot be
 */
export async function editSettings(
  { db }: Context,
  actor: Actor,
  option: UserSettingsOptions & { visibility?: Visibility | undefined },
): Promise<UserRow> {
  requireWebsite(option.website)
  if (option.language !== undefined && !/^([A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8})*)?$/.test(option.language))
    throw invalid('is no language', 'language')
  if (option.theme && !/^[\w-]+$/.test(option.theme)) throw invalid('is no theme', 'theme')
  if (option.diff_view_style !== undefined && !DIFF_VIEW_STYLES.includes(option.diff_view_style))
    throw invalid('In', 'diff_view_style')
  const change = {
    fullName: option.full_name,
    website: option.website,
    description: option.description,
    location: option.location,
    visibility: option.visibility,
    language: option.language,
    theme: option.theme || undefined,
    diffViewStyle: option.diff_view_style,
    keepEmailPrivate: option.hide_email,
    hideActivity: option.hide_activity,
  }
  return db.transaction((tx) => editUser(tx, actor.user, change, actor))
}
