"""Loads the Python file of a Triton kernel without what it imports, and guesses what the kernel is launched with (for triton_corpus.py).

A file is run statement by statement; those that fail, launch or loop are left out. Packages that are not there are stood in for. A guess is
changed by what Triton says of it, some times.
"""
from __future__ import annotations

import ast
import contextlib
import importlib
import importlib.machinery
import inspect
import re
import sys
import types
from pathlib import Path
from typing import Any, Iterator

TRIES = 14  # compilations of a kernel, until it is given up
DTYPES = ("fp16", "bf16", "fp32", "i32")


def is_jit(decorator: ast.expr) -> bool:
    """@triton.jit, @jit, @triton.jit(...). Not cute.jit or gluon.jit, which are other languages."""
    node = decorator.func if isinstance(decorator, ast.Call) else decorator
    if isinstance(node, ast.Attribute):
        return node.attr == "jit" and isinstance(node.value, ast.Name) and node.value.id == "triton"
    return isinstance(node, ast.Name) and node.id == "jit"


def warm() -> None:
    """What each process would do by itself, and all need."""
    import triton.testing  # noqa: F401
    from triton.runtime import cache
    with contextlib.suppress(AttributeError):  # a digest of Triton's library, some 0.7 s; its place differs by version
        cache.triton_key()


# ---- packages that are not there ----------------------------------------------------------------------------------------------------------
ANSWERS = {"torch.__version__": "2.9.0", "torch.version.hip": None, "torch.version.cuda": "12.8", "torch.cuda.is_available": True,
           "torch.cuda.get_device_capability": (9, 0), "torch.cuda.device_count": 1, "torch.cuda.current_device": 0,
           "torch.cuda.get_device_name": "H100", "torch.xpu.is_available": False, "torch.backends.mps.is_available": False,
           "torch.get_default_dtype": "float32"}


class Absent:
    """Whatever a missing package would give: it can be called, indexed, compared, inherited from and used as a decorator."""

    def __init__(self, name: str):
        self._name = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        full = f"{self._name}.{name}"
        return ANSWERS[full] if full in ANSWERS and not full.startswith("torch.cuda.") else Absent(full)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        if self._name in ANSWERS:
            return ANSWERS[self._name]
        if len(arguments) == 1 and not named and (inspect.isfunction(arguments[0]) or inspect.isclass(arguments[0]) or hasattr(arguments[0], "arg_names")):
            return arguments[0]
        return Absent(self._name)

    def __mro_entries__(self, bases: tuple) -> tuple:
        return ()

    def __iter__(self) -> Iterator:
        return iter(())

    def same(self, *_: Any) -> Any:
        return self

    def yes(self, *_: Any) -> bool:
        return True

    def no(self, *_: Any) -> bool:
        return False

    def one(self, *_: Any) -> int:
        return 1

    __getitem__ = __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __floordiv__ = __mod__ = __or__ = __ror__ = same
    __and__ = __neg__ = __enter__ = same
    __ge__ = __gt__ = __bool__ = yes  # of versions, mostly
    __le__ = __lt__ = __contains__ = __exit__ = __instancecheck__ = __subclasscheck__ = no
    __int__ = __index__ = __len__ = one


class AbsentModule(types.ModuleType):
    __path__: list = []

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name != "__version__":
            raise AttributeError(name)
        full = f"{self.__name__}.{name}"
        return ANSWERS[full] if full in ANSWERS and full.count(".") < 3 and not full.startswith("torch.cuda.") else Absent(full)


