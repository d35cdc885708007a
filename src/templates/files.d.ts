// Data files that are imported: the text of a template, or the path of a file that the executable holds.
declare module '*.gitignore' {
  const text: string
  export default text
}

declare module 'spdx-license-list/spdx-full.json' {
  const path: string
  export default path
}
