// No attribute is taken and ignored: whatever an op says more than before is seen in the text, or the text is refused.
#include <algorithm>
#include <map>
#include <set>

#include <catch2/catch.hpp>

#include "codegen/emit/emit.h"
#include "core/kernel/op_kind.h"
#include "core/kernel/validate.h"
#include "core/layout/plan.h"
#include "core/library/library.h"
#include "core/problem/resolve.h"
#include "tests/codegen/fixture.h"

using namespace heddle;
using namespace heddle::codegen;

namespace {

enum class List { Prologue, Body, Epilogue };
constexpr List kLists[] = {List::Prologue, List::Body, List::Epilogue};
std::vector<TileOp>& ops_of(Kernel& kernel, List list) {
  return list == List::Prologue ? kernel.prologue : list == List::Body ? kernel.body : kernel.epilogue;
}

/// A kernel that is written, and its text.
struct Written {
  test::Lowering from;
  std::string text;
};

struct Change {
  std::string refusal;  ///< why there is no text; empty: there is one
  std::string text;
  bool costs = false;  ///< of the op are other ones
};

/// The kernel with another op. What it costs is left as it was, so that the schedule stays legal: this is about the text.
Change with(const test::Lowering& from, List list, std::size_t index, const TileOp& op) {
  test::Lowering changed = from;
  ops_of(changed.kernel, list)[index] = op;
  std::vector<Fault> faults = validate(changed.kernel);
  for (Fault& fault : validate_shapes(changed.kernel)) faults.push_back(std::move(fault));
  if (!faults.empty()) return {to_string(faults.front()), {}, false};
  const Machine machine = load_machine(from.problem.machine).value();
  const auto problem = resolve(changed.kernel, machine, from.problem.params, {}, choices_of(from.problem));
  if (!problem) return {to_string(problem.error()), {}, false};
  Change made;
  if (list == List::Body) {
    const Op &now = problem->ops[index], &before = from.problem.ops[index];
    const auto uses = [](const Op& o) {
      std::vector<std::pair<std::size_t, Cycle>> all;
      for (const UnitUse& use : o.uses) all.emplace_back(use.unit.index(), use.duration);
      return all;
    };
    made.costs = now.latency != before.latency || now.window != before.window || uses(now) != uses(before);
  }
  changed.problem.layouts = problem->layouts;
  const BuildResult built = build_program(changed.kernel, changed.problem, changed.schedule);
  if (!built.program) return {built.refusals.front().rule + ": " + built.refusals.front().sentence, {}, made.costs};
  const EmitResult result = emit_cuda(changed.kernel, changed.problem, changed.schedule, *built.program);
  if (!result.emission) return {result.refusals.front().rule + ": " + result.refusals.front().sentence, {}, made.costs};
  made.text = result.emission->source;
  return made;
}

/// Other values than the op has.
std::vector<Attr> others(const OpAttribute& attribute, const TileOp& op) {
  using Type = OpAttribute::Type;
  const auto has = op.attrs.find(attribute.name);
  const std::string name = attribute.name;
  const auto text = [&] {
    const std::string* now = has == op.attrs.end() ? nullptr : std::get_if<std::string>(&has->second);
    return now ? *now : std::string();
  };
  switch (attribute.type) {
    case Type::Flag: return {has == op.attrs.end() || has->second != Attr(true)};
    case Type::Integer:
      if (name == "axis")
        return {std::int64_t{has == op.attrs.end() ? std::string(attribute.standard) == "0" : has->second == Attr(std::int64_t{0})}};
      if (name == "emulated") return {std::int64_t{has != op.attrs.end() && has->second == Attr(std::int64_t{50}) ? 25 : 50}};
      return {std::int64_t{64}, std::int64_t{7}};
    case Type::Number: return {std::string(text() == "0.375" ? "0.75" : "0.375")};
    case Type::Function: {
      std::vector<Attr> functions;
      for (const ElementwiseFunction& f : elementwise_functions())
        if (f.name != text() && std::string(f.name) != "scale" && functions.size() < 6) functions.emplace_back(std::string(f.name));
      return functions;
    }
    case Type::Expression: return {std::string(text() == "8" ? "16" : "8")};
    case Type::Text:
      if (name == "expr") return {"(" + text() + ") + 1"};
      if (name == "along") return {std::string("c"), std::string("r"), std::string("fr"), std::string("fc")};
      return {std::string("nobody_has_this")};
  }
  return {};
}

/// Says what an op costs, not what it does.
bool is_price(const std::string& attribute) {
  return attribute == "variant" || attribute == "fma" || attribute == "alu" || attribute == "mufu";
}

std::string value_text(const Attr& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* number = std::get_if<std::int64_t>(&value)) return std::to_string(*number);
  return std::get<std::string>(value);
}

