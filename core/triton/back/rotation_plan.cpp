#include "core/triton/back/rotation_plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "core/triton/back/rotated.h"
#include "core/triton/read/flow.h"

namespace heddle::triton {
namespace {

constexpr std::size_t kMostStatements = 400;

/// The first place of these that the loop's file has, of the frames of an op.
int line_in(const mlir::Location& location, const std::string& file, int first, int last) {
  const auto fits = [&](const std::string& name, int line) { return name == file && line >= first && line <= last; };
  if (fits(location.file, location.line)) return location.line;
  for (const auto& [name, line] : location.callers)
    if (fits(name, line)) return line;
  return 0;
}

class RotationPlanner {
 public:
  RotationPlanner(const TritonProgram& program, const LoopSite& loop, std::string_view source)
      : program_(program), loop_(loop), flow_(program, loop.op), plan_(python_file(program, loop), source) {}

  Result<RotationPlan> plan() {
    if (!judge_target() || !read_head() || !read_body() || !place_ops() || !find_products() || !part() || !judge_order() ||
        !provide_names() || !find_types())
      return error_;
    return std::move(plan_);
  }

 private:
  const mlir::Module& module() const { return *program_.module; }

  bool refuse(int line, std::string why, std::string hint = {}, const char* part = "") {
    error_ = {ErrorKind::Input, {{plan_.file, line > 0 ? fmt::format("{}", line) : std::string(), std::move(why), std::move(hint), part}}};
    return false;
  }
  bool refuse(Error error) {
    for (Fault& fault : error.faults) fault.file = plan_.file;
    error_ = std::move(error);
    return false;
  }
  bool other_source(int line, std::string what) {
    return refuse(line, fmt::format("{}: this is not the source that the text was made from", what), {}, "other python source");
  }

  bool judge_target() {
    if (plan_.file.empty())
      return refuse(0, "the text has no locations, so it does not say which lines of Python the loop is",
                    "Triton leaves them out with TRITON_DISABLE_LINE_INFO=1");
    if (program_.target == 90) return true;
    return refuse(0, fmt::format("the text is for sm_{}; a loop is rotated for the asynchronous mmas of sm_90", program_.target), {},
                  program_.target >= 100 ? "rotation on Blackwell" : "");
  }

  bool read_head() {
    const mlir::Op& op = module().op(loop_.op);
    const int number = module().location(op).line;
    if (op.name != "scf.for") return refuse(number, fmt::format("the loop is {}, not one that counts", op.name));
    plan_.head_line = plan_.source.find("for", number);
    if (plan_.head_line == plan_.source.lines().size()) return other_source(number, fmt::format("there is no 'for' in line {}", number));
    const PythonLine& line = plan_.source.lines()[plan_.head_line];
    if (plan_.source.decorated(plan_.head_line, "gluon"))
      return refuse(line.first, "the loop is one of Gluon, which says itself what is waited for");
    const auto word = [&](std::size_t i) { return i < line.tokens.size() ? plan_.source.word(line.tokens[i]) : std::string_view(); };
    const auto strange = [&](std::string_view what) {
      return refuse(line.first, fmt::format("{} in the head of the loop", what), "written is 'for NAME in tl.range(LOW, HIGH, STEP):'");
    };
    if (line.tokens.size() < 8 || word(2) != "in" || line.tokens[1].kind != PythonToken::Kind::Name) return strange("no name");
    plan_.head.variable = word(1);
    std::size_t at = 3;
    while (at < line.tokens.size() && (line.tokens[at].kind == PythonToken::Kind::Name || word(at) == ".")) ++at;
    if (at == 3 || word(at - 1) != "range" || word(at) != "(") return strange("no range");
    plan_.head.callee = plan_.source.between(line.tokens[3], line.tokens[at - 1]);
    std::vector<std::string> bounds;
    std::map<std::string, std::string> named;
    int depth = 1;
    for (std::size_t begin = ++at; at < line.tokens.size(); ++at) {
      const std::string_view text = word(at);
      if (text == "(" || text == "[" || text == "{") ++depth;
      if (text == ")" || text == "]" || text == "}") --depth;
      if (depth > 1 || (depth == 1 && text != ",")) continue;
      if (at > begin) {
        std::string argument(plan_.source.between(line.tokens[begin], line.tokens[at - 1]));
        if (argument.find('\n') != std::string::npos) return strange("an argument of several lines");
        if (word(begin) == "*") return strange("an argument with a star");
        if (at > begin + 2 && word(begin + 1) == "=") {
          if (word(begin) == "step" || word(begin) == "arg2" || word(begin) == "arg1")
            named[std::string(word(begin))] = plan_.source.between(line.tokens[begin + 2], line.tokens[at - 1]);
          else
            plan_.head.options.push_back(std::move(argument));
        } else {
          bounds.push_back(std::move(argument));
        }
      }
      begin = at + 1;
      if (depth == 0) break;
    }
    if (at + 2 != line.tokens.size() || word(at + 1) != ":") return strange("something behind range(...)");
    if (named.contains("arg1")) bounds.insert(bounds.begin(), named["arg1"]);
    if (named.contains("arg2")) bounds.push_back(named["arg2"]);
    if (bounds.empty() || bounds.size() > 3) return strange("no bounds");
    if (bounds.size() == 1)
      plan_.head.high = bounds[0];
    else
      plan_.head.low = bounds[0], plan_.head.high = bounds[1];
    if (bounds.size() == 3) plan_.head.step = bounds[2];
    if (named.contains("step")) plan_.head.step = named["step"];
    return !counts_down() || refuse(line.first, "the loop counts down", "count up, and take the place from the other end");
  }

