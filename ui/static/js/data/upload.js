// A file on its way to this machine's server: streamed by the browser, never held in memory here.

import { ApiError, address } from '../api.js';

const OFFLINE = { en: 'The server does not answer, or it ended the upload.', ko: '서버가 응답하지 않거나 업로드를 끊었습니다.' };

/** {promise of the upload's id, cancel()}. `onProgress(sent, total)` in bytes; a cancelled promise gives null. */
export function upload(file, onProgress) {
  const request = new XMLHttpRequest();
  const promise = new Promise((resolve, reject) => {
    request.open('POST', address('/api/data/upload', { name: file.name }));
    request.setRequestHeader('Content-Type', 'application/octet-stream');
    request.responseType = 'json';
    request.upload.addEventListener('progress', (event) => onProgress(event.loaded, event.total || file.size));
    request.addEventListener('load', () => {
      const body = request.response;
      if (request.status === 201 && body?.upload) return resolve(body.upload);
      const status = { en: `The server answered ${request.status}.`, ko: `서버가 ${request.status}로 응답했습니다.` };
      return reject(new ApiError(request.status, body?.error ?? status, body));
    });
    request.addEventListener('error', () => reject(new ApiError(0, OFFLINE, null)));
    request.addEventListener('abort', () => resolve(null));
    request.send(file);
  });
  return { promise, cancel: () => request.abort() };
}
