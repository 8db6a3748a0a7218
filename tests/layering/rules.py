#!/usr/bin/env python3
"""Checks the rules between rooms and a few habits of the house, on the text of the repository.

    rules.py ROOT                prints one line per offence and exits 1 if there is any
    rules.py --parameters ROOT   prints the functions that take many parameters
    rules.py --self-test         plants one offence per rule in a scratch tree and exits 1 if a rule overlooks it
"""

import fnmatch
import pathlib
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # the tree stays as it is
import parameters  # noqa: E402

GUI_HEADERS = r"(imgui|imconfig|GLFW/|GL/|EGL/|glad|KHR/)"
CUDA_HEADERS = r"(cuda|nvrtc|cublas|cudnn|cupti)\w*(\.h|/)"

# Includes: files whose path matches `where` but not `except_` must not include what matches `forbidden`.
# (where, except_, forbidden, why)
INCLUDE_RULES = [
    (r"core/", None, r"(ptx|solver|codegen|app|tests)/", "core needs nothing of ours"),
    (r"core/", None, r"z3", "core knows no solver"),
    (r"core/", None, GUI_HEADERS, "core draws nothing"),
    (r"solver/", None, r"(ptx|codegen|app|tests)/", "the solver needs core only"),
    (r"ptx/", None, r"(solver|codegen|app|tests)/", "the room that runs PTX needs core only: it judges kernels of anybody"),
    (r"codegen/", None, r"ptx/(?!launch/)", "a code generator says how its kernel is launched, and knows nothing of who judges it"),
    (r"codegen/", None, r"(solver|app|tests)/", "a schedule file is what passes between solver and code generator"),
    (r"app/", None, r"tests/", "programs do not depend on tests"),
    (r"", r"(tests/support/)?solver/[^ ]*\.cpp$", r"z3", "Z3 is used only in solver/*.cpp, so that no header carries it"),
    (r"", r"(app/platform/|app/window/|tests/ui/|tests/bench/)", GUI_HEADERS, "ImGui, GLFW and OpenGL are used only under app/platform, app/window and their tests"),
    (r"app/window/.*(_model|_overlay|_view_model)\.(h|cpp)$", None, GUI_HEADERS, "models say what is drawn and draw nothing"),
    (r"", r"(core/base/json[^/]*\.cpp$|tests/)", r"nlohmann/(?!json_fwd)", "JSON text is read and written only in core/base/json*.cpp"),
    (r"", r"(codegen/run/|kernels/|ptx/capture/|tests/gpu/fake/|tests/ptx/capture/programs/)", CUDA_HEADERS, "CUDA headers are used only under codegen/run, by the fake GPU, which has its own, and by what stands in for CUDA's libraries"),
    (r"solver/", r"solver/(paper|baselines|programs|questions|search)/\w+\.cpp$", r"core/check/", "encoders share nothing with the checker that judges them"),
    (r"solver/encoding/", None, r"core/analysis/", "encoders share nothing with the analyses that the checker uses"),
    (r"core/check/", None, r"core/(motion|timing)/", "the checker shares nothing with what it judges"),
    (r"core/motion/", None, r"core/check/", "the rule of motion shares nothing with the checker that judges it"),
    (r"(core|solver|codegen|app)/", r"core/(problem|instance)/", r"core/problem/resolve\.h", "problems are made in core/instance, of one value"),
]

# The folders of a room from the ground up: a file includes its own folder's headers and those of folders before it. "x/*" are folders of
# which none includes another. Files that lie in the room itself may include everything.
FOLDER_ORDER = {
    "core": ["base", "kernel", "patterns", "machine", "layout", "problem", "schedule", "analysis", "instance", "check", "timing", "motion", "simulate", "tuning_space", "records", "formats", "chart", "answers",
             "mlir", "dump", "triton/read", "triton/memory", "triton/kernel", "triton/audit", "triton/back", "library"],
    "solver": ["tune", "z3", "encoding", "relaxation", "search", "paper", "baselines", "programs", "questions"],
    "ptx": ["text", "launch", "judge", "run", "units", "report", "capture"],
    "codegen": ["device", "program", "emit", "interpret", "profile", "machine_code", "compile", "run", "package", "calibrate"],
    "app": ["command", "picture", "ask", "jobs", "batch", "bench", "tune", "cli", "cli/questions", "session", "platform", "window/kit", "window/chart", "window/parts", "window/tabs/*",
            "window/frame"],
}
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')
SOURCE_SUFFIXES = {".h", ".hpp", ".cpp", ".cu", ".cuh"}
PRODUCT_ROOMS = ("core/", "ptx/", "solver/", "codegen/", "app/")
ROOMS = (*PRODUCT_ROOMS, "tests/")
SCRIPT_SUFFIXES = {".py", ".sh", ".cmake"}

