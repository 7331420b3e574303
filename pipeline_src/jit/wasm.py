"""Kernels as WebAssembly: one source for this machine and for a browser.

numba translates a kernel to LLVM's intermediate code, and so far nothing in that knows a processor, but for passes that
suit the vectors of this one. `raw` leaves them out. `export` links the kernels of some calls, has LLVM optimise them
for wasm32 and writes an object, which ``wasm-ld`` (package ziglang, extra ``wasm``) makes a module.

Arrays lie at fixed addresses of the module's memory, and so do the arguments of each entry: all that a caller does is
write numbers there and call ``entry(slots, result)``, which returns numba's status, 0 if no exception was raised
(`pipeline_src/web/static/kernels.js`). Pointers are opaque to LLVM and numba's intp is a plain i64, so kernels need
nothing else to run with pointers of 32 bits. Results are those of this machine, but for the last bits of sums that it
forms with fused multiplications, and of functions such as exp, which are the browser's.
"""

import hashlib
import math
import re
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import llvmlite.binding as llvm
import numpy as np
import numpy.typing as npt
from llvmlite.binding import newpassmanagers
from numba.core import codegen, types
from numba.core.errors import NumbaWarning
from numba.core.registry import cpu_target

from pipeline_src.errors import ZugwerkError
from pipeline_src.jit import Need, _typed
from pipeline_src.jit.parts import Kernel, all_parts

TRIPLE = "wasm32-unknown-unknown"
FEATURES = "+simd128,+bulk-memory,+nontrapping-fptoint,+sign-ext,+mutable-globals"
STACK = 1 << 18  # Bytes; it lies below the arrays, so that an overflow traps
BLOCK = 1024  # Bytes; blocks of zeros are not shipped
LINE = 64  # Bytes; what lies at a multiple of these here does so there
LARGE = 1 << 13  # Least bytes of an array that is a file of its own, which several boards may share
MATHS = {"tanhf", "logf", "exp", "tanh", "log", "pow", "powf", "sin", "cos", "fmod"}
"""Functions that a module may ask of its host, all of JavaScript's ``Math`` or of its operators."""


class _RawLibrary(codegen.JITCodeLibrary):
    def _optimize_functions(self, ll_module: Any) -> None: ...

    def _optimize_final_module(self) -> None: ...


class _RawCodegen(codegen.JITCPUCodegen):
    _library_class, raw = _RawLibrary, True

    def magic_tuple(self) -> tuple[str, ...]:
        """The machine in the names of the kernels' files: none."""
        return (TRIPLE,)


def raw() -> None:
    """Compile all kernels of this process without passes for its machine, from now on: before any is compiled.

    They still run here, slowly.
    """
    warnings.simplefilter("ignore", NumbaWarning)  # code without passes mentions addresses, so it is not kept on disk
    cpu_target.target_context._internal_codegen = _RawCodegen("zugwerk.wasm")


class Engine(NamedTuple):
    """Kernels that a host may call on one board."""

    calls: dict[str, Need]
    """By the names of the entries. Arrays among the arguments are copied to the module's memory as they are; numbers
    are the first values of their slots."""
    arrays: dict[str, Any]  # those that the host reads or writes, also inside NamedTuples, by names


class Board(NamedTuple):
    """Contents of a module's memory for one board."""

    files: dict[str, bytes]  # what it holds at first, without zeros; "" is of this board alone, others have digests
    layout: dict[str, Any]
    """``data``: [address, file, place in the file, bytes] of each piece; ``arrays``: address, dtype and shape of each
    by its name; ``entries``: for each, the addresses of its slots and of its result, the addresses of its numbers by
    their names, and the kinds and places of the numbers in its result; ``end``: bytes of memory up to the last."""


class _Slot(NamedTuple):
    name: str
    kind: str  # of an address, an integer, a float or double, or of nothing
    value: Any


