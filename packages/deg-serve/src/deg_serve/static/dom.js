// Elements: made in one call, and what a caller gives as text is never read as markup.

export const byId = (id) => document.getElementById(id);

/** Make an element; `on…` are listeners, `class` and the rest attributes, children texts or nodes. */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else if (value !== false && value != null) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child != null && child !== false));
  return element;
}

/** Tell all at once, to those who see the page and to those who hear it. */
export function announce(message, kind = "") {
  const status = byId("status");
  status.textContent = message;
  status.dataset.kind = kind;
}
