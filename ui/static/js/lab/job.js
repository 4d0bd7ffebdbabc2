// Work that takes the server a while: begun, asked about until it is done, stopped when nobody wants it any more.
import * as api from '../api.js';

const EVERY = 250;

/** The answer of a job; `onProgress({done, total, what})`. Throws the ApiError of a failure, null when it was stopped. */
export async function runJob(path, body, { onProgress, signal } = {}) {
  let job = await api.post(path, body, { signal });
  const stop = () => api.post(`/api/lab/jobs/${job.job}/stop`).catch(() => {}); // it may have ended meanwhile
  signal?.addEventListener('abort', stop);
  try {
    while (job.state === 'running') {
      onProgress?.(job);
      await new Promise((resolve) => setTimeout(resolve, EVERY));
      job = await api.get(`/api/lab/jobs/${job.job}`, { signal });
    }
  } finally {
    signal?.removeEventListener('abort', stop);
  }
  if (job.state === 'failed') throw new api.ApiError(422, job.error, null);
  return job.state === 'stopped' ? null : job.answer;
}
