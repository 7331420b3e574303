"""Debian's Firefox by WebDriver BiDi, which it speaks itself: Playwright drives a Firefox of its own alone."""

import json
import re
import shutil
import subprocess
import time
from typing import Any

import pytest
from websockets.sync.client import connect

PATIENCE_S = 180


class Firefox:
    """A window without a screen. Use it in a ``with`` statement."""

    def __init__(self, profile) -> None:
        if not (path := shutil.which("firefox-esr") or shutil.which("firefox")):
            pytest.skip("no Firefox is installed")
        command = [path, "--headless", "--no-remote", "--profile", profile, "--remote-debugging-port", "0"]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        listening = (re.search(r"WebDriver BiDi listening on (ws://\S+)", line) for line in self.process.stderr)
        self.wire = connect(next(filter(None, listening))[1] + "/session", max_size=None, open_timeout=PATIENCE_S)
        self.asked = 0
        self.ask("session.new", capabilities={})
        self.window = self.ask("browsingContext.getTree")["contexts"][0]["context"]

    def __enter__(self) -> "Firefox":
        return self

    def __exit__(self, *_: object) -> None:
        self.wire.close()
        self.process.terminate()
        self.process.communicate()

    def ask(self, method: str, **params: Any) -> Any:
        """The result of a command."""
        self.asked += 1
        self.wire.send(json.dumps({"id": self.asked, "method": method, "params": params}))
        while (answer := json.loads(self.wire.recv(timeout=PATIENCE_S))).get("id") != self.asked:
            pass  # events
        assert answer["type"] == "success", answer
        return answer["result"]

    def open(self, address: str) -> None:
        """Load a page, also where only its fragment is another one."""
        self.ask("browsingContext.navigate", context=self.window, url="about:blank", wait="complete")
        self.ask("browsingContext.navigate", context=self.window, url=address, wait="complete")

    def look(self, expression: str) -> Any:
        """The value of an expression, once it is one that counts as true."""
        end = time.monotonic() + PATIENCE_S
        while True:
            target = {"context": self.window}
            found = self.ask("script.evaluate", expression=expression, target=target, awaitPromise=True)
            if found["type"] == "success" and (value := found["result"].get("value")):
                return value
            assert time.monotonic() < end, expression
            time.sleep(0.1)

    def click(self, element: str) -> None:
        """Click on the middle of an element, given as an expression."""
        x, y = json.loads(
            self.look(f"""(() => {{
                const one = {element};
                one?.scrollIntoView({{ block: "center" }});
                const box = one?.getBoundingClientRect();
                return one && JSON.stringify([box.x + box.width / 2, box.y + box.height / 2]);
            }})()""")
        )
        steps = [
            {"type": "pointerMove", "x": round(x), "y": round(y)},
            {"type": "pointerDown", "button": 0},
            {"type": "pointerUp", "button": 0},
        ]
        self.ask(
            "input.performActions", context=self.window, actions=[{"type": "pointer", "id": "hand", "actions": steps}]
        )
