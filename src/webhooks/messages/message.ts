import type { Colour } from './colour.ts'
import type { CommitPart, HookMessageEvent, Person, RepositoryPart } from './payload.ts'
import type { Link, Words } from './words.ts'

/** What happened, in words; each receiver's format is made of this. */
export interface Message {
  event: HookMessageEvent
  /** The sentence that says what happened, without who did it. */
  phrase: Words
  sender: Person
  /** Where formats that name the doer do so. Slack alone says it of reviews and repositories. */
  saysSender: 'always' | 'slack' | 'never'
  colour: Colour
  /** Where a click leads; empty when there is nothing any more. */
  url: string
  /** What DingTalk's button says. */
  button: string
  /** `#12 Title` of an issue or pull request. */
  title?: string
  /** What was written: of an issue, a comment, a review. */
  body: string
  /** Microsoft Teams lists these. */
  facts: readonly (readonly [name: string, value: string])[]
  push?: PushPart
}

/** Pushes are shown with their commits. */
export interface PushPart {
  repository: Link
  branch: string
  /** `3 new commits`. */
  count: string
  commits: readonly CommitPart[]
  /** What the newest commits are compared with. */
  compareUrl: string
}

export const repositoryLink = ({ full_name, html_url }: RepositoryPart): Link => ({ text: full_name, url: html_url })

export const repositoryFact = ({ full_name }: RepositoryPart) => ['Repository:', full_name] as const
