#!/usr/bin/env python3
"""Takes kernels out of a Triton program for Heddle, and gives them back with another schedule.

    heddle_triton.py dump SCRIPT [ARGS...]     write the text of every @triton.jit kernel that SCRIPT launches
    heddle_triton.py finish TEXT               run the rest of Triton's passes over an edited text: .ttgir, .ptx, .cubin
    heddle_triton.py solve SCRIPT [ARGS...]    both, with Heddle's best schedule in between; ends with the line to paste

and in a program, before its first launch:

    import heddle_triton
    heddle_triton.use("FOLDER")                # Triton compiles with the schedules in FOLDER

No GPU is needed but for running the program itself. This one file needs the standard library, Triton 3.4 or later, and a heddle program, which
checks every schedule: the one that HEDDLE names, else the one on PATH or in the folders that this file came with.
"""

# How it gets between two passes of Triton: Triton's own make_ttgir is called with stand-ins for its pass manager and its passes. It names
# its passes to them in order, and they are run in two pieces instead of one. So the list is always that of the installed Triton.

from __future__ import annotations

import argparse
import contextlib
import hashlib
import importlib.util
import json
import math
import os
import re
import selectors
import shlex
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import types
from pathlib import Path
from typing import Any, Callable, NamedTuple

OLDEST = (3, 4)  # its texts are the first that carry a schedule
TARGETS = (80, 86, 89, 90, 100, 103, 110, 120)
MULTIPROCESSORS = {80: 108, 90: 132, 100: 148}  # what scripts ask to size a persistent grid
SECONDS, SEARCH_SECONDS = 60, 60  # that heddle has for an answer, and in addition for a search
FINISH_SECONDS = int(number) if (number := os.environ.get("HEDDLE_FINISH_SECONDS", "")).isdigit() else 600  # that Triton has for the rest of its passes
MOST_BYTES = 64 << 20  # of a text, and of what a program says


class Fault(Exception):
    """What the user can do something about, in one sentence. `code`: 1 it did not work, 2 it was asked for in a wrong way."""

    def __init__(self, sentence: str, code: int = 1):
        super().__init__(sentence)
        self.code = code


class Unlike(Fault):
    """This Triton lists its passes in another way than those that we know; nothing has been run."""


def printable(text: str) -> str:
    """Control characters, also those of writing direction, as '?': a name out of a file cannot steer the terminal. Newlines stay."""
    return re.sub("[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]", "?", text)


def say(sentence: str) -> None:
    """One line on stderr. Where nothing can be written, nothing is said: that is no reason to end somebody's program."""
    line = f"heddle_triton: {printable(' '.join(sentence.splitlines()))}\n"
    with contextlib.suppress(Exception):
        try:
            number = sys.stderr.fileno()
        except Exception:  # the program has put something of its own there
            sys.stderr.write(line)
        else:
            sys.stderr.flush()
            os.write(number, line.encode())  # in Python's buffer it would be tried again at the end, and change the exit code


def typed(path: str) -> str:
    """A program or a file as somebody in this folder types it."""
    with contextlib.suppress(OSError, ValueError):
        if not (short := os.path.relpath(path)).startswith(".."):
            path = short if "/" in short else f"./{short}"
    return shlex.quote(str(path))


def own_command() -> str:
    """This file with the Python that it runs with, as a shell reads it."""
    python = "python3" if shutil.which("python3") == sys.executable else typed(sys.executable or "python3")
    return f"{python} {typed(__file__)}"


def expect_triton() -> None:
    if importlib.util.find_spec("triton") is None:
        raise Fault(f"Triton is not installed for {sys.executable}: pip install triton", 2)


def load_triton() -> Any:
    """The module triton, of a version that can be worked with."""
    expect_triton()
    import triton
    version = tuple(int(number) for number in re.findall(r"\d+", triton.__version__)[:2])
    if version < OLDEST:
        raise Fault(f"Triton {triton.__version__} is too old: its texts carry no schedule before 3.4 (pip install --upgrade triton)", 2)
    return triton


def why_not_partitions(triton: Any, form: str) -> str:
    """Triton 3.4 compiles such a text without a word, with partitions of its own."""
    old = form == "partitioned" and re.match(r"3\.[45]\b", triton.__version__)
    return f"Triton {triton.__version__} chooses its partitions itself, 3.6 is the first that takes others" if old else ""


def target_number(text: str) -> int:
    found = re.fullmatch(r"(?:sm_?|cuda:)?(\d+)a?", text)
    if not found or int(found[1]) not in TARGETS:
        raise Fault(f"there is no target '{text}'; known are {', '.join(f'sm_{number}' for number in TARGETS)}", 2)
    return int(found[1])


def read_file(path: Path) -> str:
    """Of a regular file: a fifo would be waited for, and /dev/zero has no end."""
    number = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    if not stat.S_ISREG(os.fstat(number).st_mode):
        os.close(number)
        raise Fault(f"{path.name} is no regular file")
    with open(number, "rb") as file:
        content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise Fault(f"{path.name} has more than {MOST_BYTES >> 20} MiB")
    return content.decode()


def write_file(path: Path, content: str | bytes) -> None:
    """Whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    part.write_bytes(content.encode() if isinstance(content, str) else content)
    part.replace(path)


# ---- Triton's passes, in pieces ---------------------------------------------------------------------------------------------------------
class PassList:
    """Stands for Triton's pass manager while make_ttgir names its passes."""

    def __init__(self, context: Any):
        self.names: list[str] = []
        self.adders: list[Callable] = []
        self.words: tuple = ()  # of pm.run: later versions give the list a name
        self.begun = False

    def enable_debug(self) -> bool:
        return False

    def run(self, held: "HeldModule", *words: str) -> None:
        self.words, held.passes = words, self
        held.module = held.visit(self, held.module) or held.module

    def run_range(self, module: Any, begin: int, end: int | None = None) -> None:
        from triton._C.libtriton import ir
        self.begun = True
        manager = ir.pass_manager(module.context)
        manager.enable_debug()  # MLIR_ENABLE_DUMP goes on working
        for add in self.adders[begin:end]:
            add(manager)
        manager.run(module, *self.words)

    def before_latencies(self) -> int:
        return min(self.names.index(name) for name in ("add_hopper_warpspec", "add_assign_latencies") if name in self.names)

    def after_schedule(self) -> int:
        return self.names.index("add_schedule_loops") + 1


class HeldModule:
    """Stands for the module in make_ttgir, so that `visit` can put another one in its place when the passes are to be run."""

    def __init__(self, module: Any, visit: Callable[[PassList, Any], Any]):
        self.module, self.visit, self.context = module, visit, module.context
        self.passes: PassList | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self.module, name)


class Listener:
    """Stands for one of Triton's modules of passes: add_NAME(list, ...) is noted in the list; everything else is the real thing."""

    def __init__(self, real: Any, **instead: Any):
        self.real = real
        self.__dict__.update(instead)

    def __getattr__(self, name: str) -> Any:
        value = getattr(self.real, name)
        if isinstance(value, types.ModuleType):
            return Listener(value)
        if not name.startswith("add_"):
            return value

        def note(passes: PassList, *arguments: Any, **named: Any) -> None:
            passes.names.append(name)
            passes.adders.append(lambda manager: value(manager, *arguments, **named))

        return note


