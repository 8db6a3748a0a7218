// Products on Hopper (wgmma), whose operands and results are registers of a whole warpgroup.
#include <algorithm>
#include <utility>

#include "codegen/emit/writer.h"
#include "core/layout/plan.h"

namespace heddle::codegen {

bool Writer::is_positive(std::size_t v) const {
  for (const TileOp& op : kernel_.body) {
    if (op.outputs.empty() || op.outputs[0] != kernel_.values[v].name) continue;
    if (makes_powers(op)) return true;
    if (op.kind != "convert") return false;
    for (std::size_t from = 0; from < kernel_.values.size(); ++from)
      if (!op.inputs.empty() && op.inputs[0].value == kernel_.values[from].name) return is_positive(from);
  }
  return false;
}

/// What the first wgmma of the turn takes from registers, where its signs are known.
const Place* Writer::made_before(const Step& turn) const {
  const auto& steps = section_->steps;
  auto at = std::find_if(steps.begin(), steps.end(), [&](const Step& s) { return &s == &turn; });
  at = std::find_if(at, steps.end(), [](const Step& s) { return s.kind == StepKind::Issue && s.engine == Engine::Mma; });
  if (at == steps.end()) return nullptr;
  const Place& a = at->inputs.at(0);
  return a.kind == Place::Kind::Variable && values_[a.value].packed && is_positive(a.value) ? &a : nullptr;
}

/// The zero that a sum starts from needs no instruction: the first wgmma does not add.
bool Writer::only_sums_read_init(const Step& fill) const {
  if (fill.output.iteration != -1 || !is_zero_fill(fill.output.value)) return false;
  for (const Section& section : role_->sections)
    for (const Step& step : section.steps)
      for (std::size_t k = 0; k < step.inputs.size(); ++k) {
        const Place& p = step.inputs[k];
        if (p.kind != Place::Kind::Variable || p.index != fill.output.index || p.value != fill.output.value || p.iteration != -1) continue;
        if (step.engine != Engine::Mma || k != 2) return false;
      }
  return true;
}

/// Of a tile in shared memory: bytes of a row of its panels.
std::int64_t Writer::span_of(std::size_t value) const { return swizzle_of(value).value_or(128); }

/// A product reads it: it lies in swizzled panels of one of these spans.
bool Writer::lies_in_spans(std::size_t value, std::initializer_list<int> spans, const TileOp& op) {
  const auto swizzle = swizzle_of(value);
  if (!layout_of(value) || (swizzle && std::find(spans.begin(), spans.end(), *swizzle) != spans.end())) return true;
  refuse("product", op,
         fmt::format("'{}' reads '{}', which lies as {}: layout {}=panels {}", op.name, kernel_.values[value].name,
                     plan_->values[value].text, kernel_.values[value].name, *spans.begin()));
  return false;
}

bool Writer::lies_as_operand(std::size_t value) const { return problem_.layouts && problem_.layouts->values[value].text == "operand"; }

void Writer::write_product(const Step& step) {
  const TileOp& op = op_of(kernel_, step.op);
  open_.push_back(&step);
  const auto& a = step.inputs.at(0);
  const auto& b = step.inputs.at(1);
  const auto& d = step.output;
  const std::vector<std::int64_t>&as = values_[a.value].shape, &bs = values_[b.value].shape, &ds = values_[d.value].shape;
  const bool ta = flag_attr(op, "transpose_a"), tb = flag_attr(op, "transpose_b");
  const auto unfit = [&](const std::string& why) { refuse("product", op, fmt::format("'{}' {}", op.name, why)); };
  if (as.size() != 2 || bs.size() != 2 || ds.size() != 2 || as[ta] != 64 || d.kind != Place::Kind::Variable ||
      b.kind != Place::Kind::Buffer)
    return unfit("is no product of 64 rows with B in shared memory and the result in registers");
  const std::int64_t k = as[!ta], n = ds[1], column = integer_attr(op, "column", 0), row = integer_attr(op, "row", 0);
  const DType type = kernel_.values[a.value].dtype, b_type = kernel_.values[b.value].dtype;
  if (!makes_product(type, b_type) || kernel_.values[d.value].dtype != DType::F32)
    return unfit("multiplies neither bf16 nor f16 nor 8-bit floats into f32");
  const bool from_registers = a.kind == Place::Kind::Variable, narrow = bits_of(type) == 8;
  if (ta && from_registers) return unfit("transposes an A in registers");
  const auto usual = [&](const Place& p) { return !values_[p.value].layout || values_[p.value].layout->usual; };
  const bool relabelled = has_relabelled_rows(b.value);
  const auto& result = values_[d.value].layout;
  if ((result && !(relabelled ? result->usual_rows && !result->usual : result->usual)) || (from_registers && !narrow && !usual(a)))
    return unfit(relabelled ? "leaves registers whose columns are ordered otherwise than the rows of B"
                            : "takes or leaves registers that do not lie as wgmma has them: \"accumulator\"");
  if ((relabelled && !tb) || (!from_registers && has_relabelled_rows(a.value))) return unfit("has an operand whose rows are relabelled");
  if (narrow && (ta || !tb))
    return unfit("multiplies 8-bit floats that do not lie along K in shared memory: wgmma transposes numbers of 16 bits only");
  if (narrow && from_registers && !lies_as_operand(a.value))
    return unfit(fmt::format("takes 8-bit floats from registers that do not lie as wgmma reads them: \"layouts\": {{\"{}\": \"operand\"}}",
                             kernel_.values[a.value].name));
  if (!lies_in_spans(b.value, {128, 64, 32}, op) || (!from_registers && !lies_in_spans(a.value, {128, 64, 32}, op))) return;
  // A panel is `span` bytes of each row: columns of K, or of M or N.
  const std::int64_t a_span = from_registers ? 128 : span_of(a.value), b_span = span_of(b.value);
  const std::int64_t a_panel = a_span * 8 / bits_of(type), b_panel = b_span * 8 / bits_of(b_type), deep = narrow ? 32 : 16;
  if (n % 8 != 0 || n > 256 || k % deep != 0 || (!from_registers && as[1] % a_panel != 0) || bs[1] % b_panel != 0 ||
      (tb ? k : n) % b_panel != 0 || column % (tb ? 8 : b_panel) != 0 || column < 0 || column + n > bs[tb ? 0 : 1] ||
      row % (tb ? b_panel : 16) != 0 || row < 0 || row + k > bs[tb ? 1 : 0])
    return unfit(b_panel == 64 && a_panel == 64 ? "has extents that do not make whole swizzled panels of 64 columns"
                                                : "has extents that do not make whole swizzled panels");
  const ProductShape shape{static_cast<int>(n), from_registers, ta, !tb, type, b_type};
  shapes_.insert(shape);
  std::string add = "1";  // of the first step along K
  if (step.inputs.size() < 3) {
    add = "k";
  } else if (step.inputs[2].iteration == -1 && is_zero_fill(step.inputs[2].value)) {
    add = section_->loop ? fmt::format("k | (i != {})", section_->first) : "k";
  }
  const auto matrix = [](std::int64_t span) { return span == 128 ? std::string("matrix") : fmt::format("matrix_{}", span); };
  raw("{");
  ++indent_;
  if (!from_registers) line("const u64 a = {}({}, {});", matrix(a_span), matrix_text(a), ta ? as[0] * a_span : 16);
  const std::int64_t skipped = tb ? (row / b_panel * bs[0] + column) * b_span : (column / b_panel * bs[0] + row) * b_span;
  line("const u64 b = {}({}{}, {});", matrix(b_span), matrix_text(b), skipped > 0 ? fmt::format(" + {}", skipped) : "",
       tb ? 16 : bs[0] * b_span);
  if (add == "k") line("fresh({});", register_text(d));
  raw("product_fence();");
  raw("#pragma unroll");
  line("for (int k = 0; k < {}; ++k)", k / deep);
  // K-major: 32 bytes further per step, as often as a panel has them. N-major: 16 rows further, panels of N apart.
  const auto along_k = [](const char* of, std::int64_t span, std::int64_t rows) {
    const std::int64_t steps = span / 32;
    return steps == 1 ? fmt::format("behind({}, k * {})", of, rows * span)
                      : fmt::format("behind({}, k / {} * {} + k % {} * 32)", of, steps, rows * span, steps);
  };
  const std::string b_tile = tb ? along_k("b", b_span, bs[0]) : fmt::format("behind(b, k * {})", 16 * b_span);
  const std::string a_tile = from_registers ? fmt::format("{0}[4 * k], {0}[4 * k + 1], {0}[4 * k + 2], {0}[4 * k + 3]", register_text(a))
                             : ta           ? fmt::format("behind(a, k * {})", 16 * a_span)
                                            : along_k("a", a_span, as[0]);
  line("  {}({}, {}, {}, {});", product_name(shape), register_text(d), a_tile, b_tile, add);
  --indent_;
  raw("}");
}

void Writer::write_retire(const Step& step) {
  line("product_wait<{}>();", step.keep);
  std::vector<Flying> landed;
  if (step.keep == 0) landed = std::exchange(unpinned_, {});
  while (flying_.size() > static_cast<std::size_t>(step.keep)) {
    // ptxas does not follow a group from an earlier pass through a partial wait: its registers stay untouched until nothing flies.
    for (const Flying& f : flying_.front()) (step.keep > 0 && !f.this_pass ? unpinned_ : landed).push_back(f);
    flying_.pop_front();
  }
  std::set<std::string> done;
  for (const Flying& f : landed) {
    const std::string d = register_text(f.step->output);
    if (done.insert(d).second) line("pin({});", d);
    const Place& a = f.step->inputs[0];
    if (a.kind == Place::Kind::Variable && done.insert(register_text(a)).second) line("keep({});", register_text(a));
  }
}

}  // namespace heddle::codegen
