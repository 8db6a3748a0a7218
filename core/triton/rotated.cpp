#include "core/triton/rotated.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "core/base/atomic_file.h"
#include "core/triton/flow.h"
#include "core/triton/python_text.h"

namespace heddle::triton {
namespace {

constexpr std::size_t kMostStatements = 400;
constexpr std::size_t kWidth = 110;  // of a comment

/// Where a statement of the loop goes. An iteration becomes First, Between, Second in this order; then Second is moved behind the First of
/// the next iteration.
enum class Part { First, Between, Second };

/// What the ops of the text say of a statement.
struct Doing {
  std::vector<mlir::OpId> ops, products;
  bool loads = false, stores = false;
  bool brings_tile = false;  ///< it loads a tile of several rows
  bool computes = false;     ///< element by element, or along rows: what can run under a product
};

struct Head {
  std::string variable, callee, low = "0", high, step = "1";
  std::vector<std::string> options;  ///< "num_stages=stages"
};

std::string joined(const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, ", ")); }

/// "line 5", "lines 5, 7 and 9".
std::string lines_text(std::vector<int> lines) {
  std::sort(lines.begin(), lines.end());
  lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
  if (lines.size() == 1) return fmt::format("line {}", lines[0]);
  const int last = lines.back();
  lines.pop_back();
  return fmt::format("lines {} and {}", fmt::join(lines, ", "), last);
}

/// "float32" of "f32"; empty for what a zero cannot be written of.
std::string python_type(const std::string& element) {
  static const std::map<std::string, std::string, std::less<>> kNames{{"f16", "float16"}, {"bf16", "bfloat16"}, {"f32", "float32"},
                                                                      {"f64", "float64"}, {"i1", "int1"},       {"i8", "int8"},
                                                                      {"i16", "int16"},   {"i32", "int32"},     {"i64", "int64"}};
  const auto at = kNames.find(element);
  return at == kNames.end() ? std::string() : at->second;
}

/// The first place of these that the loop's file has, of the frames of an op.
int line_in(const mlir::Location& location, const std::string& file, int first, int last) {
  const auto fits = [&](const std::string& name, int line) { return name == file && line >= first && line <= last; };
  if (fits(location.file, location.line)) return location.line;
  for (const auto& [name, line] : location.callers)
    if (fits(name, line)) return line;
  return 0;
}

class Rotation {
 public:
  Rotation(const Program& program, const LoopSite& loop, std::string_view source)
      : program_(program), loop_(loop), flow_(program, loop.op), file_(python_file(program, loop)), source_(source) {}

  Result<RotatedLoop> build(std::string_view remark) {
    if (!judge_target() || !read_head() || !read_body() || !place_ops() || !find_products() || !part() || !judge_order() || !keep_names() ||
        !find_types())
      return error_;
    return write(remark);
  }

 private:
  const mlir::Module& module() const { return *program_.module; }
  int line(std::size_t s) const { return body_[s].first; }

  bool refuse(int line, std::string why, std::string hint = {}) {
    error_ = {ErrorKind::Input, {{file_, line > 0 ? fmt::format("{}", line) : std::string(), std::move(why), std::move(hint)}}};
    return false;
  }
  bool refuse(Error error) {
    for (Fault& fault : error.faults) fault.file = file_;
    error_ = std::move(error);
    return false;
  }
  bool other_source(int line, std::string what) {
    return refuse(line, fmt::format("{}: this is not the source that the text was made from", what),
                  "compile again, or name the file of that time (--source)");
  }

  bool judge_target() {
    if (file_.empty())
      return refuse(0, "the text has no locations, so it does not say which lines of Python the loop is",
                    "Triton leaves them out with TRITON_DISABLE_LINE_INFO=1");
    if (program_.target == 90) return true;
    return refuse(0, fmt::format("the text is for sm_{}; a loop is rotated for the asynchronous products of sm_90", program_.target),
                  program_.target >= 100 ? "on Blackwell warp groups do that: solve it, and export with --format ttgir" : "");
  }