std::vector<Written> written(const std::vector<std::string>& names) {
  std::vector<Written> all;
  for (const std::string& name : names) {
    test::Lowering from = test::lowering(name);
    const EmitResult result = emit_cuda(from.kernel, from.problem, from.schedule, test::program_of(from));
    CAPTURE(name);
    REQUIRE(result.emission.has_value());
    all.push_back({std::move(from), result.emission->source});
  }
  return all;
}

class Tour {
 public:
  Tour(std::string arch, std::vector<Written> kernels) : arch_(std::move(arch)), kernels_(std::move(kernels)) {}

  /// Of the kinds that the kernels have.
  void own_kinds() {
    for (const Written& kernel : kernels_) walk(kernel, {});
  }

  void every_kind() {
    own_kinds();
    // Kinds that none of the kernels has, in the places of others.
    for (const OpKind& kind : op_kinds()) {
      if (seen_.contains(kind.name) || std::string(kind.name) == "opaque") continue;
      for (const Written& kernel : kernels_)
        if (written_[kind.name] < 1) put(kernel, kind);
    }
    for (const OpKind& kind : op_kinds()) {
      INFO(arch_ << ": " << kind.name);
      CHECK((seen_.contains(kind.name) || refused_.contains(kind.name) || std::string(kind.name) == "opaque"));
      if (!seen_.contains(kind.name)) continue;
      for (const OpAttribute& attribute : kind.attributes) {
        INFO(attribute.name);
        CHECK(tried_.contains({kind.name, attribute.name}));
      }
    }
  }

 private:
  void put(const Written& kernel, const OpKind& kind) {
    for (const List list : kLists) {
      Kernel copy = kernel.from.kernel;
      const std::vector<TileOp> ops = ops_of(copy, list);
      for (std::size_t i = 0; i < ops.size(); ++i) {
        const OpKind& was = *find_op_kind(ops[i].kind);
        const int inputs = static_cast<int>(ops[i].inputs.size());
        if (inputs < kind.min_inputs || inputs > kind.max_inputs || was.outputs != kind.outputs || was.reads_tensor != kind.reads_tensor ||
            was.writes_tensor != kind.writes_tensor)
          continue;
        TileOp other = ops[i];
        other.kind = kind.name;
        other.attrs.clear();
        const std::string of = kind.name;
        if (of == "elementwise") other.attrs["fn"] = std::string(inputs == 1 ? "neg" : inputs == 2 ? "add" : "fma");
        if (of == "map") other.attrs["expr"] = std::string(inputs == 0 ? "row" : inputs == 1 ? "x0 + 2" : "x0 * x1");
        const Change change = with(kernel.from, list, i, other);
        if (!change.refusal.empty()) {
          refused_.insert(of);
          continue;
        }
        ++written_[of];
        Written changed{kernel.from, change.text};
        ops_of(changed.from.kernel, list)[i] = other;
        walk(changed, of);
        return;
      }
    }
  }

  /// Every attribute of the first op of each kind in any of the kernels, or of those of one kind.
  void walk(const Written& kernel, const std::string& only) {
    for (const List list : kLists) {
      std::set<std::string> of_this_kind;
      std::set<std::string>& done = only.empty() ? done_[list] : of_this_kind;
      Kernel copy = kernel.from.kernel;
      const std::vector<TileOp> ops = ops_of(copy, list);
      for (std::size_t i = 0; i < ops.size(); ++i) {
        std::string like = ops[i].kind + std::to_string(ops[i].inputs.size());
        for (const auto& [name, value] : ops[i].attrs) like += name;
        if ((!only.empty() && ops[i].kind != only) || !done.insert(like).second) continue;
        seen_.insert(ops[i].kind);
        for (const OpAttribute& attribute : find_op_kind(ops[i].kind)->attributes)
          for (const Attr& value : others(attribute, ops[i])) one(kernel, list, i, ops[i], attribute.name, value);
      }
    }
  }

