declare module '*/style.css' {
  const text: string
  export default text
}

declare module '*/passkey.js' {
  const text: string
  export default text
}