def between_passes(backend: Any, options: Any, visit: Callable[[PassList, Any, dict], Any]) -> Callable:
    """Triton's stage "ttgir" with `visit` in the place where it runs its passes; `visit` runs them, and may give another module to go on
    with. make_ttgir gets stand-ins in a scope of its own, so nothing of Triton is changed for others, threads among them."""
    def ttgir(module: Any, metadata: dict) -> Any:
        held = HeldModule(module, lambda passes, module: visit(passes, module, metadata))
        try:
            own = backend.make_ttgir
            scope = dict(own.__globals__)
            scope.update(passes=Listener(scope["passes"]), nvidia=Listener(scope["nvidia"]), ir=Listener(scope["ir"], pass_manager=PassList))
            make = types.FunctionType(own.__code__, scope, own.__name__, own.__defaults__, own.__closure__)
            make(held, metadata, options, backend._parse_arch(options.arch))
        except Exception as fault:
            if held.passes and held.passes.begun:
                raise
            raise Unlike(f"this Triton lists its passes in another way than 3.4 to 3.9 do ({type(fault).__name__}: {fault})") from fault
        return held.module

    return ttgir


def new_context(backend: Any) -> Any:
    from triton._C.libtriton import ir
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    return context


def read_module(path: str | os.PathLike, context: Any) -> Any:
    from triton._C.libtriton import ir
    module = ir.parse_mlir_module(str(path), context)
    module.context = context
    return module


def parse_text(text: str, context: Any) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "heddle.ttgir"
        path.write_text(text)
        return read_module(path, context)


# ---- until memory is laid out -----------------------------------------------------------------------------------------------------------
class FirstPasses(PassList):
    """Those that lay out memory, and all before them."""

    def run(self, module: Any, *words: str) -> None:
        self.words = words
        self.run_range(module, 0, max(self.names.index(name) for name in ("add_allocate_shared_memory_nv", "add_allocate_tensor_memory")) + 1)


class Nothing:
    """Stands for LLVM: whatever it is asked for is nothing too."""

    def __getattr__(self, name: str) -> Any:
        return self

    def __call__(self, *words: Any, **named: Any) -> Any:
        return self


def until_memory() -> None:
    """From here on Triton compiles until it has laid out memory, without LLVM's code, PTX and cubin: what it says of a kernel is known then,
    and most of its work comes later. Triton's own make_llir runs, and reads off what has been laid out."""
    from triton.backends.nvidia.compiler import CUDABackend
    own, nothing = CUDABackend.make_llir, Nothing()
    scope = dict(own.__globals__)
    nvidia = Listener(scope["nvidia"], set_nvvm_reflect_ftz=nothing, has_extern_deps=nothing)
    scope.update(llvm=nothing, nvidia=nvidia, passes=Listener(scope["passes"]), ir=Listener(scope["ir"], pass_manager=FirstPasses))
    make = types.FunctionType(own.__code__, scope, own.__name__, own.__defaults__, own.__closure__)

    def make_llir(backend: Any, module: Any, metadata: dict, *words: Any) -> Any:
        metadata["name"] = module.get_entry_func_name()  # which Triton reads in the PTX
        return make(backend, module, metadata, *words)

    CUDABackend.make_llir, CUDABackend.make_ptx, CUDABackend.make_cubin = make_llir, lambda *words: "", lambda *words: b""


# ---- texts ------------------------------------------------------------------------------------------------------------------------------
SCHEDULE = re.compile(r'(, )?"?(?:loop\.stage|loop\.cluster|tt\.scheduled_max_stage|tt\.latency|ttg\.partition(?:\.\w+)*|tt\.warp_specialize'
                      r'|ttg\.warp_specialize\.tag)"?(?: = (?:\[[^\]]*\]|array<[^>]*>|[^,{}]*))?')


def form_of(text: str) -> str:
    """How far Triton had come: the same marks as in Heddle's core/triton/read/program.cpp."""
    if "ttg.warp_specialize(" in text:
        return "specialized" if "loop.stage" in text else "final"
    if "ttg.partition = " in text:
        return "partitioned"
    if "loop.stage" in text:
        return "scheduled"
    return "final" if re.search(r"async_copy_global_to_local|async_tma_copy|ttng\.\w*barrier", text) else "input"


def kernel_of(text: str) -> str:
    found = re.search(r"tt\.func public @([\w.$]+|\"[^\"]*\")\(", text)
    return found[1].strip('"') if found else ""


def digest(module: Any) -> str:
    """Of what the kernel computes, op by op, whatever its values are called and however it is scheduled."""
    text = module.str_nodebug()
    aliases, numbers = dict(re.findall(r"(?m)^(#\w+) = (.*)$", text)), {}

    def plain(found: re.Match) -> str:
        if found[0][0] == "%":
            return numbers.setdefault(found[0], f"%{len(numbers)}")
        return re.sub(r"#\w+", plain, aliases[found[0]]) if found[0] in aliases else found[0]

    ops = re.sub(r"(?m)^#.*\n", "", text)
    ops = re.sub(r"%[\w.$-]+|#\w+", plain, SCHEDULE.sub("", ops))
    return hashlib.sha256(re.sub(r" ?\{\}", "", ops.replace("{, ", "{")).encode()).hexdigest()


# ---- the heddle program -----------------------------------------------------------------------------------------------------------------
def find_heddle() -> str:
    """The one that HEDDLE names, and then no other: it would not be the one that was meant."""
    if named := os.environ.get("HEDDLE"):
        if found := shutil.which(named) or (os.path.exists(named) and named):
            return found
        raise Fault(f"HEDDLE is '{named}', and there is no such program; it takes a name or a path, without options", 2)
    root = Path(__file__).resolve().parent.parent  # of a checkout, or share/heddle of a package
    for place in ("heddle", root / "build/release/heddle", root.parent.parent / "bin/heddle"):
        if found := shutil.which(place):
            return found
    raise Fault("there is no heddle program: set HEDDLE to its path, or put it on PATH", 2)


def heddle_command() -> str:
    """The same as the reader of a sentence types it."""
    with contextlib.suppress(Fault):
        if (found := find_heddle()) != shutil.which("heddle"):
            return typed(found)
    return "heddle"