  void one(const Written& kernel, List list, std::size_t i, TileOp op, const std::string& attribute, const Attr& value) {
    op.attrs[attribute] = value;
    if (attribute == "scale") op.attrs.erase("argument");  // by which it would have to be the same in other ops
    const Change change = with(kernel.from, list, i, op);
    tried_.insert({op.kind, attribute});
    if (!change.refusal.empty() || change.text != kernel.text) return;
    if (is_price(attribute) && (change.costs || list != List::Body)) return;
    if (means_nothing(kernel.from.kernel, op, attribute)) return;
    INFO(arch_ << ": " << kernel.from.kernel.name << ": " << op.name << " (" << op.kind << ") with " << attribute << " "
               << value_text(value));
    CHECK("the text is the same" == std::string());
  }

  /// No value of it changes what the op computes.
  static bool means_nothing(const Kernel& kernel, const TileOp& op, const std::string& attribute) {
    const auto rank = [&](const Operand& in) { return kernel.find_value(in.value)->shape.size(); };
    if (attribute == "axis" && op.kind == "broadcast")
      return rank(op.inputs[0]) == kernel.find_value(op.outputs[0])->shape.size();  // nothing is missing
    if (attribute == "axis" && (op.kind == "elementwise" || op.kind == "exp2"))
      return std::all_of(op.inputs.begin(), op.inputs.end(), [&](const Operand& in) { return rank(in) == rank(op.inputs[0]); });
    if (attribute == "value" && op.kind == "elementwise") {
      for (const ElementwiseFunction& f : elementwise_functions())
        if (Attr(std::string(f.name)) == op.attrs.at("fn")) return static_cast<int>(op.inputs.size()) == f.operands;
    }
    if (attribute == "argument") return true;         // in a text of one size; for all others see run_time_sizes_test.cpp
    return attribute == "along" && op.kind == "map";  // where it says what follows from the shapes
  }

  std::string arch_;
  std::vector<Written> kernels_;
  std::set<std::string> seen_, refused_;
  std::map<List, std::set<std::string>> done_;
  std::map<std::string, int> written_;
  std::set<std::pair<std::string, std::string>> tried_;
};

}  // namespace

TEST_CASE("every attribute of an attention's ops is in its text, or no text is written", "[codegen]") {
  Tour("sm_90a", written({"attention_forward_hopper"})).own_kinds();
}

TEST_CASE("every attribute of every kind is in a Hopper text, or no text is written", "[codegen][.slow]") {
  std::vector<std::string> names = test::lowered_kernels();
  names.insert(names.end(), {"attention_backward_hopper", "attention_backward_causal_hopper", "attention_forward_fp8_turned_hopper"});
  Tour("sm_90a", written(names)).every_kind();
}

TEST_CASE("every attribute of every kind is in a Blackwell text, or no text is written", "[codegen][.slow]") {
  std::vector<std::string> names = test::blackwell_kernels();
  names.insert(names.end(),
               {"attention_forward_causal_blackwell", "attention_forward_conditional_blackwell", "swiglu_dual_gemm_blackwell"});
  Tour("sm_100a", written(names)).every_kind();
}

TEST_CASE("rows whose factors are all one are not skipped on Hopper, and whoever asks for it hears so", "[codegen]") {
  const test::Lowering from = test::lowering("attention_forward_hopper");
  for (std::size_t i = 0; i < from.kernel.body.size(); ++i) {
    TileOp op = from.kernel.body[i];
    if (op.name != "rescale0") continue;
    op.attrs["skip_ones"] = true;
    CHECK(with(from, List::Body, i, op).refusal.starts_with("attribute: 'rescale0' says skip_ones, and only a tile that is read from"));
  }
}

TEST_CASE("where a schedule has others between a tile's reading, its factors and its writing, the text says that none is skipped",
          "[codegen]") {
  const test::Lowering from = test::lowering("attention_forward_conditional_blackwell");
  const std::string said = ": factors of one are multiplied too";
  for (std::size_t i = 0; i < from.kernel.body.size(); ++i) {
    TileOp op = from.kernel.body[i];
    if (op.name != "rescale1") continue;
    CHECK(with(from, List::Body, i, op).text.find("// rescale1" + said) != std::string::npos);
    op.attrs.erase("skip_ones");
    CHECK(with(from, List::Body, i, op).text.find("// rescale1" + said) == std::string::npos);
  }
}
