#!/usr/bin/env python3
"""Takes kernels out of a Triton program for Heddle, and gives them back with another schedule.

    heddle_triton.py dump SCRIPT [ARGS...]     write the text of every @triton.jit kernel that SCRIPT launches
    heddle_triton.py finish TEXT               run the rest of Triton's passes over an edited text: .ttgir, .ptx, .cubin
    heddle_triton.py solve SCRIPT [ARGS...]    both, with Heddle's best schedule in between; ends with the line to paste

and in a program, before its first launch:

    import heddle_triton
    heddle_triton.use("FOLDER")                # Triton compiles with the schedules in FOLDER

No GPU is needed but for running the program itself. This one file is all: it needs the standard library and Triton 3.4 or later.

How it gets between two passes of Triton: Triton's own make_ttgir is called with stand-ins for its pass manager and its passes. It names its
passes to them in order, and they are run in two pieces instead of one. So the list is always that of the installed Triton.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import types
from pathlib import Path
from typing import Any, Callable, Iterable, NamedTuple

OLDEST = (3, 4)  # its texts are the first that carry a schedule
TARGETS = (80, 86, 89, 90, 100, 103, 110, 120)
MULTIPROCESSORS = {80: 108, 90: 132, 100: 148}  # what scripts ask to size a persistent grid


class Fault(Exception):
    """What the user can do something about, in one sentence. `code`: 1 it did not work, 2 it was asked for in a wrong way."""

    def __init__(self, sentence: str, code: int = 1):
        super().__init__(sentence)
        self.code = code


def say(sentence: str) -> None:
    print(f"heddle_triton: {sentence}", file=sys.stderr, flush=True)


def load_triton() -> Any:
    """The module triton, of a version that can be worked with."""
    try:
        import triton
        import triton.backends.nvidia.compiler  # noqa: F401  (the passes are listed by it)
    except ImportError as missing:
        raise Fault(f"Triton is not installed for {sys.executable} ({missing}): pip install triton", 2) from None
    version = tuple(int(number) for number in re.findall(r"\d+", triton.__version__)[:2])
    if version < OLDEST:
        raise Fault(f"Triton {triton.__version__} is too old: its texts carry no schedule before 3.4 (pip install --upgrade triton)", 2)
    return triton


def target_number(text: str) -> int:
    found = re.fullmatch(r"(?:sm_?|cuda:)?(\d+)a?", text)
    if not found or int(found[1]) not in TARGETS:
        raise Fault(f"there is no target '{text}'; known are {', '.join(f'sm_{number}' for number in TARGETS)}", 2)
    return int(found[1])


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

    def enable_debug(self) -> bool:
        return False

    def run(self, held: "HeldModule", *words: str) -> None:
        self.words = words
        held.module = held.visit(self, held.module)

    def run_range(self, module: Any, begin: int, end: int | None = None) -> None:
        from triton._C.libtriton import ir
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

    def __getattr__(self, name: str) -> Any:
        return getattr(self.module, name)


class Listener:
    """Stands for one of Triton's modules of passes: add_NAME(list, ...) is noted in the list; everything else is the real thing."""

    def __init__(self, real: Any):
        self.real = real

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


def make_ttgir(backend: Any, module: Any, metadata: dict, options: Any, capability: int, visit: Callable[[PassList, Any], Any]) -> Any:
    """Triton's own make_ttgir with `visit` in the place where it runs its passes. Nothing of Triton is changed: threads are safe."""
    own = backend.make_ttgir
    scope = dict(own.__globals__)
    real_ir = scope["ir"]
    scope.update(passes=Listener(scope["passes"]), nvidia=Listener(scope["nvidia"]))
    scope["ir"] = types.SimpleNamespace(**{name: getattr(real_ir, name) for name in dir(real_ir) if not name.startswith("__")})
    scope["ir"].pass_manager = PassList
    held = HeldModule(module, visit)
    types.FunctionType(own.__code__, scope, own.__name__, own.__defaults__, own.__closure__)(held, metadata, options, capability)
    return held.module


def parse_text(text: str, context: Any) -> Any:
    from triton._C.libtriton import ir
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "heddle.ttgir"
        path.write_text(text)
        module = ir.parse_mlir_module(str(path), context)
    module.context = context
    return module


# ---- texts ------------------------------------------------------------------------------------------------------------------------------
ATTRIBUTE = re.compile(r'(, )?"?(?:loop\.stage|loop\.cluster|tt\.scheduled_max_stage|tt\.latency|ttg\.partition(?:\.\w+)*'
                       r'|ttg\.warp_specialize\.tag)"?(?: = (?:\[[^\]]*\]|array<[^>]*>|[^,{}]*))?')
TOKEN = re.compile(r'"[^"]*"|%[\w.$-]+|#[A-Za-z_]\w*|loc\(')


def form_of(text: str) -> str:
    """How far Triton had come: the same marks as in Heddle's core/triton/program.cpp."""
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


def end_of_location(line: str, begin: int) -> int:
    """Behind the bracket that closes the loc( at `begin`. Names in quotes may hold brackets."""
    depth, quoted = 0, False
    for at in range(begin, len(line)):
        if line[at] == '"':
            quoted = not quoted
        elif not quoted and line[at] in "()":
            depth += 1 if line[at] == "(" else -1
            if depth == 0:
                return at + 1
    return len(line)


