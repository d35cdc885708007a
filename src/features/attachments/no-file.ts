import { Refusal } from '../../kernel/errors.ts'

/** Wire: the addresses of files answer with a line of text, whoever asks. */
export const noFile = () => new Refusal(404, 'Not Found', { isText: true })
