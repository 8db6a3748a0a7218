#include "core/triton/back/rotated.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "core/base/atomic_file.h"
#include "core/base/scanner.h"
#include "core/triton/back/rotation_plan.h"
#include "core/triton/read/flow.h"

namespace heddle::triton {
namespace {

constexpr std::size_t kWidth = 110;  // of a comment

std::string joined(const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, ", ")); }

class RotatedText {
 public:
  RotatedText(const TritonProgram& program, const LoopSite& loop, RotationPlan plan)
      : program_(program), flow_(program, loop.op), plan_(std::move(plan)) {}

  RotatedLoop write(std::string_view remark) {
    const std::string indent = plan_.source.lines()[plan_.head_line].indent, inner = plan_.source.lines()[plan_.head_line + 1].indent;
    RotatedLoop result;
    result.file = plan_.file;
    result.first_line = plan_.source.lines()[plan_.head_line].first;
    result.last_line = plan_.last_line;
    result.notes = notes();
    std::string& out = result.text;
    for (const std::string& note : result.notes) out += comment(note, indent);
    while (!remark.empty()) {
      const std::size_t end = std::min(remark.find('\n'), remark.size());
      out += comment(std::string(remark.substr(0, end)), indent);
      remark.remove_prefix(std::min(end + 1, remark.size()));
    }

    const std::string low = hoisted(plan_.head.low, "_low", out), high = hoisted(plan_.head.high, "_high", out),
                      step = hoisted(plan_.head.step, "_step", out);
    const std::string guard = low == "0" ? fmt::format("{}if {} > 0:\n", indent, high) : fmt::format("{}if {} < {}:\n", indent, low, high);
    const std::string trips = low == "0" ? high : fmt::format("{} - {}", high, low);
    const std::string last = step == "1"  ? fmt::format("{} - 1", high)
                             : low == "0" ? fmt::format("({}.cdiv({}, {}) - 1) * {}", plan_.language(), trips, step, step)
                                          : fmt::format("{} + ({}.cdiv({}, {}) - 1) * {}", low, plan_.language(), trips, step, step);
    for (const auto& [name, wanted] : plan_.wanted) out += fmt::format("{}{} = {}\n", indent, name, wanted.zero);
    for (const auto& [name, before] : plan_.names)
      if (name != plan_.head.variable && carried(name)) out += fmt::format("{}{} = {}\n", indent, before, name);

    // The first iteration up to the later mmas.
    PythonNames ahead;
    const std::string variable =
        plan_.known.contains(plan_.head.variable) ? plan_.fresh(plan_.head.variable + "_first") : plan_.head.variable;
    if (variable != plan_.head.variable) ahead[plan_.head.variable] = variable;
    out += guard;
    bool reads = false;
    for (std::size_t s = 0; s < plan_.body.size(); ++s)
      reads = reads || (!plan_.is(s, LoopPart::Second) && plan_.body[s].reads.contains(plan_.head.variable));
    if (reads) out += fmt::format("{}{} = {}\n", inner, variable, typed(low));
    out += lines_text_of(LoopPart::First, ahead, false) + lines_text_of(LoopPart::Between, ahead, false);

    std::vector<std::string> arguments{low == "0" ? step : fmt::format("{} + {}", low, step), high};
    if (step != "1") arguments.push_back(step);
    arguments.insert(arguments.end(), plan_.head.options.begin(), plan_.head.options.end());
    out += fmt::format("{}for {} in {}({}):\n", indent, plan_.head.variable, plan_.head.callee, joined(arguments));
    // What the later mmas overwrite for themselves, in another type perhaps, is not what is carried on.
    PythonNames behind = plan_.names;
    std::string copies;
    for (const auto& [name, wanted] : plan_.wanted)
      if (std::any_of(plan_.body.begin(), plan_.body.end(), [&, &written = name](const PythonStatement& statement) {
            return plan_.part[static_cast<std::size_t>(&statement - plan_.body.data())] == LoopPart::Second &&
                   statement.writes.contains(written);
          })) {
        behind[name] = plan_.fresh(name + "_now");
        copies += fmt::format("{}{} = {}\n", inner, behind[name], name);
      }
    std::string before;
    if (plan_.reads_variable) {
      if (!behind.contains(plan_.head.variable)) behind[plan_.head.variable] = plan_.fresh(plan_.head.variable + "_before");
      before = behind[plan_.head.variable];
    }
    out += lines_text_of(LoopPart::First, {}, true);
    if (plan_.reads_variable) out += fmt::format("{}{} = {} - {}\n", inner, before, plan_.head.variable, step);
    out += copies + lines_text_of(LoopPart::Second, behind, true) + lines_text_of(LoopPart::Between, {}, true);

    // The later mmas of the last iteration.
    out += guard;
    if (plan_.reads_variable) out += fmt::format("{}{} = {}\n", inner, before, typed(last));
    out += copies + lines_text_of(LoopPart::Second, behind, false);
    return result;
  }

