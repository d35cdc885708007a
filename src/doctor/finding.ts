/** What one look found: fine, or what is wrong and how to fix it. */
export interface Finding {
  subject: string
  detail: string
  /** Set when something is wrong. */
  remedy?: string
}
