import type {
  Archive,
  ArchiveQuery,
  AttributeQuery,
  Blob,
  Call,
  Changes,
  Commit,
  CopiedTree,
  DiffQuery,
  FilesCommit,
  FilesCommitted,
  GitHook,
  GitService,
  InitialCommit,
  Integrity,
  ListedRemote,
  LoggedCommit,
  LogQuery,
  Look,
  MergeCommit,
  ObjectFormat,
  ObjectName,
  OpenBlob,
  Ref,
  RefChange,
  Remote,
  RepositorySize,
  Served,
  ServeRequest,
  Signature,
  Tag,
  Tree,
  TreeChange,
  TreeEntry,
  UnadoptedFolder,
} from './model.ts'
import type { GitRepair } from './repair.ts'

/**
 * The one way to git. Values in, values out, streams for bytes. A repository is its database id.
 *
 * `revision` is a branch, a tag, a full ref name, an object id (4 digits and more) or `HEAD`, with `^`, `~n` and `^{type}`
 * behind it; a branch wins over a tag, and both over an abbreviated id. Every function throws GitError: `not-found`
 * `repository` when the folder is missing, `not-found` `revision` when the name is unknown, `invalid` `revision-syntax` when it
 * cannot be one, `busy` when too many processes wait, `timeout` and `aborted` as the call says.
 */
export interface Git {
  /** Of the git program, `2.39.5`. */
  readonly version: string
  readonly objectFormats: readonly ObjectFormat[]
  readonly repair: GitRepair

  /**
   * Builds the folder whole under `@creating`, flushes it to the disk and renames it into place: it is there with its first
   * commit or not at all. Throws `conflict` `repository-exists`.
   */
  createRepository(
    id: number,
    option: { objectFormat: ObjectFormat; defaultBranch: string; initialCommit?: InitialCommit },
  ): Promise<{ commit?: Commit }>
  /** The folder leaves its place in one rename, then it is deleted. A missing folder is no error: jobs repeat. */
  removeRepository(id: number): Promise<void>
  exists(id: number): Promise<boolean>
  /** Ids of all folders in place, in no order; for the search of orphans. */
  listStoredIds(): AsyncIterable<number>
  /**
   * Copies a bare repository from an unadopted folder (never moves it): objects, refs and HEAD, nothing that could run.
   * Links are refused (`invalid` `content`), and so is damage.
   */
  importRepository(id: number, folder: UnadoptedFolder): Promise<void>
  /**
   * Copies the branches and tags of a stored repository, or of one branch, with what can be reached from them and nothing else.
   * HEAD names the branch, or what the source's names.
   */
  forkRepository(id: number, sourceId: number, option?: { branch?: string }, call?: Call): Promise<void>
  /** Makes a repository of one commit with the files of another's commit, of which nothing else is copied. */
  copyTree(id: number, option: CopiedTree, call?: Call): Promise<Commit>
  /** Folders `<owner>/<name>.git` under the root, by owner and name. Links are not followed. */
  listUnadopted(): AsyncIterable<UnadoptedFolder>
  isUnadopted(folder: UnadoptedFolder): Promise<boolean>
  removeUnadopted(folder: UnadoptedFolder): Promise<void>
  objectFormat(id: number): Promise<ObjectFormat>

  /** All three, with the text of those that are set. They run only where the engine was made with `hookSeconds`. */
  listHooks(id: number): Promise<GitHook[]>
  /** Replaces the program in one step, or removes it; a push that runs it already goes on with the old one. */
  setHook(id: number, hook: GitHook): Promise<void>

  /** The full name HEAD points to, whether or not that branch exists. */
  getHead(id: number): Promise<string>
  /** The branch need not exist. Throws `invalid` `ref-name`. */
  setHead(id: number, branch: string): Promise<void>
  /** By name, or newest commit first. At most `limit` (100,000) after `offset`. `prefix` ends at a slash or is a full name. */
  listRefs(
    id: number,
    option?: { prefix?: string; offset?: number; limit?: number; sort?: 'name' | 'newest' },
    call?: Call,
  ): Promise<Ref[]>
  /**
   * All or none, between the repository's hooks. Throws `invalid` `hook` when one declines, `conflict` `ref-moved` (old value) or
   * `ref-name-conflict` (`a` beside `a/b`), `invalid` `ref-name`.
   */
  updateRefs(id: number, changes: RefChange[], call?: Call): Promise<void>
  resolve(id: number, revision: string, call?: Call): Promise<ObjectName>
  /** The same, undefined where `resolve` throws `revision` or `revision-syntax`. */
  find(id: number, revision: string, call?: Call): Promise<ObjectName | undefined>
  /** The id of the commit that a revision names, through tags; undefined where it names none. */
  findCommit(id: number, revision: string, call?: Call): Promise<string | undefined>
  /** The commit at `refs/heads/<name>`; undefined when there is no such branch. */
  findBranch(id: number, name: string, call?: Call): Promise<Commit | undefined>