# Spelled in pieces, so that this file does not accuse itself.
MACHINE_PATHS = re.compile("/" + r"(work|home|root|Users)/\w")
MISSING_PAGES = re.compile(r"(?:^|[\s(\"'`]|shared/)(research" + r"/\w[\w./-]*|design" + r"\.md)")

# Core, solver and code generator do not know how somebody asked: a fault says which part of it it is about (Fault::part), and programs add
# the option that says it. An argument as a whole, for a program that is started, is no text: these folders start compilers and children.
OPTION_LESS_ROOMS = ("core/", "ptx/", "solver/", "codegen/")
STARTING_FOLDERS = ("codegen/compile/", "codegen/run/")
COMMAND_FOLDERS = ("ptx/capture/",)  # what heddle capture puts into other programs: it speaks of that command, and of nvcc
STRING_OR_COMMENT = re.compile(r"""//.*|'(?:[^'\\\n]|\\.)'|R"\((.*?)\)"|"((?:[^"\\\n]|\\.)*)\"""")
OPTION = re.compile(r"(?<![\w-])--[a-z][\w-]*")
ARGUMENT = re.compile(r"--[a-z][\w-]*(=\S*)?")

# The head of a .cpp whose header says what it is for.
MOST_SENTENCES = 2
LEAST_CHARACTERS = 40
SENTENCE_END = re.compile(r"(?<!\b[A-Z])[.!?][)\"']*(?=\s|$)")  # not "K. Cooper", "rules.py" or "1.5"

# What belongs together goes together: an Instance, a struct with a meaning of its own, or a class that holds what every call passes. So
# many functions of the product still take so many parameters; who takes one away writes the smaller number here.
MANY_PARAMETERS = 6
FUNCTIONS_WITH_MANY = 20
CUDA_CHOSE = ("ptx/capture/driver_", "ptx/capture/runtime_")  # functions that stand in for CUDA's take what those take

# A type name has one meaning over all namespaces, but for these words of others, which stand behind their namespace wherever ours are near.
OTHERS_WORDS = {"Op": "mlir::Op is an operation of an MLIR text, as MLIR calls it", "Value": "mlir::Value is what MLIR calls so"}

MAX_LINES = 600
LONG_FILES = {}  # path: why it may be longer

# A class that many files implement is many classes that share their members.
MAX_FILES = 3
METHOD = re.compile(r"(?:[A-Za-z_][^=;()]*?\b)?([A-Z]\w*)::(?:~?\w+|operator[^\s(]+)\(")


def repository_files(root):
    """Paths relative to root of everything that is, or would be, under version control."""
    try:
        listed = subprocess.run(["git", "-C", str(root), "ls-files", "-co", "--exclude-standard", "-z"], check=True,
                                capture_output=True).stdout.decode().split("\0")
        return sorted(path for path in listed if path and (root / path).is_file())
    except (OSError, subprocess.CalledProcessError):  # an unpacked archive
        return sorted(path.relative_to(root).as_posix() for path in root.rglob("*")
                      if path.is_file() and path.relative_to(root).parts[0] not in ("build", ".git"))


def include_offences(path, lines):
    for number, line in enumerate(lines, 1):
        found = INCLUDE.match(line)
        if not found:
            continue
        header = found.group(1)
        for where, except_, forbidden, why in INCLUDE_RULES:
            if re.match(where, path) and not (except_ and re.match(except_, path)) and re.match(forbidden, header):
                yield f"{path}:{number}: includes {header}: {why}"


