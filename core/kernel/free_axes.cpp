// Per op, which axes of its operands and its result are one axis; then everything that can be reached.
#include "core/kernel/free_axes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "core/base/suggest.h"
#include "core/base/text_style.h"
#include "core/kernel/map_expression.h"
#include "core/kernel/op_shapes.h"
#include "core/kernel/switches.h"

namespace heddle {
namespace {

class Walker {
 public:
  Walker(const Kernel& kernel, const Scope& params) : kernel_(kernel) {
    for (const TileValue& value : kernel.values) {
      TileShape shape;
      for (const Expr& extent : value.shape)
        if (const auto size = extent.evaluate(params); size.ok() && *size >= 1) shape.push_back(*size);
      if (!shape.empty() && shape.size() == value.shape.size()) shapes_.emplace(value.name, std::move(shape));
    }
  }

  AxisWalk run(const TileAxis& from) {
    reach(from);
    for (std::size_t n = 0; n < walk_.along.size() && walk_.objection.empty(); ++n)
      for (const auto* list : {&kernel_.prologue, &kernel_.body, &kernel_.epilogue})
        for (const TileOp& op : *list) follow(op, TileAxis(walk_.along[n]));
    return std::move(walk_);
  }

 private:
  void reach(TileAxis axis) {
    if (known_.insert(axis).second) walk_.along.push_back(std::move(axis));
  }
  void object(const TileOp& op, const std::string& why) {
    if (walk_.objection.empty()) walk_.objection = fmt::format("'{}' ({}) {}", op.name, op.kind, why);
  }
  const TileShape* shape_of(const std::string& name) const {
    const auto it = shapes_.find(name);
    return it == shapes_.end() ? nullptr : &it->second;
  }

  /// Whatever is the same axis in this op as the one given.
  void follow(const TileOp& op, const TileAxis& from) {
    const auto is = [&](const std::string& value, std::size_t dimension) { return from == TileAxis{value, dimension}; };
    const auto one = [&](const std::string& a, std::size_t i, const std::string& b, std::size_t j) {
      if (is(a, i)) reach({b, j});
      if (is(b, j)) reach({a, i});
    };
    const auto all = [&](const std::string& a, const std::string& b) {
      for (std::size_t d = 0; d < 2; ++d) one(a, d, b, d);
    };
    const bool read = std::any_of(op.inputs.begin(), op.inputs.end(), [&](const Operand& in) { return in.value == from.value; });
    const bool made = std::find(op.outputs.begin(), op.outputs.end(), from.value) != op.outputs.end();
    if (!read && !made) return;
    if (op.outputs.empty()) return object(op, fmt::format("takes '{}' to where each element has its place", from.value));
    const std::string& out = op.outputs[0];
    const TileShape* result = shape_of(out);

    if (op.kind == "fill" || op.kind == "load" || op.kind == "tma_load") return;
    if (op.kind == "gather") return object(op, fmt::format("brings '{}' by an index", from.value));
    if (op.kind == "mma") {
      const bool ta = flag_attr(op, "transpose_a"), tb = flag_attr(op, "transpose_b");
      const std::string &a = op.inputs[0].value, &b = op.inputs[1].value;
      if (op.attrs.contains("column") && (is(b, tb ? 0 : 1) || is(out, 1))) return object(op, fmt::format("takes a part of '{}'", b));
      if (op.attrs.contains("row") && (is(a, ta ? 0 : 1) || is(b, tb ? 1 : 0))) return object(op, fmt::format("takes a part of '{}'", b));
      one(a, ta ? 1 : 0, out, 0);
      one(a, ta ? 0 : 1, b, tb ? 1 : 0);
      one(b, tb ? 0 : 1, out, 1);
      if (op.inputs.size() > 2) all(op.inputs[2].value, out);
    } else if (is_reduction(op.kind)) {
      const std::size_t gone = static_cast<std::size_t>(integer_attr(op, "axis", 1)), kept = 1 - std::min<std::size_t>(gone, 1);
      if (op.kind == "reduce_argmax" && is(op.inputs[0].value, gone)) return object(op, "says at which place the maximum is");
      const TileShape* reduced = shape_of(op.inputs[0].value);
      if (reduced && reduced->size() == 2) one(op.inputs[0].value, kept, out, 0);
      for (std::size_t k = 1; k < op.inputs.size(); ++k) one(op.inputs[k].value, 0, out, 0);
    } else if (op.kind == "mask") {
      object(op, "takes an element for what stands at its place");
    } else if (op.kind == "map" || op.kind == "elementwise" || op.kind == "exp2" || op.kind == "broadcast") {
      if (op.kind == "map") {
        const auto expression = MapExpression::parse(text_attr(op, "expr"), op.inputs.size());
        if (expression.ok() && expression->uses_coordinates()) return object(op, "computes with the place of an element");
      }
      for (std::size_t k = 0; k < op.inputs.size(); ++k) {
        const std::string& in = op.inputs[k].value;
        const TileShape* operand = shape_of(in);
        if (!operand || !result) continue;
        const auto lay = op.kind == "map" ? map_lay(op, k, *operand, *result) : lay_over(*operand, *result, integer_attr(op, "axis", 0));
        if (lay == Lay::Same) all(in, out);
        if (lay == Lay::AlongRows) one(in, 0, out, 0);
        if (lay == Lay::AlongColumns) one(in, 0, out, 1);
      }
    } else if (op.kind == "convert" || op.kind == "copy" || op.kind == "smem_load" || op.kind == "smem_store" || op.kind == "tmem_load" ||
               op.kind == "tmem_store") {
      if (op.attrs.contains("column") && from.dimension == 1) return object(op, fmt::format("takes a part of '{}'", op.inputs[0].value));
      if (flag_attr(op, "transpose")) {
        one(op.inputs[0].value, 0, out, 1);
        one(op.inputs[0].value, 1, out, 0);
      } else {
        all(op.inputs[0].value, out);
      }
    } else {
      object(op, "may do anything");
    }
  }