  /// Triton counts up in any case; the variable of a loop that counts down is the sum of its bounds less what it counts. What the pipeliner
  /// adds to a final text stands in the line of the loop's head.
  bool counts_down() const {
    if (plan_.head.step.starts_with("-")) return true;
    const mlir::Block* body = flow_.body();
    const mlir::Op& loop = module().op(loop_.op);
    if (!body || body->arguments.empty() || loop.operands.size() < 2) return false;
    std::set<mlir::ValueId> counters{body->arguments[0]};
    bool read = false, turned = true;
    for (const mlir::OpId id : body->ops) {
      const mlir::Op& op = module().op(id);
      const auto counter = std::find_if(op.operands.begin(), op.operands.end(), [&](mlir::ValueId v) { return counters.contains(v); });
      if (counter == op.operands.end()) continue;
      if (module().location(op).line == module().location(loop).line && module().location(op).file == plan_.file) {
        if (op.name == "arith.addi") counters.insert(op.results.begin(), op.results.end());
        continue;
      }
      read = true;
      turned = turned && op.name == "arith.subi" && op.operands[0] == loop.operands[1] && counter != op.operands.begin();
    }
    return read && turned;
  }

  bool read_body() {
    const std::size_t end = plan_.source.block_end(plan_.head_line);
    const PythonLine& head = plan_.source.lines()[plan_.head_line];
    if (end < plan_.source.lines().size() && plan_.source.lines()[end].indent == head.indent &&
        plan_.source.word(plan_.source.lines()[end].tokens[0]) == "else")
      return refuse(plan_.source.lines()[end].first, "a loop with 'else'");
    if (end == plan_.head_line + 1) return refuse(head.first, "the loop has no lines of its own");
    Result<std::vector<PythonStatement>> body = plan_.source.statements(plan_.head_line + 1, end);
    if (!body) return refuse(body.error());
    plan_.body = *std::move(body);
    plan_.last_line = plan_.source.lines()[end - 1].last;
    if (plan_.body.size() > kMostStatements)
      return refuse(head.first, fmt::format("the loop has {} statements, at most {} are read", plan_.body.size(), kMostStatements));
    plan_.work.resize(plan_.body.size());
    read_words();
    return true;
  }

  /// What Triton has merged with another op, or moved, has left no op in its line.
  void read_words() {
    for (std::size_t s = 0; s < plan_.body.size(); ++s)
      for (std::size_t l = plan_.body[s].begin; l < plan_.body[s].end; ++l)
        for (const PythonToken& token : plan_.source.lines()[l].tokens) {
          const std::string_view word = plan_.source.word(token);
          if (token.kind != PythonToken::Kind::Name) continue;
          plan_.work[s].loads = plan_.work[s].loads || word == "load" || word == "gather";
          plan_.work[s].stores = plan_.work[s].stores || word == "store" || word == "scatter" || word.starts_with("atomic_");
        }
  }

  std::size_t statement_at(int line) const {
    const auto at =
        std::find_if(plan_.body.begin(), plan_.body.end(), [&](const PythonStatement& s) { return s.first <= line && line <= s.last; });
    return static_cast<std::size_t>(at - plan_.body.begin());
  }