  /** Tags are followed to their commit. */
  readCommit(id: number, revision: string, call?: Call): Promise<Commit>
  /** By full id, in one round trip. Ids that name no commit are absent from the answer. */
  readCommits(id: number, shas: string[], call?: Call): Promise<Map<string, Commit>>
  log(id: number, query: LogQuery, call?: Call): Promise<LoggedCommit[]>
  /** What `log` would give without `limit` and `skip`. */
  countCommits(id: number, query: Omit<LogQuery, 'limit' | 'skip' | 'withChanges'>, call?: Call): Promise<number>
  /** The best common ancestor; undefined for unrelated histories. */
  mergeBase(id: number, one: string, other: string, call?: Call): Promise<string | undefined>
  isAncestor(id: number, ancestor: string, descendant: string, call?: Call): Promise<boolean>
  aheadBehind(id: number, head: string, base: string, call?: Call): Promise<{ ahead: number; behind: number }>

  /** `path` '' is the root. Throws `not-found` `path`, also when it is no folder. Non-recursive: sizes cost one round trip. */
  readTree(
    id: number,
    option: { revision: string; path?: string; isRecursive?: boolean; withSizes?: boolean; limit?: number },
    call?: Call,
  ): Promise<Tree>
  /** What lies at the path, a folder as well; undefined when nothing does. */
  findEntry(id: number, revision: string, path: string, call?: Call): Promise<TreeEntry | undefined>
  /**
   * For each name of a folder ('' is the root) the id of the newest commit that touched it. Bounded: names not found in time
   * are absent, and the caller shows the commit of the revision itself.
   */
  lastCommits(
    id: number,
    option: { revision: string; folder: string; names: string[] },
    call?: Call,
  ): Promise<Map<string, string>>

  /** A blob by revision or id. Throws `too-large` `limit` above `maxBytes` (8 MiB), `invalid` `object-type`. */
  readBlob(id: number, revision: string, option?: { maxBytes?: number }, call?: Call): Promise<Blob>
  /** Any size. Git writes a large one to the stream cache, and is done before a slow client has read it. */
  openBlob(id: number, revision: string, call?: Call): Promise<OpenBlob>
  /** Type and size of each id, in one round trip; unknown ids are absent. */
  sizes(id: number, shas: string[], call?: Call): Promise<Map<string, ObjectName>>
  /** All blobs of at most so many bytes that are stored, in no order, whether or not a ref reaches them. */
  smallBlobs(id: number, option: { maxBytes: number }, call?: Call): AsyncIterable<Uint8Array>

  /**
   * Values of attributes as git prints them (`set`, `unset`, a text), by path; what is not said is absent. The work grows with paths
   * times patterns, which are a stranger's: callers give a deadline.
   */
  readAttributes(id: number, query: AttributeQuery, call?: Call): Promise<Map<string, Map<string, string>>>

  /** Files changed between two revisions, renames found. `limit` (3000) files. */
  changes(id: number, query: Omit<DiffQuery, 'format'> & { limit?: number }, call?: Call): Promise<Changes>
  /** Text of a commit or a range as git prints it. It has no bound but the deadline, so it is streamed on and never gathered. */
  diff(id: number, query: DiffQuery, call?: Call): Promise<ReadableStream<Uint8Array>>

