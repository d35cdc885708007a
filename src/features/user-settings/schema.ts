import { t } from 'elysia'
import type { UserRow } from '../../../db/schema/users.ts'

export type UserSettings = typeof UserSettings.static
export const UserSettings = t.Object(
  {
    full_name: t.String(),
    website: t.String(),
    description: t.String(),
    location: t.String(),
    language: t.String(),
    theme: t.String(),
    diff_view_style: t.String(),
    hide_email: t.Boolean(),
    hide_activity: t.Boolean(),
  },
  { $id: 'UserSettings' },
)

export type UserSettingsOptions = typeof UserSettingsOptions.static
export const UserSettingsOptions = t.Object(
  {
    full_name: t.Optional(t.String({ maxLength: 100 })),
    website: t.Optional(t.String({ maxLength: 255 })),
    description: t.Optional(t.String({ maxLength: 255 })),
    location: t.Optional(t.String({ maxLength: 50 })),
    language: t.Optional(t.String({ maxLength: 35, description: 'As `en-US` or `en_US`, or empty.' })),
    theme: t.Optional(t.String({ maxLength: 64 })),
    diff_view_style: t.Optional(t.String({ maxLength: 16, description: '`unified`, `split` or empty.' })),
    hide_email: t.Optional(t.Boolean()),
    hide_activity: t.Optional(t.Boolean()),
  },
  { $id: 'UserSettingsOptions' },
)

export const ChangePasswordOption = t.Object(
  { new_password: t.String({ minLength: 1, maxLength: 255 }) },
  { $id: 'ChangePasswordOption' },
)

export const presentUserSettings = (user: UserRow): UserSettings => ({
  full_name: user.fullName,
  website: user.website,
  description: user.description,
  location: user.location,
  language: user.language,
  theme: user.theme,
  diff_view_style: user.diffViewStyle,
  hide_email: user.keepEmailPrivate,
  hide_activity: user.hideActivity,
})