def hear(words: list[str], seconds: float | None = None, late: str = "", **options: Any) -> tuple[int, str, str]:
    """How a program ended, and what it said on both streams. A fault where it cannot be run, needs longer (`late` says so), or talks without end."""
    end = math.inf if seconds is None else time.monotonic() + seconds
    late = Fault(late or f"{words[0]} gave no answer to '{words[1]}' in {seconds} s")
    try:
        run = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True, **options)
    except (OSError, ValueError) as fault:
        raise Fault(f"{words[0]} cannot be run ({getattr(fault, 'strerror', None) or fault})") from None
    with run, selectors.DefaultSelector() as ears:
        heard = {run.stdout: bytearray(), run.stderr: bytearray()}
        try:
            for stream in heard:
                ears.register(stream, selectors.EVENT_READ)
            while ears.get_map():
                if time.monotonic() > end:
                    raise late
                for key, _ in ears.select(min(1, max(0, end - time.monotonic()))):
                    piece = os.read(key.fd, 1 << 16)
                    heard[key.fileobj] += piece
                    if not piece:
                        ears.unregister(key.fileobj)
                    if len(heard[key.fileobj]) > MOST_BYTES:
                        raise Fault(f"{words[0]} writes without end")
            try:
                run.wait(None if seconds is None else max(0, end - time.monotonic()))
            except subprocess.TimeoutExpired:
                raise late from None
        except BaseException:  # its children end with it: they would hold the pipes open
            with contextlib.suppress(ProcessLookupError):
                os.killpg(run.pid, signal.SIGKILL)
            raise
        return run.returncode, *(stream.decode(errors="replace") for stream in heard.values())


def ask_heddle(*arguments: Any, accepted: tuple = (0,), searches: int = 0, read: Callable | None = None) -> Any:
    """What `read` finds in the JSON that it prints. A fault, in one sentence, where it cannot be run, fails, hangs, or answers otherwise."""
    program, seconds = find_heddle(), SECONDS + searches * SEARCH_SECONDS
    words = [program, *map(str, arguments), *(["--timeout", str(SEARCH_SECONDS)] if searches else [])]
    code, stdout, stderr = hear(words, seconds, env=dict(os.environ, HEDDLE_CALLED=heddle_command()))
    if code not in accepted:
        lines = [line.removeprefix("heddle: ") for line in stderr.splitlines() if line.strip() and not line.startswith("heddle: note:")]
        lines += [line.strip() for line in stdout.splitlines() if line.strip()][:1]  # of an answer: why there is none
        raise Fault((lines or [f"{program} ended '{arguments[0]}' with code {code} and said nothing"])[0][:400])
    try:
        return read(json.loads(stdout)) if read else None
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise Fault(f"{program} answered '{arguments[0]}' as heddle does not") from None


def telling_lines(text: str) -> str:
    """Those of what Triton, LLVM and MLIR print that say what is wrong."""
    lines = re.findall(r"(?m)^.*(?:\berror:|Assertion|LLVM ERROR|UNREACHABLE).*$", text)
    # MLIR ends its errors with one that only says that there were some.
    return "".join(f"{printable(line.strip())}\n" for line in lines if "Failures have been detected" not in line)


def telling_line(text: str) -> str:
    """Of what a program said before it gave up, the line that says why."""
    telling = telling_lines(text).splitlines()
    crash = [line for line in telling if not re.search(r"\berror:", line)]
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return (crash[-1:] + telling + lines[-1:] + ["it said nothing"])[0].removeprefix("heddle_triton: ")[:400]


def reason_of(fault: BaseException, printed: str) -> str:
    """Why a kernel does not compile. Triton's CompilationError is a picture of the source that ends in "^"; what is wrong is in what it was
    raised for. Its passes print what is wrong, and raise that they have failed."""
    place = ""
    while True:
        if hasattr(fault, "error_message") and hasattr(getattr(fault, "node", None), "lineno"):
            place = f", in line {fault.node.lineno} of its source"
        if not fault.__cause__:
            break
        fault = fault.__cause__
    message = getattr(fault, "error_message", None) or f"{type(fault).__name__}: {fault}"
    if type(fault) is RuntimeError:
        message = telling_line(f"{printed}\n{fault}")
    return " ".join(message.split())[:400] + place


def why_not_in_order(path: Path) -> str:
    """What `heddle check` finds in a text, "triton-order: ...", or why it could not look: what is not checked is not used."""
    def read(answer: dict) -> str:
        broken = "; ".join(f"{each['rule']}: {each['message']}" for each in answer["violations"])
        return broken or ("" if answer["valid"] is True else "heddle check says that it is not valid")

    try:
        return ask_heddle("check", path, "--json", accepted=(0, 4), read=read)
    except Fault as fault:
        return f"heddle could not check it: {fault}"


