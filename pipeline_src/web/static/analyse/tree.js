// A tree of variations, and its list form, in which the server sends and gets it: entry k is position k + 1, position 0
// is the start, and an entry's parent comes before it. The first child of a position continues the main line.

export class GameTree {
  /** From a Replay. */
  constructor({ place, comment, nodes, sides = [] }) {
    this.root = { move: null, name: "", comment, fen: place.fen, to_play: sides[0], parent: null, children: [], depth: 0 };
    const all = [this.root];
    for (const one of nodes) all.push(this.add(all[one.parent], { ...one, to_play: sides[all.length] }));
  }

  /** A new position after another one. */
  add(parent, { move, fen, to_play, name = "", comment = "" }) {
    const node = { move, fen, to_play, name, comment, parent, children: [], depth: parent.depth + 1 };
    parent.children.push(node);
    return node;
  }

  child(node, move) { return node.children.find((one) => one.move === move); }

  /** Take a position and all that follows it out of the tree; what it returns puts them back. */
  remove(node) {
    const { children } = node.parent, at = children.indexOf(node);
    children.splice(at, 1);
    return () => { children.splice(Math.min(at, children.length), 0, node); return node; };
  }

  /** Make the line to a position the main line. */
  promote(node) {
    for (let one = node; one.parent; one = one.parent) {
      const { children } = one.parent;
      children.unshift(...children.splice(children.indexOf(one), 1));
    }
  }

  isMain(node) {
    for (let one = node; one.parent; one = one.parent) if (one.parent.children[0] !== one) return false;
    return true;
  }

  /** Positions from the start to a position. */
  path(node) {
    const found = [];
    for (let one = node; one; one = one.parent) found.push(one);
    return found.reverse();
  }

  /** The same, and on to the end of its line. */
  line(node) {
    const found = this.path(node);
    for (let one = node.children[0]; one; one = one.children[0]) found.push(one);
    return found;
  }

  moves(node) { return this.path(node).slice(1).map((one) => one.move); }

  /** All positions in list order, the start first. */
  all() {
    const found = [], todo = [this.root];
    while (todo.length) { const node = todo.pop(); found.push(node); for (let k = node.children.length - 1; k >= 0; k--) todo.push(node.children[k]); }
    return found;
  }

  /** The list form; `more(node)` are further keys of an entry. */
  list(more = () => ({})) {
    const all = this.all(), number = new Map(all.map((node, k) => [node, k]));
    return all.slice(1).map((node) => ({ parent: number.get(node.parent), move: node.move, name: node.name, comment: node.comment, ...more(node) }));
  }

  /** A position's place in the tree: "12" is the main line after 12 moves, "12-1-3" 3 moves on after its second move. */
  address(node) {
    const found = [];
    let steps = 0;
    for (const one of this.path(node).slice(1)) {
      const at = one.parent.children.indexOf(one);
      if (at) { found.push(steps, at); steps = 0; } else steps += 1;
    }
    return [...found, steps].join("-");
  }

  /** The position at an address, as far as the tree has it. */
  find(address) {
    let node = this.root;
    String(address).split("-").forEach((word, k) => {
      if (k % 2) node = node.children[Number(word)] || node;
      else for (let left = Number(word) || 0; left > 0 && node.children[0]; left--) node = node.children[0];
    });
    return node;
  }
}