def place(order, folder):
    """The folder's place from the ground up; those that "x/*" stands for share one, and none of them includes another."""
    return next((index for index, name in enumerate(order) if fnmatch.fnmatchcase(folder, name)), None)


def order_offences(path, lines):
    room, folder = path.split("/", 1)[0], "/".join(path.split("/")[1:-1])
    order = FOLDER_ORDER.get(room)
    if order is None or not folder:
        return
    if place(order, folder) is None:
        yield f"{path}:1: the folder has no place in the order of {room} (FOLDER_ORDER in tests/layering/rules.py)"
        return
    for number, line in enumerate(lines, 1):
        found = INCLUDE.match(line)
        if not found or not found.group(1).startswith(room + "/"):
            continue
        header = found.group(1)
        target = "/".join(header.split("/")[1:-1])
        below = place(order, target)
        if target != folder and (below is None or below >= place(order, folder)):
            yield f"{path}:{number}: includes {header}: includes go down only, and {target or 'the room itself'} comes after {folder}"


MIRRORS = ("core", "ptx", "solver", "codegen", "app")  # rooms whose tests lie in the folder of what they test; the others are grouped by command or flow


def mirror_offences(path, folders):
    parts = path.split("/")
    if parts[0] != "tests" or not path.endswith("_test.cpp") or parts[1] not in MIRRORS:
        return
    tested = "/".join(parts[1:-1])
    if len(parts) < 4 or not any(folder == tested or folder.startswith(tested + "/") for folder in folders):
        yield f"{path}:1: tests mirror the tree: {tested} has to be a folder with sources"


def source_offences(path, lines):
    # A .cpp that begins with its own header is what that header says.
    own_header = f'#include "{path.removesuffix(".cpp")}.h"'
    if not lines or not (lines[0].startswith("//") or (path.endswith(".cpp") and lines[0] == own_header)):
        yield f"{path}:1: the first line must be a comment that says what the file is for, or in a .cpp its own header"
    if path.endswith((".h", ".hpp", ".cuh")) and "#pragma once" not in lines:
        yield f"{path}:1: a header needs #pragma once"
    if len(lines) > MAX_LINES and path not in LONG_FILES:
        yield f"{path}:{len(lines)}: longer than {MAX_LINES} lines; split it, or give the reason in tests/layering/rules.py"


def head_of(lines):
    """The comment that a file begins with, line by line; blank lines do not end it."""
    head = []
    for line in lines:
        if line.startswith("//"):
            head.append(line)
        elif line:
            break
    return head


def head_offences(path, lines):
    head = head_of(lines)
    sentences = len(SENTENCE_END.findall(" ".join(line.lstrip("/").strip() for line in head)))
    if sentences > MOST_SENTENCES:
        yield (f"{path}:1: its head has {sentences} sentences: a .cpp with a header of its own begins with that #include, or with at most "
               f"{MOST_SENTENCES} sentences on how it works; what it is for stands in the header, details at their functions")
    if len(head) == 1 and len(head[0]) < LEAST_CHARACTERS:
        yield f"{path}:1: its head is one line of {len(head[0])} characters: say how it works, or begin with the header"


def page_offences(path, lines):
    for number, line in enumerate(lines, 1):
        if found := MISSING_PAGES.search(line):
            yield f"{path}:{number}: names {found.group(1)}, which a clone does not have: say the fact itself, or cite what is public"


def option_offences(path, lines):
    for number, line in enumerate(lines, 1):
        for found in STRING_OR_COMMENT.finditer(line):
            text = found.group(1) or found.group(2) or ""
            option = OPTION.search(text)
            if option and not (path.startswith(STARTING_FOLDERS) and ARGUMENT.fullmatch(text)):
                yield f"{path}:{number}: says {option.group()}: a fault says which part it is about, and programs add the name of their option"


def text_offences(path, lines):
    for number, line in enumerate(lines, 1):
        found = MACHINE_PATHS.search(line)
        if found:
            yield f"{path}:{number}: contains a path of somebody's machine: {line.strip()[:80]}"


NAMESPACE = re.compile(r"namespace(?:\s+([\w:]+))?\s*\{")
TYPE = re.compile(r"(?:struct|class|union|enum(?: class)?)\s+(\w+)(?:\s+final)?\s*(?::[^:;].*)?\{")


