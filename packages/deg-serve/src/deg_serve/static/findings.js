// Findings: what became of each field so far, with what the schema says of it.

import { excerpt } from "./context.js";
import { nodeAt, tokensOf } from "./pointer.js";
import { about, outcomesOf, shown, topFields } from "./schema.js";
import { member, toValue } from "./json.js";

// one step of the golden angle: neighbours differ, however many there are
const FIRST_HUE = 85;
const HUE_STEP = 137.5;

export class Findings {
  constructor(schemaNode, pieces) {
    this.schemaNode = schemaNode;
    this.pieces = pieces;
    this.response = undefined;
    this.fields = new Map();
    this.numFields = 0;
    this.numHues = 0;
    topFields(schemaNode).forEach((pointer) => this.field(pointer));
  }

  /** Return the field at a pointer, new if nothing is known of it. */
  field(pointer) {
    if (!this.fields.has(pointer)) {
      const tokens = tokensOf(pointer);
      this.fields.set(pointer, {
        pointer,
        tokens,
        number: (this.numFields += 1),
        name: tokens.join(" › "),
        about: about(this.schemaNode, pointer),
        outcomes: [],
      });
    }
    return this.fields.get(pointer);
  }

  /** Take a piece of a text that is being written. */
  write(pointer, text) {
    const field = this.field(pointer);
    field.text = (field.text ?? "") + text;
    return field;
  }

  /** Take what is known of a field; no node is no value. */
  answer(pointer, meta, node) {
    const field = this.field(pointer);
    Object.assign(field, { meta, value: node, isPresent: node !== undefined });
    field.shownValue = node && !node.items && !node.members ? shown(node) : "";
    if (meta.span) {
      field.hue ??= (FIRST_HUE + HUE_STEP * this.numHues++) % 360;
      field.written = excerpt(this.pieces, ...meta.span);
    }
    field.outcomes = this.outcomes(field);
    return field;
  }

  /** Take the whole response: its fields and no others, in its order. */
  finish(response) {
    this.response = response;
    const [meta, value] = [member(response, "meta"), member(response, "value")];
    const before = this.fields;
    this.fields = new Map();
    for (const { key, node } of meta.members) {
      if (before.has(key)) this.fields.set(key, before.get(key));
      this.answer(key, toValue(node), nodeAt(value, tokensOf(key)));
    }
  }

  /** Return the spans that are known, as marks need them. */
  spans() {
    return [...this.fields.values()]
      .filter(({ meta }) => meta?.span)
      .map(({ number, hue, name, meta }) => ({ number, hue, name, span: meta.span }));
  }

  outcomes({ pointer, meta, value, shownValue }) {
    if (meta.mode === "decide.noul") {
      const yes = meta.probability;
      return [
        { label: "true", probability: yes, isAnswer: value?.value === true },
        { label: "false", probability: 1 - yes, isAnswer: value?.value === false },
      ];
    }
    if (!meta.probabilities) return [];
    const best = meta.probabilities.indexOf(Math.max(...meta.probabilities));
    const known = outcomesOf(this.schemaNode, pointer);
    // where the schema says it in a way that this page does not read, only the answer has a name
    const isRead = known.length === meta.probabilities.length && (!value || known[best].label === shownValue);
    return meta.probabilities.map((probability, index) => {
      const unnamed = { label: index === best && value ? shownValue : `outcome ${index + 1}` };
      return { ...(isRead ? known[index] : unnamed), probability, isAnswer: index === best };
    });
  }
}
