// The page Play: without an id, a game to set up; with one, the game.

import { showGame } from "../play/game.js";
import { showSetup } from "../play/setup.js";

export function show(root, params) {
  return params.id ? showGame(root, params.id) : showSetup(root, params);
}
