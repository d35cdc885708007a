import { t } from 'elysia'
import type { SessionRow } from '../../db/schema/sessions.ts'
import { FORM_TOKEN_FIELD, formTokenOf } from '../auth/csrf.ts'
import type { Context } from '../context.ts'
import { Refusal } from '../kernel/errors.ts'
import { type Html, type HtmlValue, html } from './html.ts'
import { addressOf } from './paths.ts'

/** The field that every form has, for the schemas of their bodies. */
export const formToken = { [FORM_TOKEN_FIELD]: t.Optional(t.String({ maxLength: 200 })) }

/** A text of a form. Absent and empty are judged by the rules, so that the form can be shown again. */
export const formText = (maxLength = 255) => t.Optional(t.String({ maxLength }))

/** A box that is ticked or not: browsers leave out those that are not. */
export const formTick = () => t.Optional(t.Boolean())

/** What was wrong with a form: it is shown again with this. */
export interface FormProblem {
  status: number
  message: string
  /** The field that it concerns, where it is one. */
  field?: string | undefined
  headers?: Readonly<Record<string, string>> | undefined
}

/**
 * What a refusal says about a form.
 * @throws the error itself where it is none, or not about what was sent
 */
export function problemOf(error: unknown): FormProblem {
  if (!(error instanceof Refusal) || error.status < 400 || error.status >= 500) throw error
  const { status, message, details } = error
  const [field] = details.fields ?? []
  // Which name or address it is, the form shows.
  const words = (field?.message ?? message).replace(/ \[\w+: [^\]]*\]$/, '')
  return { status, message: plainWords[words] ?? words, field: field?.field, headers: details.headers }
}

/** Wire: some words of refusals are those that clients of the Gitea API look for. People get a sentence. */
const plainWords: Readonly<Record<string, string>> = {
  Required: 'is needed',
  Email: 'is no e-mail address',
  Url: 'is no address that begins with https:// or http://',
  MaxSize: 'is too long',
  'invalid username': 'may have letters, digits, dashes, dots and underscores, and begins with a letter or a digit',
  PasswordIsRequired: 'the password is too short',
}

/**
 * Does what a form asks for.
 * @param shown names of the form's fields: a problem of another field is said of the form as a whole
 * @param otherwise the field that such a problem is said of instead, or finds it
 * @returns what was wrong; undefined when it was done
 * @throws what is not about the form
 */
export async function tryForm(
  change: () => Promise<unknown>,
  shown: readonly string[] = [],
  otherwise?: string | ((problem: FormProblem) => string | undefined),
): Promise<FormProblem | undefined> {
  try {
    await change()
    return undefined
  } catch (error) {
    const problem = problemOf(error)
    if (problem.field !== undefined && shown.includes(problem.field)) return problem
    if (problem.status === 429) return { ...problem, field: undefined }
    return { ...problem, field: typeof otherwise === 'function' ? otherwise(problem) : otherwise }
  }
}

/** How a page with a form is answered: with what was wrong, if anything was. */
export const statusOf = (
  problem: FormProblem | undefined,
): { status?: number; headers?: Readonly<Record<string, string>> } =>
  problem === undefined ? {} : { status: problem.status, ...(problem.headers ? { headers: problem.headers } : {}) }

export interface Form {
  /** Path within the service. */
  action: string
  /** Whose form it is; undefined for visitors. */
  session: SessionRow | undefined
  fields?: HtmlValue
  submit: string
  kind?: 'main' | 'plain' | 'danger'
  /** Further attributes of the form. */
  attributes?: Html
  /** Said of the button, where its text alone does not say what it is about. */
  label?: string
}

/** A form with one button. Nothing is judged by the browser: what is wrong is said in one way, by the service. */
export const form = (
  context: Context,
  { action, session, fields, submit, kind = 'main', label, attributes }: Form,
): Html =>
  html`<form method="post" action="${addressOf(context, action)}" novalidate${attributes}>${session && hidden(FORM_TOKEN_FIELD, formTokenOf(context, session))}
${fields}<button type="submit" class="${kind}"${label && html` aria-label="${label}"`}>${submit}</button></form>`

