/** What one workflow may be. Above these it is refused with a reason. */
export const MAX_WORKFLOW_BYTES = 256 * 1024
/** In one repository. */
export const MAX_WORKFLOWS = 100
/** Lists and records within each other. */
export const MAX_YAML_DEPTH = 40
/** Values of a file, those behind aliases counted at each use. */
export const MAX_YAML_VALUES = 20_000
export const MAX_YAML_ALIASES = 100
/** In one file. */
export const MAX_SCHEDULES = 20
/** In one list of a filter. */
export const MAX_PATTERNS = 100
/** Of one event; later ones are not looked at. GitHub looks at 300, and `changes` of the Git engine gives this many. */
export const MAX_CHANGED_PATHS = 3000
/** As GitHub documents it. */
export const MAX_MATRIX_JOBS = 256
/** Of one run, with those of called workflows. */
export const MAX_RUN_JOBS = 1000
/** A workflow that calls one that calls one ... */
export const MAX_CALL_DEPTH = 4
/** Different workflows that a run may call. */
export const MAX_CALLED_WORKFLOWS = 20
/** As GitHub documents it. */
export const MAX_DISPATCH_INPUTS = 25
/** Characters of all values together, as GitHub documents it. */
export const MAX_INPUT_CHARACTERS = 65_535
/** Characters that the expressions of one plan may make. Seven nested calls of `format` make 100 MB. */
export const MAX_EXPRESSION_OUTPUT = 4 * 1024 * 1024
/** Of names, labels and schedules. Indexes hold them. */
export const MAX_NAME = 255
export const MAX_LABELS = 50
export const DEFAULT_TIMEOUT_MINUTES = 360
/** 35 days: no run lasts longer. */
export const MAX_TIMEOUT_MINUTES = 35 * 24 * 60
