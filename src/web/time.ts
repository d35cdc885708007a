import { wireTime } from '../kernel/time.ts'
import { type Html, html } from './html.ts'

/** A time for people and programs. Pages do not know where their reader is, so it is UTC. */
export const timeOf = (at: Date): Html =>
  html`<time datetime="${wireTime(at)}">${at.toISOString().slice(0, 16).replace('T', ' ')} UTC</time>`
