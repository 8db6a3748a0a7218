#include "codegen/emit/index_text.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "codegen/emit/places.h"
#include "codegen/emit/sizes.h"
#include "core/kernel/op_kind.h"

namespace heddle::codegen {
namespace {

/// One expression as text, from its leaves up.
class IndexText {
 public:
  IndexText(EmitContext& emit, const std::vector<std::string>& variables, const std::vector<std::string>& texts)
      : emit_(emit), variables_(variables), texts_(texts) {}

  std::optional<std::string> text_of(const Expr::Node& node) {
    if (const auto affine = affine_node(node, emit_.program.params, variables_)) {
      const std::string text = affine_text(*affine, texts_);
      const bool one = text.find(' ') == std::string::npos || std::find(texts_.begin(), texts_.end(), text) != texts_.end();
      return one ? text : "(" + text + ")";
    }
    std::vector<std::string> of;
    for (std::size_t c = 0; c < node.children.size(); ++c) {
      // What an `if` does not take may be outside of its tensor: it is not looked up ahead of time.
      const bool perhaps = node.op == Operator::If && c > 0;
      branches_ += perhaps;
      auto text = text_of(node.children[c]);
      branches_ -= perhaps;
      if (!text) return std::nullopt;
      of.push_back(*std::move(text));
    }
    if (const char* sign = sign_of(node.op)) return fmt::format("({} {} {})", of[0], sign, of[1]);
    switch (node.op) {
      case Operator::LookUp: {
        std::size_t tensor = 0;
        while (tensor < emit_.kernel.tensors.size() && emit_.kernel.tensors[tensor].name != node.name) ++tensor;
        if (tensor == emit_.kernel.tensors.size() || !emit_.program.params.tables) return std::nullopt;
        const auto table = emit_.program.params.tables->find(node.name);
        if (table == emit_.program.params.tables->end() || table->second.shape.size() != of.size()) return std::nullopt;
        std::string place = of[0];
        for (std::size_t d = 1; d < of.size(); ++d)
          place = fmt::format("{} * {} + {}", d > 1 ? "(" + place + ")" : place, table->second.shape[d], of[d]);
        if (place.front() == '(' && of.size() == 1) place = place.substr(1, place.size() - 2);
        return looked_up(node, fmt::format("look_up({}, {})", pointer_to(emit_, tensor), place));
      }
      case Operator::Negate: return "-" + of[0];
      case Operator::If: return fmt::format("({} ? {} : {})", of[0], of[1], of[2]);
      case Operator::Min:
      case Operator::Max: return pairwise(node.op, of);
      // Towards minus infinity, as the expression is evaluated; shifts and masks are.
      case Operator::Divide:
      case Operator::Modulo:
      case Operator::CeilDiv: {
        const Result<std::int64_t> divisor =
            mentions(node.children[1], variables_) ? Error::input("") : evaluate_node(node.children[1], emit_.program.params);
        if (!divisor || *divisor < 1 || *divisor > std::numeric_limits<std::int32_t>::max()) return std::nullopt;
        const bool shifts = std::has_single_bit(static_cast<std::uint64_t>(*divisor));
        if (node.op == Operator::Modulo)
          return shifts ? fmt::format("({} & {})", of[0], *divisor - 1) : fmt::format("remainder_of({}, {})", of[0], *divisor);
        const std::string whole = node.op == Operator::CeilDiv ? fmt::format("({} + {})", of[0], *divisor - 1) : of[0];
        return shifts ? fmt::format("({} >> {})", whole, std::countr_zero(static_cast<std::uint64_t>(*divisor)))
                      : fmt::format("quotient_of({}, {})", whole, *divisor);
      }
      default: return std::nullopt;
    }
  }

 private:
  /// The same in all iterations of a tile: it is looked up once, before them.
  std::string looked_up(const Expr::Node& node, const std::string& text) {
    const auto known = std::find(emit_.notes.look_ups.begin(), emit_.notes.look_ups.end(), text);
    if (known == emit_.notes.look_ups.end() && (branches_ > 0 || mentions(node, {emit_.kernel.loop.variable, kRowName}))) return text;
    const std::string name = fmt::format("n{}", known - emit_.notes.look_ups.begin());
    if (known == emit_.notes.look_ups.end()) emit_.notes.look_ups.push_back(text);
    return name;
  }

  EmitContext& emit_;
  const std::vector<std::string>&variables_, &texts_;
  int branches_ = 0;  ///< of `if`s, around what is being written
};

}  // namespace

std::optional<std::string> index_text(EmitContext& emit, const Expr::Node& node, const std::vector<std::string>& variables,
                                      const std::vector<std::string>& texts) {
  return IndexText(emit, variables, texts).text_of(node);
}

std::optional<std::string> trips_text(EmitContext& emit, const std::vector<std::string>& indices) {
  std::vector<std::string> variables, texts = indices;
  for (const GridDim& dimension : emit.kernel.grid) variables.push_back(dimension.name);
  add_size_variables(emit, variables, texts);
  return index_text(emit, emit.kernel.loop.tile_trips->root(), variables, texts);
}

}  // namespace heddle::codegen
