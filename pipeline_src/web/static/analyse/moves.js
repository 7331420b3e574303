// The moves of a tree as buttons: the main line in two columns, variations as paragraphs below the move that they replace.

import { h, put, percent, reveal } from "../dom.js";

export const DOUBTFUL = 0.1, BAD = 0.2;

/** The sign of a move that gave away so much win rate, as chess books write it. */
export const glyph = (lost) => lost >= BAD ? "??" : lost >= DOUBTFUL ? "?" : "";

export class MoveList {
  /** @param onpick(node) a move was chosen; @param lost(node) the win rate that a move gave away, or undefined */
  constructor({ onpick, lost }) {
    Object.assign(this, { onpick, lost, buttons: new Map(), current: null });
    this.element = h("div", { class: "turns", tabindex: 0, role: "group", "aria-label": "Moves" });
  }

  /** Draw all moves of a tree. */
  draw(tree) {
    this.buttons.clear();
    put(this.element, this.line(tree.root.children[0], true));
    if (!tree.root.children.length) put(this.element, h("p", { class: "note" }, "No moves yet: play one on the board."));
    this.judge();
    this.mark(this.current);
  }

  line(first, main) {
    const found = [];
    let told = false;
    for (let node = first; node; node = node.children[0]) {
      const number = Math.ceil(node.depth / 2), odd = node.depth % 2 === 1;
      if (odd || !told) found.push(h("span", { class: "n" }, odd ? `${number}.` : `${number} …`), main && !odd ? h("span") : null);
      found.push(this.button(node));
      told = true;
      const others = node.parent.children[0] === node ? node.parent.children.slice(1) : [];
      for (const other of others) found.push(h("div", { class: "variation", role: "group", "aria-label": `Variation of move ${node.depth}` }, this.line(other, false)));
      if (others.length) told = false;
    }
    return found;
  }

  button(node) {
    const button = h("button", { type: "button", title: node.comment || null, onclick: () => this.onpick(node) },
      h("span", {}, node.move, node.name && h("em", {}, ` ${node.name}`), node.comment && h("span", { class: "said", "aria-label": "has a comment" }, " ✎")), h("span", { class: "lost" }));
    this.buttons.set(node, button);
    return button;
  }

  /** Write what moves gave away. */
  judge() {
    for (const [node, button] of this.buttons) {
      const lost = this.lost(node) ?? 0;
      if (button.lost === lost) continue; // of a thousand moves, few have changed
      button.lost = lost;
      button.classList.toggle("bad", lost >= BAD);
      button.classList.toggle("doubtful", lost >= DOUBTFUL && lost < BAD);
      put(button.lastChild, lost >= 0.02 ? `${glyph(lost)} −${percent(lost)}` : "");
    }
  }

  mark(node) {
    this.buttons.get(this.current)?.removeAttribute("aria-current");
    this.current = node;
    const button = this.buttons.get(node);
    if (!button) return;
    button.setAttribute("aria-current", "true");
    reveal(this.element, button);
  }
}
