import { Elysia, t } from 'elysia'
import { visibilities } from '../../../db/schema/users.ts'
import type { Context } from '../../context.ts'
import { editSettings } from '../../features/user-settings/service.ts'
import { invalid } from '../../kernel/errors.ts'
import { noreplyAddress } from '../../wire/user.ts'
import {
  checkbox,
  type FormProblem,
  field,
  form,
  formText,
  formTick,
  formToken,
  select,
  textArea,
  tryForm,
} from '../form.ts'
import { html } from '../html.ts'
import { seeOther } from '../layout.ts'
import { pageGate, type SignedIn } from '../page-gate.ts'
import { donePath, settingsPage } from './settings-page.ts'

const PATH = '/user/settings'

const ProfileForm = t.Object({
  ...formToken,
  full_name: formText(100),
  description: formText(),
  website: formText(),
  location: formText(50),
  visibility: formText(20),
  hide_email: formTick(),
  hide_activity: formTick(),
})
type ProfileForm = typeof ProfileForm.static

/** What others see of a person. */
export const profilePages = (context: Context) =>
  new Elysia({ name: 'settings-profile' })
    .use(pageGate(context))
    .get(PATH, ({ actor, query }) => view(context, actor, { shown: ownValues(actor), done: query.done }), {
      ownPage: { recently: false },
      query: t.Object({ done: formText() }),
    })
    .post(
      PATH,
      async ({ actor, body }) => {
        const problem = await tryForm(() => save(context, actor, body), ['website', 'visibility'])
        return problem ? view(context, actor, { shown: body, problem }) : seeOther(context, donePath(PATH, 'saved'))
      },
      { ownPage: { recently: false }, body: ProfileForm },
    )

async function save(context: Context, actor: SignedIn, { visibility, ...body }: ProfileForm): Promise<void> {
  const chosen = visibilities.find((known) => known === visibility)
  if (visibility !== undefined && chosen === undefined) throw invalid('is none of the choices', 'visibility')
  await editSettings(context, actor, {
    ...body,
    visibility: chosen,
    // A box that is not ticked is not sent.
    hide_email: body.hide_email ?? false,
    hide_activity: body.hide_activity ?? false,
  })
}

function ownValues({ user }: SignedIn): ProfileForm {
  return {
    full_name: user.fullName,
    description: user.description,
    website: user.website,
    location: user.location,
    visibility: user.visibility,
    hide_email: user.keepEmailPrivate,
    hide_activity: user.hideActivity,
  }
}

interface View {
  shown: ProfileForm
  done?: string | undefined
  problem?: FormProblem | undefined
}

function view(context: Context, actor: SignedIn, { shown, done, problem }: View): Response {
  const fields = html`
${field({ name: 'full_name', label: 'Name', value: shown.full_name, autocomplete: 'name', maxLength: 100, problem })}
${textArea({ name: 'description', label: 'About you', value: shown.description, maxLength: 255, problem })}
${field({ name: 'website', label: 'Website', type: 'url', value: shown.website, autocomplete: 'url', maxLength: 255, problem })}
${field({ name: 'location', label: 'Location', value: shown.location, maxLength: 50, problem })}
${select({
  name: 'visibility',
  label: 'Who may know of this account',
  value: shown.visibility ?? actor.user.visibility,
  choices: [
    { value: 'public', label: 'Everybody' },
    { value: 'limited', label: 'Who is signed in' },
    { value: 'private', label: 'Who shares an organization with you' },
  ],
  problem,
})}
${checkbox({
  name: 'hide_email',
  label: 'Hide your e-mail address',
  hint: `Others see ${noreplyAddress(actor.user, context.config)}.`,
  isTicked: shown.hide_email,
})}
${checkbox({ name: 'hide_activity', label: 'Hide what you do from your profile', isTicked: shown.hide_activity })}`
  const main = form(context, { action: PATH, session: actor.session, fields, submit: 'Save' })
  return settingsPage(context, actor, { path: PATH, title: 'Profile', main, done, problem })
}