def split_line(line: str) -> list[str]:
    """Alternately what is fixed and what depends on the compilation: names of values, aliases, locations."""
    pieces, begin, at = [], 0, 0
    while found := TOKEN.search(line, at):
        at = end_of_location(line, found.start()) if found[0] == "loc(" else found.end()
        if found[0][0] != '"':
            pieces += [line[begin:found.start()], line[found.start():at]]
            begin = at
    return pieces + [line[begin:]]


def without_schedule(fixed: str) -> str:
    bare = ATTRIBUTE.sub("", fixed)
    return re.sub(r" ?\{\}", "", bare.replace("{, ", "{")) if bare != fixed else fixed


def op_lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip() and not line.startswith(("#", "//", "{-#", "#-}"))]


def canonical(text: str) -> list[str]:
    """A line for every line of the module: what the kernel computes, whatever its values are called and however it is scheduled.

    What is known of arguments (divisible by 16) is left out: the ops say what follows from it."""
    aliases = dict(re.findall(r"(?m)^(#\w+) = (?!loc)(.*)$", text))
    numbers: dict[str, str] = {}

    def plain(token: str) -> str:
        if token.startswith("loc("):
            return ""
        if token.startswith("%"):
            return numbers.setdefault(token, f"%{len(numbers)}")
        return re.sub(r"#\w+", lambda inner: plain(inner[0]), aliases[token]) if token in aliases else token

    lines = []
    for line in op_lines(text):
        pieces = split_line(line)
        pieces[1::2] = [plain(token) for token in pieces[1::2]]
        # A dictionary may have names in it, so it is emptied after the pieces are together again.
        whole = without_schedule("".join(pieces))
        if whole.lstrip().startswith("tt.func"):
            whole = re.sub(r" \{[^{}]*\}", "", whole)
        lines.append(re.sub(r" +(?=[,):]|$)", "", whole))
    return lines