  bool read_head() {
    const mlir::Op& op = module().op(loop_.op);
    const int number = module().location(op).line;
    if (op.name != "scf.for") return refuse(number, fmt::format("the loop is {}, not one that counts", op.name));
    head_line_ = source_.find("for", number);
    if (head_line_ == source_.lines().size()) return other_source(number, fmt::format("there is no 'for' in line {}", number));
    const PythonLine& line = source_.lines()[head_line_];
    const auto word = [&](std::size_t i) { return i < line.tokens.size() ? source_.word(line.tokens[i]) : std::string_view(); };
    const auto strange = [&](std::string_view what) {
      return refuse(line.first, fmt::format("{} in the head of the loop", what), "written is 'for NAME in tl.range(LOW, HIGH, STEP):'");
    };
    if (line.tokens.size() < 8 || word(2) != "in" || line.tokens[1].kind != PythonToken::Kind::Name) return strange("no name");
    head_.variable = word(1);
    std::size_t at = 3;
    while (at < line.tokens.size() && (line.tokens[at].kind == PythonToken::Kind::Name || word(at) == ".")) ++at;
    if (at == 3 || word(at - 1) != "range" || word(at) != "(") return strange("no range");
    head_.callee = source_.between(line.tokens[3], line.tokens[at - 1]);
    std::vector<std::string> bounds;
    std::map<std::string, std::string> named;
    int depth = 1;
    for (std::size_t begin = ++at; at < line.tokens.size(); ++at) {
      const std::string_view text = word(at);
      if (text == "(" || text == "[" || text == "{") ++depth;
      if (text == ")" || text == "]" || text == "}") --depth;
      if (depth > 1 || (depth == 1 && text != ",")) continue;
      if (at > begin) {
        std::string argument(source_.between(line.tokens[begin], line.tokens[at - 1]));
        if (argument.find('\n') != std::string::npos) return strange("an argument of several lines");
        if (word(begin) == "*") return strange("an argument with a star");
        if (at > begin + 2 && word(begin + 1) == "=") {
          if (word(begin) == "step" || word(begin) == "arg2" || word(begin) == "arg1")
            named[std::string(word(begin))] = source_.between(line.tokens[begin + 2], line.tokens[at - 1]);
          else
            head_.options.push_back(std::move(argument));
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
      head_.high = bounds[0];
    else
      head_.low = bounds[0], head_.high = bounds[1];
    if (bounds.size() == 3) head_.step = bounds[2];
    if (named.contains("step")) head_.step = named["step"];
    return !counts_down() || refuse(line.first, "the loop counts down", "count up, and take the place from the other end");
  }

  /// Triton counts up in any case; the variable of a loop that counts down is the sum of its bounds less what it counts.
  bool counts_down() const {
    if (head_.step.starts_with("-")) return true;
    const mlir::Block* body = flow_.body();
    if (!body || body->arguments.empty() || module().op(loop_.op).operands.size() < 2) return false;
    const mlir::ValueId counter = body->arguments[0], high = module().op(loop_.op).operands[1];
    bool read = false, turned = true;
    for (const mlir::OpId id : body->ops) {
      const mlir::Op& op = module().op(id);
      if (std::find(op.operands.begin(), op.operands.end(), counter) == op.operands.end()) continue;
      read = true;
      turned = turned && op.name == "arith.subi" && op.operands.size() == 2 && op.operands[0] == high && op.operands[1] == counter;
    }
    return read && turned;
  }

  bool read_body() {
    const std::size_t end = source_.block_end(head_line_);
    const PythonLine& head = source_.lines()[head_line_];
    if (end < source_.lines().size() && source_.lines()[end].indent == head.indent &&
        source_.word(source_.lines()[end].tokens[0]) == "else")
      return refuse(source_.lines()[end].first, "a loop with 'else'");
    if (end == head_line_ + 1) return refuse(head.first, "the loop has no lines of its own");
    Result<std::vector<PythonStatement>> body = source_.statements(head_line_ + 1, end);
    if (!body) return refuse(body.error());
    body_ = *std::move(body);
    last_line_ = source_.lines()[end - 1].last;
    if (body_.size() > kMostStatements)
      return refuse(head.first, fmt::format("the loop has {} statements, at most {} are read", body_.size(), kMostStatements));
    doing_.resize(body_.size());
    return true;
  }

  std::size_t statement_at(int line) const {
    const auto at = std::find_if(body_.begin(), body_.end(), [&](const PythonStatement& s) { return s.first <= line && line <= s.last; });
    return static_cast<std::size_t>(at - body_.begin());
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
    const int number = line_in(module().location(op), file_, body_.front().first, last_line_);
    const bool product = role == Role::Product;
    const bool stores = role == Role::DescriptorStore || role == Role::DescriptorReduce || role == Role::PointerStore ||
                        role == Role::Atomic || role == Role::Refused;
    if (number == 0)
      return (!product && !stores) || refuse(0, fmt::format("{} in line {} of the text stands in no line of the loop", op.name, op.line));
    const std::size_t s = statement_at(number);
    if (s == body_.size())
      return other_source(number, fmt::format("{} of the text stands in line {}, where no statement is", op.name, number));
    Doing& doing = doing_[s];
    doing.ops.push_back(id);
    if (product) doing.products.push_back(id);
    doing.stores = doing.stores || stores;
    doing.loads = doing.loads || role == Role::DescriptorLoad || role == Role::PointerLoad || role == Role::Gather;
    const bool tile = !op.results.empty() && program_.type(op.results[0]).tile.tile();
    if ((role == Role::DescriptorLoad || role == Role::PointerLoad || role == Role::Gather) &&
        (!tile || program_.type(op.results[0]).tile.shape.size() > 1))
      doing.brings_tile = true;
    doing.computes = doing.computes || role == Role::Reduce || (role == Role::Elements && tile);
    return true;
  }

  /// The statement whose value of `name` this one reads in the same iteration.
  std::optional<std::size_t> maker(const std::string& name, std::size_t before) const {
    while (before-- > 0)
      if (body_[before].writes.contains(name)) return before;
    return std::nullopt;
  }
  /// The one whose value is there when an iteration begins; none: it never changes.
  std::optional<std::size_t> last_maker(const std::string& name) const { return maker(name, body_.size()); }

  /// Statements that need, in the same iteration, what `s` makes.
  std::vector<bool> behind(std::size_t s) const {
    std::vector<bool> found(body_.size());
    found[s] = true;
    for (std::size_t i = s + 1; i < body_.size(); ++i)
      for (const std::string& name : body_[i].reads)
        if (const auto from = maker(name, i); from && found[*from]) found[i] = true;
    found[s] = false;
    return found;
  }

  bool find_products() {
    std::vector<std::size_t> products;
    for (std::size_t s = 0; s < body_.size(); ++s) {
      if (doing_[s].products.size() > 1)
        return refuse(line(s), fmt::format("line {} holds {} products of the text", line(s), doing_[s].products.size()),
                      "write each product in a statement of its own; an unrolled loop (loop_unroll_factor) has each of them several times");
      if (!doing_[s].products.empty()) products.push_back(s);
    }
    const int head = source_.lines()[head_line_].first;
    if (products.size() < 2)
      return refuse(head, products.empty() ? "there is nothing to rotate: the loop has no product"
                                           : "there is nothing to rotate: the loop has one product, so none waits for another's result");
    std::vector<bool> work(body_.size());
    bool close = false;
    for (const std::size_t first : products) {
      behind_first_ = behind(first);
      for (std::size_t w = 0; w < body_.size(); ++w) {
        if (!behind_first_[w]) continue;
        if (!doing_[w].products.empty()) {
          close = true;
          continue;
        }
        if (!doing_[w].computes) continue;
        const std::vector<bool> behind_work = behind(w);
        for (const std::size_t second : products)
          if (behind_work[second]) {
            first_ = first;
            return true;
          }
      }
    }
    std::vector<int> lines;
    for (const std::size_t s : products) lines.push_back(line(s));
    if (close)
      return refuse(head,
                    fmt::format("there is nothing to rotate: between the products of {} no statement computes on the first one's result",
                                lines_text(lines)),
                    "what is computed between them has to stand in statements of its own");
    return refuse(head, fmt::format("there is nothing to rotate: none of the products of {} needs another's result", lines_text(lines)));
  }

  bool part() {
    const std::size_t count = body_.size();
    part_.assign(count, Part::Between);
    // The first product with all that it needs.
    part_[first_] = Part::First;
    for (std::size_t s = first_ + 1; s-- > 0;)
      if (part_[s] == Part::First)
        for (const std::string& name : body_[s].reads)
          if (const auto from = maker(name, s)) part_[*from] = Part::First;
    // The products behind it, with all that reads what they make.
    for (std::size_t s = 0; s < count; ++s)
      if (behind_first_[s] && !doing_[s].products.empty()) part_[s] = Part::Second;
    const auto reads_second = [&](std::size_t s) -> std::optional<std::size_t> {
      for (const std::string& name : body_[s].reads) {
        auto from = maker(name, s);
        if (!from) from = last_maker(name);
        if (from && *from != s && part_[*from] == Part::Second) return from;
      }
      return std::nullopt;
    };
    for (bool again = true; again;) {
      again = false;
      for (std::size_t s = 0; s < count; ++s) {
        if (part_[s] == Part::Second) continue;
        const auto from = reads_second(s);
        if (!from) continue;
        if (part_[s] == Part::First)
          return refuse(line(s), fmt::format("the first product needs in line {} what line {} made an iteration before: nothing can be "
                                             "issued ahead of it",
                                             line(s), line(*from)));
        part_[s] = Part::Second;
        again = true;
      }
    }
    // What serves the second products alone goes with them: their loads, and conversions (a tile that is carried converted would pass
    // through shared memory).
    for (bool again = true; again;) {
      again = false;
      for (std::size_t s = 0; s < count; ++s) {
        if (part_[s] != Part::Between || doing_[s].stores || (behind_first_[s] && doing_[s].computes)) continue;
        if (!doing_[s].products.empty() || !serves_second_alone(s)) continue;
        part_[s] = Part::Second;
        again = true;
      }
    }
    for (std::size_t s = 0; s < count; ++s)
      if (part_[s] == Part::Between && behind_first_[s] && doing_[s].computes) return true;
    return refuse(line(first_),
                  "there is nothing to rotate: all that is computed between the products needs the later one's result of the "
                  "iteration before");
  }

  bool serves_second_alone(std::size_t s) const {
    bool serves = false;
    for (std::size_t reader = 0; reader < body_.size(); ++reader)
      for (const std::string& name : body_[reader].reads) {
        auto from = maker(name, reader);
        if (!from) from = last_maker(name);
        if (from != s || reader == s) continue;
        if (part_[reader] != Part::Second) return false;
        serves = true;
      }
    return serves;
  }

  /// Whether `earlier`, which ran before `later`, may run after it.
  bool judge_pair(std::size_t earlier, std::size_t later) {
    const PythonStatement &a = body_[earlier], &b = body_[later];
    const bool kept = part_[earlier] == Part::Second;  // what it reads can be kept under another name
    for (const std::string& name : a.writes)
      if (b.reads.contains(name) || b.writes.contains(name)) return two_meanings(name, earlier, later);
    if (!kept)
      for (const std::string& name : b.writes)
        if (a.reads.contains(name)) return two_meanings(name, earlier, later);
    const Doing &x = doing_[earlier], &y = doing_[later];
    if ((x.stores && (y.stores || y.loads)) || (y.stores && x.loads))
      return refuse(line(earlier), fmt::format("{} would change places, and one of them stores where the other may read or store",
                                               lines_text({line(earlier), line(later)})));
    return true;
  }

  bool two_meanings(const std::string& name, std::size_t a, std::size_t b) {
    return refuse(line(std::max(a, b)),
                  fmt::format("'{}' is assigned for two purposes, in {}, which would change places", name, lines_text({line(a), line(b)})),
                  "give one of them a name of its own");
  }

  bool judge_order() {
    for (std::size_t a = 0; a < body_.size(); ++a) {
      for (std::size_t b = a + 1; b < body_.size(); ++b)
        if (part_[a] > part_[b] && !judge_pair(a, b)) return false;
      if (part_[a] == Part::Second)
        for (std::size_t b = 0; b < body_.size(); ++b)
          if (part_[b] == Part::First && !judge_pair(a, b)) return false;
    }
    return true;
  }

  /// Names that the second products read and that something before them overwrites once the order is changed.
  bool keep_names() {
    known_ = source_.known_before(head_line_);
    for (std::size_t s = 0; s < body_.size(); ++s) {
      if (part_[s] != Part::Second) continue;
      if (body_[s].reads.contains(head_.variable)) {
        if (last_maker(head_.variable))
          return refuse(line(*last_maker(head_.variable)), fmt::format("the loop assigns to its own variable '{}'", head_.variable),
                        "give the value another name");
        reads_variable_ = true;
      }
      for (const std::string& name : body_[s].reads) {
        auto from = maker(name, s);
        const auto carried = last_maker(name);
        if (!from) from = carried;
        if (!from || part_[*from] == Part::Second) continue;
        if (doing_[*from].brings_tile)
          return refuse(line(s),
                        fmt::format("'{}' of line {} would be needed an iteration later, in line {}: a tile that is carried on is "
                                    "not read where it was loaded to",
                                    name, line(*from), line(s)),
                        fmt::format("load it a second time for line {}, under another name", line(s)));
        bool overwritten = false;
        for (std::size_t e = 0; e < body_.size(); ++e)
          if (part_[e] != Part::Second && body_[e].writes.contains(name) && (part_[e] == Part::First || e > s)) overwritten = true;
        if (!overwritten) {
          if (!known_.contains(name)) wanted_.emplace(name, Wanted{*from, {}});
        } else if (!keep_name(name, s, *from)) {
          return false;
        }
      }
    }
    return true;
  }

  bool keep_name(const std::string& name, std::size_t reader, std::size_t from) {
    if (!doing_[from].products.empty())
      return refuse(
          line(reader),
          fmt::format("'{}', the product of line {}, is needed again an iteration later, in line {}", name, line(from), line(reader)),
          "what the later product takes of it has to be computed in lines before it");
    const auto [at, fresh] = kept_.emplace(name, Kept{reader, from});
    const std::size_t begin = at->second.reader;
    for (std::size_t e = begin; e < body_.size(); ++e)
      if (part_[e] != Part::Second && body_[e].writes.contains(name) && (e < reader || part_[e] == Part::First))
        return two_meanings(name, begin, e);
    return true;
  }

  bool find_types() {
    for (auto& [name, wanted] : wanted_)
      if (!find_type(name, wanted)) return false;
    for (auto& [name, kept] : kept_)
      if (!known_.contains(name)) {
        Wanted wanted{kept.from, {}};
        if (!find_type(name, wanted)) return false;
        kept.zero = wanted.zero;
      }
    return true;
  }

  struct Wanted {
    std::size_t from = 0;  ///< the statement that makes it
    std::string zero;      ///< "tl.zeros((128, 64), tl.float32)"
  };
  struct Kept {
    std::size_t reader = 0;  ///< the first one
    std::size_t from = 0;
    std::string zero = {};
  };

  /// Before the first iteration a name needs a value of its type. That of the last value of the statement which something else reads.
  bool find_type(const std::string& name, Wanted& wanted) {
    const Doing& doing = doing_[wanted.from];
    const std::set<mlir::OpId> own(doing.ops.begin(), doing.ops.end());
    std::set<mlir::ValueId> read;
    for (std::size_t s = 0; s < doing_.size(); ++s)
      if (s != wanted.from)
        for (const mlir::OpId id : doing_[s].ops) read.insert(module().op(id).operands.begin(), module().op(id).operands.end());
    if (const mlir::Block* body = flow_.body(); body && !body->ops.empty())
      read.insert(module().op(body->ops.back()).operands.begin(), module().op(body->ops.back()).operands.end());
    const Type* best = nullptr;
    int weight = -1;
    for (const mlir::OpId id : doing.ops) {
      const mlir::Op& op = module().op(id);
      for (const mlir::ValueId value : op.results) {
        const int now = (module().location(op).name == name ? 2 : 0) + (read.contains(value) ? 1 : 0);
        if (now >= weight) best = &program_.type(value), weight = now;
      }
    }
    const std::string element = best && !best->pointer && !best->descriptor ? python_type(best->tile.element) : std::string();
    if (element.empty() || best->tile.shape.size() > 4)
      return refuse(line(wanted.from),
                    fmt::format("'{}' needs a value before the first iteration, and the text does not say its type", name),
                    fmt::format("assign {} above the loop", name));
    if (best->tile.shape.empty()) {
      wanted.zero = fmt::format("{0}.cast(0, {0}.{1})", language(), element);
    } else {
      wanted.zero = fmt::format("{0}.zeros(({1}{2}), {0}.{3})", language(), fmt::join(best->tile.shape, ", "),
                                best->tile.shape.size() == 1 ? "," : "", element);
      registers_ += registers_per_thread(*best, program_.num_warps);
    }
    return true;
  }

  /// What the source calls triton.language.
  std::string language() const {
    for (const PythonLine& line : source_.lines()) {
      const std::size_t count = line.tokens.size();
      const auto word = [&](std::size_t i) { return i < count ? source_.word(line.tokens[i]) : std::string_view(); };
      if (word(0) == "import" && word(1) == "triton" && word(3) == "language" && word(4) == "as") return std::string(word(5));
      if (word(0) == "from" && word(1) == "triton" && word(2) == "import" && word(3) == "language")
        return std::string(word(4) == "as" ? word(5) : word(3));
    }
    const std::size_t dot = head_.callee.rfind('.');
    return dot == std::string::npos ? "tl" : head_.callee.substr(0, dot);
  }

  std::string fresh(std::string name) {
    while (source_.has_name(name) || taken_.contains(name)) name += '_';
    taken_.insert(name);
    return name;
  }

  /// Triton launches a product of wgmma without waiting for it only under certain conditions; the first that this one fails, as far as the
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
      if (work_of(program_, op) != Role::View) return "its result is read in the same iteration";
      made.insert(op.results.begin(), op.results.end());
    }
    for (std::size_t i = 0; i < 2; ++i) {
      if (!is_memory(program_.type(product.operands[i]))) continue;
      const Source from = flow_.source(product.operands[i]);
      if (!from.op.valid()) continue;
      const mlir::Op& op = module().op(from.op);
      const auto role = work_of(program_, op);
      const bool load = role == Role::DescriptorLoad || role == Role::PointerLoad || role == Role::Gather;
      if (!load) return "an operand passes from registers into shared memory";
      if (op.find("loop.stage") && product.find("loop.stage") && op.integer("loop.stage", 0) >= product.integer("loop.stage", 0))
        return "an operand is not loaded ahead";
    }
    return {};
  }

  std::vector<int> later_products() const {
    std::vector<int> lines;
    for (std::size_t s = 0; s < body_.size(); ++s)
      if (part_[s] == Part::Second && !doing_[s].products.empty()) lines.push_back(line(s));
    return lines;
  }
  /// What runs while the later products are in flight: up to the next product, which is waited for.
  std::vector<int> work_under_them() const {
    std::vector<int> lines;
    for (std::size_t s = 0; s < body_.size(); ++s) {
      if (part_[s] != Part::Between) continue;
      if (!doing_[s].products.empty()) break;
      if (doing_[s].computes && behind_first_[s]) lines.push_back(line(s));
    }
    return lines;
  }

  std::vector<std::string> notes() const {
    const std::vector<int> second = later_products(), work = work_under_them();
    const bool one = second.size() == 1;
    std::vector<std::string> notes;
    notes.push_back(fmt::format("The rotated loop, written by Heddle. It stands for lines {} to {} of {}.",
                                source_.lines()[head_line_].first, last_line_, std::filesystem::path(file_).filename().string()));
    notes.push_back(fmt::format("The product of line {} comes an iteration early, in front of {} of {}{}.", line(first_),
                                one ? "that" : "those", lines_text(second),
                                work.empty()
                                    ? std::string()
                                    : fmt::format(", so that {} in flight while {} of the next iteration {}",
                                                  one ? "that one is" : "those are", lines_text(work), work.size() == 1 ? "runs" : "run")));
    notes.push_back(
        "Every name goes through the same operations on the same numbers in the same order, nothing is loaded that was not "
        "loaded before, and without trips nothing happens.");
    std::size_t waited = 0;
    for (std::size_t s = 0; s < body_.size(); ++s)
      for (const mlir::OpId id : doing_[s].products)
        if (const std::string why = part_[s] == Part::Second ? why_waited(id) : std::string(); !why.empty()) {
          notes.push_back(fmt::format("But Triton waits for the product of line {} at once: {}.", line(s), why));
          ++waited;
        }
    if (work.empty())
      notes.push_back("But another product comes before all work on the first one's result, and Triton waits for it: put that work first.");
    if (waited == second.size() || work.empty())
      notes.push_back("So nothing overlaps, and the loop is worth nothing as it is.");
    else
      notes.push_back(
          "Triton 3.4.0, 3.6.0 and 3.9.0 were seen to keep such a product asynchronous on sm_90: in PTX nothing waits between "
          "its wgmma and the ex2 behind it. That was compiled; what it gains is predicted, not run on a GPU.");
    std::vector<std::string> longer;
    for (const auto& [name, wanted] : wanted_) longer.push_back(name);
    for (const auto& [name, kept] : kept_) longer.push_back(name);
    if (registers_ > 0)
      notes.push_back(fmt::format("{} now live{} into the next iteration, {} registers of each thread: look for spills (ptxas -v).",
                                  joined(longer), longer.size() == 1 ? "s" : "", registers_));
    if (std::any_of(wanted_.begin(), wanted_.end(), [](const auto& w) { return w.second.zero.find(".zeros(") != std::string::npos; }))
      notes.push_back("The shapes of the zeros are those of the text; put the kernel's own names there where tiles are tuned.");
    return notes;
  }

  /// One name or number that the loop does not change can be written several times; anything else gets a name in front of the loop.
  std::string hoisted(const std::string& expression, const char* what, std::string& out) {
    const bool plain = std::all_of(expression.begin(), expression.end(), [](char c) {
      return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    });
    if (plain && expression != head_.variable && !last_maker(expression)) return expression;
    const std::string name = fresh(head_.variable + what);
    out += fmt::format("{}{} = {}\n", source_.lines()[head_line_].indent, name, expression);
    return name;
  }

  std::string typed(const std::string& expression) const {
    const mlir::Block* body = flow_.body();
    const std::string type = body && !body->arguments.empty() ? python_type(program_.type(body->arguments[0]).tile.element) : std::string();
    return type.empty() ? expression : fmt::format("{0}.cast({1}, {0}.{2})", language(), expression, type);
  }

  std::string lines_text_of(Part part, const PythonNames& renamed, bool comments) const {
    std::string out;
    for (std::size_t s = 0; s < body_.size(); ++s) {
      if (part == Part::Between)
        for (const auto& [name, kept] : kept_)
          if (kept.reader == s) out += keeping(name);
      if (part_[s] != part) continue;
      if (comments) out += source_.comments_above(body_[s].first, s > 0 ? body_[s - 1].last : source_.lines()[head_line_].last);
      out += source_.raw(body_[s].first, body_[s].last, renamed);
    }
    return out;
  }

  std::string keeping(const std::string& name) const {
    return fmt::format("{}{} = {}\n", source_.lines()[head_line_ + 1].indent, names_.at(name), name);
  }

  RotatedLoop write(std::string_view remark) {
    const std::string indent = source_.lines()[head_line_].indent, inner = source_.lines()[head_line_ + 1].indent;
    RotatedLoop result;
    result.file = file_;
    result.first_line = source_.lines()[head_line_].first;
    result.last_line = last_line_;
    result.notes = notes();
    std::string& out = result.text;
    for (const std::string& note : result.notes) out += comment(note, indent);
    while (!remark.empty()) {
      const std::size_t end = std::min(remark.find('\n'), remark.size());
      out += comment(std::string(remark.substr(0, end)), indent);
      remark.remove_prefix(std::min(end + 1, remark.size()));
    }

    const std::string low = hoisted(head_.low, "_low", out), high = hoisted(head_.high, "_high", out),
                      step = hoisted(head_.step, "_step", out);
    const std::string guard = low == "0" ? fmt::format("{}if {} > 0:\n", indent, high) : fmt::format("{}if {} < {}:\n", indent, low, high);
    const std::string trips = low == "0" ? high : fmt::format("{} - {}", high, low);
    const std::string last = step == "1"  ? fmt::format("{} - 1", high)
                             : low == "0" ? fmt::format("({}.cdiv({}, {}) - 1) * {}", language(), trips, step, step)
                                          : fmt::format("{} + ({}.cdiv({}, {}) - 1) * {}", low, language(), trips, step, step);
    for (const auto& [name, wanted] : wanted_) out += fmt::format("{}{} = {}\n", indent, name, wanted.zero);
    for (const auto& [name, kept] : kept_) {
      names_[name] = fresh(name + "_before");
      out += fmt::format("{}{} = {}\n", indent, names_[name], kept.zero.empty() ? name : kept.zero);
    }

    // The first iteration up to the later products.
    PythonNames ahead;
    const std::string variable = known_.contains(head_.variable) ? fresh(head_.variable + "_first") : head_.variable;
    if (variable != head_.variable) ahead[head_.variable] = variable;
    out += guard;
    bool reads = false;
    for (std::size_t s = 0; s < body_.size(); ++s) reads = reads || (part_[s] != Part::Second && body_[s].reads.contains(head_.variable));
    if (reads) out += fmt::format("{}{} = {}\n", inner, variable, typed(low));
    out += lines_text_of(Part::First, ahead, false) + lines_text_of(Part::Between, ahead, false);

    std::vector<std::string> arguments{low == "0" ? step : fmt::format("{} + {}", low, step), high};
    if (step != "1") arguments.push_back(step);
    arguments.insert(arguments.end(), head_.options.begin(), head_.options.end());
    out += fmt::format("{}for {} in {}({}):\n", indent, head_.variable, head_.callee, joined(arguments));
    // What the later products overwrite for themselves, in another type perhaps, is not what is carried on.
    PythonNames behind = names_;
    std::string copies;
    for (const auto& [name, wanted] : wanted_)
      if (std::any_of(body_.begin(), body_.end(), [&](const PythonStatement& statement) {
            return part_[static_cast<std::size_t>(&statement - body_.data())] == Part::Second && statement.writes.contains(name);
          })) {
        behind[name] = fresh(name + "_now");
        copies += fmt::format("{}{} = {}\n", inner, behind[name], name);
      }
    std::string before;
    if (reads_variable_) behind[head_.variable] = before = fresh(head_.variable + "_before");
    out += lines_text_of(Part::First, {}, true);
    if (reads_variable_) out += fmt::format("{}{} = {} - {}\n", inner, before, head_.variable, step);
    out += copies + lines_text_of(Part::Second, behind, true) + lines_text_of(Part::Between, {}, true);

    // The later products of the last iteration.
    out += guard;
    if (reads_variable_) out += fmt::format("{}{} = {}\n", inner, before, typed(last));
    out += copies + lines_text_of(Part::Second, behind, false);
    return result;
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

  const Program& program_;
  const LoopSite& loop_;
  Flow flow_;
  std::string file_;
  PythonText source_;
  Error error_;
  Head head_;
  std::size_t head_line_ = 0;
  int last_line_ = 0;
  std::vector<PythonStatement> body_;
  std::vector<Doing> doing_;  ///< parallel to body_
  std::vector<Part> part_;    ///< parallel to body_
  std::size_t first_ = 0;     ///< the statement with the product that comes early
  std::vector<bool> behind_first_;
  std::set<std::string> known_;           ///< names that have a value before the loop
  std::map<std::string, Wanted> wanted_;  ///< names that need one
  std::map<std::string, Kept> kept_;      ///< names of which the second products read the value of the iteration before
  bool reads_variable_ = false;           ///< so do they of the loop's own
  std::int64_t registers_ = 0;            ///< of a thread, for what lives an iteration longer
  std::set<std::string> taken_;
  PythonNames names_;  ///< under which names kept_ goes
};

}  // namespace

std::string python_file(const Program& program, const LoopSite& loop) {
  const mlir::Module& module = *program.module;
  return module.location(module.op(loop.op)).file;
}

Result<PythonSource> read_python(const Program& program, const LoopSite& loop, const std::string& named) {
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
        "name it: --source FILE.py"}}};
}

Result<RotatedLoop> rotated_loop(const Program& program, const LoopSite& loop, std::string_view python_source, std::string_view remark) {
  return Rotation(program, loop, python_source).build(remark);
}

}  // namespace heddle::triton