def types(lines):
    """Types that a file defines for other files to see, with their namespaces: (line number, "heddle::app::Session")."""
    around = []
    for number, line in enumerate(lines, 1):
        if found := NAMESPACE.match(line):
            around.append(found.group(1))
        elif line.startswith("}") and "namespace" in line and around:
            around.pop()
        elif (found := TYPE.match(line)) and None not in around:
            yield number, "::".join([*around, found.group(1)])


def meaning_offences(path, found, meanings):
    """`found`: a header's types(). `meanings`: by bare name what headers before it define."""
    for number, name in found:
        word = name.rpartition("::")[2]
        first, where = meanings.setdefault(word, (name, path))
        if first != name and word not in OTHERS_WORDS:
            yield f"{path}:{number}: {name} has the name of {first} in {where}: a type name has one meaning over all namespaces"


def functions_with_many(root, paths):
    return parameters.functions_with(MANY_PARAMETERS, root,
                                     [path for path in paths if path.startswith(PRODUCT_ROOMS) and path.endswith((".h", ".hpp", ".cuh", ".cpp"))
                                      and not path.startswith(CUDA_CHOSE)])


def parameter_offences(root, paths, most):
    found = functions_with_many(root, paths)
    if len(found) > most:
        path, line, _, _ = found[-1]
        yield (f"{path}:{line}: {len(found)} functions take {MANY_PARAMETERS} parameters or more, and at most {most} may: "
               f"`rules.py --parameters .` lists them")


def wide_class_offences(implemented):
    """Of classes by folder and name, with the .cpp files that define their methods."""
    for name, paths in implemented.items():
        if len(paths) > MAX_FILES:
            yield f"{sorted(paths)[-1]}:1: {name.rpartition('/')[2]} is implemented in {len(paths)} .cpp files, and {MAX_FILES} is the most: make several classes of it"


def offences(root, most_with_many=FUNCTIONS_WITH_MANY):
    defined = {}
    meanings = {}
    implemented = {}
    paths = repository_files(root)
    known = set(paths)
    yield from parameter_offences(root, paths, most_with_many)
    folders = {path.rpartition("/")[0] for path in paths if path.startswith(PRODUCT_ROOMS)}
    for path in paths:
        try:
            lines = (root / path).read_text(encoding="utf-8").splitlines()
        except UnicodeDecodeError:
            continue  # a picture or a font
        yield from text_offences(path, lines)
        suffix = pathlib.PurePosixPath(path).suffix
        if suffix in SOURCE_SUFFIXES | SCRIPT_SUFFIXES:
            yield from page_offences(path, lines)
        if suffix == ".cpp" and path.startswith(PRODUCT_ROOMS) and path.removesuffix(".cpp") + ".h" in known:
            yield from head_offences(path, lines)
        if suffix in SOURCE_SUFFIXES and path.startswith(ROOMS):
            yield from include_offences(path, lines)
            yield from order_offences(path, lines)
            yield from source_offences(path, lines)
            if path.startswith(OPTION_LESS_ROOMS) and not path.startswith(COMMAND_FOLDERS):
                yield from option_offences(path, lines)
            yield from mirror_offences(path, folders)
            if path.startswith(PRODUCT_ROOMS):
                if suffix == ".cpp":
                    for found in filter(None, map(METHOD.match, lines)):
                        implemented.setdefault(f"{path.rpartition('/')[0]}/{found.group(1)}", set()).add(path)
                if suffix != ".cpp":
                    yield from meaning_offences(path, types(lines), meanings)
                for number, name in types(lines):
                    if (first := defined.setdefault(name, path)) != path:
                        yield f"{path}:{number}: {name} is another type in {first}: one program can have only one of them"
    yield from wide_class_offences(implemented)


