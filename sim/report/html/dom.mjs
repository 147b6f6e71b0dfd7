// SPDX-License-Identifier: Apache-2.0
// Elements in one line: html('p', {class: 'note'}, 'text', child), svg('path', {d: 'M0 0'}).

function build(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, '');
    else if (value !== false && value !== undefined && value !== null) element.setAttribute(name, value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export const html = (tag, attributes = {}, ...children) => build(document.createElement(tag), attributes, children);
export const svg = (tag, attributes = {}, ...children) =>
    build(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children);
export const byId = (id) => document.getElementById(id);