  bool place_ops() {
    std::vector<mlir::RegionId> open(module().op(loop_.op).regions);
    while (!open.empty()) {
      const mlir::Region& region = module().region(open.back());
      open.pop_back();
      for (const mlir::BlockId block : region.blocks)
        for (const mlir::OpId id : module().block(block).ops) {
          const mlir::Op& op = module().op(id);
          open.insert(open.end(), op.regions.begin(), op.regions.end());
          if (!place_op(id)) return false;
        }
    }
    return true;
  }

  bool place_op(mlir::OpId id) {
    const mlir::Op& op = module().op(id);
    const auto role = work_of(program_, op);
    const int number = line_in(module().location(op), plan_.file, plan_.body.front().first, plan_.last_line);
    const bool product = role == OpRole::Product;
    const bool stores = role == OpRole::DescriptorStore || role == OpRole::DescriptorReduce || role == OpRole::PointerStore ||
                        role == OpRole::Atomic || role == OpRole::Refused;
    if (number == 0)
      return (!product && !stores) || refuse(0, fmt::format("{} in line {} of the text stands in no line of the loop", op.name, op.line));
    const std::size_t s = statement_at(number);
    if (s == plan_.body.size())
      return other_source(number, fmt::format("{} of the text stands in line {}, where no statement is", op.name, number));
    StatementWork& work = plan_.work[s];
    work.ops.push_back(id);
    if (product) work.products.push_back(id);
    work.stores = work.stores || stores;
    work.loads = work.loads || role == OpRole::DescriptorLoad || role == OpRole::PointerLoad || role == OpRole::Gather;
    const bool tile = !op.results.empty() && program_.type(op.results[0]).tile.tile();
    const auto rows = [&](mlir::ValueId v) { return program_.type(v).tile.shape.size() > 1 && (tile || is_memory(program_.type(v))); };
    if (role == OpRole::DescriptorLoad || role == OpRole::PointerLoad || role == OpRole::Gather)
      work.brings_tile = work.brings_tile || std::any_of(op.results.begin(), op.results.end(), rows) ||
                         (!tile && std::any_of(op.operands.begin(), op.operands.end(), rows));
    work.computes = work.computes || role == OpRole::Reduce || (role == OpRole::Elements && tile);
    return true;
  }

  /// Statements that need, in the same iteration, what `s` makes.
  std::vector<bool> behind(std::size_t s) const {
    std::vector<bool> found(plan_.body.size());
    found[s] = true;
    for (std::size_t i = s + 1; i < plan_.body.size(); ++i)
      for (const std::string& name : plan_.body[i].reads)
        if (const auto from = plan_.maker(name, i); from && found[*from]) found[i] = true;
    found[s] = false;
    return found;
  }

  bool find_products() {
    std::vector<std::size_t> products;
    for (std::size_t s = 0; s < plan_.body.size(); ++s) {
      if (plan_.work[s].products.size() > 1)
        return refuse(plan_.line(s), fmt::format("line {} holds {} mmas of the text", plan_.line(s), plan_.work[s].products.size()),
                      "write each mma in a statement of its own; an unrolled loop (loop_unroll_factor) has each of them several times");
      if (!plan_.work[s].products.empty()) products.push_back(s);
    }
    const int head = plan_.source.lines()[plan_.head_line].first;
    if (products.size() < 2)
      return refuse(head, products.empty() ? "there is nothing to rotate: the loop has no mma"
                                           : "there is nothing to rotate: the loop has one mma, so none waits for another's result");
    std::vector<bool> work(plan_.body.size());
    bool close = false;
    for (const std::size_t first : products) {
      plan_.behind_first = behind(first);
      for (std::size_t w = 0; w < plan_.body.size(); ++w) {
        if (!plan_.behind_first[w]) continue;
        if (!plan_.work[w].products.empty()) {
          close = true;
          continue;
        }
        if (!plan_.work[w].computes) continue;
        const std::vector<bool> behind_work = behind(w);
        for (const std::size_t second : products)
          if (behind_work[second]) {
            plan_.first = first;
            return true;
          }
      }
    }
    std::vector<int> lines;
    for (const std::size_t s : products) lines.push_back(plan_.line(s));
    if (close)
      return refuse(head,
                    fmt::format("there is nothing to rotate: between the mmas of {} no statement computes on the first one's result",
                                lines_text(lines)),
                    "what is computed between them has to stand in statements of its own");
    return refuse(head, fmt::format("there is nothing to rotate: none of the mmas of {} needs another's result", lines_text(lines)));
  }

