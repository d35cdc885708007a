import { bigint, customType, timestamp } from 'drizzle-orm/pg-core'

/** The primary key of every table: bigint identity, read as a JavaScript number (ids stay far below 2^53). */
export const id = () => bigint({ mode: 'number' }).primaryKey().generatedAlwaysAsIdentity()

/** A reference to another row's id. */
export const reference = () => bigint({ mode: 'number' })

/** A point in time, always with its zone, read as a Date. */
export const instant = () => timestamp({ withTimezone: true, mode: 'date' })

export const createdAt = () => instant().notNull().defaultNow()
export const updatedAt = () => instant().notNull().defaultNow()

export const bytes = customType<{ data: Uint8Array; driverData: Uint8Array }>({ dataType: () => 'bytea' })