  /**
   * What a patch, as `git diff` and `git format-patch` write it, does to the files of a branch, for `commitFiles`. Nothing is written.
   * Throws `invalid` `patch` where it does not apply or would leave the tree, `too-large` `limit`, `not-found` `branch-missing`.
   */
  readPatch(id: number, option: { branch: string; patch: string }, call?: Call): Promise<TreeChange[]>
  /** One commit without a work tree; the branch moves only if it is where it was read, else `conflict` `head-moved`. */
  commitFiles(id: number, option: FilesCommit, call?: Call): Promise<FilesCommitted>
  /** Copies a commit of another stored repository, with all that can be reached from it. No ref moves. */
  fetchCommit(id: number, from: { repositoryId: number; sha: string }, call?: Call): Promise<void>
  /**
   * A commit of both histories, that no ref names yet. Throws `conflict` `merge-conflict` where both have changed the same lines, and
   * where they have no commit in common.
   */
  mergeCommits(id: number, option: MergeCommit, call?: Call): Promise<Commit>
  readTag(id: number, sha: string, call?: Call): Promise<Tag>
  /** With a message an annotated tag. Returns what the ref holds. Throws `conflict` `ref-moved` when the tag exists. */
  createTag(
    id: number,
    option: { name: string; target: string; message?: string; tagger?: Signature },
    call?: Call,
  ): Promise<{ sha: string }>

  /** At the commits of a repository as they are now. Each answer takes one process or two. */
  look(id: number): Look

  /** Every path begins with `prefix` and a slash. Key caches with the commit's id, not with the name of a ref. */
  archive(id: number, query: ArchiveQuery, call?: Call): Promise<Archive>
  /** The same if it is cached, of a commit's id; undefined if it is not. */
  findArchive(id: number, query: ArchiveQuery): Promise<Archive | undefined>

  /** The body of `GET info/refs?service=git-<service>`; `isBare`: without the line that names the service, as SSH greets. */
  advertise(
    id: number,
    service: GitService,
    option?: { protocol?: string; isBare?: boolean },
    call?: Call,
  ): Promise<Served>
  /** One stateless request of smart HTTP. What a push has moved is to be read from the refs after `done`. */
  serve(id: number, service: GitService, request: ServeRequest): Promise<Served>
  /** A whole fetch over one connection, from the greeting to the end, as SSH has it. */
  converse(id: number, request: Omit<ServeRequest, 'maxInputBytes'>): Promise<Served>
  /** The same for `git archive --remote`. Throws `too-large` as `archive`. */
  serveRemoteArchive(id: number, request: Omit<ServeRequest, 'maxInputBytes'>): Promise<Served>

  /**
   * Branches, tags and HEAD of another server. Throws `failed` `remote` with a message for whoever gave the address, as the next two
   * functions do.
   */
  listRemote(remote: Remote, call?: Call): Promise<ListedRemote>
  /**
   * Fetches the branches and tags of another server. No ref that clients see moves. Returns what each ref holds there, by full name; names
   * that no ref may have here are left out. Throws `too-large` `remote` where more than `maxBytes` come.
   */
  fetchRemote(id: number, option: { remote: Remote; maxBytes: number }, call?: Call): Promise<Map<string, string>>
  /** Forgets what `fetchRemote` has noted of the server's refs. */
  forgetRemote(id: number, call?: Call): Promise<void>
  /** Makes the branches and tags of the other server those of the repository, by force; others there are deleted. */
  pushRemote(id: number, remote: Remote, call?: Call): Promise<void>

  sizeOnDisk(id: number): Promise<RepositorySize>
  /** Every reachable object is there. `isFull` also re-reads the content of each. */
  fsck(id: number, option?: { isFull?: boolean }, call?: Call): Promise<Integrity>
  /** Rolls small packs together; `isFull` repacks everything and drops what has been unreachable for two weeks. */
  maintain(id: number, option?: { isFull?: boolean }, call?: Call): Promise<void>
  /** After pushes: keeps packs few, and bitmaps and the graph of commits fresh, where enough has come since the last time. */
  maintainIfNeeded(id: number, call?: Call): Promise<void>
  /**
   * Removes locks, quarantines and temporary files older than the age. Returns how many. Locks are held for moments only, so
   * they may be given a shorter one.
   */
  cleanStale(id: number, olderThanSeconds: number, locksOlderThanSeconds?: number): Promise<number>
  /** The same for half-built and half-removed folders of the whole store. */
  cleanStore(olderThanSeconds: number): Promise<number>
  /** Removes cached files that nobody has asked for in a day, and the longest unused beyond the limit. Returns how many. */
  cleanStreams(): Promise<number>

  /** Ends the processes that stay. */
  close(): Promise<void>
}
