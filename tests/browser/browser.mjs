// SPDX-License-Identifier: Apache-2.0
// A page in a fresh Chromium that has no window and no network, and what it says.
import {execFileSync} from 'node:child_process';
import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {chromium} from 'playwright-core';

const kFlags = [
  '--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync'
];

export const program = process.env.LLMSCAPE_PROGRAM;

export function llmscape(...words) {
  return execFileSync(program, words, {encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], maxBuffer: 1 << 28});
}

// A folder of its own, gone when `use` is done.
export async function withFolder(use) {
  const folder = mkdtempSync(`${tmpdir()}/llmscape-browser-`);
  try {
    return await use(folder);
  } finally {
    rmSync(folder, {recursive: true});
  }
}

export class Browser {
  complaints = [];  // errors on the console, and requests for anything but the file
  #folder = mkdtempSync(`${tmpdir()}/llmscape-chromium-`);

  async start() {
    this.context = await chromium.launchPersistentContext(
        this.#folder,
        {executablePath: process.env.LLMSCAPE_CHROMIUM, args: kFlags, viewport: {width: 1280, height: 900}});
    await this.context.grantPermissions(['clipboard-read', 'clipboard-write']);
  }

  async open(file) {
    const page = await this.context.newPage();
    page.on('console', (message) => message.type() === 'error' && this.complaints.push(message.text()));
    page.on('pageerror', (error) => this.complaints.push(error.message));
    page.on('request', (request) => request.url() === `file://${file}` || this.complaints.push(request.url()));
    await page.goto(`file://${file}`);
    return page;
  }

  async stop() {
    await this.context?.close();
    rmSync(this.#folder, {recursive: true, force: true});
  }
}
