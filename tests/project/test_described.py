import subprocess
import sys
from pathlib import Path

CLASSES = "from pipeline_src.project.params import Described\n" + "".join(
    f"class C{number}(Described):\n"
    + "".join(f"    a{key}: dict[str, list[int]]\n    '''Text {key}.'''\n" for key in range(30))
    for number in range(10)
)
IMPORTS_IN_THREADS = """
import gc, importlib, sys, threading
import pipeline_src.project.params

class Garbage:  # Python code that the collector runs inside the parser, where threads change places
    def __init__(self):
        self.me = self
    def __del__(self):
        for _ in range(50):
            pass
        Garbage()

sys.setswitchinterval(1e-6)
gc.set_threshold(50)
for _ in range(20):
    Garbage()
threads = [threading.Thread(target=importlib.import_module, args=(f"part{number}",)) for number in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


def test_threads_import_described_models_at_the_same_time(tmp_path: Path) -> None:
    for number in range(8):
        (tmp_path / f"part{number}.py").write_text(CLASSES)
    program = f"import sys\nsys.path.insert(0, {str(tmp_path)!r})\n{IMPORTS_IN_THREADS}"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