SIX = "int a, int b, int c, int d, int e, int f"
PLANTED_FUNCTIONS = (
    f"""namespace heddle {{
/// Not counted: comment({SIX});
int free({SIX});
int free(long a, int b, int c, int d, int e, int f);
int five(std::map<int, int> a, const std::function<void(int, int, int)>& b, int c = max({{1, 2, 3}}), char d = ',', int e = 5);
class Holder {{
 public:
  Holder({SIX}) : a_{{a}}, b_(b) {{}}
  template <class T, class U = std::pair<T, T>>
  requires(!std::same_as<T, U>) static T method({SIX}) noexcept;
  bool operator()({SIX}) const;
  std::function<void(int, int, int, int, int, int)> not_counted;
}};
inline int with_lambda(int a) {{
  const auto lambda = []({SIX}) {{ return a; }};
  return lambda(a, a, a, a, a, a);
}}
}}  // namespace heddle
""",
    f"""namespace heddle {{
namespace {{
const char* text = "int not_counted({SIX});";
int own({SIX});
int own({SIX}) {{ return free(a, b, c, d, e, f); }}
}}  // namespace
int free({SIX}) {{ return own(a, b, c, d, e, f); }}
bool Holder::operator()({SIX}) const {{ return true; }}
const auto value = make(1, 2, 3, 4, 5, 6);
}}  // namespace heddle
""")
COUNTED = ["free", "free", "Holder::Holder", "Holder::method", "Holder::operator()", "own"]