export const hidden = (name: string, value: string): Html => html`<input type="hidden" name="${name}" value="${value}">`

export interface Field {
  name: string
  label: string
  type?: 'text' | 'password' | 'email' | 'url' | 'date'
  /** What it holds at first. Passwords are never sent back. */
  value?: string | undefined
  /** A token of the HTML standard, 4.10.18.7: browsers and password managers fill it in. */
  autocomplete?: string
  inputmode?: 'numeric' | 'text'
  hint?: HtmlValue
  isRequired?: boolean
  maxLength?: number
  hasFocus?: boolean
  /** Shown at the field that it is about. */
  problem?: FormProblem | undefined
}

export function field({ name, label, type = 'text', value, hint, problem, ...more }: Field): Html {
  return html`<div class="field">${labelOf({ name, label, hint, problem })}<input id="${name}" name="${name}" type="${type}"${
    value !== undefined && type !== 'password' && html` value="${value}"`
  }${more.autocomplete && html` autocomplete="${more.autocomplete}"`}${
    more.inputmode && html` inputmode="${more.inputmode}"`
  }${more.maxLength && html` maxlength="${more.maxLength}"`}${more.isRequired && html` required`}${
    more.hasFocus && html` autofocus`
  }${stateOf({ name, hint, problem })}></div>
`
}

type Labelled = Pick<Field, 'name' | 'label' | 'hint' | 'problem'>

const labelOf = ({ name, label, hint, problem }: Labelled): Html =>
  html`<label for="${name}">${label}</label>${hint && html`<p class="hint" id="${name}-hint">${hint}</p>`}${
    problem?.field === name && html`<p class="problem" id="${name}-problem">${sentence(problem.message, label)}</p>`
  }`

function stateOf({ name, hint, problem }: Omit<Labelled, 'label'>): Html {
  const isWrong = problem?.field === name
  const described = [...(hint ? [`${name}-hint`] : []), ...(isWrong ? [`${name}-problem`] : [])].join(' ')
  return html`${described !== '' && html` aria-describedby="${described}"`}${isWrong && html` aria-invalid="true"`}`
}

export const textArea = (area: Labelled & { value?: string | undefined; maxLength?: number; isCode?: boolean }): Html =>
  html`<div class="field">${labelOf(area)}<textarea id="${area.name}" name="${area.name}"${
    area.maxLength && html` maxlength="${area.maxLength}"`
  }${area.isCode && html` class="code" spellcheck="false"`}${stateOf(area)}>
${area.value}</textarea></div>
`

export interface Choice {
  value: string
  label: string
}

export const select = (list: Labelled & { value: string; choices: readonly Choice[] }): Html =>
  html`<div class="field">${labelOf(list)}<select id="${list.name}" name="${list.name}"${stateOf(list)}>${list.choices.map(
    ({ value, label }) => html`<option value="${value}"${value === list.value && html` selected`}>${label}</option>`,
  )}</select></div>
`

export const checkbox = ({
  name,
  label,
  hint,
  isTicked,
}: Pick<Labelled, 'name' | 'label' | 'hint'> & { isTicked?: boolean | undefined }): Html =>
  html`<div class="field check"><input type="checkbox" id="${name}" name="${name}" value="true"${isTicked && html` checked`}${
    hint && html` aria-describedby="${name}-hint"`
  }><div><label for="${name}">${label}</label>${hint && html`<p class="hint" id="${name}-hint">${hint}</p>`}</div></div>
`

/** Said above a form that was not taken; screen readers say it at once. */
export const problemNote = (problem: FormProblem | undefined): Html =>
  html`${problem && html`<div class="note bad" role="alert"><p>${sentence(problem.message)}</p></div>`}`

/** Refusals are written for programs: small at first, without an end, some as what is said of their field. */
export function sentence(text: string, label = 'This'): string {
  const whole = /^(is|may) /.test(text) ? `${label} ${text}` : text
  return `${whole.charAt(0).toUpperCase()}${whole.slice(1)}${/[.!?]$/.test(whole) ? '' : '.'}`
}