  bool part() {
    const std::size_t count = plan_.body.size();
    plan_.part.assign(count, LoopPart::Between);
    // The first mma with all that it needs.
    plan_.part[plan_.first] = LoopPart::First;
    for (std::size_t s = plan_.first + 1; s-- > 0;)
      if (plan_.is(s, LoopPart::First))
        for (const std::string& name : plan_.body[s].reads)
          if (const auto from = plan_.maker(name, s)) plan_.part[*from] = LoopPart::First;
    // The mmas behind it, with all that reads what they make.
    for (std::size_t s = 0; s < count; ++s)
      if (plan_.behind_first[s] && !plan_.work[s].products.empty()) plan_.part[s] = LoopPart::Second;
    const auto reads_second = [&](std::size_t s) -> std::optional<std::size_t> {
      for (const std::string& name : plan_.body[s].reads) {
        const auto from = plan_.source_of(name, s);
        if (from && *from != s && plan_.is(*from, LoopPart::Second)) return from;
      }
      return std::nullopt;
    };
    for (bool again = true; again;) {
      again = false;
      for (std::size_t s = 0; s < count; ++s) {
        if (plan_.is(s, LoopPart::Second)) continue;
        const auto from = reads_second(s);
        if (!from) continue;
        if (plan_.is(s, LoopPart::First))
          return refuse(plan_.line(s), fmt::format("the first mma needs in line {} what line {} made an iteration before: nothing can be "
                                                   "issued ahead of it",
                                                   plan_.line(s), plan_.line(*from)));
        plan_.part[s] = LoopPart::Second;
        again = true;
      }
    }
    // What serves the second mmas alone goes with them: their loads, and conversions (a tile that is carried converted would pass
    // through shared memory).
    for (bool again = true; again;) {
      again = false;
      for (std::size_t s = 0; s < count; ++s) {
        if (!plan_.is(s, LoopPart::Between) || plan_.work[s].stores || (plan_.behind_first[s] && plan_.work[s].computes)) continue;
        if (!plan_.work[s].products.empty() || !serves_second_alone(s)) continue;
        plan_.part[s] = LoopPart::Second;
        again = true;
      }
    }
    for (std::size_t s = 0; s < count; ++s)
      if (plan_.is(s, LoopPart::Between) && plan_.behind_first[s] && plan_.work[s].computes) return true;
    return refuse(plan_.line(plan_.first),
                  "there is nothing to rotate: all that is computed between the mmas needs the later one's result of the "
                  "iteration before");
  }

  bool serves_second_alone(std::size_t s) const {
    bool serves = false;
    for (std::size_t reader = 0; reader < plan_.body.size(); ++reader)
      for (const std::string& name : plan_.body[reader].reads) {
        const auto from = plan_.source_of(name, reader);
        if (from != s || reader == s) continue;
        if (!plan_.is(reader, LoopPart::Second)) return false;
        serves = true;
      }
    return serves;
  }

  /// Whether `earlier`, which ran before `later`, may run after it.
  bool judge_pair(std::size_t earlier, std::size_t later) {
    const PythonStatement &a = plan_.body[earlier], &b = plan_.body[later];
    for (const std::string& name : a.writes)
      if (b.reads.contains(name) || b.writes.contains(name)) return two_meanings(name, earlier, later);
    if (!plan_.is(earlier, LoopPart::Second))  // else see provide_names()
      for (const std::string& name : b.writes)
        if (a.reads.contains(name)) return two_meanings(name, earlier, later);
    const StatementWork &x = plan_.work[earlier], &y = plan_.work[later];
    if ((x.stores && (y.stores || y.loads)) || (y.stores && x.loads))
      return refuse(plan_.line(earlier), fmt::format("{} would change places, and one of them stores where the other may read or store",
                                                     lines_text({plan_.line(earlier), plan_.line(later)})));
    return true;
  }

  bool two_meanings(const std::string& name, std::size_t a, std::size_t b) {
    return refuse(plan_.line(std::max(a, b)),
                  fmt::format("'{}' is assigned for two purposes, in {}, which would change places", name,
                              lines_text({plan_.line(a), plan_.line(b)})),
                  "give one of them a name of its own");
  }

