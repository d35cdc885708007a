// Threads for every form of text.

import { serveTasks } from '../threads/worker.ts'
import { renderMarkup } from './markup/by-extension.ts'
import { type RenderTask, renderWith } from './render.ts'

serveTasks<RenderTask, string>((task) => renderWith(renderMarkup, task))