 private:
  const mlir::Module& module() const { return *program_.module; }

  /// Triton launches an mma of wgmma without waiting for it only under certain conditions; the first that this one fails, as far as the
  /// text shows it.
  std::string why_waited(mlir::OpId id) const {
    const mlir::Op& product = module().op(id);
    const mlir::Block* body = flow_.body();
    if (!body || product.results.empty() || product.operands.size() < 2) return "it stands in a block of its own";
    if (program_.type(product.results[0]).tile.element != "f32") return "it does not add in float32";
    std::set<mlir::ValueId> made{product.results[0]};
    for (const mlir::OpId other : body->ops) {
      const mlir::Op& op = module().op(other);
      const bool reads = std::any_of(op.operands.begin(), op.operands.end(), [&](mlir::ValueId v) { return made.contains(v); });
      if (!reads || op.name == "scf.yield") continue;
      if (work_of(program_, op) != OpRole::View) return "its result is read in the same iteration";
      made.insert(op.results.begin(), op.results.end());
    }
    if (const ValueSource from = flow_.source(product.operands[0]); !is_memory(program_.type(product.operands[0])) && from.op.valid())
      for (std::size_t s = 0; s < plan_.body.size(); ++s)
        if (const auto& ops = plan_.work[s].ops; !plan_.is(s, LoopPart::Second) && std::find(ops.begin(), ops.end(), from.op) != ops.end())
          return fmt::format(
              "its operand of line {} is carried on as it is, and so through shared memory; it has to be converted in a line "
              "for the mma alone",
              plan_.line(s));
    for (std::size_t i = 0; i < 2; ++i) {
      if (!is_memory(program_.type(product.operands[i]))) continue;
      const ValueSource from = flow_.source(product.operands[i]);
      if (!from.op.valid()) continue;
      const mlir::Op& op = module().op(from.op);
      const auto role = work_of(program_, op);
      const bool load = role == OpRole::DescriptorLoad || role == OpRole::PointerLoad || role == OpRole::Gather;
      if (!load) return "an operand passes from registers into shared memory";
      if (op.find("loop.stage") && product.find("loop.stage") && op.integer("loop.stage", 0) >= product.integer("loop.stage", 0))
        return "an operand is not loaded ahead";
    }
    return {};
  }

  std::vector<int> later_products() const {
    std::vector<int> lines;
    for (std::size_t s = 0; s < plan_.body.size(); ++s)
      if (plan_.is(s, LoopPart::Second) && !plan_.work[s].products.empty()) lines.push_back(plan_.line(s));
    return lines;
  }
  /// What runs while the later mmas are in flight: up to the next mma, which is waited for.
  std::vector<int> work_under_them() const {
    std::vector<int> lines;
    for (std::size_t s = 0; s < plan_.body.size(); ++s) {
      if (!plan_.is(s, LoopPart::Between)) continue;
      if (!plan_.work[s].products.empty()) break;
      if (plan_.work[s].computes && plan_.behind_first[s]) lines.push_back(plan_.line(s));
    }
    return lines;
  }