def _slots(name: str, argument: Any) -> Iterator[_Slot]:
    """An argument as numba hands it over: its tuples and arrays in parts."""
    if isinstance(argument, np.ndarray):
        for number in (0, 0, argument.size, argument.itemsize):
            yield _Slot("", "q", number)
        yield _Slot(name, "p", argument)
        for number in (*argument.shape, *argument.strides):
            yield _Slot("", "q", number)
    elif isinstance(argument, tuple):
        fields = getattr(argument, "_fields", range(len(argument)))
        for field, part in zip(fields, argument, strict=True):
            yield from _slots(f"{name}.{field}", part)
    elif argument is None:
        yield _Slot("", "q", 0)
    elif isinstance(argument, np.float32):
        yield _Slot(name, "f", argument)
    elif isinstance(argument, float):
        yield _Slot(name, "d", argument)
    elif isinstance(argument, (int, np.integer, np.bool_)):
        yield _Slot(name, "q", int(argument))
    else:
        raise ZugwerkError(f"{name}: a {type(argument).__name__} has no place in WebAssembly's memory")


def owner_of(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The array that an array is a view of, which may be itself."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


class _Image:
    """Arrays at fixed addresses. Arrays that share memory here share it there; the rest of that memory is zero."""

    def __init__(self, base: int) -> None:
        self.base, self.end = base, base
        self._owners: dict[int, tuple[int, npt.NDArray[Any], npt.NDArray[np.uint8]]] = {}
        """By the address of the owner of the memory here: its address there, itself, and 255 where an array lies."""

    def place(self, array: npt.NDArray[Any]) -> int:
        owner = owner_of(array)
        if not owner.flags.c_contiguous:
            raise ZugwerkError("an array that WebAssembly is to have does not lie in one piece")
        key = owner.ctypes.data if owner.nbytes else id(owner)
        offset = array.ctypes.data - owner.ctypes.data if owner.nbytes else 0
        if key not in self._owners:
            base = -(-self.end // LINE) * LINE
            at = base + LINE - (offset if offset < LINE else 0)  # what lies aligned here does so there
            self._owners[key] = at, owner, np.zeros(owner.nbytes, np.uint8)
            self.end = base + LINE + max(owner.nbytes, 8)
        at, _, covered = self._owners[key]
        low, high = np.lib.array_utils.byte_bounds(array)
        covered[offset : offset + high - low] = 255
        return at + offset

    def write(self) -> tuple[dict[str, bytes], list[tuple[int, str, int, int]]]:
        """All that is not zero by file, and where it goes: (address, file, place, bytes) of each piece."""
        files, pieces = {"": bytearray()}, list[tuple[int, str, int, int]]()
        for begin, owner, covered in self._owners.values():
            places = covered.nonzero()[0]
            if not places.size:
                continue
            low, high = int(places[0]), int(places[-1]) + 1
            content, at = (owner.reshape(-1).view(np.uint8) & covered)[low:high], begin + low
            if not content.any():
                continue
            if content.size >= LARGE:
                name = hashlib.sha256(content.data).hexdigest()[:16]
                files[name] = bytearray(content)
                pieces.append((at, name, 0, content.size))
                continue
            for start in np.unique(content.nonzero()[0] // BLOCK) * BLOCK:
                block = content[start : start + BLOCK].tobytes()
                pieces.append((int(at + start), "", len(files[""]), len(block)))
                files[""] += block
        return {name: bytes(content) for name, content in files.items()}, pieces


def lay_out(engine: Engine) -> Board:
    """Place the arguments of an engine's calls in a module's memory.

    Raises:
        ZugwerkError: the kernels were compiled before `raw`, or an argument has no place there.
    """
    image, entries = _Image(STACK), {}
    for name, need in engine.calls.items():
        entries[name] = _entry(_compiled(need), need.arguments, image)
    arrays = {
        slot.name: {"at": image.place(slot.value), "shape": slot.value.shape, **_described(slot.value.dtype)}
        for name, value in engine.arrays.items()
        for slot in _slots(name, value)
        if slot.kind == "p"
    }
    files, data = image.write()
    return Board(files, {"entries": entries, "arrays": arrays, "data": data, "end": image.end})


def export(calls: Mapping[str, Need], end: int, linker: tuple[str, ...] | None = None, relaxed: bool = False) -> bytes:
    """Compile the kernels of some calls to a module for all boards whose arguments have the same types.

    Args:
        calls: by the names of the entries.
        end: the greatest `Board.layout` ``end`` of the boards.
        linker: of WebAssembly objects; by default that of ziglang.
        relaxed: whether to use instructions of relaxed SIMD, which fuse multiplications as this machine does.

    Raises:
        ZugwerkError: the kernels were compiled before `raw`, need something that a browser lacks, or no linker is
            there.
    """
    module = _linked(calls, {name: _compiled(need) for name, need in calls.items()})
    return _link(_object(module, set(calls), relaxed), list(calls), end, linker)


def _described(dtype: np.dtype[Any]) -> dict[str, Any]:
    """A type in NumPy's letters; a record's size in bytes, and type and place of each of its fields."""
    if dtype.fields is None:
        return {"dtype": dtype.str[1:]}
    return {"size": dtype.itemsize, "fields": {name: (one.str[1:], at) for name, (one, at, *_) in dtype.fields.items()}}


def _compiled(need: Need) -> Any:
    """The part of a call's kernel for its arguments."""
    kernel, kinds = _typed(need)
    if not isinstance(kernel, Kernel):
        raise ZugwerkError("kernels become WebAssembly in parts: without ZUGWERK_PLAIN_JIT, by a numba that was tried")
    kernel.part.compile(kinds)
    part = kernel.part.overloads[kinds]
    if not getattr(part.library.codegen, "raw", False):
        raise ZugwerkError(f"{kernel.__name__} is compiled for this machine already: `raw` comes first")
    return part


def _linked(calls: Mapping[str, Need], parts: Mapping[str, Any]) -> Any:
    """All kernels and their parts as one module of intermediate code, with an entry for each call."""
    libraries = dict.fromkeys(library for part in parts.values() for library in all_parts(part.library))
    module, *others = (llvm.parse_bitcode(library.bitcode()) for library in libraries)
    for other in others:
        module.link_in(other)
    if any(function.name == "NRT_MemInfo_alloc_aligned" for function in module.functions):
        memory = llvm.parse_assembly(_ALLOCATION)
        memory.triple, memory.data_layout = module.triple, module.data_layout
        module.link_in(memory)
    for name, part in parts.items():
        target = module.get_function(part.fndesc.llvm_func_name)
        kinds = [str(argument.type) for argument in target.arguments]
        count = sum(1 for _ in _slots("", calls[name].arguments))
        if count != len(kinds) - 2:
            raise ZugwerkError(f"{name}: numba hands over {len(kinds) - 2} values, not {count}")
        lines = ["%error = alloca ptr"]
        for i, kind in enumerate(kinds[2:]):
            lines += [f"%p{i} = getelementptr i8, ptr %slots, i32 {8 * i}", f"%a{i} = load {kind}, ptr %p{i}"]
        values = ", ".join(["ptr %result", "ptr %error", *(f"{kind} %a{i}" for i, kind in enumerate(kinds[2:]))])
        body = "\n  ".join([*lines, f'%status = call i32 @"{target.name}"({values})', "ret i32 %status"])
        entry = llvm.parse_assembly(
            f'declare i32 @"{target.name}"({", ".join(kinds)})\n'
            f"define i32 @{name}(ptr %slots, ptr %result) {{\n  {body}\n}}"
        )
        entry.triple, entry.data_layout = module.triple, module.data_layout
        module.link_in(entry)
    return module


def _entry(part: Any, arguments: tuple[Any, ...], image: _Image) -> dict[str, Any]:
    """Write the arguments of a call; return where they and the result are."""
    slots = [slot for name, value in zip(part.fndesc.args, arguments, strict=True) for slot in _slots(name, value)]
    words = np.zeros(len(slots), np.uint64)
    for i, slot in enumerate(slots):
        if slot.kind == "p":
            words[i] = image.place(slot.value)
        elif slot.kind == "q":
            words[i] = np.int64(slot.value).view(np.uint64)
        elif slot.kind == "d":
            words[i] = np.float64(slot.value).view(np.uint64)
        else:
            words[i] = slot.value.view(np.uint32)
    at, result = image.place(words), image.place(np.zeros(8, np.uint64))
    numbers = {slot.name: [at + 8 * i, slot.kind] for i, slot in enumerate(slots) if slot.name and slot.kind != "p"}
    return {"slots": at, "result": result, "numbers": numbers, "returns": _returns(part.signature.return_type)}


def _returns(kind: Any) -> list[tuple[str, int]]:
    """Kinds of the numbers of a result, in NumPy's letters, and their places, as C aligns them."""
    found, place = [], 0
    for one in kind.types if isinstance(kind, types.BaseTuple) else [kind]:
        if one is types.none:
            continue
        name = "?" if one == types.boolean else np.dtype(one.name).str[1:]
        size = 1 if name == "?" else one.bitwidth // 8
        place = -(-place // size) * size
        found.append((name, place))
        place += size
    return found


_ARENA = 1 << 18
_ALLOCATION = f"""
%Memory = type {{ i64, ptr, ptr, ptr, i64 }}
@unused = internal global ptr null
@used = internal global i32 0
@arena = internal global [{_ARENA} x i8] zeroinitializer, align 64
declare void @llvm.trap()
define ptr @NRT_MemInfo_alloc_aligned(i64 %size, i32 %align) {{
entry:
  br label %next
next:
  %at = phi ptr [ @unused, %entry ], [ %link, %look ]
  %old = load ptr, ptr %at
  %none = icmp eq ptr %old, null
  br i1 %none, label %more, label %look
look:
  %place = getelementptr %Memory, ptr %old, i32 0, i32 4
  %room = load i64, ptr %place
  %link = getelementptr %Memory, ptr %old, i32 0, i32 2
  %fits = icmp eq i64 %room, %size
  br i1 %fits, label %take, label %next
take:
  %after = load ptr, ptr %link
  store ptr %after, ptr %at
  store i64 1, ptr %old
  ret ptr %old
more:
  %from = load i32, ptr @used
  %short = trunc i64 %size to i32
  %whole = add i32 %short, 127
  %blocks = and i32 %whole, -64
  %end = add i32 %from, %blocks
  %full = icmp ugt i32 %end, {_ARENA}
  br i1 %full, label %stop, label %make
stop:
  call void @llvm.trap()
  unreachable
make:
  store i32 %end, ptr @used
  %new = getelementptr i8, ptr @arena, i32 %from
  store i64 1, ptr %new
  %data = getelementptr i8, ptr %new, i32 64
  %datas = getelementptr %Memory, ptr %new, i32 0, i32 3
  store ptr %data, ptr %datas
  %sizes = getelementptr %Memory, ptr %new, i32 0, i32 4
  store i64 %size, ptr %sizes
  ret ptr %new
}}
define void @NRT_MemInfo_call_dtor(ptr %old) {{
  %link = getelementptr %Memory, ptr %old, i32 0, i32 2
  %first = load ptr, ptr @unused
  store ptr %first, ptr %link
  store ptr %old, ptr @unused
  ret void
}}
"""
"""numba's memory of arrays that kernels make: of few fixed sizes, so that what is let go of serves again."""
_SERIES = "".join(
    f"%q{k} = fmul double %p{k + 1}, %r\n  %p{k} = fadd double %q{k}, {1 / math.factorial(k)!r}\n  "
    for k in range(7, -1, -1)
)
_ROUNDS = 1.5 * 2**52  # A sum with this has a whole number in its last bits
_EXPONENTIAL = f"""
declare double @llvm.minimum.f64(double, double)
declare double @llvm.maximum.f64(double, double)
define internal float @exponential(float %number) alwaysinline {{
  %exact = fpext float %number to double
  %low = call double @llvm.maximum.f64(double %exact, double -1.1e2)
  %x = call double @llvm.minimum.f64(double %low, double 9.0e1)
  %twos = fmul double %x, {1 / math.log(2)!r}
  %shifted = fadd double %twos, {_ROUNDS!r}
  %power = fsub double %shifted, {_ROUNDS!r}
  %whole = fmul double %power, {math.log(2)!r}
  %r = fsub double %x, %whole
  %p8 = fadd double {1 / math.factorial(8)!r}, 0.0
  {_SERIES}
  %n = bitcast double %shifted to i64
  %biased = add i64 %n, 1023
  %bits = shl i64 %biased, 52
  %two = bitcast i64 %bits to double
  %e = fmul double %p0, %two
  %found = fptrunc double %e to float
  ret float %found
}}
"""
"""exp(x) as 2^n exp(r), with Taylor's series in double precision so that it is rounded once. A softmax asks for many,
and calls of the browser's function took a tenth of a search."""


def _in_fours(name: str, kinds: tuple[str, ...], line: str) -> str:
    """A function of vectors of sixteen as four ``line``s, which make ``%r`` of ``%a``, ``%b`` and so on."""
    given = dict(zip("abc", kinds, strict=False))
    arguments = ", ".join(f"<16 x {kind}> %{one}" for one, kind in given.items())
    lines = [f"define internal <16 x float> @{name}({arguments}) alwaysinline {{"]
    for k in range(4):
        at = ", ".join(f"i32 {4 * k + i}" for i in range(4))
        for one, kind in given.items():
            lines.append(f"%{one}{k} = shufflevector <16 x {kind}> %{one}, <16 x {kind}> poison, <4 x i32> <{at}>")
        lines.append(re.sub("(%[abcr])", rf"\g<1>{k}", line))
    for made, one, two, size in (("low", "r0", "r1", 8), ("high", "r2", "r3", 8), ("all", "low", "high", 16)):
        half, at = f"<{size // 2} x float>", ", ".join(f"i32 {i}" for i in range(size))
        lines.append(f"%{made} = shufflevector {half} %{one}, {half} %{two}, <{size} x i32> <{at}>")
    return "\n".join([*lines, "ret <16 x float> %all", "}", ""])


_MADD = "@llvm.wasm.relaxed.madd.v4f32"
_FLOATS = _in_fours("floats", ("i16",), "%r = sitofp <4 x i16> %a to <4 x float>")
_FUSED = _in_fours(
    "fused", ("float",) * 3, f"%r = call <4 x float> {_MADD}(<4 x float> %a, <4 x float> %b, <4 x float> %c)"
)
_FUSED += f"""
declare <4 x float> {_MADD}(<4 x float>, <4 x float>, <4 x float>)
define internal <4 x float> @fused_part(<4 x float> %a, <4 x float> %b, <4 x float> %c) alwaysinline {{
  %r = call <4 x float> {_MADD}(<4 x float> %a, <4 x float> %b, <4 x float> %c)
  %here = call <4 x float> asm sideeffect "", "=r,0"(<4 x float> %r)
  ret <4 x float> %here
}}
"""
"""Additions of a part stay in their places: else all that a cell needs is loaded first, more than registers hold."""
_MASK = f"""
define internal <64 x i1> @mask(i64 %bits) alwaysinline {{
  %bytes = bitcast i64 %bits to <8 x i8>
  %all = shufflevector <8 x i8> %bytes, <8 x i8> poison, <64 x i32> <{", ".join(f"i32 {i // 8}" for i in range(64))}>
  %own = and <64 x i8> %all, <{", ".join(f"i8 {1 << i % 8}" for i in range(64))}>
  %set = icmp ne <64 x i8> %own, zeroinitializer
  ret <64 x i1> %set
}}
"""
"""LLVM would take lanes one by one for these."""


def _replaced(text: str, name: str, ours: str) -> str:
    """A module's text with our function in place of one that it declares."""
    return re.sub(rf"^declare .*{re.escape(name)}\(.*$", "", text, flags=re.MULTILINE).replace(f"{name}(", f"{ours}(")


def _object(module: Any, entries: set[str], relaxed: bool) -> bytes:
    """Optimise for wasm32."""
    features = FEATURES + (",+relaxed-simd" if relaxed else "")
    text = str(module).replace(" = common ", " = internal ")
    text = re.sub(
        r"^declare double @sqrt\(double\).*$", "declare double @llvm.sqrt.f64(double)", text, flags=re.MULTILINE
    )
    text = re.sub(r"(call .*)@sqrt\(", r"\1@llvm.sqrt.f64(", text)
    text = re.sub(r"sitofp <16 x i16> (\S+) to <16 x float>", r"call <16 x float> @floats(<16 x i16> \1)", text)
    text = re.sub(r"bitcast i64 (\S+) to <64 x i1>", r"call <64 x i1> @mask(i64 \1)", text)
    text = _replaced(text, "@llvm.exp.f32", "@exponential") + _FLOATS + _MASK + _EXPONENTIAL
    if relaxed:
        text = _replaced(text, "@llvm.fmuladd.v16f32", "@fused")
        text = _replaced(text, "@llvm.fmuladd.v4f32", "@fused_part") + _FUSED
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    machine = llvm.Target.from_triple(TRIPLE).create_target_machine(
        features=features, opt=3, reloc="static", codemodel="default"
    )
    module = llvm.parse_assembly(text)
    module.triple, module.data_layout = TRIPLE, str(machine.target_data)
    for function in module.functions:
        if not function.is_declaration and function.name not in entries:
            function.linkage = "internal"
    tuning = newpassmanagers.create_pipeline_tuning_options(speed_level=3)
    tuning.loop_vectorization = tuning.slp_vectorization = True
    builder = newpassmanagers.create_pass_builder(machine, tuning)
    builder.getModulePassManager().run(module, builder)
    declared = {function.name for function in module.functions if function.is_declaration} - MATHS
    here = {found.name for found in module.global_variables if found.name.startswith("numba.dynamic.")}
    lacking = sorted({name for name in declared if not name.startswith("llvm.")} | here)
    if lacking:
        raise ZugwerkError(f"kernels for a browser need what it lacks: {', '.join(lacking)}")
    return bytes(machine.emit_object(module))


def _link(content: bytes, entries: list[str], base: int, linker: tuple[str, ...] | None) -> bytes:
    """Make an object a module whose own data follow the arrays."""
    command = linker or (sys.executable, "-m", "ziglang", "wasm-ld")
    with tempfile.TemporaryDirectory() as folder:
        source, made, allowed = (Path(folder) / name for name in ("kernels.o", "kernels.wasm", "allowed"))
        source.write_bytes(content)
        allowed.write_text("\n".join(sorted(MATHS)))
        done = subprocess.run(  # noqa: S603
            [
                *(*command, "--no-entry", f"--allow-undefined-file={allowed}", "-O3", "--strip-all"),
                *("--stack-first", "-z", f"stack-size={STACK}", f"--global-base={math.ceil(base / 64) * 64}"),
                *(*(f"--export={name}" for name in entries), str(source), "-o", str(made)),
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            if "ziglang" in done.stderr:
                raise ZugwerkError("WebAssembly needs a linker: pip install 'zugwerk[wasm]'")
            raise ZugwerkError(f"wasm-ld could not link the kernels: {done.stderr.strip()}")
        return made.read_bytes()