def self_test():
    header = "// A file.\n#pragma once\n"
    planted = [  # (path, text, what the offence must mention; None: must be accepted)
        ("core/a.h", header + '#include "solver/search/solve.h"\n', "core needs nothing of ours"),
        ("core/b.h", header + "  #  include <z3++.h>\n", "core knows no solver"),
        ("core/c.cpp", "// C.\n#include <GLFW/glfw3.h>\n", "core draws nothing"),
        ("core/d.cpp", "// D.\n#include <nlohmann/json.hpp>\n", "JSON text"),
        ("core/base/json_d.h", header + "#include <nlohmann/json.hpp>\n", "JSON text"),
        ("core/base/json_ok.h", header + "#include <nlohmann/json_fwd.hpp>\n", None),
        ("core/base/json_ok.cpp", "// One pass of the library, whose types end in this file.\n#include <nlohmann/json.hpp>\n", None),
        ("solver/encoding/e.cpp", '// E.\n#include "core/analysis/period.h"\n', "that the checker uses"),
        ("solver/search/f.h", header + "#include <z3++.h>\n", "no header carries it"),
        ("solver/z3/ok.cpp", "// Ok.\n#include <z3++.h>\n", None),
        ("solver/search/g.cpp", '// G.\n#include "codegen/program.h"\n', "needs core only"),
        ("solver/encoding/encode.cpp", '// E.\n#include "core/check/checker.h"\n', "judges them"),
        ("solver/search/solve.cpp", '// S.\n#include "core/check/checker.h"\n', None),
        ("core/check/judges.cpp", '// J.\n#include "core/motion/circle.h"\n', "nothing with what it judges"),
        ("core/motion/judged.cpp", '// J.\n#include "core/check/period_rule.h"\n', "checker that judges it"),
        ("app/jobs/makes.cpp", '// M.\n#include "core/problem/resolve.h"\n', "of one value"),
        ("core/instance/ok.cpp", '// Ok.\n#include "core/problem/resolve.h"\n', None),
        ("ptx/run/h.cpp", '// H.\n#include "codegen/emit/emit.h"\n', "judges kernels of anybody"),
        ("codegen/emit/judge.cpp", '// H.\n#include "ptx/run/cluster.h"\n', "knows nothing of who judges it"),
        ("codegen/emit/launch.cpp", '// H.\n#include "ptx/launch/launch.h"\n', None),
        ("codegen/h.cpp", '// H.\n#include "solver/search/solve.h"\n', "a schedule file"),
        ("codegen/i.cpp", "// I.\n#include <cuda.h>\n", "CUDA headers"),
        ("codegen/run/ok.cpp", "// Ok.\n#include <cuda_runtime.h>\n", None),
        ("app/session/j.h", header + "#include <imgui/imgui.h>\n", "ImGui"),
        ("app/jobs/k.cpp", '// K.\n#include "app/window/kit/table.h"\n', "includes go down only"),
        ("app/cli/l.cpp", "// L.\n#include <z3.h>\n", "only in solver"),
        ("app/window/kit/ok.cpp", "// Ok.\n#include <imgui.h>\n#include <GL/gl.h>\n", None),
        ("app/cli/platform.cpp", '// P.\n#include "app/platform/platform.h"\n', "includes go down only"),
        ("app/window/tabs/slack/slack_model.cpp", "// S.\n#include <imgui.h>\n", "models say what is drawn"),
        ("app/window/tabs/slack/tab.cpp", '// S.\n#include "app/window/tabs/slack/slack.h"\n#include "app/window/kit/table.h"\n', None),
        ("app/window/tabs/slack/other.cpp", '// S.\n#include "app/window/tabs/graph/graph.h"\n', "includes go down only"),
        ("app/m.cpp", '// M.\n#include "tests/support/paths.h"\n', "do not depend on tests"),
        ("core/kernel/up.h", header + '#include "core/schedule/schedule.h"\n', "includes go down only"),
        ("core/schedule/down.h", header + '#include "core/kernel/kernel.h"\n#include "core/schedule/outcome.h"\n', None),
        ("core/attic/a.h", header, "no place in the order"),
        ("core/triton/memory/up.h", header + '#include "core/triton/back/rules.h"\n', "triton/back comes after triton/memory"),
        ("core/triton/audit/down.h", header + '#include "core/triton/read/program.h"\n', None),
        ("core/triton/flat.h", header, "no place in the order"),
        ("core/base/attic.h", header + '#include "core/attic/a.h"\n', "includes go down only"),
        ("app/window/kit/top.h", header + '#include "app/main.h"\n', "the room itself comes after"),
        ("app/top.cpp", '// T.\n#include "app/window/kit/panel.h"\n', None),
        ("core/n.cpp", "int n;\n", "what the file is for"),
        ("core/base/own.cpp", '#include "core/base/own.h"\nint n;\n', None),
        ("core/base/other.cpp", '#include "core/base/own.h"\nint n;\n', "what the file is for"),
        ("core/base/riddle.h", header, None),
        ("core/base/riddle.cpp", '// Reads it.\n#include "core/base/riddle.h"\n', "say how it works"),
        ("core/base/essay.h", header, None),
        ("core/base/essay.cpp", '// It sorts.\n// It walks. (So far.)\n\n// It ends.\n#include "core/base/essay.h"\n', "its head has 4 sentences"),
        ("core/base/how.h", header, None),
        ("core/base/how.cpp", '// Dominators by K. Cooper, in 1.5 passes (core/base/how.h).\n// Then it ends.\n#include "core/base/how.h"\n', None),
        ("core/base/alone.cpp", "// A. B. It ends. It has no header.\n", None),
        ("tests/core/room.h", header, None),
        ("tests/core/room.cpp", '// Room.\n#include "tests/core/room.h"\n', None),
        ("tests/core/flat_test.cpp", "// Flat.\n", "tests mirror the tree"),
        ("tests/core/nowhere/a_test.cpp", "// A.\n", "tests mirror the tree"),
        ("tests/core/base/type_test.cpp", "// T.\n", None),
        ("tests/app/window/kit_test.cpp", "// K.\n", None),
        ("tests/cli/flat_test.cpp", "// By command.\n", None),
        ("core/base/page.h", "// As in " + "research" + "/encoding.md.\n#pragma once\n", "which a clone does not have"),
        ("scripts/page.py", "# (" + "design" + ".md, section 2)\n", "which a clone does not have"),
        ("core/base/public.h", "// See https://example.org/research/a and " + "DESIGN_emitter.md.\n#pragma once\n", None),
        ("solver/search/says.cpp", '// S.\nconst char quote = \'"\', *text = "say \\"less\\" with --demand";\n', "says --demand"),
        ("core/base/says.cpp", '// S.\nconst char* text = "--demand";\n', "says --demand"),
        ("codegen/run/says.cpp", '// S.\nconst char* text = "go without: --no-library";\n', "says --no-library"),
        ("codegen/compile/starts.cpp", '// S.\nconst char* words[] = {"--std=c++17", "--version"};\n', None),
        ("core/base/silent.cpp", '// As --demand has it.\nint f(int i) { return --i; }  // "--set"\nint g = f("a--b"[0]);\n', None),
        ("app/ask/says.cpp", '// S.\nconst char* text = "say it with --demand";\n', None),
        ("core/o.h", "// O.\nint o;\n", "#pragma once"),
        ("codegen/device/o.cuh", "// O.\n", "#pragma once"),
        ("codegen/device/up.cuh", header + '#include "codegen/emit/emit.h"\n', "includes go down only"),
        ("codegen/device/ok.cuh", header + '#include "types.cuh"\n', None),
        ("core/p.cpp", "// P.\n" + "int p;\n" * MAX_LINES, "longer than"),
        ("core/base/type1.h", header + "namespace heddle {\nstruct Twice {\n};\n}  // namespace heddle\n", None),
        ("core/base/type2.h", header + "namespace heddle {\nclass Twice final : public X {\n};\n}  // namespace heddle\n", "another type in"),
        ("core/base/type3.cpp", "// T.\nnamespace heddle {\nnamespace {\nstruct Twice {};\n}  // namespace\n}  // namespace heddle\n", None),
        ("core/base/type4.h", header + "namespace heddle::app {\nstruct Twice {};\n}  // namespace heddle::app\n", "one meaning over all namespaces"),
        ("core/base/type5.h", header + "namespace heddle {\nstruct Around {\n  struct Twice {};\n};\nstruct Op {};\n}  // namespace heddle\n", None),
        ("core/base/type6.h", header + "namespace heddle::mlir {\nstruct Op {};\n}  // namespace heddle::mlir\n", None),
        ("core/base/many.h", header + PLANTED_FUNCTIONS[0], None),
        ("core/base/many.cpp", '#include "core/base/many.h"\n' + PLANTED_FUNCTIONS[1], f"and at most {len(COUNTED) - 1} may"),
        *((f"core/base/wide{i}.cpp", f"// W.\nint Wide::part{i}() {{ return {i}; }}\n", "is implemented in 4 .cpp files" if i == 4 else None) for i in range(1, 5)),
        *((f"core/base/calls{i}.cpp", f"// C.\nint calls{i}() {{\n  return Slim::part();\n}}\n", None) for i in range(1, 5)),
        ("core/base/slim1.cpp", "// S.\nSlim::Slim() = default;\nSlim::~Slim() = default;\n", None),
        ("core/base/slim2.cpp", "// S.\nstd::vector<Wide::Part> Slim::parts() const {\n", None),
        ("notes.md", "see /" + "home/ada/x\n", "somebody's machine"),
        ("other.md", "see https://example.org/homes/x and build/z3\n", None),
    ]
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for path, text, _ in planted:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        found = list(offences(root, len(COUNTED) - 1))
        if (counted := [name for _, _, name, _ in functions_with_many(root, repository_files(root))]) != COUNTED:
            print(f"self-test: functions with many parameters are {COUNTED}, not {counted}")
            failures += 1
        for path, _, expected in planted:
            mine = [line for line in found if line.startswith(path + ":")]
            if expected is None and mine:
                print(f"self-test: accused without cause: {mine[0]}")
                failures += 1
            if expected is not None and not any(expected in line for line in mine):
                print(f"self-test: planted offence not found in {path}: {expected}")
                failures += 1
        for _, _, _, why in INCLUDE_RULES:
            if not any(line.endswith(why) for line in found):
                print(f"self-test: no planted offence broke the rule: {why}")
                failures += 1
    return failures


def main(arguments):
    if arguments == ["--self-test"]:
        failures = self_test()
        print("self-test passed" if not failures else f"{failures} failure(s)")
        return 1 if failures else 0
    if len(arguments) == 2 and arguments[0] == "--parameters":
        found = functions_with_many(pathlib.Path(arguments[1]), repository_files(pathlib.Path(arguments[1])))
        for path, line, name, taken in sorted(found, key=lambda each: -len(each[3])):
            print(f"{path}:{line}: {name} takes {len(taken)}")
        print(f"{len(found)} function(s) with {MANY_PARAMETERS} parameters or more")
        return 0
    if len(arguments) != 1:
        print(__doc__)
        return 2
    found = list(offences(pathlib.Path(arguments[0])))
    for line in found:
        print(line)
    print(f"{len(found)} offence(s)")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