class AbsentPackages:
    """Finds every package as an AbsentModule but Triton, numpy and Python's own, also those that are installed: they cost seconds, and the
    table would depend on them."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name.split(".")[0] in ("triton", "numpy") or name.split(".")[0] in sys.stdlib_module_names:
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: Any) -> types.ModuleType:
        return AbsentModule(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        pass


# ---- files of the folder ------------------------------------------------------------------------------------------------------------------
def only_jit(node: ast.stmt) -> ast.stmt | None:
    """A kernel without its other decorators, where they are what failed."""
    if isinstance(node, ast.FunctionDef) and (jit := [each for each in node.decorator_list if is_jit(each)]):
        node.decorator_list = jit
        return node
    return None


def run_statement(node: ast.stmt, space: dict, path: str, flags: int) -> None:
    if isinstance(node, ast.If | ast.Try):
        with contextlib.suppress(Exception):
            taken = node.body if isinstance(node, ast.Try) or eval(compile(ast.Expression(node.test), path, "eval"), space) else node.orelse
            for each in taken:
                run_statement(each, space, path, flags)
        return
    if isinstance(node, ast.Expr | ast.For | ast.While | ast.With):
        return  # launches, benchmarks, registrations

    def run(one: ast.stmt) -> None:
        exec(compile(ast.Module([one], []), path, "exec", flags, True), space)

    try:
        run(node)
    except (Exception, SystemExit):
        if isinstance(node, ast.ImportFrom | ast.Import):
            for alias in node.names:
                space.setdefault((alias.asname or alias.name).split(".")[0], Absent(alias.name))
        elif plain := only_jit(node):
            with contextlib.suppress(Exception):
                run(plain)


def future_flags(tree: ast.Module) -> int:
    import __future__
    names = [alias.name for node in tree.body if isinstance(node, ast.ImportFrom) and node.module == "__future__" for alias in node.names]
    return sum(getattr(__future__, name).compiler_flag for name in names if hasattr(__future__, name))


class StatementWise:
    """Loads a file of the folder. A package's __init__.py is not run: of it only the statement that gives the name that is asked for."""

    def __init__(self, path: str):
        self.path = path

    def create_module(self, spec: Any) -> None:
        return None

    def exec_module(self, module: types.ModuleType) -> None:
        module.__file__ = self.path
        tree = ast.parse(Path(self.path).read_text())
        flags = future_flags(tree)
        if not self.path.endswith("__init__.py"):
            for node in tree.body:
                run_statement(node, module.__dict__, self.path, flags)
            return
        asked: set[str] = set()

        def attribute(name: str) -> Any:
            if name.startswith("__") or name in asked:
                raise AttributeError(name)
            asked.add(name)
            with contextlib.suppress(ImportError):
                if importlib.machinery.PathFinder.find_spec(f"{module.__name__}.{name}", module.__path__):
                    return importlib.import_module(f"{module.__name__}.{name}")
            for node in tree.body:
                imported = isinstance(node, ast.ImportFrom | ast.Import)
                if imported and any((alias.asname or alias.name) == name for alias in node.names) or not imported and name in ast.dump(node):
                    run_statement(node, module.__dict__, self.path, flags)
            return module.__dict__.get(name, Absent(f"{module.__name__}.{name}"))

        module.__getattr__ = attribute


class FolderFinder:
    """The first finder of modules: what lies in the folder is loaded statement by statement."""

    def __init__(self, root: Path):
        self.root = str(root)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        if spec and spec.origin and spec.origin.startswith(self.root) and spec.origin.endswith(".py"):
            spec.loader = StatementWise(spec.origin)
            return spec
        return None


def load(path: Path, root: Path) -> types.ModuleType:
    """The module of a file that lies in the folder `root`, which may be part of a package."""
    top = path.parent
    while (top / "__init__.py").exists():  # also above the folder that was named
        top = top.parent
    folder = root if root.is_dir() else root.parent
    sys.path[1:1] = list(dict.fromkeys(map(str, (top, folder, folder.parent))))
    sys.meta_path[0:0] = [FolderFinder(top if folder.is_relative_to(top) else folder), AbsentPackages()]
    name = ".".join(path.relative_to(top).with_suffix("").parts)
    for word in range(1, name.count(".") + 1):
        importlib.import_module(".".join(name.split(".")[:word]))
    spec = importlib.machinery.ModuleSpec(name, StatementWise(str(path)), origin=str(path))
    module = importlib.util.module_from_spec(spec)
    module.__package__ = name.rpartition(".")[0]
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


