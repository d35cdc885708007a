import type { Context } from '../../context.ts'
import { programName } from '../../kernel/program-name.ts'
import { messageOf } from '../../kernel/thrown.ts'

/** Something wrong with stored data. */
export interface DataProblem {
  /** What it is about, such as `alice/hello (12)`. */
  subject: string
  detail: string
  /** What to do by hand; with `isRepaired`, what was done. */
  remedy: string
  isRepaired: boolean
}

export interface DataCheck {
  context: Context
  /** Whether what can be repaired is. */
  isRepairing: boolean
  /** Whether git looks for missing objects, which takes most of the time. */
  looksAtObjects: boolean
  signal: AbortSignal
  found(fault: DataProblem): void
  /** Says how far the work is, often. */
  progress(text: string): void
}

export interface Found {
  subject: string
  detail: string
  /** By hand. */
  remedy: string
  /** Absent where only people can decide. */
  repair?: {
    /** `removes it`. */
    how: string
    /** If it returns a text, that is added to the report. */
    run(): Promise<unknown>
  }
}

/** Reports a fault, and repairs it where that is wanted and possible. Returns whether it is gone. */
export async function settle(check: DataCheck, { subject, detail, remedy, repair }: Found): Promise<boolean> {
  if (!repair || !check.isRepairing) {
    const byItself = repair && `${programName} doctor --data --repair ${repair.how}`
    const text = [byItself, remedy].filter((part) => part !== undefined && part !== '').join('; or ')
    check.found({ subject, detail, remedy: text, isRepaired: false })
    return false
  }
  try {
    const done = await repair.run()
    const more = typeof done === 'string' && done !== '' ? `; ${done}` : ''
    check.found({ subject, detail: `${detail}${more}`, remedy: repair.how, isRepaired: true })
    return true
  } catch (error) {
    const reason = messageOf(error)
    check.found({ subject, detail: `${detail}; it could not be repaired: ${reason}`, remedy, isRepaired: false })
    return false
  }
}
