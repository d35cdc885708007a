// Threads for every form of text.

import { renderMarkup } from './markup/by-extension.ts'
import { renderWith } from './render.ts'
import { answerTasks } from './worker.ts'

answerTasks((task) => renderWith(renderMarkup, task))