# ---- arguments ----------------------------------------------------------------------------------------------------------------------------
# Usual values of constants, by what their names begin with or are; the first that fits.
CONSTANTS = [
    (r"(BLOCK|TILE)_?(SIZE)?_?(M|Q|QO|L|Q_LEN|SIZE_Q|ROW|ROWS)\d?$|BM|BLOCK_M\w*", 128), (r"BT|BC?S|CHUNK_?SIZE|chunk_size|BLOCK_T", 64), (r"BC", 16),
    (r"(BLOCK|TILE)_?(SIZE)?_?(N|KV|K_LEN|COL|COLS)\d?$|BN|BLOCK_N\w*", 64), (r"(BLOCK|TILE)_?(SIZE)?_?K\w*|BK|BV|BD", 64),
    (r"\w*HEAD_?DIM\w*|BLOCK_?(D|DMODEL|DV|DPE|HEADDIM)\w*|BLOCK_SIZE_D\w*|Lk|Lv|head_size\w*|head_dim|D|DK|DV|K|V", 128),
    (r"(BLOCK|TILE)_?H\w*|BH", 16), (r"GROUP_?(SIZE)?_?M?|group_m|GROUP_M\w*", 8), (r"group_size|GROUP_SIZE\w*|group_k|group_n", 128),
    (r"(BLOCK|TILE)\w*|block_size\w*|BLOCK\w*|\w*_BLOCK", 128), (r"num_stages|NUM_STAGES|STAGES", 3), (r"num_warps", 4), (r"SPLIT_?K\w*|NUM_SPLITS?", 1),
    (r"N_?CTX\w*|\w*SEQ_?LEN\w*|MAX_\w+|T|L|M|N|N_\w+|NUM_(ROWS|TOKENS)|\w+_ROWS", 4096), (r"HQ|N?H|H_Q|NUM_HEADS|num_heads|\w*_heads", 32), (r"G|kv_group_num|\w*GROUPS?\w*", 4),
    (r"B|Z|BATCH\w*", 4), (r"NUM_SMS?|NUM_PROGRAMS", 132), (r"VEC\w*|W|NUM_\w+|num_\w+", 4), (r"EVEN_\w+", True), (r"\w*NORMALI[SZ]\w*|\w*scale", 1.0),
    (r"(USE|IS|HAS|STORE|LOAD|SAVE|INPLACE|CAUSAL|ADD|APPLY|ENABLE|COMPUTE|RETURN|USES|WITH|DO|REVERSE|OUTPUT|HEAD_FIRST)(_\w+)?", False),
    (r"(ACTIVATION|activation|act\w*|ACT\w*)", ""), (r"\w*PRECISION\w*|\w*precision\w*", "tf32"), (r"eps\w*|EPS\w*", 1e-6)]
FLOATS = r"(\w*_)?(scale|eps|epsilon|alpha|beta|gamma|lr|p|p_dropout|dropout_p|softcap|soft_cap|logit_cap|cap|momentum|weight_decay|temperature|theta|rate|" \
         r"smoothing|label_smoothing|lse_square_scale|softcapping|offset_f|inv_\w+|sm_scale|qk_scale|float\w*|min_val|max_val|limit|threshold|delta_f)"
INDEXES = r"\w*(idx|indice|index|ind(?!ex)_|indptr|table|lens?\b|len_|seqlen|_len|seq_|loc|offset|cu_|_ids|page|req|start|count|num_|target|label|expert|" \
          r"slot|map|order|mask_i|token_id|chunk_i|block_i|split_i)\w*"
FLOAT_DATA = r"\w*(lse|scales?\b|scale_|max\b|sum\b|logsum|delta|mean|var|rstd|loss|_m\b|_l\b|A_log|state|partial|workspace|gate|_acc)\w*"