def digest(lines: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def graft(own: str, edited: str) -> str:
    """The text `own` with the schedule of `edited`. Pre: their canonical lines are equal. Names, aliases, places in the source and what
    is known of the arguments stay those of this compilation."""
    donors = iter(op_lines(edited))
    result = []
    for line in own.splitlines():
        if op_lines(line):
            donor = next(donors)
            if ATTRIBUTE.search(line) or ATTRIBUTE.search(donor):
                pieces, tokens = split_line(donor), split_line(line)[1::2]
                if len(tokens) != len(pieces) // 2:
                    raise ValueError(f"'{line.strip()[:60]}' is printed in another way")
                pieces[1::2] = tokens
                line = "".join(pieces)
        result.append(line)
    return "\n".join(result) + "\n"


# ---- the heddle program -----------------------------------------------------------------------------------------------------------------
def find_heddle() -> str | None:
    named = os.environ.get("HEDDLE")
    beside = Path(__file__).resolve().parent.parent / "build" / "release" / "heddle"
    return shutil.which(named) if named else shutil.which("heddle") or (str(beside) if os.access(beside, os.X_OK) else None)


def run_heddle(*arguments: str) -> subprocess.CompletedProcess:
    program = find_heddle()
    if not program:
        raise Fault("there is no heddle program: set HEDDLE to its path, or put it on PATH", 2)
    return subprocess.run([program, *arguments], capture_output=True, text=True, stdin=subprocess.DEVNULL)


def heddle_json(*arguments: str) -> dict:
    run = run_heddle(*arguments)
    if run.returncode not in (0, 4) or not run.stdout.strip():
        raise Fault(last_line(run.stderr))
    return json.loads(run.stdout)


def last_line(text: str) -> str:
    """Of what a program said before it gave up, the line that says why."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    crash = [line for line in lines if re.search(r"Assertion|LLVM ERROR|UNREACHABLE", line)]
    # MLIR ends its errors with one that only says that there were some.
    errors = [line for line in lines if re.search(r"\berror:", line) and "Failures have been detected" not in line]
    return re.sub(r"^heddle(?:_triton)?: (?:error: )?", "", (crash[-1:] + errors + lines[-1:] + ["it said nothing"])[0])[:400]


def broken_rules(path: Path) -> list[str]:
    """What `heddle check` finds in a text, "triton-order: ..."; empty too, with one line that says so, where nothing can be checked."""
    if not find_heddle():
        say("no heddle program is found (HEDDLE, PATH, build/release/heddle), so no schedule was checked; Triton checks none either")
        return []
    run = run_heddle("check", str(path), "--json")
    if run.returncode == 4:
        return [f"{broken['rule']}: {broken['message']}" for broken in json.loads(run.stdout)["violations"]]
    if run.returncode != 0:
        say(f"{path.name} was not checked: {last_line(run.stderr)}")
    return []


# ---- dump -------------------------------------------------------------------------------------------------------------------------------
class DataType:
    def __init__(self, name: str):
        from triton._utils import type_canonicalisation_dict
        if name not in type_canonicalisation_dict:
            raise ValueError(f"'{name}' is no type of Triton's; some are bf16, fp16, fp32, fp8e4nv, i32")
        self.name = type_canonicalisation_dict[name]
        self.itemsize = max(1, int(re.search(r"\d+", self.name)[0]) // 8) if not self.name.startswith("fp8") else 1

    def __str__(self) -> str:
        return self.name


class Tensor:
    """A tensor without memory, for scripts that only launch kernels to have them dumped: Tensor("bf16", (4096, 4096))."""

    def __init__(self, dtype: str, shape: Iterable[int] = (1,), strides: Iterable[int] | None = None):
        self.dtype, self.shape, self.device = DataType(dtype), tuple(shape), "cpu"
        dense = [1]
        for size in reversed(self.shape[1:]):
            dense.insert(0, dense[0] * size)
        self.strides = tuple(strides) if strides is not None else tuple(dense)

    def data_ptr(self) -> int:
        return 0  # as well aligned as what an allocator gives

    def stride(self, dimension: int | None = None) -> Any:
        return self.strides if dimension is None else self.strides[dimension]

    def size(self, dimension: int | None = None) -> Any:
        return self.shape if dimension is None else self.shape[dimension]

    def element_size(self) -> int:
        return self.dtype.itemsize


class StandInDriver:
    """What Triton asks its driver for while it compiles and a script while it sizes its grid, answered for the named target."""

    def __init__(self, target: Any):
        self.target = target
        properties = {"max_shared_mem": 166912 if target.arch < 90 else 232448, "warpSize": 32, "max_num_regs": 65536,
                      "multiprocessor_count": MULTIPROCESSORS.get(target.arch, 128), "mem_clock_rate": 1, "mem_bus_width": 1, "sm_clock_rate": 1}
        self.utils = types.SimpleNamespace(get_device_properties=lambda device: properties)

    def get_current_target(self) -> Any:
        return self.target

    def get_current_device(self) -> int:
        return 0

    def set_current_device(self, device: int) -> None:
        pass

    def get_current_stream(self, device: int = 0) -> int:
        return 0

    def get_active_torch_device(self) -> Any:
        import torch
        return torch.device("cuda", 0) if torch.cuda.is_available() else torch.device("cpu")

    def get_benchmarker(self) -> Callable:
        return run_once


def run_once(kernel_call: Callable, *rest: Any, quantiles: Any = None, **more: Any) -> Any:
    kernel_call()
    return [1.0] * len(quantiles) if quantiles else 1.0


def without_torch_gpu(target: int) -> contextlib.AbstractContextManager:
    """Where torch has no GPU: tensors that a script wants there come to lie in main memory, and questions are answered as `target` would."""
    torch = sys.modules.get("torch")
    if torch is None:
        try:
            import torch
        except ImportError:
            return contextlib.nullcontext()
    if torch.cuda.is_available():
        return contextlib.nullcontext()
    from torch.overrides import TorchFunctionMode

    def elsewhere(value: Any) -> Any:
        on_gpu = isinstance(value, (str, torch.device)) and str(value).split(":")[0] == "cuda"
        return torch.device("cpu") if on_gpu else value

    class InMainMemory(TorchFunctionMode):
        def __torch_function__(self, function: Any, types_: Any, arguments: tuple = (), named: dict | None = None) -> Any:
            if function is torch.Tensor.cuda:
                return arguments[0]
            if function is torch.device:
                return function(*arguments, **(named or {}))
            return function(*map(elsewhere, arguments), **{name: elsewhere(value) for name, value in (named or {}).items()})

    properties = types.SimpleNamespace(multi_processor_count=MULTIPROCESSORS.get(target, 128), name=f"sm_{target}", major=target // 10,
                                       minor=target % 10, warp_size=32, shared_memory_per_block_optin=232448, L2_cache_size=50 << 20)
    answers = {"is_available": True, "device_count": 1, "current_device": 0, "synchronize": None, "set_device": None,
               "get_device_capability": (target // 10, target % 10), "get_device_name": properties.name, "get_device_properties": properties}
    for name, answer in answers.items():
        setattr(torch.cuda, name, lambda *_, answer=answer, **__: answer)
    return InMainMemory()


class Dumper:
    """Writes the texts of every kernel that is compiled while it is installed; nothing is launched."""

    def __init__(self, triton: Any, target: int, folder: Path, all_configs: bool):
        self.triton, self.folder, self.target, self.all_configs = triton, folder, target, all_configs
        self.seen: dict[str, str] = {}  # digest of a text -> name of its files
        self.names: dict[str, int] = {}  # of a kernel -> texts so far
        self.current: list[Path] = []
        self.failed = 0

    def visit(self, passes: PassList, module: Any) -> Any:
        latencies, scheduled = passes.before_latencies(), passes.after_schedule()
        passes.run_range(module, 0, latencies)
        first = str(module)
        mark, kernel = digest(canonical(first)), kernel_of(first)
        if mark in self.seen:
            self.stem = None
        else:
            self.names[kernel] = self.names.get(kernel, 0) + 1
            number = "" if self.names[kernel] == 1 else f".{self.names[kernel]}"
            self.stem = self.seen[mark] = f"{kernel[:150]}{number}.sm{self.target}"
        self.keep("input", first)
        passes.run_range(module, latencies, scheduled)
        self.keep("scheduled", str(module))
        rest = scheduled
        if "add_warp_specialize" in passes.names[scheduled:]:
            rest = passes.names.index("add_warp_specialize") + 1
            self.keep("partitioned", text_after_partitioning(lambda: passes.run_range(module, scheduled, rest)))
        passes.run_range(module, rest)
        self.keep("final", str(module))
        return module

    def keep(self, form: str, text: str) -> None:
        if self.stem and text:
            path = self.folder / f"{self.stem}.{form}.ttgir"
            write_file(path, text)
            write_file(path.with_suffix(".json"), json.dumps(self.metadata, default=vars, indent=1))
            self.current.append(path)

    def stages(self, add_stages: Callable) -> Callable:
        """Triton's list of stages with ours in it, and without ptxas, which would be work for nothing."""
        dumper = self

        def add(backend: Any, stages: dict, options: Any, language: Any, *rest: Any) -> None:
            add_stages(backend, stages, options, language, *rest)
            if "ttir" not in stages:
                return  # Gluon: Triton's scheduling passes do not run

            def ttgir(module: Any, metadata: dict) -> Any:
                dumper.metadata = dict(metadata)
                return make_ttgir(backend, module, metadata, options, backend._parse_arch(options.arch), dumper.visit)

            stages["ttgir"] = ttgir
            stages["cubin"] = lambda ptx, metadata: b""

        return add

    def compile(self, name: str, build: Callable[[], Any]) -> Any:
        """One kernel; what goes wrong is said, and the script goes on."""
        self.current, self.stem = [], None
        try:
            kernel = build()
            kernel = kernel.result() if hasattr(kernel, "result") else kernel
        except Exception as fault:
            self.failed += 1
            say(f"{name} could not be compiled: {last_line(str(fault)) or type(fault).__name__}")
            if self.current:
                say(f"its texts until then are in {self.folder}: {', '.join(path.name for path in self.current)}")
            return None
        for path in self.current:
            write_file(path.with_suffix(".json"), json.dumps(kernel.metadata._asdict(), default=vars, indent=1))
        if self.current:
            forms = ", ".join(path.name.split(".")[-2] for path in self.current)
            say(f"{name}: {self.stem}.*.ttgir written ({forms}); the launch is skipped")
        return kernel

    def install(self) -> None:
        from triton.backends.nvidia.compiler import CUDABackend
        from triton.runtime import autotuner, jit
        import triton.testing
        self.triton.runtime.driver.set_active(StandInDriver(self.triton.backends.compiler.GPUTarget("cuda", self.target, 32)))
        triton.testing.do_bench = triton.testing.do_bench_cudagraph = run_once
        CUDABackend.add_stages = self.stages(CUDABackend.add_stages)
        run_kernel, dumper = jit.JITFunction.run, self

        def skip_launch(kernel: Any, *arguments: Any, grid: Any = None, warmup: bool = True, **named: Any) -> Any:
            arguments, named = [typed(value) for value in arguments], {name: typed(value) for name, value in named.items()}
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

        jit.JITFunction.run = skip_launch
        autotuner.Autotuner.run = skip_tuning

    def compile_named(self, kernel: Any, signature: dict, constants: dict, options: dict) -> None:
        """An entry of heddle_kernels(). "i32:16", "*bf16:16": divisible by 16."""
        from triton.compiler import ASTSource
        while not isinstance(kernel, self.triton.runtime.jit.JITFunction):
            kernel = kernel.fn  # under autotune or heuristics
        names = kernel.arg_names
        unknown = [name for name in [*signature, *constants] if name not in names]
        missing = [name for name in names if name not in signature and name not in constants]
        if unknown or missing:
            raise Fault(f"heddle_kernels(): {kernel.__name__} takes {', '.join(names)}; "
                        + (f"'{unknown[0]}' is none of them" if unknown else f"nothing is said of '{missing[0]}'"))
        types_ = {name: "constexpr" if name in constants else signature[name].removesuffix(":16") for name in names}
        divisible = {(at,): [["tt.divisibility", 16]] for at, name in enumerate(names) if signature.get(name, "").endswith(":16")}
        source = ASTSource(kernel, types_, {(names.index(name),): value for name, value in constants.items()}, divisible)
        target = self.triton.backends.compiler.GPUTarget("cuda", self.target, 32)
        self.compile(kernel.__name__, lambda: self.triton.compile(source, target=target, options=dict(options)))


def typed(value: Any) -> Any:
    """numpy's arrays have no pointer that Triton would take."""
    if type(value).__module__ == "numpy" and type(value).__name__ == "ndarray":
        return Tensor(str(value.dtype), value.shape, [bytes_ // value.itemsize for bytes_ in value.strides])
    return value


def text_after_partitioning(run: Callable[[], None]) -> str:
    """The text between two passes that Triton nests in one, so that it can be had only as what MLIR prints before each pass."""
    printing = os.environ.get("MLIR_ENABLE_DUMP")
    with tempfile.TemporaryFile() as log:
        sys.stderr.flush()
        kept = os.dup(2)
        os.dup2(log.fileno(), 2)
        os.environ["MLIR_ENABLE_DUMP"] = "1"
        try:
            run()
        finally:
            os.dup2(kept, 2)
            os.close(kept)
            os.environ.pop("MLIR_ENABLE_DUMP")
            if printing is not None:
                os.environ["MLIR_ENABLE_DUMP"] = printing
            log.seek(0)
            printed = log.read().decode(errors="replace")
            for line in printed.splitlines():
                if re.search(r"\berror:", line):
                    print(line, file=sys.stderr)
    parts = re.split(r"(?m)^// -----// IR Dump Before (.*)\n", printed)
    headers = parts[1::2]
    at = next((at for at, header in enumerate(headers) if "tritongpu-partition-scheduling" in header), len(headers))
    text = parts[2::2][at + 1].strip() + "\n" if at + 1 < len(headers) else ""
    return text if form_of(text) == "partitioned" else ""


def dump_here(order: dict) -> int:
    """The part of `dump` that runs the script, in a process of its own: Triton's assertions end it."""
    triton = load_triton()
    target = order["target"] or gpu_here(triton)
    dumper = Dumper(triton, target, Path(order["folder"]), order["all_configs"])
    dumper.install()
    script = Path(order["script"])
    sys.argv = [str(script), *order["arguments"]]
    sys.path[0] = str(script.resolve().parent)
    sys.modules["heddle_triton"] = sys.modules[__name__]  # wherever this file lies, the script can import it
    main = types.ModuleType("__main__")
    main.__file__ = str(script)
    sys.modules["__main__"] = main
    stopped = None
    with without_torch_gpu(target):
        try:
            exec(compile(script.read_bytes(), str(script), "exec"), main.__dict__)
        except SystemExit as end:
            stopped = f"it ended with code {end.code}" if end.code else None
        except Exception as fault:
            at = traceback_line(fault, str(script))
            stopped = f"{type(fault).__name__} in line {at}: {str(fault).strip().splitlines()[0] if str(fault).strip() else ''}"
        if stopped and not dumper.seen:
            raise Fault(f"{script.name} stopped before it launched a kernel: {stopped}")
        if stopped:
            say(f"{script.name} stopped later on, which results of skipped launches may explain: {stopped}")
        for kernel, signature, constants, options in main.__dict__.get("heddle_kernels", tuple)():
            dumper.compile_named(kernel, signature, constants, options)
    if not dumper.seen and not dumper.failed:
        raise Fault(f"{script.name} launched no Triton kernel; kernels that it does not launch can be named by a function heddle_kernels() in "
                    "it, which gives (kernel, signature, constants, options) for each: "
                    '(gemm, {"a": "*bf16:16", "k": "i32"}, {"BM": 128}, {"num_warps": 8})')
    return 1 if dumper.failed else 0


def traceback_line(fault: Exception, file: str) -> int:
    line, frame = 0, fault.__traceback__
    while frame:
        if frame.tb_frame.f_code.co_filename == file:
            line = frame.tb_lineno
        frame = frame.tb_next
    return line


def gpu_here(triton: Any) -> int:
    try:
        return triton.runtime.driver.active.get_current_target().arch
    except Exception:
        raise Fault("there is no GPU here, so the target must be named: --target sm_90 (Hopper), --target sm_100 (Blackwell)", 2) from None


def in_child(part: str, order: dict, cache: str, **options: Any) -> subprocess.CompletedProcess:
    """Triton's own cache is left alone: what is compiled here is no whole kernel, or one with another schedule."""
    environment = dict(os.environ, TRITON_CACHE_DIR=cache)
    return subprocess.run([sys.executable, os.path.abspath(__file__), part, json.dumps(order)], env=environment, **options)


def dump(script: str, arguments: list[str], target: int | None, folder: Path, all_configs: bool) -> list[Path]:
    """The scheduled texts that were written."""
    if not Path(script).is_file():
        raise Fault(f"there is no script {script}", 2)
    load_triton()
    order = {"script": script, "arguments": arguments, "target": target, "folder": str(folder), "all_configs": all_configs}
    before = {path: path.stat().st_mtime_ns for path in folder.glob("*.ttgir")}
    with tempfile.TemporaryDirectory() as cache:
        run = in_child("_dump", order, cache)
    if run.returncode < 0:
        raise Fault(f"Triton ended the process (signal {-run.returncode}); what it said stands above, texts written until then are in {folder}")
    if run.returncode:
        raise SystemExit(run.returncode)  # the child has said why
    return sorted(path for path in folder.glob("*.scheduled.ttgir") if before.get(path) != path.stat().st_mtime_ns)


# ---- finish -----------------------------------------------------------------------------------------------------------------------------
def options_for(path: Path, text: str, given: dict) -> dict:
    """Of the command line, else of the .json beside the text, else of the module; Triton's own defaults for the rest."""
    options: dict[str, Any] = {}
    module = re.search(r"(?m)^module attributes \{(.*)\}", text)
    for name, attribute in (("num_warps", "ttg.num-warps"), ("num_ctas", "ttg.num-ctas"), ("maxnreg", "ttg.maxnreg")):
        found = re.search(rf'"?{attribute}"? = (\d+)', module[1] if module else "")
        if found:
            options[name] = int(found[1])
    if path.with_suffix(".json").is_file():
        beside = json.loads(path.with_suffix(".json").read_text())
        # Triton overwrites num_warps by the sum over all partitions, the module keeps what was asked for.
        options = {**{name: value for name, value in beside.items() if name not in ("num_warps", "extern_libs", "arch")}, **options}
    options.update({name: value for name, value in given.items() if value is not None})
    return options


def hashable(value: Any) -> Any:
    return tuple(hashable(each) for each in value) if isinstance(value, list) else value


def finish_here(order: dict) -> int:
    """The part of `finish` that runs Triton, in a process of its own: bad partitions run into assertions."""
    triton = load_triton()
    from triton._C.libtriton import ir
    from triton.backends.compiler import GPUTarget, Language
    from triton.compiler.compiler import make_backend
    text, folder, target = Path(order["text"]).read_text(), Path(order["folder"]), GPUTarget("cuda", order["target"], 32)
    backend = make_backend(target)
    options = backend.parse_options({name: hashable(value) for name, value in order["options"].items()})
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    module = ir.parse_mlir_module(order["text"], context)
    module.context = context

    def rest(passes: PassList, module: Any) -> Any:
        passes.run_range(module, passes.before_latencies() if order["form"] == "input" else passes.after_schedule())
        return module

    metadata = {"target": target, **options.__dict__, "triton_version": triton.__version__, "name": kernel_of(text)}
    stages: dict[str, Callable] = {}
    backend.add_stages(stages, options, Language.TRITON)
    stages["ttgir"] = lambda module, metadata: make_ttgir(backend, module, metadata, options, backend._parse_arch(options.arch), rest)
    result: Any = module
    for stage in ("ttgir", "llir", "ptx", "cubin"):
        result = stages[stage](result, metadata)
        if stage != "llir":
            write_file(folder / f"finished.{stage}", result if isinstance(result, bytes) else str(result))
    write_file(folder / "finished.json", json.dumps(metadata, default=vars, indent=1))
    return 0


class Finished(NamedTuple):
    stem: Path  # with the endings .ttgir, .ptx, .cubin, .json
    metadata: dict


def finish(path: Path, target: int | None, given: dict, out: Path | None) -> Finished:
    if not path.is_file():
        raise Fault(f"there is no text {path}", 2)
    load_triton()
    text = path.read_text()
    form = form_of(text)
    if form in ("specialized", "final"):
        raise Fault(f"{path.name} is in {form} form: the passes that would read a schedule have run over it, and no pass may run twice; "
                    "finish a text in input, scheduled or partitioned form (heddle_triton.py dump writes them)")
    if not kernel_of(text):
        raise Fault(f"{path.name} holds no kernel of Triton's (tt.func public)")
    named = re.search(r'ttg\.target = "cuda:(\d+)"', text)
    if not target and not named:
        raise Fault(f"{path.name} does not say its target: --target sm_90", 2)
    if broken := broken_rules(path):
        raise Fault(f"{path.name} is not given to Triton: {'; '.join(broken)}")
    stem = path.with_name(re.sub(r"(\.(input|scheduled|partitioned))?\.\w+$", "", path.name) + ".finished")
    if out and out.is_dir():
        stem = out / stem.name
    elif out:
        stem = out.with_suffix("") if out.suffix in (".ttgir", ".ptx", ".cubin", ".json") else out
    if Path(f"{stem}.ttgir").resolve() == path.resolve():
        raise Fault(f"the result would overwrite {path}: name another one with -o", 2)
    with tempfile.TemporaryDirectory() as folder:
        order = {"text": str(path), "form": form, "folder": folder, "target": target or int(named[1]), "options": options_for(path, text, given)}
        run = in_child("_finish", order, folder, capture_output=True, text=True)
        if run.returncode:
            how = f"crashed (signal {-run.returncode})" if run.returncode < 0 else "failed"
            raise Fault(f"Triton {how} on {path.name}: {last_line(run.stderr)}")
        metadata = json.loads((Path(folder) / "finished.json").read_text())
        for ending in ("ttgir", "ptx", "cubin", "json"):
            write_file(Path(f"{stem}.{ending}"), (Path(folder) / f"finished.{ending}").read_bytes())
    return Finished(stem, metadata)


# ---- use --------------------------------------------------------------------------------------------------------------------------------
class Entry(NamedTuple):
    name: str
    kernel: str
    form: str
    text: str
    digest: str


class Schedules:
    """The edited texts of the folders in use, and what Triton is told of them."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.key = ""
        self.said: set[str] = set()
        self.lock = threading.Lock()
        self.before: Callable | None = None  # a hook of somebody else's

    def add(self, folder: Path) -> int:
        found = 0
        for path in sorted(folder.glob("*.ttgir")):
            text = path.read_text()
            form = form_of(text)
            if form not in ("input", "scheduled") and "loop.stage" not in text:
                say(f"{path.name} is not used: it is in {form} form, and only input and scheduled texts can be matched")
            elif broken := broken_rules(path) if find_heddle() else []:
                say(f"{path.name} is not used: {'; '.join(broken)}")
            else:
                form = "input" if form == "input" else "scheduled"
                entry = Entry(path.name, kernel_of(text), form, text, digest(canonical(text)))
                self.entries = [other for other in self.entries if (other.kernel, other.digest) != (entry.kernel, entry.digest)] + [entry]
                found += 1
        self.key = "heddle-" + hashlib.sha256("".join(entry.text for entry in self.entries).encode()).hexdigest()
        return found

    def say_once(self, mark: str, sentence: str) -> None:
        with self.lock:
            new = mark not in self.said
            self.said.add(mark)
        if new:
            say(sentence)

    def visit(self, passes: PassList, module: Any) -> Any:
        """Triton's passes with the schedule of the folder put in; Triton's own wherever that cannot be done."""
        kernel, done = module.get_entry_func_name(), 0
        entries = [entry for entry in self.entries if entry.kernel == kernel]
        for form, end in (("input", passes.before_latencies), ("scheduled", passes.after_schedule)):
            offered = [entry for entry in entries if entry.form == form]
            if not offered:
                continue
            passes.run_range(module, done, end())
            done = end()
            try:
                own = str(module)
                mark = digest(canonical(own))
                for entry in offered:
                    if entry.digest == mark:
                        edited = parse_text(graft(own, entry.text), module.context)
                        passes.run_range(edited, done)
                        self.say_once(entry.digest, f"{kernel} is compiled with the schedule in {entry.name}")
                        return edited
            except Exception as fault:  # never the user's: Triton goes on with its own
                self.say_once(kernel, f"{kernel} is left to Triton: the schedule could not be put in ({last_line(str(fault))})")
                entries = []
        if entries:
            self.say_once(kernel, f"{kernel} is left to Triton: its text is not one that {', '.join(entry.name for entry in entries)} "
                          "was made for (changed since, or another shape or configuration)")
        passes.run_range(module, done)
        return module

    def replace_stage(self, backend: Any, stages: dict, options: Any, language: Any, capability: int | None) -> None:
        if "ttir" not in stages or capability is None:
            return  # Gluon, AMD
        own = stages["ttgir"]
        names = {entry.kernel for entry in self.entries}

        def ttgir(module: Any, metadata: dict) -> Any:
            try:
                ours = module.get_entry_func_name() in names and getattr(options, "num_ctas", 1) == 1
            except Exception:
                ours = False
            return make_ttgir(backend, module, metadata, options, capability, self.visit) if ours else own(module, metadata)

        stages["ttgir"] = ttgir

    def hook(self, backend: Any = None, stages: dict | None = None, options: Any = None, language: Any = None, capability: int | None = None) -> Any:
        """knobs.runtime.add_stages_inspection_hook: with arguments it may change the stages, without it gives parts of two cache keys."""
        other = (self.before() if stages is None else self.before(backend, stages, options, language, capability)) if self.before else None
        if stages is None:
            key, mark = other or ("", "")
            return f"{key}{self.key}", f"{mark}{self.key}"
        self.replace_stage(backend, stages, options, language, capability)
        return None

    def install(self, triton: Any) -> None:
        from triton import knobs
        from triton.backends.nvidia.compiler import CUDABackend
        import inspect
        if hasattr(type(knobs.runtime), "add_stages_inspection_hook"):
            self.before = knobs.runtime.add_stages_inspection_hook
            knobs.runtime.add_stages_inspection_hook = self.hook
        else:  # 3.4: the same from outside
            add_stages = CUDABackend.add_stages

            def add(backend: Any, stages: dict, options: Any, language: Any) -> None:
                add_stages(backend, stages, options, language)
                self.replace_stage(backend, stages, options, language, backend._parse_arch(options.arch))

            CUDABackend.add_stages = add
        if "add_stages_inspection_hook" not in inspect.getsource(triton.compiler.compiler):
            # Before 3.7 the hook has no say in the cache key, and a kernel compiled without the schedule would be taken.
            own_hash = CUDABackend.hash
            CUDABackend.hash = lambda backend: f"{own_hash(backend)}-{self.key}"


_schedules = Schedules()
_installed = False


def use(folder: str | os.PathLike) -> bool:
    """From here on Triton compiles kernels with the schedules in `folder` (texts that `heddle export --format ttgir` wrote), where the
    kernel is still the one that they were made for. Call it before the first launch. Never raises: what is wrong is a line on stderr, and
    Triton goes on with its own schedule. Gives whether any schedule was found."""
    global _installed
    try:
        triton = load_triton()
        if not Path(folder).is_dir():
            raise Fault(f"there is no folder {folder}")
        if not find_heddle():
            broken_rules(Path(folder))  # says once that nothing is checked
        if not _schedules.add(Path(folder)):
            raise Fault(f"there is no schedule in {folder}; heddle_triton.py solve SCRIPT -o {folder} makes some")
        if not _installed:
            _schedules.install(triton)
            _installed = True
        return True
    except Exception as fault:
        say(f"Triton's own schedules are used: {fault}")
        return False


# ---- solve ------------------------------------------------------------------------------------------------------------------------------
def solve_one(text: Path, machine: list[str], folder: Path, work: Path) -> list[str]:
    """A row of the table. The edited text lies in `folder` only where it is better than Triton's own."""
    stem = re.sub(r"\.scheduled\.ttgir$", "", text.name)
    triton_shared = json.loads(text.with_suffix(".json").read_text()).get("shared")
    compared = heddle_json("compare", str(text), *machine, "--format", "json")
    sides = compared["sides"]
    periods = [str(side.get("period") or "-") for side in sides]
    row = [stem, *periods, str(sides[0].get("smem_bytes") or "-"), str(triton_shared or "-")]
    own, best = sides[0].get("period"), sides[1].get("period")
    if not best or (own and best >= own):
        return row + ["left to Triton: nothing better was found" if best else "left to Triton: no schedule was found in time"]
    schedule, edited = work / f"{stem}.json", work / f"{stem}.ttgir"
    for arguments in (("solve", f"{text}#triton", *machine, "--out", str(schedule)),
                      ("export", str(text), *machine, str(schedule), "--format", "ttgir", "--out", str(edited))):
        run = run_heddle(*arguments)
        if run.returncode:
            return row + [f"left to Triton: {last_line(run.stderr)}"]
    beside = json.loads(text.with_suffix(".json").read_text())
    for told_by_triton in ("shared", "tmem_size", "num_warps"):  # of the old schedule
        beside.pop(told_by_triton, None)
    write_file(edited.with_suffix(".json"), json.dumps(beside, indent=1))
    after = heddle_json("compare", str(edited), *machine, "--format", "json")["sides"][0]
    finished = finish(edited, None, {}, folder / "finished" / stem)
    for path in (edited, edited.with_suffix(".json")):
        write_file(folder / path.name, path.read_bytes())
    row[4] += f" -> {after.get('smem_bytes', '-')}"
    row[5] += f" -> {finished.metadata.get('shared', '-')}"
    return row + ["given back"]


def solve(script: str, arguments: list[str], target: int | None, folder: Path, machine: list[str], all_configs: bool) -> int:
    if not find_heddle():
        raise Fault("there is no heddle program: set HEDDLE to its path, or put it on PATH", 2)
    texts = dump(script, arguments, target, folder / "dump", all_configs)
    rows = [["kernel", "Triton's", "best of Triton", "best of machine", "shared bytes, predicted", "as Triton says", ""]]
    with tempfile.TemporaryDirectory() as work:
        for text in texts:
            (folder / text.name.replace(".scheduled.", ".")).unlink(missing_ok=True)  # of an earlier run
            say(f"solving {text.name}")
            try:
                rows.append(solve_one(text, machine, folder, Path(work)))
            except Fault as fault:
                rows.append([re.sub(r"\.scheduled\.ttgir$", "", text.name), "-", "-", "-", "-", "-", f"left to Triton: {fault}"])
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]) - 1)]
    for row in rows:
        print("  ".join([*(cell.ljust(width) for cell, width in zip(row, widths)), row[-1]]).rstrip())
    print("\nCycles per iteration are predictions by the model of the machine; nothing was run on a GPU.")
    given = sum(row[-1] == "given back" for row in rows)
    if given:
        print("To compile with these schedules, put this before the first launch:\n\n"
              f'    import heddle_triton; heddle_triton.use("{folder.resolve()}")\n')
    else:
        print("No kernel is given back, so there is nothing to change.")
    return 0