# ---- a machine without a GPU ------------------------------------------------------------------------------------------------------------
class DataType(str):
    @property
    def itemsize(self) -> int:
        return max(1, int(re.search(r"\d+", self)[0]) // 8)


class Tensor:
    """A tensor without memory, for scripts that only launch kernels to have them dumped: Tensor("bf16", (4096, 4096))."""

    def __init__(self, dtype: str, shape: tuple = (1,), strides: tuple | None = None):
        self.dtype, self.shape, self.device = DataType(dtype), tuple(shape), "cpu"
        self.strides = strides or tuple(math.prod(self.shape[at + 1:]) for at in range(len(self.shape)))

    def data_ptr(self) -> int:
        return 0  # as well aligned as what an allocator gives

    def stride(self, dimension: int | None = None) -> Any:
        return self.strides if dimension is None else self.strides[dimension]

    def element_size(self) -> int:
        return self.dtype.itemsize


def with_pointer(value: Any) -> Any:
    """numpy's arrays have no pointer that Triton would take."""
    if type(value).__module__ == "numpy" and type(value).__name__ == "ndarray":
        return Tensor(str(value.dtype), value.shape, tuple(step // value.itemsize for step in value.strides))
    return value


def run_once(kernel_call: Callable, *rest: Any, quantiles: Any = None, **more: Any) -> Any:
    kernel_call()
    return [1.0] * len(quantiles) if quantiles else 1.0


class StandInDriver:
    """What Triton asks its driver for while it compiles, and a script while it sizes its grid, answered for the named target."""

    def __init__(self, target: Any):
        properties = {"max_shared_mem": 232448 if target.arch >= 90 else 166912, "multiprocessor_count": MULTIPROCESSORS.get(target.arch, 128),
                      "warpSize": 32, "max_num_regs": 65536}
        self.utils = types.SimpleNamespace(get_device_properties=lambda device: properties)
        self.get_current_target = lambda: target
        self.get_current_device = self.get_current_stream = lambda *_: 0
        self.get_benchmarker = lambda: run_once

    def get_active_torch_device(self) -> Any:
        import torch
        return torch.zeros(0, device="cuda").device  # main memory where there is no GPU


def without_torch_gpu(target: int) -> contextlib.AbstractContextManager:
    """Where torch has no GPU, tensors that a script wants there come to lie in main memory, and questions are answered as `target` would."""
    try:
        import torch
        from torch.overrides import TorchFunctionMode
    except ImportError:
        return contextlib.nullcontext()
    if torch.cuda.is_available():
        return contextlib.nullcontext()

    def elsewhere(value: Any) -> Any:
        return torch.device("cpu") if isinstance(value, (str, torch.device)) and str(value).split(":")[0] == "cuda" else value

    class InMainMemory(TorchFunctionMode):
        def __torch_function__(self, function: Any, kinds: Any, arguments: tuple = (), named: dict | None = None) -> Any:
            if function is torch.Tensor.cuda:
                return arguments[0]
            if function is torch.device:
                return function(*arguments, **(named or {}))
            return function(*map(elsewhere, arguments), **{name: elsewhere(value) for name, value in (named or {}).items()})

    properties = types.SimpleNamespace(multi_processor_count=MULTIPROCESSORS.get(target, 128), major=target // 10, minor=target % 10,
                                       name=f"sm_{target}", warp_size=32)
    answers = {"is_available": True, "device_count": 1, "current_device": 0, "synchronize": None, "set_device": None,
               "get_device_capability": divmod(target, 10), "get_device_name": properties.name, "get_device_properties": properties}
    for name, answer in answers.items():
        setattr(torch.cuda, name, lambda *_, answer=answer, **__: answer)
    return InMainMemory()


# ---- dump -------------------------------------------------------------------------------------------------------------------------------
class Dumper:
    """Writes the texts of every kernel that is compiled while it is installed; nothing is launched."""

    def __init__(self, triton: Any, target: int, folder: Path, all_configs: bool, printed: Path):
        self.triton, self.folder, self.all_configs, self.printed = triton, folder, all_configs, printed
        self.lock = threading.RLock()  # stderr, for one, is everybody's
        self.target = triton.backends.compiler.GPUTarget("cuda", target, 32)
        self.seen: set[tuple] = set()  # kernels that have been written
        self.numbers: dict[str, int] = {}  # of a kernel's name -> how many of them so far
        self.written: list[Path] = []  # of the present kernel
        self.failed, self.why = 0, ""  # how many, and why the last one

    def visit(self, passes: PassList, module: Any, metadata: dict) -> None:
        """Runs the passes of one kernel, and writes its text where a schedule could be read or put in."""
        latencies, scheduled = passes.before_latencies(), passes.after_schedule()
        passes.run_range(module, 0, latencies)
        self.num_warps = metadata["num_warps"]
        kernel, mark = module.get_entry_func_name(), (digest(module), metadata["num_stages"])
        stem = None
        if mark not in self.seen:
            self.seen.add(mark)
            self.numbers[kernel] = self.numbers.get(kernel, 0) + 1
            stem = f"{kernel[:150]}{f'.{self.numbers[kernel]}' if self.numbers[kernel] > 1 else ''}.sm{self.target.arch}"

        def keep(form: str, text: str) -> None:
            if stem and text:
                self.written.append(self.folder / f"{stem}.{form}.ttgir")
                write_file(self.written[-1], text)
                write_file(self.written[-1].with_suffix(".json"), json.dumps(metadata, default=vars, indent=1))

        keep("input", str(module))
        passes.run_range(module, latencies, scheduled)
        keep("scheduled", str(module))
        rest = scheduled
        if "add_warp_specialize" in passes.names:
            rest = passes.names.index("add_warp_specialize") + 1
            keep("partitioned", text_after_partitioning(lambda: passes.run_range(module, scheduled, rest), self.printed.with_name("passes")))
        passes.run_range(module, rest)
        keep("final", str(module))

    def compile(self, name: str, build: Callable[[], Any]) -> Any:
        """One kernel. What goes wrong is said, and the script goes on."""
        with self.lock:
            return self.compile_alone(name, build)

    def compile_alone(self, name: str, build: Callable[[], Any]) -> Any:
        self.written, printed = [], str
        try:
            with stderr_in(self.printed) as printed:
                kernel = build()
            metadata = kernel.metadata._asdict()
        except Exception as fault:
            self.failed, self.why = self.failed + 1, reason_of(fault, printed())
            until_then = f" (its texts until then are in {self.folder})" if self.written else ""
            say(f"{name} could not be compiled: {self.why}{until_then}")
            return None
        for path in self.written:  # now with what is known in the end: shared, tmem_size; warps of all partitions only in the final form
            asked = {} if path.name.endswith(".final.ttgir") else {"num_warps": self.num_warps}
            write_file(path.with_suffix(".json"), json.dumps({**metadata, **asked}, default=vars, indent=1))
        if self.written:
            forms = [path.name.split(".")[-2] for path in self.written]
            say(f"{name}: {self.written[0].name.removesuffix('.input.ttgir')}.*.ttgir written ({', '.join(forms)}); the launch is skipped")
        return kernel

    def install(self) -> None:
        import triton.testing
        from triton.backends.nvidia.compiler import CUDABackend
        from triton.runtime import autotuner, jit
        dumper, add_stages, run_kernel = self, CUDABackend.add_stages, jit.JITFunction.run

        def add_ours(backend: Any, stages: dict, options: Any, language: Any) -> None:
            add_stages(backend, stages, options, language)
            if "ttir" in stages:  # not Gluon, where Triton schedules nothing
                stages["ttgir"] = between_passes(backend, options, dumper.visit)
                stages["cubin"] = lambda ptx, metadata: b""  # ptxas would be work for nothing

        def skip_launch(kernel: Any, *arguments: Any, grid: Any = None, warmup: bool = True, **named: Any) -> Any:
            arguments, named = [with_pointer(value) for value in arguments], {name: with_pointer(value) for name, value in named.items()}
            return dumper.compile(kernel.__name__, lambda: run_kernel(kernel, *arguments, grid=grid, warmup=True, **named))

        def skip_tuning(tuner: Any, *arguments: Any, **named: Any) -> Any:
            tuner.nargs = dict(zip(tuner.arg_names, arguments))
            configs = tuner.prune_configs(named)
            if len(configs) > 1 and not dumper.all_configs:
                say(f"{tuner.base_fn.__name__} has {len(configs)} configurations, the first is taken ({configs[0]}); --all-configs takes all")
            for config in configs if dumper.all_configs else configs[:1]:
                if config.pre_hook:  # may set the blocks of descriptors
                    config.pre_hook({**tuner.nargs, **named, **config.all_kwargs()})
                result = tuner.fn.run(*arguments, **named, **config.all_kwargs())
            return result

        self.triton.runtime.driver.set_active(StandInDriver(self.target))
        triton.testing.do_bench = triton.testing.do_bench_cudagraph = run_once
        CUDABackend.add_stages, jit.JITFunction.run, autotuner.Autotuner.run = add_ours, skip_launch, skip_tuning

    def compile_named(self, kernel: Any, signature: dict, constants: dict, options: dict) -> None:
        """An entry of heddle_kernels(). "i32:16", "*bf16:16": divisible by 16."""
        while not isinstance(kernel, self.triton.runtime.jit.JITFunction):
            kernel = kernel.fn  # under autotune or heuristics
        names = kernel.arg_names
        unknown = [f"'{name}' is none of them" for name in [*signature, *constants] if name not in names]
        unknown += [f"nothing is said of '{name}'" for name in names if name not in signature and name not in constants]
        if unknown:
            raise Fault(f"heddle_kernels(): {kernel.__name__} takes {', '.join(names)}; {unknown[0]}")
        kinds = {name: "constexpr" if name in constants else signature[name].removesuffix(":16") for name in names}
        divisible = {(at,): [["tt.divisibility", 16]] for at, name in enumerate(names) if signature.get(name, "").endswith(":16")}
        source = self.triton.compiler.ASTSource(kernel, kinds, {(names.index(name),): value for name, value in constants.items()}, divisible)
        self.compile(kernel.__name__, lambda: self.triton.compile(source, target=self.target, options=dict(options)))


@contextlib.contextmanager
def stderr_in(path: Path, shown: Callable[[str], str] = printable) -> Any:
    """What is printed meanwhile, by C++ too, goes into a file, where it is found even if the process ends, and what is to be seen of it to stderr
    afterwards. Gives what was printed."""
    with contextlib.suppress(Exception):  # whatever the script has put there
        sys.stderr.flush()
    stderr, text = os.dup(2), ""
    with open(path, "w+b") as log:
        os.dup2(log.fileno(), 2)
        try:
            yield lambda: text
        finally:
            with contextlib.suppress(Exception):
                sys.stderr.flush()
            os.dup2(stderr, 2)
            os.close(stderr)
            log.seek(0)
            text = log.read().decode(errors="replace")
            path.unlink(missing_ok=True)
            with contextlib.suppress(OSError):
                os.write(2, shown(text).encode())


def text_after_partitioning(run: Callable[[], None], log: Path) -> str:
    """The text between two passes that Triton nests in one; it can be had only as what MLIR prints before each pass."""
    before = os.environ.get("MLIR_ENABLE_DUMP", "0")
    os.environ["MLIR_ENABLE_DUMP"] = "1"
    try:
        with stderr_in(log, telling_lines) as printed:
            run()
    finally:
        os.environ["MLIR_ENABLE_DUMP"] = before
    parts = re.split(r"(?m)^// -----// IR Dump Before (.*)\n", printed())
    after = [text for header, text in zip(parts[1::2], parts[4::2]) if "tritongpu-partition-scheduling" in header]
    return after[0].strip() + "\n" if after and form_of(after[0]) == "partitioned" else ""


def dump_here(order: dict) -> int:
    """The part of `dump` that runs the script, in a process of its own: assertions of Triton's end it."""
    triton, script = load_triton(), Path(order["script"])
    target = order["target"] or gpu_here(triton)
    dumper = Dumper(triton, target, Path(order["folder"]), order["all_configs"], Path(order["printed"]))
    dumper.install()
    sys.argv, sys.path[0] = [str(script), *order["arguments"]], str(script.resolve().parent)
    sys.modules["heddle_triton"] = sys.modules[__name__]  # wherever this file lies, the script can import it
    main = sys.modules["__main__"] = types.ModuleType("__main__")
    main.__file__ = str(script)
    stopped = None
    with without_torch_gpu(target):
        try:
            exec(compile(script.read_bytes(), str(script), "exec"), main.__dict__)
        except SystemExit as end:
            stopped = f"it ended with code {end.code}" if end.code else None
        except Exception as fault:
            lines = [frame.lineno for frame in traceback.extract_tb(fault.__traceback__) if frame.filename == str(script)]
            stopped = f"{type(fault).__name__} in line {lines[-1] if lines else 1}: {fault}"
        try:
            for entry in main.__dict__.get("heddle_kernels", tuple)():
                dumper.compile_named(*entry)
        except (TypeError, ValueError, AttributeError) as fault:
            raise Fault(f"heddle_kernels() of {script.name} gives something else than (kernel, signature, constants, options): {fault}") from None
    if stopped and not dumper.seen:
        raise Fault(f"{script.name} stopped before it launched a kernel: {stopped}")
    if stopped:
        say(f"{script.name} stopped later on, which results of skipped launches may explain: {stopped}")
    if not dumper.seen and not dumper.failed:
        raise Fault(f"{script.name} launched no Triton kernel. A function heddle_kernels() in it can name kernels that it does not launch: a list of "
                    '(kernel, signature, constants, options), as (gemm, {"a": "*bf16:16", "k": "i32"}, {"BM": 128}, {"num_warps": 8})')
    return 1 if dumper.failed else 0


def gpu_here(triton: Any) -> int:
    try:
        return triton.runtime.driver.active.get_current_target().arch
    except Exception:
        raise Fault("there is no GPU here, so the target must be named: --target sm_90 (Hopper), --target sm_100 (Blackwell)", 2) from None


def child(part: str, folder: str, order: dict) -> tuple[list[str], dict]:
    """The words and the environment of a process that runs Triton. Triton's own cache is left alone: what is compiled
    there is no whole kernel, or one with another schedule."""
    return [sys.executable, os.path.abspath(__file__), part, json.dumps(order)], dict(os.environ, TRITON_CACHE_DIR=f"{folder}/cache")


def dump(script: str, arguments: list[str], target: int | None, folder: Path, all_configs: bool) -> tuple[list[Path], int]:
    """The scheduled texts that were written, and the exit code; the child has said what is wrong."""
    if not Path(script).is_file():
        raise Fault(f"there is no script {script}", 2)
    there = next(part for part in (folder, *folder.absolute().parents) if part.exists())
    if not there.is_dir():
        raise Fault(f"the output folder {there} is a file: name another one with -o", 2)
    expect_triton()
    before = {path: path.stat().st_mtime_ns for path in folder.glob("*.ttgir")}
    with tempfile.TemporaryDirectory() as work:
        # The script may go to another folder.
        words, environment = child("_dump", work, {"script": script, "arguments": arguments, "target": target, "folder": str(folder.absolute()),
                                                   "all_configs": all_configs, "printed": f"{work}/printed"})
        code = subprocess.run(words, env=environment).returncode
        if code < 0:
            said = {log.name: log.read_text(errors="replace") for log in Path(work).iterdir() if log.is_file()}
            print(printable(said.get("printed", "")), end="", file=sys.stderr, flush=True)
            why = telling_line("".join(map(telling_lines, said.values())))
            raise Fault(f"Triton ended the process (signal {-code}): {why}; texts written until then are in {folder}")
    new = sorted(path for path in folder.glob("*.scheduled.ttgir") if before.get(path) != path.stat().st_mtime_ns)
    if not new and not code:
        raise Fault(f"{script} ended without a word, and no text was written to {folder}")
    return new, code


# ---- finish -----------------------------------------------------------------------------------------------------------------------------
def hashable(value: Any) -> Any:
    return tuple(hashable(each) for each in value) if isinstance(value, list) else value


def options_for(path: Path, text: str, given: dict) -> dict:
    """Of the command line, else of the module, else of the .json beside the text; Triton's own defaults for the rest."""
    options: dict[str, Any] = {}
    if path.with_suffix(".json").exists():
        try:
            options = dict(json.loads(read_file(path.with_suffix(".json"))))
        except (ValueError, TypeError):
            raise Fault(f"{path.with_suffix('.json').name} beside it does not hold a JSON object") from None
        for name in ("num_warps", "extern_libs", "arch"):  # summed over partitions by Triton; of another machine
            options.pop(name, None)
    for name, attribute in (("num_warps", "num-warps"), ("num_ctas", "num-ctas"), ("maxnreg", "maxnreg")):
        if found := re.search(rf'(?m)^module attributes.*\bttg\.{attribute}"? = (\d+)', text):
            options[name] = int(found[1])
    return {**options, **{name: value for name, value in given.items() if value is not None}}


def finish_here(order: dict) -> int:
    """The part of `finish` that runs Triton, in a process of its own: bad partitions run into assertions."""
    triton = load_triton()
    if why := why_not_partitions(triton, order["form"]):
        raise Fault(why)
    if not order["whole"]:
        until_memory()
    from triton.backends.compiler import GPUTarget, Language
    folder, target = Path(order["folder"]), GPUTarget("cuda", order["target"], 32)
    backend = triton.compiler.make_backend(target)
    options = backend.parse_options({name: hashable(value) for name, value in order["options"].items()})
    module = read_module(order["text"], new_context(backend))

    def rest(passes: PassList, module: Any, metadata: dict) -> None:
        passes.run_range(module, passes.before_latencies() if order["form"] == "input" else passes.after_schedule())

    stages: dict[str, Callable] = {}
    backend.add_stages(stages, options, Language.TRITON)
    stages["ttgir"] = between_passes(backend, options, rest)
    metadata = {"target": target, **options.__dict__, "triton_version": triton.__version__, "name": module.get_entry_func_name()}
    for stage in ("ttgir", "llir", "ptx", "cubin"):
        module = stages[stage](module, metadata)
        write_file(folder / f"finished.{stage}", module if isinstance(module, bytes) else str(module))
    write_file(folder / "finished.json", json.dumps(metadata, default=vars, indent=1))
    return 0


def finish(path: Path, target: int | None = None, given: dict | None = None, out: Path | None = None, whole: bool = True) -> tuple[Path, dict]:
    """Where the results lie, without their endings, and what Triton says of them. Not `whole`: as far as memory is laid out."""
    if not path.exists():
        raise Fault(f"there is no text {path}", 2)
    expect_triton()
    text = read_file(path)
    form, named = form_of(text), re.search(r'ttg\.target = "cuda:(\d+)"', text)
    if form in ("specialized", "final"):
        raise Fault(f"{path.name} is in {form} form: the passes that would read a schedule have run over it, and no pass may run twice; "
                    "finish a text in input, scheduled or partitioned form ({own_command()} dump writes them)")
    if not kernel_of(text):
        raise Fault(f"{path.name} holds no kernel of Triton's (tt.func public)")
    if not target and not named:
        raise Fault(f"{path.name} does not say its target: --target sm_90", 2)
    if why := why_not_in_order(path):
        raise Fault(f"{path.name} is not given to Triton: {why}")
    stem = path.with_name(re.sub(r"(\.(input|scheduled|partitioned))?\.\w+$", "", path.name) + ".finished")
    if out:
        stem = out / stem.name if out.is_dir() else out.with_suffix("") if out.suffix in (".ttgir", ".ptx", ".cubin", ".json") else out
    if Path(f"{stem}.ttgir").resolve() == path.resolve():
        raise Fault(f"the result would overwrite {path}: name another one with -o", 2)
    with tempfile.TemporaryDirectory() as folder:
        words, environment = child("_finish", folder, {"text": str(path), "form": form, "folder": folder, "target": target or int(named[1]), "whole": whole,
                                                       "options": options_for(path, text, given or {})})
        late = f"Triton does not end on {path.name} within {FINISH_SECONDS} s (HEDDLE_FINISH_SECONDS allows more)"
        code, _, said = hear(words, FINISH_SECONDS, late, env=environment)
        if code:
            how = f"crashed (signal {-code})" if code < 0 else "failed"
            raise Fault(f"Triton {how} on {path.name}: {telling_line(said)}")
        for ending in ("ttgir", "ptx", "cubin", "json"):
            write_file(Path(f"{stem}.{ending}"), (Path(folder) / f"finished.{ending}").read_bytes())
        return stem, json.loads((Path(folder) / "finished.json").read_text())


def memory_of(text: Path) -> dict:
    """Shared memory and rings as Heddle reads them in a text: what it predicts before Triton's last passes, what there is behind them."""
    def read(answer: dict) -> dict:
        memory = answer["memory"]
        rings = sorted((each["slots"], each["bytes"]) for each in memory["buffers"] if each["what"] == "ring" and each["slots"] > 1)
        return {"shared": memory["shared_bytes"], "exact": memory["exact"], "rings": rings}

    return ask_heddle("audit", text, "--no-solve", "--json", accepted=(0, 4), read=read)


def against_prediction(path: Path, finished: Path, shared: int) -> str:
    """What is to be said of Triton's memory beside what heddle predicted for the text."""
    try:
        predicted, rings = memory_of(path), memory_of(finished)["rings"]
    except Fault as fault:
        return f"not compared with a prediction: {fault}"
    if (predicted["shared"], predicted["rings"]) == (shared, rings):
        return "as heddle predicted"

    def listed(each: list) -> str:
        return ", ".join(f"{slots} x {size}" for slots, size in each) or "none"

    said = f"{predicted['shared']} bytes"
    if rings != predicted["rings"]:
        said += f" with rings (slots x bytes) {listed(predicted['rings'])}, and Triton builds {listed(rings)}: its cycles are not to be had either"
    return f"NOT what heddle predicted: {said}" if predicted["exact"] else f"heddle predicted about {said}; it said that Triton may do otherwise"


# ---- use --------------------------------------------------------------------------------------------------------------------------------
class Entry(NamedTuple):
    name: str
    kernel: str
    form: str
    text: str
    digest: str
    num_stages: int | None  # that it was checked for, where the .json beside it says so: rings between partitions follow it


class Table(NamedTuple):
    entries: tuple[Entry, ...]
    key: str  # part of what Triton's caches look a kernel up by


class Schedules:
    """The edited texts of the folders in use. Where Triton compiles the kernel of one, it goes on with that text instead of its own."""

    def __init__(self) -> None:
        self.table = Table((), "")
        self.said: set[str] = set()
        self.lock = threading.Lock()
        self.before: Callable | None = None  # a hook of somebody else's

    def add(self, triton: Any, folder: Path) -> bool:
        """Whether any text of the folder can be used. What goes wrong with one is said, and costs only that one."""
        find_heddle()  # where there is none, nothing can be checked
        backend = triton.compiler.make_backend(triton.backends.compiler.GPUTarget("cuda", 90, 32))
        context, found = new_context(backend), []
        for path in sorted(folder.glob("*.ttgir")):
            try:
                found.append(self.entry(triton, path, context))
            except Exception as fault:
                say(f"{path.name} is not used: {fault}")
        entries = (*self.table.entries, *found)
        self.table = Table(entries, "heddle-" + hashlib.sha256("".join(entry.text for entry in entries).encode()).hexdigest())
        return bool(found)

    def entry(self, triton: Any, path: Path, context: Any) -> Entry:
        text = read_file(path)
        form = form_of(text)
        if form in ("specialized", "final"):
            raise Fault(f"it is in {form} form, which no schedule is read from")
        if why := why_not_partitions(triton, form) or why_not_in_order(path):
            raise Fault(why)
        num_stages = options_for(path, text, {}).get("num_stages")
        return Entry(path.name, kernel_of(text), "input" if form == "input" else "scheduled", text, digest(parse_text(text, context)), num_stages)

    def say_once(self, mark: str, sentence: str) -> None:
        with self.lock:
            new = mark not in self.said
            self.said.add(mark)
        if new:
            say(sentence)

    def visit(self, passes: PassList, module: Any, metadata: dict) -> Any:
        kernel, done = module.get_entry_func_name(), 0
        entries = [entry for entry in self.table.entries if entry.kernel == kernel]
        for form, end in (("input", passes.before_latencies()), ("scheduled", passes.after_schedule())):
            offered = {entry.digest: entry for entry in entries if entry.form == form and entry.num_stages in (None, metadata["num_stages"])}
            if offered:
                passes.run_range(module, done, end)
                done = end
                try:
                    if entry := offered.get(digest(module)):
                        edited = parse_text(entry.text, module.context)
                        passes.run_range(edited, done)
                        self.say_once(entry.digest, f"{kernel} is compiled with the schedule in {entry.name}")
                        return edited
                except Exception as fault:  # Triton goes on with its own, which is untouched
                    self.say_once(kernel, f"{kernel} is left to Triton: the schedule could not be put in ({telling_line(str(fault))})")
        self.say_once(kernel, f"{kernel} is left to Triton: its text is not one that {', '.join(entry.name for entry in entries)} was made for "
                      "(changed since, or another shape or configuration)")
        passes.run_range(module, done)
        return module

    def replace_stage(self, backend: Any, stages: dict, options: Any) -> None:
        if "ttir" not in stages or backend.target.backend != "cuda" or options.num_ctas != 1:
            return  # Gluon, where Triton schedules nothing; AMD; clusters, which Heddle does not model
        own, kernels = stages["ttgir"], {entry.kernel for entry in self.table.entries}
        ours = between_passes(backend, options, self.visit)

        def ttgir(module: Any, metadata: dict) -> Any:
            if module.get_entry_func_name() in kernels:
                try:
                    return ours(module, metadata)
                except Unlike as fault:
                    self.say_once("unlike", f"kernels are left to Triton: {fault}")
            return own(module, metadata)

        stages["ttgir"] = ttgir

    def hook(self, backend: Any = None, stages: dict | None = None, options: Any = None, language: Any = None, capability: Any = None) -> Any:
        """knobs.runtime.add_stages_inspection_hook: with arguments it may change the stages, without it gives parts of two cache keys."""
        if stages is None:
            return tuple(part + self.table.key for part in (self.before() if self.before else ("", "")))
        if self.before:
            self.before(backend, stages, options, language, capability)
        self.replace_stage(backend, stages, options)
        return None

    def install(self) -> None:
        from triton import knobs
        from triton.backends.nvidia.compiler import CUDABackend
        add_stages, own_hash = CUDABackend.add_stages, CUDABackend.hash  # first of all: from here on nothing fails
        if hasattr(type(knobs.runtime), "add_stages_inspection_hook"):
            self.before, knobs.runtime.add_stages_inspection_hook = knobs.runtime.add_stages_inspection_hook, self.hook
        else:  # 3.4 has no hook: the same from outside
            def add_ours(backend: Any, stages: dict, options: Any, language: Any) -> None:
                add_stages(backend, stages, options, language)
                self.replace_stage(backend, stages, options)

            CUDABackend.add_stages = add_ours
        # To 3.6 the hook has no say in the key of the cache on disk, where a kernel with Triton's own schedule may lie.
        CUDABackend.hash = lambda backend: f"{own_hash(backend)}-{self.table.key}"


_in_use: Schedules | None = None


def use(folder: str | os.PathLike) -> bool:
    """From here on Triton compiles kernels with the schedules in `folder` (texts that `heddle export --format ttgir` wrote), where the
    kernel is still the one that they were made for. Call it before the first launch. Never raises: what is wrong is a line on stderr, and
    Triton goes on with its own schedule. Gives whether any schedule was found."""
    global _in_use
    try:
        if not os.fspath(folder):
            raise Fault("the name of the folder is empty")
        triton = load_triton()
        if not Path(folder).is_dir():
            raise Fault(f"there is no folder {folder}")
        schedules = _in_use or Schedules()
        if not schedules.add(triton, Path(folder)):
            raise Fault(f"there is no schedule in {folder}; {own_command()} solve SCRIPT -o {shlex.quote(str(folder))} makes some")
        if not _in_use:
            schedules.install()
        _in_use = schedules
        return True
    except Exception as fault:
        say(f"{'nothing is added to what is in use' if _in_use else 'Triton uses its own schedules'}: {fault}")
        return False


# ---- solve ------------------------------------------------------------------------------------------------------------------------------
def predicted_bytes(text: Path) -> str:
    """Of shared memory, as Heddle reads the text; "about" where it says itself that Triton may do otherwise."""
    def read(answer: dict) -> str:
        return f"{'' if answer['memory']['exact'] else 'about '}{answer['memory']['shared_bytes']}"

    return ask_heddle("audit", text, "--no-solve", "--json", accepted=(0, 4), read=read)


def give_back(text: Path, machine: list[str], work: Path, finished: Path | None = None, whole: bool = True) -> tuple[Path, str, Path, dict] | None:
    """The scheduled text `text` with Heddle's best schedule that Triton's passes can build, in the folder `work`; the bytes that are predicted
    for it, and what `finish` gives, whose results come to lie in `finished`. None where the text stays the same."""
    schedule, edited = work / "best.json", work / text.name.replace(".scheduled.", ".")
    ask_heddle("solve", f"{text}#triton", *machine, "--out", schedule, searches=1)
    ask_heddle("export", text, *machine, schedule, "--format", "ttgir", "--out", edited, "--quiet")  # else it searches for more to say
    if edited.read_text() == text.read_text():
        return None
    # What Triton said of its own schedule is not true of this one.
    beside = json.loads(text.with_suffix(".json").read_text())
    write_file(edited.with_suffix(".json"), json.dumps({name: value for name, value in beside.items() if name not in ("shared", "tmem_size")}))
    return edited, predicted_bytes(edited), *finish(edited, out=(finished or work / "finished") / edited.stem, whole=whole)


def solve_one(text: Path, machine: list[str], folder: Path, row: list[str]) -> str:
    """Fills the row of a kernel, and says what became of it. Its edited text lies in `folder` only where it is better than Triton's own."""
    beside = json.loads(text.with_suffix(".json").read_text())
    # Of a kernel that Triton specializes, the text with its partitions is what it runs.
    whole = text.with_name(text.name.replace(".scheduled.", ".partitioned."))
    whole = whole if whole.exists() else text
    own, best, free, why_none = ask_heddle("compare", whole, *machine, "--format", "json", accepted=(0, 5), searches=2, read=lambda answer: [
        *(int(answer["sides"][at].get("period") or 0) for at in range(3)), answer["sides"][1].get("why_not")])
    row[1:] = [*(str(period or "-") for period in (own, best, free)), predicted_bytes(whole), str(beside.get("shared"))]
    if not best:
        return f"left to Triton: {why_none or 'no schedule was found'}"
    if own and best >= own:
        return "left to Triton: nothing better was found"
    with tempfile.TemporaryDirectory() as work:
        if not (result := give_back(text, machine, Path(work), finished=folder / "finished")):
            return "left to Triton: it would be the same text"
        edited, predicted, stem, metadata = result
        row[4:] = [f"{row[4]} -> {predicted}", f"{row[5]} -> {metadata.get('shared')}"]
        said = against_prediction(edited, Path(f"{stem}.ttgir"), metadata["shared"])
        for path in (edited, edited.with_suffix(".json")):
            write_file(folder / path.name, path.read_bytes())
    return f"given back; {said}" if said.startswith(("NOT", "not")) else "given back"


def solve(script: str, arguments: list[str], target: int | None, folder: Path, all_configs: bool, machine: list[str]) -> int:
    find_heddle()
    table = [["kernel", "Triton's", "best of Triton", "best of machine", "shared, predicted", "shared by Triton", ""]]
    for path in (folder / "dump").glob("*.sm*.*.ttgir"):  # of an earlier run
        path.unlink()
    texts, code = dump(script, arguments, target, folder / "dump", all_configs)
    for text in texts:
        (folder / text.name.replace(".scheduled.", ".")).unlink(missing_ok=True)  # of an earlier run
        row = [text.name.removesuffix(".scheduled.ttgir"), *"-----"]
        say(f"solving {row[0]}")
        try:
            row.append(solve_one(text, machine, folder, row))
        except (Fault, OSError, ValueError) as fault:
            row.append(f"left to Triton: {fault}")
        table.append(row)
    if not texts:
        return code
    widths = [max(len(row[column]) for row in table) for column in range(6)]
    for row in table:
        print(printable("  ".join([*(cell.ljust(width) for cell, width in zip(row, widths)), row[-1]]).rstrip()))
    print("\nCycles per iteration and bytes are predictions by the model, bytes also what Triton says; nothing was run on a GPU.")
    if any(row[-1].startswith("given back") for row in table):
        line = f"import heddle_triton; heddle_triton.use({json.dumps(str(folder.resolve()))})"
        print(f"To compile with these schedules, say before the first launch:\n\n    {line}\n\nPython finds heddle_triton beside your program, "
              f"if you copy it there, or with PYTHONPATH={typed(str(Path(__file__).resolve().parent))}")
    else:
        print("No kernel is given back; there is nothing to change.")
    return code


# ---- command line -----------------------------------------------------------------------------------------------------------------------
ABOUT = {
    "dump": ("SCRIPT [ARGS...] [options] [-- MORE ARGS]",
             "Runs SCRIPT and writes the text of every @triton.jit kernel that it launches, before and after Triton has scheduled it. Nothing is "
             "launched, so what the script prints of results means nothing. Arguments may be tensors of torch, arrays of numpy, or "
             "heddle_triton.Tensor(\"bf16\", (4096, 4096))."),
    "solve": ("SCRIPT [ARGS...] [options] [-- MORE ARGS]",
              "Dumps the kernels of SCRIPT, asks heddle for the best schedule that Triton's passes can build, compiles it, and puts the texts "
              "of those that are better than Triton's own into FOLDER, for heddle_triton.use(\"FOLDER\")."),
    "finish": ("TEXT [options]",
               "Runs the rest of the installed Triton's passes over a text in input, scheduled or partitioned form, after `heddle check` has "
               "passed it. Writes .ttgir (which ir_override= of triton.Config takes), .ptx, .cubin and .json."),
}


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> Any:
        raise Fault(f"{message} ({self.prog} --help explains more)", 2)


def parse(command: str, words: list[str]) -> argparse.Namespace:
    parser = Parser(prog=f"{own_command()} {command}", usage=f"%(prog)s {ABOUT[command][0]}", description=ABOUT[command][1],
                                     allow_abbrev=False)
    parser.add_argument("--target", metavar="sm_N", help="sm_90: Hopper, sm_100: Blackwell, ...; needed where there is no GPU")
    if command == "finish":
        parser.add_argument("text", metavar="TEXT", type=Path)
        parser.add_argument("--num-warps", type=int, help="default: what the text says")
        parser.add_argument("--num-stages", type=int, help="default: what the .json beside the text says, else Triton's own")
        parser.add_argument("-o", "--out", type=Path, help="name of the results without ending, or a folder that is there (default: beside TEXT)")
        options = parser.parse_args(words)
    else:
        folder = {"dump": "heddle-texts", "solve": "heddle-schedules"}[command]
        parser.add_argument("-o", "--out", metavar="FOLDER", type=Path, default=Path(folder), help=f"default: {folder}")
        parser.add_argument("--all-configs", action="store_true", help="of autotuned kernels every configuration, not only the first")
        if command == "solve":
            parser.add_argument("--machine", help="machine of Heddle's, a name or a file (default: that of the target)")
        # Our options may stand before and behind SCRIPT; what is not ours, and all behind --, belongs to the script.
        end = words.index("--") if "--" in words else len(words)
        options, others = parser.parse_known_args(words[:end])
        if not others or others[0].startswith("-"):
            parser.error(f"{others[0]} is unknown; options of the script come behind its name" if others else "SCRIPT is missing")
        options.script, options.arguments = others[0], others[1:] + words[end + 1:]
    options.target = target_number(options.target) if options.target else None
    return options


def main(words: list[str]) -> int:
    command = words[0] if words else "--help"
    if command in ("_dump", "_finish"):
        return (dump_here if command == "_dump" else finish_here)(json.loads(words[1]))
    if command in ("--help", "-h", "help"):
        print(__doc__.strip().replace("    heddle_triton.py ", f"    {own_command()} ") + f"\n\n{own_command()} COMMAND --help says more about a command.")
        return 0
    if command not in ABOUT:
        raise Fault(f"there is no command '{command}': dump, finish, solve (--help explains them)", 2)
    options = parse(command, words[1:])
    if command == "solve":
        machine = [options.machine] if options.machine else []
        return solve(options.script, options.arguments, options.target, options.out, options.all_configs, machine)
    if command == "dump":
        texts, code = dump(options.script, options.arguments, options.target, options.out, options.all_configs)
        if texts:
            shown = f"{options.out}: {len(texts)} kernel{'s' * (len(texts) != 1)}; to see them: {heddle_command()} list {shlex.quote(str(options.out))}"
            print(printable(shown))
        return code
    stem, metadata = finish(options.text, options.target, {"num_warps": options.num_warps, "num_stages": options.num_stages}, options.out)
    tensor_memory = f", tensor memory {metadata['tmem_size']} columns" if metadata.get("tmem_size") else ""
    print(printable(f"{stem}.{{ttgir,ptx,cubin,json}}: shared {metadata['shared']} bytes{tensor_memory}, {metadata['num_warps']} warps; compiled, not run"))
    print(printable(f"shared memory: {against_prediction(options.text, Path(f'{stem}.ttgir'), metadata['shared'])}"))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except Fault as fault:
        say(str(fault))
        sys.exit(fault.code)
    except (OSError, UnicodeError) as fault:
        say(str(fault))
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