  std::vector<std::string> notes() const {
    const std::vector<int> second = later_products(), work = work_under_them();
    const bool one = second.size() == 1;
    std::vector<std::string> notes;
    notes.push_back(fmt::format("The rotated loop, written by Heddle. It stands for lines {} to {} of {}.",
                                plan_.source.lines()[plan_.head_line].first, plan_.last_line,
                                std::filesystem::path(plan_.file).filename().string()));
    notes.push_back(fmt::format("The mma of line {} comes an iteration early, in front of {} of {}{}.", plan_.line(plan_.first),
                                one ? "that" : "those", lines_text(second),
                                work.empty()
                                    ? std::string()
                                    : fmt::format(", so that {} in flight while {} of the next iteration {}",
                                                  one ? "that one is" : "those are", lines_text(work), work.size() == 1 ? "runs" : "run")));
    notes.push_back(
        "Every name goes through the same operations on the same numbers in the same order; an iteration loads what it loads in the "
        "source, "
        "and without trips nothing happens.");
    std::size_t waited = 0;
    for (std::size_t s = 0; s < plan_.body.size(); ++s)
      for (const mlir::OpId id : plan_.work[s].products)
        if (const std::string why = plan_.is(s, LoopPart::Second) ? why_waited(id) : std::string(); !why.empty()) {
          notes.push_back(fmt::format("But Triton waits for the mma of line {} at once: {}.", plan_.line(s), why));
          ++waited;
        }
    if (work.empty())
      notes.push_back("But another mma comes before all work on the first one's result, and Triton waits for it: put that work first.");
    if (waited == second.size() || work.empty())
      notes.push_back("So nothing overlaps, and the loop is worth nothing as it is.");
    else
      notes.push_back(
          "Triton 3.4.0, 3.6.0 and 3.9.0 were seen to keep such an mma asynchronous on sm_90: in PTX nothing waits between "
          "its wgmma and the ex2 behind it. That was compiled; what it gains is predicted, not run on a GPU.");
    std::vector<std::string> longer;
    for (const auto& [name, wanted] : plan_.wanted) longer.push_back(name);
    if (plan_.registers > 0)
      notes.push_back(fmt::format("{} now live{} into the next iteration, {} registers of each thread: look for spills (ptxas -v).",
                                  joined(longer), longer.size() == 1 ? "s" : "", plan_.registers));
    if (std::any_of(plan_.wanted.begin(), plan_.wanted.end(),
                    [](const auto& w) { return w.second.zero.find(".zeros(") != std::string::npos; }))
      notes.push_back("The shapes of the zeros are those of the text; put the kernel's own names there where tiles are tuned.");
    return notes;
  }

  /// One name or number that the loop does not change can be written several times; anything else gets a name in front of the loop.
  std::string hoisted(const std::string& expression, const char* what, std::string& out) {
    const bool plain = std::all_of(expression.begin(), expression.end(), in_name);
    if (plain && expression != plan_.head.variable && !plan_.last_maker(expression)) return expression;
    const std::string name = plan_.fresh(plan_.head.variable + what);
    out += fmt::format("{}{} = {}\n", plan_.source.lines()[plan_.head_line].indent, name, expression);
    return name;
  }

  /// Whether what the second mmas read under this name comes from an iteration before.
  bool carried(const std::string& name) const {
    for (std::size_t s = 0; s < plan_.body.size(); ++s)
      if ((plan_.is(s, LoopPart::Second) || plan_.again[s]) && plan_.body[s].reads.contains(name) && !plan_.maker(name, s)) return true;
    return false;
  }

  std::string typed(const std::string& expression) const {
    const mlir::Block* body = flow_.body();
    const std::string type = body && !body->arguments.empty() ? python_type(program_.type(body->arguments[0]).tile.element) : std::string();
    return type.empty() ? expression : fmt::format("{0}.cast({1}, {0}.{2})", plan_.language(), expression, type);
  }

