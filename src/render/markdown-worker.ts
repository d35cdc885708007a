// Threads for markdown alone: the libraries for other forms, 40 MB of them, are not loaded.

import { renderMarkdown } from './markdown/markdown.ts'
import { renderWith } from './render.ts'
import { answerTasks } from './worker.ts'

answerTasks((task) => renderWith((source, _, options) => renderMarkdown(source, options), task))