# ---- command line -----------------------------------------------------------------------------------------------------------------------
def split_script(words: list[str], ours: argparse.ArgumentParser) -> tuple[argparse.Namespace, str, list[str]]:
    """Our options may stand before and behind SCRIPT; what is not ours, and all behind --, belongs to the script."""
    end = words.index("--") if "--" in words else len(words)
    options, others = ours.parse_known_args(words[:end])
    if not others or others[0].startswith("-"):
        ours.error("SCRIPT is missing" if not others else f"{others[0]} is unknown; options of the script come behind its name")
    return options, others[0], others[1:] + words[end + 1:]


def parser_of(command: str, usage: str, about: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=f"heddle_triton.py {command}", usage=f"%(prog)s {usage}", description=about, allow_abbrev=False)
    parser.add_argument("--target", metavar="sm_N", help="sm_90: Hopper, sm_100: Blackwell, ...; needed where there is no GPU")
    return parser


def main(words: list[str]) -> int:
    command, rest = (words[0], words[1:]) if words else ("--help", [])
    if command in ("_dump", "_finish"):
        return (dump_here if command == "_dump" else finish_here)(json.loads(rest[0]))
    if command in ("--help", "-h", "help"):
        print(__doc__.strip() + "\n\nheddle_triton.py COMMAND --help says more about a command.")
        return 0
    if command == "finish":
        parser = parser_of(command, "TEXT [options]", "Runs the rest of the installed Triton's passes over a text in input, scheduled or "
                           "partitioned form, after `heddle check` has passed it. Writes .ttgir (for ir_override), .ptx, .cubin and .json.")
        parser.add_argument("text", metavar="TEXT", type=Path)
        parser.add_argument("--num-warps", type=int, help="default: what the text says")
        parser.add_argument("--num-stages", type=int, help="default: what the .json beside the text says, else 3")
        parser.add_argument("-o", "--out", type=Path, help="name of the results without ending, or a folder that is there (default: beside the text)")
        options = parser.parse_args(rest)
        target = target_number(options.target) if options.target else None
        finished = finish(options.text, target, {"num_warps": options.num_warps, "num_stages": options.num_stages}, options.out)
        facts = [f"shared {finished.metadata.get('shared')} bytes"]
        if finished.metadata.get("tmem_size"):
            facts.append(f"tensor memory {finished.metadata['tmem_size']} columns")
        print(f"{finished.stem}.{{ttgir,ptx,cubin,json}}: {', '.join(facts)}, {finished.metadata.get('num_warps')} warps; compiled, not run")
        return 0
    if command in ("dump", "solve"):
        about = {"dump": "Runs SCRIPT and writes the text of every @triton.jit kernel that it launches, before and after Triton has scheduled "
                         "it. Nothing is launched, so what the script prints of results means nothing. Arguments may be tensors of torch, numpy's "
                         "arrays, or heddle_triton.Tensor(\"bf16\", (4096, 4096)).",
                 "solve": "Dumps the kernels of SCRIPT, asks heddle for the best schedule that Triton's passes can build, checks it, and puts "
                          "what is better than Triton's own into FOLDER, for heddle_triton.use(FOLDER)."}[command]
        folder = {"dump": "heddle-texts", "solve": "heddle-schedules"}[command]
        parser = parser_of(command, "SCRIPT [ARGS...] [options] [-- MORE ARGS]", about)
        parser.add_argument("-o", "--out", metavar="FOLDER", type=Path, default=Path(folder), help=f"default: {folder}")
        parser.add_argument("--all-configs", action="store_true", help="of autotuned kernels every configuration, not only the first")
        if command == "solve":
            parser.add_argument("--machine", help="machine of Heddle's, a name or a file (default: that of the target)")
        options, script, arguments = split_script(rest, parser)
        target = target_number(options.target) if options.target else None
        if command == "solve":
            return solve(script, arguments, target, options.out, [options.machine] if options.machine else [], options.all_configs)
        texts = dump(script, arguments, target, options.out, options.all_configs)
        print(f"{options.out}: {len(texts)} kernel{'s' * (len(texts) != 1)}; to see them: heddle list {options.out}")
        return 0
    raise Fault(f"there is no command '{command}': dump, finish, solve (--help explains them)", 2)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except Fault as fault:
        say(str(fault))
        sys.exit(fault.code)
    except KeyboardInterrupt:
        sys.exit(130)