  bool judge_order() {
    for (std::size_t a = 0; a < plan_.body.size(); ++a) {
      for (std::size_t b = a + 1; b < plan_.body.size(); ++b)
        if (plan_.part[a] > plan_.part[b] && !judge_pair(a, b)) return false;
      if (plan_.is(a, LoopPart::Second))
        for (std::size_t b = 0; b < plan_.body.size(); ++b)
          if (plan_.is(b, LoopPart::First) && !judge_pair(a, b)) return false;
    }
    return true;
  }

  /// The second mmas read names of their own iteration when the next one has begun. What was computed on the first mma is still
  /// there, and needs a value before the loop. Indices and bounds are computed a second time, under other names: carried on as they are, an
  /// argument of the loop would pass through two iterations, and Triton pipelines no such loop.
  bool provide_names() {
    plan_.known = plan_.source.known_before(plan_.head_line);
    plan_.again.assign(plan_.body.size(), false);
    for (std::size_t s = 0; s < plan_.body.size(); ++s) {
      if (!plan_.is(s, LoopPart::Second)) continue;
      for (const std::string& name : plan_.body[s].reads) {
        if (name == plan_.head.variable) plan_.reads_variable = true;
        const auto from = plan_.source_of(name, s);
        if (!from || plan_.is(*from, LoopPart::Second)) continue;
        if (!plan_.work[*from].products.empty())
          return refuse(plan_.line(s),
                        fmt::format("'{}', the mma of line {}, is needed again an iteration later, in line {}", name, plan_.line(*from),
                                    plan_.line(s)),
                        "what the later mma takes of it has to be computed in lines before it");
        if (plan_.work[*from].brings_tile && !plan_.work[*from].computes)
          return refuse(plan_.line(s),
                        fmt::format("'{}' of line {} would be needed an iteration later, in line {}: a tile that is carried on is "
                                    "not read where it was loaded to",
                                    name, plan_.line(*from), plan_.line(s)),
                        fmt::format("load it a second time for line {}, under another name", plan_.line(s)));
        bool overwritten = false;
        for (std::size_t e = 0; e < plan_.body.size(); ++e)
          if (!plan_.is(e, LoopPart::Second) && plan_.body[e].writes.contains(name) && (plan_.is(e, LoopPart::First) || e > s))
            overwritten = true;
        if (overwritten || (!plan_.behind_first[*from] && repeatable(*from))) {
          if (!compute_again(name, s)) return false;
        } else if (!plan_.known.contains(name)) {
          plan_.wanted.emplace(name, FirstValue{*from, {}});
        }
      }
    }
    return true;
  }

  /// Index arithmetic, which costs nothing beside an mma.
  bool repeatable(std::size_t s) const {
    const StatementWork& work = plan_.work[s];
    return !work.loads && !work.stores && !work.computes && work.products.empty();
  }

  bool compute_again(const std::string& name, std::size_t reader) {
    std::vector<std::string> open{name};
    while (!open.empty()) {
      const std::string now = std::move(open.back());
      open.pop_back();
      if (!plan_.names.emplace(now, plan_.fresh(now + "_before")).second) continue;
      for (std::size_t s = 0; s < plan_.body.size(); ++s) {
        if (!plan_.body[s].writes.contains(now)) continue;
        if (plan_.is(s, LoopPart::Second)) return two_meanings(now, s, reader);
        if (!repeatable(s))
          return refuse(plan_.line(reader),
                        fmt::format("line {} needs '{}' of line {} an iteration later, and by then the next one stands there",
                                    plan_.line(reader), name, plan_.line(s)),
                        fmt::format("make it a second time for line {}, under another name", plan_.line(reader)));
        plan_.again[s] = true;
        for (const std::string& other : plan_.body[s].writes) open.push_back(other);
        for (const std::string& other : plan_.body[s].reads) {
          if (other == plan_.head.variable) plan_.reads_variable = true;
          if (plan_.last_maker(other)) open.push_back(other);
        }
      }
    }
    return true;
  }

  bool find_types() {
    return std::all_of(plan_.wanted.begin(), plan_.wanted.end(), [&](auto& wanted) { return find_type(wanted.first, wanted.second); });
  }

