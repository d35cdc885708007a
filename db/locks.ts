/**
 * Numbers of advisory locks. Any number will do, as long as no two locks of this database share it. Those of one key and those of two
 * keys never meet.
 */

/** One process at a time migrates the database. */
export const MIGRATION_LOCK = 4_327_845

/** Two replicas may start on one empty database: one of them makes the first administrator. */
export const FIRST_START_LOCK = 5_190_331

// 5_190_332 is taken by the function `ensure_audit_partitions` of the migrations.

/** Of two administrators who leave at the same time, the second sees that the first is gone. */
export const ADMINISTRATORS_LOCK = 5_190_333

/** First of two keys; the second names a person. Blocking this person waits for what the block would have refused. */
export const BLOCKS_LOCK = 5_190_334

/** First of two keys; the second is 0. No account is deleted beside what locks several others: features/repositories/deletion-lock.ts. */
export const DELETIONS_LOCK = 5_190_335

/** One dependency between issues is added after the other: which circle one would close depends on all others. */
export const DEPENDENCIES_LOCK = 5_190_336

/** First of two keys; the second is made of a repository and a concurrency group. Whoever comes to or leaves a group does so alone. */
export const CONCURRENCY_LOCK = 5_190_337

/** Of two who rotate the key in a file, the second finds what the first has made. */
export const SECRET_KEY_LOCK = 5_190_338

/** One replica at a time fans out, so that the reactions of one queue are enqueued in the order of their events. */
export const FAN_OUT_LOCK = 7_113_402
