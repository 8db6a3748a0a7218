// Every operand's dimensions are given labels ("M", "K", "row"); the label of the split dimension decides what becomes of
// the op. Expressions are rewritten as text, so that a reader of the new kernel sees "Q_ROWS/2".
#include "core/kernel/subtile.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "core/base/scanner.h"
#include "core/base/suggest.h"
#include "core/kernel/map_expression.h"
#include "core/kernel/op_kind.h"
#include "core/kernel/op_shapes.h"
#include "core/kernel/switches.h"

namespace heddle {
namespace {

/// One label per dimension; 0: a dimension that meets no other.
using Labels = std::vector<char>;

enum class Fate { Shared, Replicated, Chained };

struct CutPlan {
  Fate fate = Fate::Shared;
  std::optional<std::size_t> coordinate;  ///< which of `at` moves from part to part
  Expr step;                              ///< by how much
};

bool mentions(const Expr& expr, const std::string& name) {
  const std::vector<std::string> names = expr.names();
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// `text` with every use of `name` replaced by "name/factor".
std::string divided_text(const std::string& text, const std::string& name, std::int64_t factor) {
  const std::string quotient = fmt::format("{}/{}", name, factor);
  if (text == name) return quotient;
  std::string out;
  for (Scanner in(text); !in.at_end();) {
    const std::size_t begin = in.at();
    if (begins_name(in.here()))
      in.run(in_name);
    else
      in.go(begin + 1);
    const bool called = Scanner(in.rest()).peek() == '(';  // min, max ... are also possible names
    const std::string_view word = in.since(begin);
    out += word == name && !called ? "(" + quotient + ")" : std::string(word);
  }
  return out;
}

/// "a + t*step"
std::string moved_text(const Expr& a, std::int64_t t, const Expr& step) {
  if (t == 0) return a.text();
  const bool simple = std::all_of(step.text().begin(), step.text().end(), [](char c) { return in_name(c) || c == '/'; });
  const std::string stride = simple && t == 1 ? step.text() : fmt::format("{}*({})", t, step.text());
  if (a.is_zero()) return stride;
  const bool compares = a.text().find_first_of("<>=!") != std::string::npos;
  return compares ? fmt::format("({}) + {}", a.text(), stride) : fmt::format("{} + {}", a.text(), stride);
}

class Subtiler {
 public:
  Subtiler(const Kernel& kernel, const Subtile& request, const Scope& params)
      : kernel_(kernel), param_(request.param), factor_(request.factor) {
    for (const Param& p : kernel.params) {
      const auto given = params.find(p.name);
      scope_[p.name] = given == params.end() ? p.value : given->second;
    }
    for (const TileValue& value : kernel.values) taken_values_.insert(value.name);
    for (const auto* list : {&kernel.prologue, &kernel.body, &kernel.epilogue})
      for (const TileOp& op : *list) taken_ops_.insert(op.name);
  }

  Result<Kernel> run() {
    if (!check_request()) return Error{ErrorKind::Input, faults_};
    if (factor_ == 1) return kernel_;
    result_ = kernel_;
    const std::string suffix = cut_suffix({param_, factor_});
    result_.name = kernel_.name + suffix;
    if (!kernel_.source.empty()) result_.source = kernel_.source + suffix;
    split_values();
    if (faults_.empty()) {
      result_.prologue = rewrite("prologue", kernel_.prologue);
      result_.body = rewrite("body", kernel_.body);
      result_.epilogue = rewrite("epilogue", kernel_.epilogue);
      order();
    }
    if (!faults_.empty()) return Error{ErrorKind::Input, faults_};
    return std::move(result_);
  }

 private:
  void fault(std::string pointer, std::string message, std::string hint = {}) {
    faults_.push_back({kernel_.source, std::move(pointer), std::move(message), std::move(hint)});
  }

  bool check_request() {
    std::vector<std::string> dimensions;
    for (const Param& p : kernel_.params)
      if (std::any_of(kernel_.values.begin(), kernel_.values.end(), [&](const TileValue& value) {
            return std::any_of(value.shape.begin(), value.shape.end(), [&](const Expr& e) { return mentions(e, p.name); });
          }))
        dimensions.push_back(p.name);
    const std::string known =
        dimensions.empty() ? "no parameter of this kernel is the size of a tile" : "tile sizes here: " + list_of(dimensions);
    if (!kernel_.find_param(param_)) {
      const std::string guess = did_you_mean(param_, dimensions);
      fault("/params", fmt::format("kernel '{}' has no parameter '{}' to divide", kernel_.name, param_), guess.empty() ? known : guess);
    } else if (std::find(dimensions.begin(), dimensions.end(), param_) == dimensions.end()) {
      fault("/params",
            fmt::format("parameter '{}' of kernel '{}' is no tile dimension: the shape of no on-chip value mentions it", param_,
                        kernel_.name),
            known);
    }
    if (factor_ < 1 || factor_ > kMostSubtiles)
      fault("", fmt::format("'{}' cannot be divided into {} sub-tiles; 1 to {} are possible", param_, factor_, kMostSubtiles));
    return faults_.empty();
  }

  // ---- values

  static std::string fresh(const std::string& name, std::int64_t t, std::set<std::string>& taken) {
    std::string stem = name;
    if (!stem.empty() && is_digit(stem.back())) stem += '_';
    while (!taken.insert(fmt::format("{}{}", stem, t)).second) stem += '_';
    return fmt::format("{}{}", stem, t);
  }

  std::vector<std::string> parts_of(const std::string& name, std::set<std::string>& taken) const {
    std::vector<std::string> parts;
    for (std::int64_t t = 0; t < factor_; ++t) parts.push_back(fresh(name, t, taken));
    return parts;
  }

  Expr divided(const Expr& expr, const std::string& pointer) {
    Result<Expr> quotient = Expr::parse(divided_text(expr.text(), param_, factor_));
    if (quotient) return *std::move(quotient);
    fault(pointer, quotient.error().faults.front().message);
    return expr;
  }

  /// Demands that the part is the whole divided by the factor, exactly.
  void check_exact(const TileValue& value, const Expr& whole, const Expr& part, const std::string& pointer) {
    const auto all = whole.evaluate(scope_), one = part.evaluate(scope_);
    if (!all || !one) return fault(pointer, (all ? one : all).error().faults.front().message);
    const bool exact = *one >= 1 && *all % factor_ == 0 && *all / factor_ == *one;
    if (exact || !uneven_.insert(whole.text()).second) return;  // one extent, many values: said once
    const std::string size = whole.text() == param_ ? fmt::format("{} = {}", param_, *all)
                                                    : fmt::format("{} = {} (with {} = {})", whole.text(), *all, param_, scope_[param_]);
    fault(pointer, fmt::format("{}, an extent of value '{}', does not divide into {} equal sub-tiles", size, value.name, factor_),
          fmt::format("choose {} as a multiple of {}", param_, factor_));
  }

  void split_values() {
    for (std::size_t i = 0; i < kernel_.values.size(); ++i) {
      const TileValue& value = kernel_.values[i];
      for (std::size_t d = 0; d < value.shape.size(); ++d) {
        if (!mentions(value.shape[d], param_)) continue;
        if (const auto [it, first] = split_.emplace(value.name, d); !first)
          fault(fmt::format("/values/{}/shape", i),
                fmt::format("value '{}' has '{}' in dimensions {} and {}; only one of them can be cut", value.name, param_, it->second, d),
                "give the two dimensions parameters of their own");
      }
    }
    if (!faults_.empty()) return;
    for (const TileValue& value : kernel_.values)
      if (split_.contains(value.name)) parts_.emplace(value.name, parts_of(value.name, taken_values_));

    result_.values.clear();
    std::erase_if(result_.free, [&](const FreeAxis& axis) { return split_.contains(axis.value); });  // parts have other axes
    for (std::size_t i = 0; i < kernel_.values.size(); ++i) {
      const TileValue& value = kernel_.values[i];
      const std::string at = fmt::format("/values/{}", i);
      if (!value.alias_of.empty() && split_.contains(value.name) != split_.contains(value.alias_of))
        fault(at + "/alias_of",
              fmt::format("'{}' shares storage with '{}', but only one of them has dimension '{}'", value.name, value.alias_of, param_));
      if (!value.alias_at.is_zero() && split_.contains(value.name) &&
          (value.space != Space::Tmem || split_.at(value.name) + 1 == value.shape.size()))
        fault(at + "/alias_at",
              fmt::format("'{}' shares a part of the storage of '{}', which is cut along '{}' too", value.name, value.alias_of, param_));
      if (!split_.contains(value.name)) {
        result_.values.push_back(value);
        continue;
      }
      TileValue part = value;
      const std::size_t d = split_.at(value.name);
      const std::string shape = fmt::format("{}/shape/{}", at, d);
      part.shape[d] = divided(value.shape[d], shape);
      if (value.registers) part.registers = divided(*value.registers, at + "/registers");
      check_exact(value, value.shape[d], part.shape[d], shape);
      for (std::int64_t t = 0; t < factor_; ++t) {
        part.name = part_of(value.name, t);
        if (!value.alias_of.empty() && split_.contains(value.alias_of)) part.alias_of = part_of(value.alias_of, t);
        result_.values.push_back(part);
      }
    }
  }

  const std::string& part_of(const std::string& value, std::int64_t t) const {
    const auto it = parts_.find(value);
    return it == parts_.end() ? value : it->second[static_cast<std::size_t>(t)];
  }

  // ---- ops

  std::size_t rank_of(const std::string& value) const { return kernel_.find_value(value)->shape.size(); }

  /// A vector runs along an axis of a matrix; everything else has the dimensions of the result.
  Labels laid_over(const std::string& in, std::size_t rank, std::int64_t axis) const {
    const TileValue& value = *kernel_.find_value(in);
    const bool scalar =
        std::all_of(value.shape.begin(), value.shape.end(), [](const Expr& e) { return e.is_constant() && e.text() == "1"; });
    if (scalar) return Labels(value.shape.size(), 0);
    if (value.shape.size() == 1 && rank == 2) return {axis == 0 ? 'a' : 'b'};
    return dimensions(value.shape.size());
  }

  static Labels dimensions(std::size_t rank) {
    Labels labels;
    for (std::size_t d = 0; d < rank; ++d) labels.push_back(static_cast<char>('a' + d));
    return labels;
  }

  /// Labels of all inputs, then of all outputs.
  std::vector<Labels> labels_of(const TileOp& op) const {
    std::vector<Labels> labels;
    const std::string_view kind = op.kind;
    const std::size_t out_rank = op.outputs.empty() ? 0 : rank_of(op.outputs[0]);
    if (kind == "mma") {
      labels.push_back(flag_attr(op, "transpose_a") ? Labels{'K', 'M'} : Labels{'M', 'K'});
      labels.push_back(flag_attr(op, "transpose_b") ? Labels{'N', 'K'} : Labels{'K', 'N'});
      if (op.inputs.size() > 2) labels.push_back({'M', 'N'});
      labels.push_back({'M', 'N'});
    } else if (is_reduction(kind)) {
      const bool rows = integer_attr(op, "axis", 1) == 1, vector = rank_of(op.inputs[0].value) == 1;
      labels.push_back(vector ? Labels{'b'} : Labels{'a', 'b'});
      labels.resize(op.inputs.size() + 1, {vector ? '\0' : rows ? 'a' : 'b'});
    } else if (kind == "map") {
      const std::string along = along_of(op);
      for (std::size_t k = 0; k < op.inputs.size(); ++k) {
        const std::size_t rank = rank_of(op.inputs[k].value);
        const char lies = k < along.size() ? along[k] : 'f';
        labels.push_back(lies == 'r' ? Labels{'a'} : lies == 'c' ? Labels{'b'} : lies == '1' ? Labels(rank, 0) : dimensions(rank));
      }
      labels.push_back(dimensions(out_rank));
    } else if (kind == "smem_load" && flag_attr(op, "transpose")) {
      labels = {{'b', 'a'}, {'a', 'b'}};
    } else if (kind == "gather") {
      labels = {{'a', 'b'}};
      if (!op.inputs.empty()) labels.insert(labels.begin(), {'a'});
    } else {
      const auto axis = integer_attr(op, "axis", 0);
      for (const Operand& in : op.inputs)
        labels.push_back(op.outputs.empty() ? dimensions(rank_of(in.value)) : laid_over(in.value, out_rank, axis));
      for (const std::string& out : op.outputs) labels.push_back(dimensions(rank_of(out)));
    }
    return labels;
  }

  /// Attribute `along` of a map, found where it is not given: parts may have the same extent along rows and columns.
  std::string along_of(const TileOp& op) const {
    if (const std::string given = text_attr(op, "along"); !given.empty()) return given;
    const TileShape result = extents_of(op.outputs[0]);
    std::string along;
    for (std::size_t k = 0; k < op.inputs.size(); ++k) {
      const std::optional<Lay> lay = map_lay(op, k, extents_of(op.inputs[k].value), result);
      along += lay == Lay::AlongRows ? 'r' : lay == Lay::AlongColumns ? 'c' : lay == Lay::One ? '1' : 'f';
    }
    return along;
  }

  TileShape extents_of(const std::string& value) const {
    TileShape shape;
    for (const Expr& extent : kernel_.find_value(value)->shape) {
      const auto size = extent.evaluate(scope_);
      shape.push_back(size.ok() ? *size : 1);
    }
    return shape;
  }

  /// Part `t` of a map that is cut along dimension `d` of its result: rows or columns count on from part to part.
  void move_map(TileOp& part, const TileOp& whole, std::size_t d, std::int64_t t) const {
    part.attrs["along"] = along_of(whole);
    const std::int64_t offset = t * (extents_of(whole.outputs[0])[d] / factor_);
    const std::string expr = text_attr(whole, "expr");
    if (offset > 0) part.attrs["expr"] = moved_map_expression(expr, d == 0 ? "row" : "col", std::to_string(offset));
  }

  static std::vector<std::string> operands(const TileOp& op) {
    std::vector<std::string> names;
    for (const Operand& in : op.inputs) names.push_back(in.value);
    names.insert(names.end(), op.outputs.begin(), op.outputs.end());
    return names;
  }

  CutPlan plan(const TileOp& op, const std::string& at) {
    const std::vector<std::string> names = operands(op);
    if (std::none_of(names.begin(), names.end(), [&](const std::string& n) { return split_.contains(n); })) return {};
    const auto refuse = [&](std::string why, std::string hint = {}) {
      fault(at, fmt::format("op '{}' ({}) cannot be cut along '{}': {}", op.name, op.kind, param_, why), std::move(hint));
      return CutPlan{};
    };
    if (op.kind == "opaque") return refuse("its meaning is not known");
    if (op.cost && (op.cost->uses || op.cost->latency || op.cost->window))
      return refuse("its cost is given in numbers, for the whole tile", "leave the cost to the machine's rule");

    const std::vector<Labels> labels = labels_of(op);
    char cut = 0;
    for (std::size_t k = 0; k < names.size(); ++k) {
      const auto split = split_.find(names[k]);
      if (split == split_.end()) continue;
      const char label = split->second < labels[k].size() ? labels[k][split->second] : 0;
      if (label == 0) return refuse(fmt::format("dimension {} of '{}' has no meaning for it", split->second, names[k]));
      if (cut != 0 && label != cut)
        return refuse(fmt::format("'{}' has it where '{}' has another dimension", names[k], cut_name_),
                      "give the two dimensions parameters of their own");
      cut = label;
      cut_name_ = names[k];
    }
    for (std::size_t k = 0; k < names.size(); ++k) {
      const auto d = std::find(labels[k].begin(), labels[k].end(), cut);
      if (d == labels[k].end() || split_.contains(names[k])) continue;
      const auto index = static_cast<std::size_t>(d - labels[k].begin());
      const TileValue& value = *kernel_.find_value(names[k]);
      return refuse(fmt::format("dimension {} of '{}' is {}, which does not mention it", index, names[k],
                                index < value.shape.size() ? value.shape[index].text() : "missing"),
                    fmt::format("write that size in terms of '{}'", param_));
    }

    const bool columns = (op.kind == "mma" && cut == 'N') || (op.kind == "tmem_load" && cut == 'b');
    if (columns && op.attrs.contains("column")) return refuse("it takes columns of a wider tile");
    if (op.kind == "mma" && cut == 'K' && op.attrs.contains("row")) return refuse("it takes rows of a longer tile");
    CutPlan plan;
    const bool kept = op.outputs.empty() || split_.contains(op.outputs[0]);
    plan.fate = kept ? Fate::Replicated : Fate::Chained;
    if (!kept && op.kind == "reduce_sum" && flag_attr(op, "mean"))
      return refuse("a mean of parts is not the mean", "sum, and divide afterwards");
    if (!kept && op.kind == "reduce_argmax") return refuse("the places of the maxima of parts are not that of the maximum");
    if (!kept && op.kind != "mma" && !is_reduction(op.kind)) return refuse("its result does not have that dimension");
    if (!op.tensor.empty() || op.kind == "mask") {
      const TileValue& tile = *kernel_.find_value(op.outputs.empty() ? op.inputs[0].value : op.outputs[0]);
      const std::size_t d = split_.at(tile.name);
      if (looks_rows_up(op) && d == 0) return refuse("its rows are looked up one by one");
      const bool ends = flag_attr(op, "before");  // a mask whose end is the same everywhere
      if (ends && d != static_cast<std::size_t>(integer_attr(op, "axis", 1))) return plan;
      if (op.kind != "gather" || d == 1) {
        if (tile.shape.size() > op.at.size())
          return refuse(op.tensor.empty() ? std::string("its place is not known")
                                          : fmt::format("the tile has more dimensions than tensor '{}'", op.tensor));
        plan.coordinate = ends ? 1 : op.at.size() - tile.shape.size() + d;
        plan.step = divided(tile.shape[d], at);
      }
    }
    return plan;
  }

  std::vector<TileOp> rewrite(const char* list, const std::vector<TileOp>& ops) {
    std::vector<TileOp> out;
    for (std::size_t i = 0; i < ops.size(); ++i) {
      const std::string at = fmt::format("/{}/{}", list, i);
      const CutPlan p = plan(ops[i], at);
      if (p.fate == Fate::Shared) {
        out.push_back(ops[i]);
        continue;
      }
      const std::vector<std::string> names = parts_of(ops[i].name, taken_ops_);
      op_parts_.emplace(ops[i].name, names);
      fates_.emplace(ops[i].name, p.fate);
      const std::vector<std::string> steps = p.fate == Fate::Chained ? partial_results(ops[i]) : std::vector<std::string>{};
      for (std::int64_t t = 0; t < factor_; ++t) {
        TileOp part = ops[i];
        const auto index = static_cast<std::size_t>(t);
        part.name = names[index];
        for (Operand& in : part.inputs) in.value = part_of(in.value, t);
        for (std::string& result : part.outputs) result = part_of(result, t);
        if (p.coordinate) part.at[*p.coordinate] = moved(part.at[*p.coordinate], t, p.step, at);
        if (part.kind == "map") move_map(part, ops[i], split_.at(ops[i].outputs[0]), t);
        if (p.fate == Fate::Chained) link(part, steps, index);
        out.push_back(std::move(part));
      }
    }
    return out;
  }

  Expr moved(const Expr& from, std::int64_t t, const Expr& step, const std::string& at) {
    Result<Expr> expr = Expr::parse(moved_text(from, t, step));
    if (expr) return *std::move(expr);
    fault(at + "/at", expr.error().faults.front().message);
    return from;
  }

  /// What the links of a chain hand on; the last one defines the op's own result. Prologue and body may define the same
  /// value, and then share these.
  std::vector<std::string> partial_results(const TileOp& op) {
    const std::string& result = op.outputs[0];
    if (const auto known = partials_.find(result); known != partials_.end()) return known->second;
    std::vector<std::string> names;
    TileValue partial = *kernel_.find_value(result);
    // An accumulator in tensor memory is updated in place.
    if (partial.space == Space::Tmem) partial.alias_of = result;
    for (std::int64_t t = 0; t + 1 < factor_; ++t) {
      partial.name = fresh(result + "_part", t, taken_values_);
      names.push_back(partial.name);
      result_.values.push_back(partial);
    }
    names.push_back(result);
    return partials_.emplace(result, std::move(names)).first->second;
  }

  /// The first link accumulates onto what the op did, every other onto the link before it.
  static void link(TileOp& part, const std::vector<std::string>& steps, std::size_t t) {
    part.outputs[0] = steps[t];
    if (t == 0) return;
    part.inputs.resize(part.kind == "mma" ? 2 : 1);
    part.inputs.push_back({steps[t - 1], 0});
  }

  // ---- orders that no value expresses

  void order() {
    const auto names = [&](const std::string& op, bool last) -> std::vector<std::string> {
      const auto it = op_parts_.find(op);
      if (it == op_parts_.end()) return {op};
      // The links of a chain follow each other already.
      if (fates_.at(op) == Fate::Chained) return {last ? it->second.back() : it->second.front()};
      return it->second;
    };
    const auto touches_tensor = [&](const std::string& name) {
      return std::any_of(kernel_.body.begin(), kernel_.body.end(), [&](const TileOp& op) { return op.name == name && !op.tensor.empty(); });
    };
    result_.order.clear();
    for (const OrderEdge& edge : kernel_.order) {
      const std::vector<std::string> from = names(edge.from, true), to = names(edge.to, false);
      // On chip, parts meet only parts of the same number; in global memory all may meet.
      const bool paired = from.size() > 1 && to.size() > 1 && !touches_tensor(edge.from) && !touches_tensor(edge.to);
      for (std::size_t a = 0; a < from.size(); ++a)
        for (std::size_t b = 0; b < to.size(); ++b) {
          if (paired && a != b) continue;
          OrderEdge copy = edge;
          copy.from = from[a];
          copy.to = to[b];
          result_.order.push_back(std::move(copy));
        }
    }
  }

  const Kernel& kernel_;
  const std::string param_;
  const std::int64_t factor_;
  Scope scope_;
  Kernel result_;
  std::vector<Fault> faults_;
  std::map<std::string, std::size_t, std::less<>> split_;               ///< value -> its dimension that is cut
  std::map<std::string, std::vector<std::string>, std::less<>> parts_;  ///< value -> names of its parts
  std::map<std::string, std::vector<std::string>, std::less<>> op_parts_, partials_;
  std::map<std::string, Fate, std::less<>> fates_;
  std::set<std::string> taken_values_, taken_ops_, uneven_;
  std::string cut_name_;  ///< the operand that fixed the label, for messages
};

}  // namespace

Result<Kernel> subtile(const Kernel& kernel, const Subtile& request, const Scope& params) {
  // With all that parameters turn on, so that what is cut knows other sizes too; else as it is for these.
  if (Result<Kernel> cut = Subtiler(as_in_file(kernel), request, params).run(); !kernel.whole)
    return cut;
  else if (cut)
    return settled(*cut, params);
  const Result<Kernel> now = settled(kernel, params);
  return now ? Subtiler(held(*now), request, params).run() : now;
}

std::string cut_suffix(const Subtile& cut) { return fmt::format("[{}/{}]", cut.param, cut.factor); }

CutName split_cuts(const std::string& name) {
  CutName result{name, {}};
  while (result.kernel.ends_with(']')) {
    const std::size_t open = result.kernel.rfind('['), slash = result.kernel.rfind('/');
    if (open == std::string::npos || slash == std::string::npos || slash <= open + 1) break;
    const auto factor = read_number<std::int64_t>(std::string_view(result.kernel).substr(slash + 1, result.kernel.size() - slash - 2));
    if (!factor) break;
    result.cuts.insert(result.cuts.begin(), {result.kernel.substr(open + 1, slash - open - 1), *factor});
    result.kernel.resize(open);
  }
  return result;
}

}  // namespace heddle
