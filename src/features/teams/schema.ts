import { t } from 'elysia'
import { permissionWords } from '../../../db/schema/organizations.ts'
import { units } from '../../access/units.ts'
import { Team } from '../../wire/team.ts'

/** Empty counts as absent, as in the Gitea API. */
const words = [t.Literal('none'), t.Literal('read'), t.Literal('write'), t.Literal('admin'), t.Literal('')] as const
const description = '`admin` reaches every unit; with `read` and `write` the units decide.'
const rest = {
  description: t.Optional(t.String({ maxLength: 255 })),
  units: t.Optional(t.Array(t.String({ maxLength: 100, enum: [...units] }), { maxItems: 100 })),
  units_map: t.Optional(
    t.Record(t.String(), t.String({ enum: [...permissionWords] }), {
      description: 'Unit to none, read, write, admin or owner; goes before `units`.',
    }),
  ),
  includes_all_repositories: t.Optional(t.Boolean()),
  can_create_org_repo: t.Optional(t.Boolean()),
  visibility: t.Optional(
    t.Union([t.Literal('public'), t.Literal('limited'), t.Literal('private'), t.Literal('')], {
      description:
        '`private`: only its members and the owners see it; otherwise every member of the organization does.',
    }),
  ),
}

export type CreateTeamOption = typeof CreateTeamOption.static
export const CreateTeamOption = t.Object(
  {
    name: t.String({ minLength: 1, maxLength: 255 }),
    permission: t.Optional(t.Union([...words], { description })),
    ...rest,
  },
  { $id: 'CreateTeamOption' },
)

export type EditTeamOption = typeof EditTeamOption.static
export const EditTeamOption = t.Object(
  {
    name: t.Optional(t.String({ maxLength: 255 })),
    permission: t.Optional(
      t.Union([...words, t.Literal('owner')], { description: `${description} \`owner\` is said of the owners alone.` }),
    ),
    ...rest,
  },
  { $id: 'EditTeamOption' },
)

export const TeamSearchResults = t.Object({ ok: t.Boolean(), data: t.Array(Team) }, { $id: 'TeamSearchResults' })