  std::string lines_text_of(LoopPart part, const PythonNames& renamed, bool comments) const {
    std::string out;
    for (std::size_t s = 0; s < plan_.body.size(); ++s) {
      if (plan_.part[s] != part && !(part == LoopPart::Second && plan_.again[s])) continue;
      if (comments)
        out +=
            plan_.source.comments_above(plan_.body[s].first, s > 0 ? plan_.body[s - 1].last : plan_.source.lines()[plan_.head_line].last);
      out += plan_.source.raw(plan_.body[s].first, plan_.body[s].last, renamed);
    }
    return out;
  }

  static std::string comment(const std::string& text, const std::string& indent) {
    std::string out;
    for (std::size_t begin = 0; begin < text.size();) {
      std::size_t end = text.size();
      if (end - begin > kWidth) {
        end = text.rfind(' ', begin + kWidth);
        if (end == std::string::npos || end <= begin) end = std::min(text.find(' ', begin), text.size());
      }
      out += fmt::format("{}# {}\n", indent, std::string_view(text).substr(begin, end - begin));
      begin = end + 1;
    }
    return out;
  }

  const TritonProgram& program_;
  Flow flow_;
  RotationPlan plan_;
};

}  // namespace

std::string python_file(const TritonProgram& program, const LoopSite& loop) {
  const mlir::Module& module = *program.module;
  return module.location(module.op(loop.op)).file;
}

const LoopSite* loop_to_rotate(const TritonProgram& program) {
  const LoopSite* most = nullptr;
  for (const LoopSite& loop : program.loops)
    if (loop.products > (most ? most->products : 0)) most = &loop;
  return most;
}

Result<PythonSource> read_python(const TritonProgram& program, const LoopSite& loop, const std::string& named) {
  namespace fs = std::filesystem;
  const auto read = [](const std::string& path) -> Result<PythonSource> {
    Result<std::string> text = read_file(path);
    if (!text) return text.error();
    return PythonSource{path, *std::move(text)};
  };
  if (!named.empty()) return read(named);
  const std::string file = python_file(program, loop);
  if (file.empty())
    return Error{ErrorKind::Input,
                 {{program.file,
                   {},
                   "the text has no locations, so it does not say which lines of Python the loop is",
                   "Triton leaves them out with TRITON_DISABLE_LINE_INFO=1"}}};
  // The text may come from anybody: what it names is opened only where it can be a Python file.
  const fs::path path(file), text(program.file);
  std::error_code code;
  const fs::path folder = fs::is_directory(text, code) ? text : text.parent_path();
  std::vector<std::string> looked;
  if (path.extension() == ".py")
    for (const fs::path& at : {path, folder / path, folder / path.filename()}) {
      if (std::find(looked.begin(), looked.end(), at.string()) != looked.end()) continue;
      looked.push_back(at.string());
      if (fs::is_regular_file(at, code)) return read(at.string());
    }
  return Error{
      ErrorKind::Input,
      {{program.file,
        {},
        fmt::format("the Python source {} is not there{}", file, looked.empty() ? "" : fmt::format("; looked for {}", joined(looked))),
        {},
        "python source"}}};
}

Result<RotatedLoop> rotated_loop(const TritonProgram& program, const LoopSite& loop, std::string_view python_source,
                                 std::string_view remark) {
  Result<RotationPlan> plan = plan_rotation(program, loop, python_source);
  if (!plan) return plan.error();
  return RotatedText(program, loop, *std::move(plan)).write(remark);
}

Result<RotatedLoop> rotated_loop(const TritonProgram& program, const LoopSite& loop, const PythonSource& source, std::string_view remark) {
  Result<RotatedLoop> rotated = rotated_loop(program, loop, std::string_view(source.text), remark);
  if (rotated) return rotated;
  Error error = rotated.error();
  for (Fault& fault : error.faults) fault.file = fault.pointer.empty() ? program.file : source.path;
  return error;
}

}  // namespace heddle::triton