class Shape:
    """What a kernel's source does with its parameters."""

    def __init__(self, function: ast.FunctionDef, parameters: set[str]):
        self.function, self.parameters = function, parameters
        self.made: dict[str, list[ast.expr]] = {}  # local name -> what it is made of
        for node in ast.walk(function):
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    pairs = zip(target.elts, node.value.elts) if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple) else [(target, node.value)]
                    for left, right in pairs:
                        if isinstance(left, ast.Name):
                            self.made.setdefault(left.id, []).append(right)
        self.pointers: set[str] = set()
        self.descriptors: set[str] = set()
        self.blocks: set[str] = set()
        self.bools: set[str] = set()
        self.unrolled: set[str] = set()
        for node in ast.walk(function):
            self.look(node)

    def look(self, node: ast.AST) -> None:
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            owner = node.func.value if isinstance(node.func, ast.Attribute) else None
            if isinstance(owner, ast.Name) and owner.id in self.parameters and name in ("load", "store"):
                self.descriptors.add(owner.id)
            elif re.fullmatch(r"load|store|atomic_\w+|make_block_ptr|make_tensor_descriptor|\w*_?load\w*|\w*_?store\w*", name) and node.args:
                self.pointers |= self.bases(node.args[0], set())
            if name in ("arange", "zeros", "full"):
                self.blocks |= {each.id for argument in node.args for each in ast.walk(argument) if isinstance(each, ast.Name)} & self.parameters
            if name == "static_range":
                self.unrolled |= {each.id for each in ast.walk(node) if isinstance(each, ast.Name)} & self.parameters
            for word in node.keywords:
                if word.arg == "base":
                    self.pointers |= self.bases(word.value, set())
        if isinstance(node, ast.If | ast.IfExp):
            tests = node.test.values if isinstance(node.test, ast.BoolOp) else [node.test]
            for test in tests:
                test = test.operand if isinstance(test, ast.UnaryOp) else test
                if isinstance(test, ast.Name) and test.id in self.parameters:
                    self.bools.add(test.id)
        if isinstance(node, ast.Attribute) and node.attr in ("element_ty", "dtype") and isinstance(node.value, ast.Attribute | ast.Name):
            inner = node.value.value if isinstance(node.value, ast.Attribute) else node.value
            if isinstance(inner, ast.Name) and node.attr == "element_ty" and inner.id in self.parameters:
                self.pointers.add(inner.id)

    def bases(self, node: ast.expr, seen: set[str]) -> set[str]:
        """The parameters that an address begins with: the first of each sum, through local names."""
        if isinstance(node, ast.BinOp):
            return self.bases(node.left, seen) or self.bases(node.right, seen) if isinstance(node.op, ast.Add | ast.Sub) else set()
        if isinstance(node, ast.IfExp):
            return self.bases(node.body, seen) | self.bases(node.orelse, seen)
        if isinstance(node, ast.Call):
            return self.bases(node.func.value, seen) if isinstance(node.func, ast.Attribute) and node.func.attr == "to" else \
                self.bases(node.args[0], seen) if node.args else set()
        if isinstance(node, ast.Name) and node.id not in seen:
            seen = seen | {node.id}
            found = {node.id} & self.parameters
            for value in self.made.get(node.id, []) if not found else []:
                found |= self.bases(value, seen)
            return found
        return set()

    def near(self, line: int) -> list[str]:
        """Parameters in a line of the source, and those that its local names are made of."""
        names = [node.id for node in ast.walk(self.function) if isinstance(node, ast.Name) and node.lineno <= line <= (node.end_lineno or 0)]
        for name in list(names):
            names += [each.id for value in self.made.get(name, []) for each in ast.walk(value) if isinstance(each, ast.Name)]
        return [name for name in dict.fromkeys(names) if name in self.parameters]


