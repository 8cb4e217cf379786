// Files: opened or dropped, read as text, and nothing of them leaves the page before a run.

import { announce } from "./dom.js";

const MAX_BYTES = 8 * 1024 * 1024;

/** Give `onText(text, name)` each file that is opened with `input` or dropped on `area`. */
export function takeFiles(input, area, onText) {
  input.addEventListener("change", async () => {
    await take(input.files[0], onText);
    // the same file may be opened again
    input.value = "";
  });
  const over = (isOver) => area.classList.toggle("dropping", isOver);
  area.addEventListener("dragover", (event) => {
    if (![...event.dataTransfer.types].includes("Files")) return;
    event.preventDefault();
    over(true);
  });
  area.addEventListener("dragleave", (event) => over(area.contains(event.relatedTarget)));
  area.addEventListener("drop", (event) => {
    over(false);
    if (!event.dataTransfer.files.length) return;
    event.preventDefault();
    take(event.dataTransfer.files[0], onText);
  });
}

async function take(file, onText) {
  if (!file) return;
  if (file.size > MAX_BYTES) {
    announce(`${file.name} is larger than 8 MiB`, "error");
    return;
  }
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
    onText(text, file.name);
    announce(`${file.name} is open`);
  } catch {
    announce(`${file.name} is no UTF-8 text`, "error");
  }
}
