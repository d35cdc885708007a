import { eq } from 'drizzle-orm'
import { Elysia, t } from 'elysia'
import { users } from '../../db/schema/users.ts'
import { FORM_TOKEN_FIELD, formTokenOf } from '../auth/csrf.ts'
import type { Context } from '../context.ts'
import { notFound } from '../kernel/errors.ts'
import { answerDeviceRequest, findDeviceFor, shownUserCode } from '../oauth/device.ts'
import type { WaitingDevice } from '../oauth/device-store.ts'
import { type FormProblem, field, form, formText, formToken, hidden, problemNote, problemOf, statusOf } from './form.ts'
import { type Html, html } from './html.ts'
import { htmlPage } from './layout.ts'
import { describeOwner, scopeList } from './oauth-views.ts'
import { pageGate, type SignedIn } from './page-gate.ts'
import { addressOf } from './paths.ts'

const PATH = '/login/device'
const userCode = { user_code: formText(40) }

/** Where somebody allows a device that has no browser (RFC 8628, 3.3). */
export const oauthDevicePages = (context: Context) =>
  new Elysia({ name: 'oauth-device', detail: { hide: true } })
    .use(pageGate(context))
    // The address may bring the code along. It is shown, and compared with the device, all the same.
    .get(PATH, ({ actor, query }) => codePage(context, actor, { typed: query.user_code }), {
      ownPage: { recently: false },
      query: t.Object(userCode),
    })
    .post(PATH, ({ actor, body }) => ask(context, actor, body.user_code ?? ''), {
      ownPage: { recently: false },
      body: t.Object({ ...formToken, ...userCode }),
    })
    .post(
      `${PATH}/grant`,
      ({ actor, body }) => answer(context, actor, { typed: body.user_code ?? '', granted: body.granted }),
      { ownPage: { recently: false }, body: t.Object({ ...formToken, ...userCode, granted: formText() }) },
    )

/** @throws Refusal 404 where the site has no such thing */
function requireDeviceFlow({ config }: Context): void {
  if (!config.oauth2Enabled || !config.oauth2DeviceFlow) throw notFound()
}

const UNKNOWN: FormProblem = {
  status: 422,
  field: 'user_code',
  message: 'No device waits with this code. It may have expired: let the device show another one',
}

async function ask(context: Context, actor: SignedIn, typed: string): Promise<Response> {
  requireDeviceFlow(context)
  try {
    const found = await findDeviceFor(context, actor, typed)
    return found ? await devicePage(context, actor, found) : codePage(context, actor, { typed, problem: UNKNOWN })
  } catch (error) {
    return codePage(context, actor, { typed, problem: problemOf(error) })
  }
}

async function answer(
  context: Context,
  actor: SignedIn,
  { typed, granted }: { typed: string; granted: string | undefined },
): Promise<Response> {
  requireDeviceFlow(context)
  if (granted !== 'true' && granted !== 'false') return codePage(context, actor, { typed, problem: UNKNOWN })
  const isAllowed = granted === 'true'
  try {
    const isAnswered = await answerDeviceRequest(context, actor, { userCode: typed, isAllowed })
    return isAnswered ? donePage(context, actor, isAllowed) : codePage(context, actor, { typed, problem: UNKNOWN })
  } catch (error) {
    return codePage(context, actor, { typed, problem: problemOf(error) })
  }
}

interface CodeView {
  typed: string | undefined
  problem?: FormProblem
}

function codePage(context: Context, actor: SignedIn, { typed, problem }: CodeView): Response {
  requireDeviceFlow(context)
  const fields = field({
    name: 'user_code',
    label: 'Code on the device',
    value: typed,
    hint: 'Only a code that you see on a device in front of you. Whoever sent you one wants to get into your account.',
    autocomplete: 'off',
    maxLength: 40,
    isRequired: true,
    problem,
  })
  return htmlPage(context, actor, {
    title: 'Allow a device',
    width: 'narrow',
    ...statusOf(problem),
    main: html`<h1>Allow a device</h1>
${problem?.field === undefined && problemNote(problem)}
${form(context, { action: PATH, session: actor.session, fields, submit: 'Go on' })}`,
  })
}

async function devicePage(
  context: Context,
  actor: SignedIn,
  { device, application }: WaitingDevice,
): Promise<Response> {
  const { ownerId, name } = application
  const [owner] = ownerId === null ? [] : await context.db.select().from(users).where(eq(users.id, ownerId))
  const code = shownUserCode(device.userCode)
  return htmlPage(context, actor, {
    title: `Allow ${name}?`,
    width: 'narrow',
    main: html`<h1>Allow <strong>${name}</strong>?</h1>
<p>It shows the code <strong>${code}</strong>. ${describeOwner(context, owner)} It wants to use your account <strong>${actor.user.name}</strong>.</p>
${scopeList(device.scopes)}
${grantForm(context, actor, code)}`,
  })
}

const grantForm = (context: Context, { session }: SignedIn, code: string): Html =>
  html`<form method="post" action="${addressOf(context, `${PATH}/grant`)}">
${hidden(FORM_TOKEN_FIELD, formTokenOf(context, session))}${hidden('user_code', code)}
<div class="actions">
<button type="submit" class="main" name="granted" value="true">Allow</button>
<button type="submit" class="plain" name="granted" value="false">Do not allow</button>
</div>
</form>`

const donePage = (context: Context, actor: SignedIn, isAllowed: boolean): Response => {
  const title = isAllowed ? 'The device is allowed' : 'The device is not allowed'
  return htmlPage(context, actor, {
    title,
    width: 'narrow',
    main: html`<h1>${title}</h1>
<p>${isAllowed ? 'It goes on by itself in a moment. You can close this page.' : 'You can close this page.'}</p>`,
  })
}