  const Kernel& kernel_;
  std::map<std::string, TileShape> shapes_;
  std::set<TileAxis> known_;
  AxisWalk walk_;
};

}  // namespace

AxisWalk walk_axis(const Kernel& kernel, const Scope& params, const FreeAxis& axis) {
  return Walker(kernel, params).run({axis.value, static_cast<std::size_t>(axis.dimension)});
}

std::vector<Fault> validate_free_axes(const Kernel& kernel) {
  std::vector<Fault> faults;
  if (kernel.free.empty()) return faults;
  const Kernel bare = kernel.whole ? kernel : barest(kernel);  // what is not free there is so for no parameters
  Scope params;
  for (const Param& p : kernel.params) params[p.name] = p.value;
  std::set<std::string> names;
  for (std::size_t i = 0; i < kernel.free.size(); ++i) {
    const FreeAxis& axis = kernel.free[i];
    const std::string at = fmt::format("/free/{}", i);
    const auto fault = [&](const char* member, std::string message, std::string hint = {}) {
      faults.push_back({kernel.source, at + member, std::move(message), std::move(hint)});
    };
    if (!names.insert(axis.name).second || kernel.find_value(axis.name))
      fault("/name", fmt::format("name '{}' is already taken by another axis or a value", axis.name),
            "what is chosen for layouts goes by these names");
    const TileValue* value = kernel.find_value(axis.value);
    if (!value)
      fault("/value", fmt::format("unknown value '{}'", axis.value), did_you_mean(axis.value, names_of(kernel.values)));
    else if (axis.dimension < 0 || static_cast<std::size_t>(axis.dimension) >= value->shape.size())
      fault("/dimension", fmt::format("'{}' has {}, counted from 0", axis.value, count_of(value->shape.size(), "dimension")));
    else if (const auto left = std::find_if(bare.free.begin(), bare.free.end(), [&](const FreeAxis& a) { return a.name == axis.name; });
             left == bare.free.end())
      continue;
    else if (const std::string why = walk_axis(bare, params, *left).objection; !why.empty())
      fault("", fmt::format("axis '{}' is not free: {}", axis.name, why), "leave it out: results depend on the order");
  }
  return faults;
}

}  // namespace heddle
