import type { Context } from '../../context.ts'
import { messageOf } from '../../kernel/thrown.ts'

/** Something wrong with what is kept. */
export interface DataFault {
  /** What it is about, such as `alice/hello (12)`. */
  subject: string
  detail: string
  /** What to do by hand; with `isMended`, what was done. */
  remedy: string
  isMended: boolean
}

export interface DataCheck {
  context: Context
  /** Whether what can be repaired is. */
  mends: boolean
  /** Whether git looks for missing objects, which takes most of the time. */
  looksAtObjects: boolean
  signal: AbortSignal
  found(fault: DataFault): void
  /** Says how far the work is, often. */
  progress(text: string): void
}

export interface Found {
  subject: string
  detail: string
  /** By hand. */
  remedy: string
  /** Absent where only people can decide. */
  mend?: {
    /** `removes it`. */
    how: string
    /** A text that it returns tells more of what was done. */
    run(): Promise<unknown>
  }
}

/** Tells of a fault, and repairs it where that is wanted and possible. Returns whether it is gone. */
export async function settle(check: DataCheck, { subject, detail, remedy, mend }: Found): Promise<boolean> {
  if (!mend || !check.mends) {
    const byItself = mend && `hearth doctor --data --mend ${mend.how}`
    const text = [byItself, remedy].filter((part) => part !== undefined && part !== '').join('; or ')
    check.found({ subject, detail, remedy: text, isMended: false })
    return false
  }
  try {
    const done = await mend.run()
    const more = typeof done === 'string' && done !== '' ? `; ${done}` : ''
    check.found({ subject, detail: `${detail}${more}`, remedy: mend.how, isMended: true })
    return true
  } catch (error) {
    const reason = messageOf(error)
    check.found({ subject, detail: `${detail}; it could not be mended: ${reason}`, remedy, isMended: false })
    return false
  }
}