  /// Before the first iteration a name needs a value of its type. That of the last value of the statement which something else reads.
  bool find_type(const std::string& name, FirstValue& wanted) {
    const StatementWork& work = plan_.work[wanted.from];
    std::set<mlir::ValueId> read;
    for (std::size_t s = 0; s < plan_.work.size(); ++s)
      if (s != wanted.from)
        for (const mlir::OpId id : plan_.work[s].ops) read.insert(module().op(id).operands.begin(), module().op(id).operands.end());
    if (const mlir::Block* body = flow_.body(); body && !body->ops.empty())
      read.insert(module().op(body->ops.back()).operands.begin(), module().op(body->ops.back()).operands.end());
    const Type* best = nullptr;
    std::string element;
    int weight = 0;
    for (const mlir::OpId id : work.ops) {
      const mlir::Op& op = module().op(id);
      for (const mlir::ValueId value : op.results) {
        const Type& type = program_.type(value);
        std::string now = type.pointer || type.descriptor || is_memory(type) ? std::string() : python_type(type.tile.element);
        if (now.empty()) continue;
        // Indices of rings stand in the line of the load.
        const int worth =
            (type.tile.tile() || is_float(type) ? 4 : 0) + (module().location(op).name == name ? 2 : 0) + (read.contains(value) ? 1 : 0);
        if (worth >= weight) best = &type, element = std::move(now), weight = worth;
      }
    }
    if (element.empty() || best->tile.shape.size() > 4)
      return refuse(plan_.line(wanted.from),
                    fmt::format("'{}' needs a value before the first iteration, and the text does not say its type", name),
                    fmt::format("assign {} above the loop", name));
    if (best->tile.shape.empty()) {
      wanted.zero = fmt::format("{0}.cast(0, {0}.{1})", plan_.language(), element);
    } else {
      wanted.zero = fmt::format("{0}.zeros(({1}{2}), {0}.{3})", plan_.language(), fmt::join(best->tile.shape, ", "),
                                best->tile.shape.size() == 1 ? "," : "", element);
      plan_.registers += registers_per_thread(*best, program_.num_warps);
    }
    return true;
  }

  const TritonProgram& program_;
  const LoopSite& loop_;
  Flow flow_;
  Error error_;
  RotationPlan plan_;
};

}  // namespace

std::optional<std::size_t> RotationPlan::maker(const std::string& name, std::size_t before) const {
  while (before-- > 0)
    if (body[before].writes.contains(name)) return before;
  return std::nullopt;
}

std::optional<std::size_t> RotationPlan::source_of(const std::string& name, std::size_t reader) const {
  const auto from = maker(name, reader);
  return from ? from : last_maker(name);
}

std::string RotationPlan::language() const {
  for (const PythonLine& line : source.lines()) {
    const std::size_t count = line.tokens.size();
    const auto word = [&](std::size_t i) { return i < count ? source.word(line.tokens[i]) : std::string_view(); };
    if (word(0) == "import" && word(1) == "triton" && word(3) == "language" && word(4) == "as") return std::string(word(5));
    if (word(0) == "from" && word(1) == "triton" && word(2) == "import" && word(3) == "language")
      return std::string(word(4) == "as" ? word(5) : word(3));
  }
  const std::size_t dot = head.callee.rfind('.');
  return dot == std::string::npos ? "tl" : head.callee.substr(0, dot);
}

std::string RotationPlan::fresh(std::string name) {
  while (source.has_name(name) || taken_.contains(name)) name += '_';
  taken_.insert(name);
  return name;
}

std::string lines_text(std::vector<int> lines) {
  std::sort(lines.begin(), lines.end());
  lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
  if (lines.size() == 1) return fmt::format("line {}", lines[0]);
  const int last = lines.back();
  lines.pop_back();
  return fmt::format("lines {} and {}", fmt::join(lines, ", "), last);
}

std::string python_type(const std::string& element) {
  static const std::map<std::string, std::string, std::less<>> kNames{{"f16", "float16"}, {"bf16", "bfloat16"}, {"f32", "float32"},
                                                                      {"f64", "float64"}, {"i1", "int1"},       {"i8", "int8"},
                                                                      {"i16", "int16"},   {"i32", "int32"},     {"i64", "int64"}};
  const auto at = kNames.find(element);
  return at == kNames.end() ? std::string() : at->second;
}

Result<RotationPlan> plan_rotation(const TritonProgram& program, const LoopSite& loop, std::string_view python_source) {
  return RotationPlanner(program, loop, python_source).plan();
}

}  // namespace heddle::triton
