// Pointing: a field and its marks light up together, and a link of one leads to the other.

/** Listen to a document's marks and to the cards of its fields. */
export function linkMarksAndCards(document_, cards) {
  for (const place of [document_, cards]) {
    place.addEventListener("pointerover", (event) => light(fieldsUnder(event.target)));
    place.addEventListener("pointerleave", () => light(fieldsUnder(document.activeElement)));
    place.addEventListener("focusin", (event) => light(fieldsUnder(event.target)));
    place.addEventListener("focusout", () => light([]));
  }
  cards.addEventListener("focusin", (event) => reveal(markOf(event.target, document_), document_));
  cards.addEventListener("click", (event) => go(event, markOf(event.target, document_)));
  document_.addEventListener("click", (event) => {
    const [number] = fieldsUnder(event.target);
    const card = number && document.getElementById(`field-${number}`);
    go(event, card?.querySelector("a"), card);
  });
}

function fieldsUnder(target) {
  return target?.closest?.("[data-fields]")?.dataset.fields.split(" ") ?? [];
}

function markOf(target, document_) {
  const number = target.closest("a[data-to-mark]")?.dataset.toMark;
  return number && document_.querySelector(`[data-fields~="${number}"]`);
}

function light(numbers) {
  for (const element of document.querySelectorAll("[data-fields]")) {
    const own = element.dataset.fields.split(" ");
    element.classList.toggle("on", own.some((number) => numbers.includes(number)));
  }
}

/** Scroll the document alone, so that the page stays where the reader is. */
function reveal(mark, document_) {
  if (!mark) return;
  const [inner, outer] = [mark.getBoundingClientRect(), document_.getBoundingClientRect()];
  if (inner.top >= outer.top && inner.bottom <= outer.bottom) return;
  document_.scrollTop += inner.top - outer.top - document_.clientHeight / 3;
}

function go(event, target, around = target) {
  if (!target) return;
  event.preventDefault();
  target.focus({ preventScroll: true });
  around.scrollIntoView({ block: "nearest" });
}