class Guess:
    """Entries as heddle_kernels() gives them, one after the other, until one compiles."""

    def __init__(self, triton: Any, kernel: Any, name: str):
        self.triton, self.kernel, self.config, self.heuristics = triton, kernel, {}, {}
        self.options: dict[str, int] = {}
        from triton.runtime import autotuner, jit
        while kernel is not None and not isinstance(kernel, jit.JITFunction):
            if isinstance(kernel, autotuner.Autotuner) and kernel.configs:
                first = kernel.configs[0]
                self.config = dict(first.kwargs)
                self.options = {option: getattr(first, option) for option in ("num_warps", "num_stages") if isinstance(getattr(first, option), int)}
            if isinstance(kernel, autotuner.Heuristics):
                self.heuristics.update(kernel.values)
            kernel = getattr(kernel, "fn", None)
        self.jit = kernel
        if kernel is None:
            raise ValueError(f"{name} is no kernel after its file was loaded: what it needs is missing")
        function = next(node for node in ast.walk(kernel.parse()) if isinstance(node, ast.FunctionDef))
        self.shape = Shape(function, set(kernel.arg_names))
        self.constants = {each.name for each in kernel.params if each.is_constexpr} | (set(self.config) & set(kernel.arg_names))
        self.defaults = {each.name: each.default for each in kernel.params if each.has_default}
        self.kinds = {name: self.kind_of(name) for name in kernel.arg_names if name not in self.constants}
        self.base, self.size, self.changed = 0, None, set()
        self.given: dict[str, Any] = {}  # constants that were changed by what Triton said

    def kind_of(self, name: str) -> str:
        if name in self.shape.descriptors:
            return "descriptor"
        if name in self.shape.pointers:
            return "pointer"
        if re.fullmatch(FLOATS, name):
            return "float"
        if re.search(r"(_ptr|Ptr|_pointer)s?$", name):
            return "pointer"
        return "integer"

    def constant(self, name: str) -> Any:
        if name in self.given:
            return self.given[name]
        if name in self.config:
            return self.config[name]
        default = self.defaults.get(name)
        if default is not None and not isinstance(default, Absent):
            return default
        if name in self.shape.unrolled:
            return 4
        if self.size and name in self.shape.blocks:
            return self.size
        if re.search(r"(?i)dtype|_ty$|_type$", name):
            return self.triton.language.float32 if re.search("(?i)acc|compute", name) else self.triton.language.float16
        for pattern, value in CONSTANTS:
            if re.fullmatch(pattern, name) or len(name) > 2 and re.fullmatch(pattern, name.upper()):
                return value
        if name in self.shape.bools:
            return False
        return 64 if name in self.shape.blocks else False if re.search(r"(?i)^(is|use|has)_|mask|causal|bias", name) else 16

    def dtype(self, name: str) -> str:
        base = DTYPES[self.base]
        if base in ("fp16", "bf16"):
            if re.fullmatch(INDEXES, name, re.I):
                return "i32"
            if re.fullmatch(FLOAT_DATA, name, re.I):
                return "fp32"
        return base

    def last_strides(self) -> set[str]:
        """Of each tensor's strides the last, which is 1 as a rule."""
        groups: dict[str, list[str]] = {}
        for name in self.kinds:
            if "stride" in name.lower() and not name.lower().endswith(("_b", "_h", "_batch", "_head", "_t", "bs", "_row", "row_stride")):
                stem = re.sub(r"(_?\d|_[a-z]+|[a-z])$", "", name)
                groups.setdefault(stem, []).append(name)
        return {names[-1] for names in groups.values() if len(names) > 1}

    def entry(self) -> tuple:
        last = self.last_strides()
        signature, constants = {}, {}
        for name in self.jit.arg_names:
            kind = self.kinds.get(name, "constant")
            if kind == "constant":
                continue
            if kind == "pointer":
                signature[name] = f"*{self.dtype(name)}:16"
            elif kind == "none":
                constants[name] = None
            elif kind == "float":
                signature[name] = "fp32"
            elif kind == "descriptor":
                signature[name] = f"tensordesc<{self.dtype(name)}[{self.size or 128}, 64]>"
            elif name in last:
                constants[name] = 1
            else:
                signature[name] = "i32:16" if re.search(r"stride|^[A-Z]$|dim|DIM|size|hidden|n_cols|_cols|ncols", name) else "i32"
        for name in self.jit.arg_names:
            if name not in self.kinds:
                constants[name] = self.constant(name)
        for name, value in self.heuristics.items():
            if name in constants and name not in self.given:
                arguments = {**dict.fromkeys(self.jit.arg_names, None), **{each: 4096 for each, kind in self.kinds.items() if kind == "integer"}, **constants}
                with contextlib.suppress(Exception):
                    answer = value(arguments)
                    if isinstance(answer, (bool, int, float)):
                        constants[name] = answer
        return self.jit, signature, constants, dict(self.options)

    def entries(self) -> Iterator[tuple]:
        seen = []
        for _ in range(TRIES):
            entry = self.entry()
            if repr(entry[1:]) in seen:
                if not self.another():
                    return
                continue
            seen.append(repr(entry[1:]))
            yield entry

    def another(self) -> bool:
        """The next dtype of data, then the next size of blocks."""
        self.base += 1
        if self.base == len(DTYPES):
            sizes = [None, 64, 128, 32, 16]
            self.base = 0
            if self.size == sizes[-1]:
                return False
            self.size = sizes[sizes.index(self.size) + 1]
        return True

    def failed(self, why: str) -> None:
        """Changes the guess by what Triton said of it."""
        line = re.search(r"in line (\d+) of its source", why)
        near = self.shape.near(int(line[1])) if line else []
        if missing := re.search(r"has no attribute|invalid operand|[Uu]nsupported ptr type|cannot (?:cast|convert)|[Pp]ointer|ptr|block_type|incompatible", why):
            for name in near:  # what was taken for a number is a pointer, or the other way round
                if self.kinds.get(name) == "integer" and name not in self.changed and (missing and not re.search(r"stride|len|num", name)):
                    self.kinds[name] = "pointer"
                    self.changed.add(name)
                    return
        if re.search(r"shape|inner|K must|dimension|>= ?(16|32|64)|power of 2|[Ii]ncompatible|broadcast|size", why):
            sizes = [None, 64, 128, 32, 16]
            if self.size != sizes[-1]:
                self.size = sizes[sizes.index(self.size) + 1]
                for name in near:
                    if name in self.constants and name not in self.config and isinstance(self.constant(name), int) and self.constant(name) > 1:
                        self.given[name] = self.size
                return
        if re.search(r"NoneType|constexpr|bool|None", why):
            for name in near:
                if name in self.constants and name not in self.given and name in self.defaults:
                    self.given[name] = 64
                    return
        self.another()
