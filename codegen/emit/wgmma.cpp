#include "codegen/emit/wgmma.h"

#include <algorithm>
#include <utility>

#include "codegen/emit/places.h"
#include "codegen/emit/steps.h"
#include "codegen/emit/tile_ops.h"
#include "core/kernel/op_shapes.h"

namespace heddle::codegen {
namespace {

bool is_positive(const EmitContext& emit, std::size_t v) {
  for (const TileOp& op : emit.kernel.body) {
    if (op.outputs.empty() || op.outputs[0] != emit.kernel.values[v].name) continue;
    if (makes_powers(op)) return true;
    if (op.kind != "convert") return false;
    for (std::size_t from = 0; from < emit.kernel.values.size(); ++from)
      if (!op.inputs.empty() && op.inputs[0].value == emit.kernel.values[from].name) return is_positive(emit, from);
  }
  return false;
}

/// Of a tile in shared memory: bytes of a row of its panels.
std::int64_t span_of(const EmitContext& emit, std::size_t value) { return emit.tiles.swizzle_of(value).value_or(128); }

bool lies_as_operand(const EmitContext& emit, std::size_t value) {
  return emit.problem.layouts && emit.problem.layouts->values[value].text == "operand";
}

}  // namespace

void write_product(EmitContext& emit, const Step& step) {
  const TileOp& op = op_of(emit.kernel, step.op);
  emit.notes.open.push_back(&step);
  const auto& a = step.inputs.at(0);
  const auto& b = step.inputs.at(1);
  const auto& d = step.output;
  const std::vector<std::int64_t>&as = emit.tiles.values[a.value].shape, &bs = emit.tiles.values[b.value].shape,
        &ds = emit.tiles.values[d.value].shape;
  const bool ta = flag_attr(op, "transpose_a"), tb = flag_attr(op, "transpose_b");
  const auto unfit = [&](const std::string& why) { emit.refuse("product", op, fmt::format("'{}' {}", op.name, why)); };
  if (as.size() != 2 || bs.size() != 2 || ds.size() != 2 || as[ta] != 64 || d.kind != Place::Kind::Variable ||
      b.kind != Place::Kind::Buffer)
    return unfit("is no mma of 64 rows with B in shared memory and the result in registers");
  const std::int64_t k = as[!ta], n = ds[1], column = integer_attr(op, "column", 0), row = integer_attr(op, "row", 0);
  const DType type = emit.kernel.values[a.value].dtype, b_type = emit.kernel.values[b.value].dtype;
  if (!makes_product(type, b_type) || emit.kernel.values[d.value].dtype != DType::F32)
    return unfit("multiplies neither bf16 nor f16 nor 8-bit floats into f32");
  const bool from_registers = a.kind == Place::Kind::Variable, narrow = bits_of(type) == 8;
  if (ta && from_registers) return unfit("transposes an A in registers");
  const auto usual = [&](const Place& p) { return !emit.tiles.values[p.value].layout || emit.tiles.values[p.value].layout->usual; };
  const bool relabelled = emit.tiles.has_relabelled_rows(b.value);
  const auto& result = emit.tiles.values[d.value].layout;
  if ((result && !(relabelled ? result->usual_rows && !result->usual : result->usual)) || (from_registers && !narrow && !usual(a)))
    return unfit(relabelled ? "leaves registers whose columns are ordered otherwise than the rows of B"
                            : "takes or leaves registers that do not lie as wgmma has them: \"accumulator\"");
  if ((relabelled && !tb) || (!from_registers && emit.tiles.has_relabelled_rows(a.value)))
    return unfit("has an operand whose rows are relabelled");
  if (narrow && (ta || !tb))
    return unfit("multiplies 8-bit floats that do not lie along K in shared memory: wgmma transposes numbers of 16 bits only");
  if (narrow && from_registers && !lies_as_operand(emit, a.value))
    return unfit(fmt::format("takes 8-bit floats from registers that do not lie as wgmma reads them: \"layouts\": {{\"{}\": \"operand\"}}",
                             emit.kernel.values[a.value].name));
  if (!lies_in_spans(emit, b.value, {128, 64, 32}, op) || (!from_registers && !lies_in_spans(emit, a.value, {128, 64, 32}, op))) return;
  // A panel is `span` bytes of each row: columns of K, or of M or N.
  const std::int64_t a_span = from_registers ? 128 : span_of(emit, a.value), b_span = span_of(emit, b.value);
  const std::int64_t a_panel = a_span * 8 / bits_of(type), b_panel = b_span * 8 / bits_of(b_type), deep = narrow ? 32 : 16;
  if (n % 8 != 0 || n > 256 || k % deep != 0 || (!from_registers && as[1] % a_panel != 0) || bs[1] % b_panel != 0 ||
      (tb ? k : n) % b_panel != 0 || column % (tb ? 8 : b_panel) != 0 || column < 0 || column + n > bs[tb ? 0 : 1] ||
      row % (tb ? b_panel : 16) != 0 || row < 0 || row + k > bs[tb ? 1 : 0])
    return unfit(b_panel == 64 && a_panel == 64 ? "has extents that do not make whole swizzled panels of 64 columns"
                                                : "has extents that do not make whole swizzled panels");
  const ProductShape shape{static_cast<int>(n), from_registers, ta, !tb, type, b_type};
  emit.wrappers.products.insert(shape);
  std::string add = "1";  // of the first step along K
  if (step.inputs.size() < 3) {
    add = "k";
  } else if (step.inputs[2].iteration == -1 && is_zero_fill(emit, step.inputs[2].value)) {
    add = emit.section->loop ? fmt::format("k | (i != {})", emit.section->first) : "k";
  }
  const auto matrix = [](std::int64_t span) { return span == 128 ? std::string("matrix") : fmt::format("matrix_{}", span); };
  emit.text.open();
  if (!from_registers) emit.text.line("const u64 a = {}({}, {});", matrix(a_span), matrix_text(emit, a), ta ? as[0] * a_span : 16);
  const std::int64_t skipped = tb ? (row / b_panel * bs[0] + column) * b_span : (column / b_panel * bs[0] + row) * b_span;
  emit.text.line("const u64 b = {}({}{}, {});", matrix(b_span), matrix_text(emit, b), skipped > 0 ? fmt::format(" + {}", skipped) : "",
                 tb ? 16 : bs[0] * b_span);
  if (add == "k") emit.text.line("fresh({});", register_text(emit, d));
  emit.text.raw("product_fence();");
  emit.text.raw("#pragma unroll");
  emit.text.line("for (int k = 0; k < {}; ++k)", k / deep);
  // K-major: 32 bytes further per step, as often as a panel has them. N-major: 16 rows further, panels of N apart.
  const auto along_k = [](const char* of, std::int64_t span, std::int64_t rows) {
    const std::int64_t steps = span / 32;
    return steps == 1 ? fmt::format("behind({}, k * {})", of, rows * span)
                      : fmt::format("behind({}, k / {} * {} + k % {} * 32)", of, steps, rows * span, steps);
  };
  const std::string b_tile = tb ? along_k("b", b_span, bs[0]) : fmt::format("behind(b, k * {})", 16 * b_span);
  const std::string a_tile = from_registers
                                 ? fmt::format("{0}[4 * k], {0}[4 * k + 1], {0}[4 * k + 2], {0}[4 * k + 3]", register_text(emit, a))
                             : ta ? fmt::format("behind(a, k * {})", 16 * a_span)
                                  : along_k("a", a_span, as[0]);
  emit.text.line("  {}({}, {}, {}, {});", product_name(shape), register_text(emit, d), a_tile, b_tile, add);
  emit.text.close();
}

void write_retire(EmitContext& emit, const Step& step) {
  emit.text.line("product_wait<{}>();", step.keep);
  std::vector<Flying> landed;
  if (step.keep == 0) landed = std::exchange(emit.notes.unpinned, {});
  while (emit.notes.flying.size() > static_cast<std::size_t>(step.keep)) {
    // ptxas does not follow a group from an earlier pass through a partial wait: its registers stay untouched until nothing flies.
    for (const Flying& f : emit.notes.flying.front()) (step.keep > 0 && !f.this_pass ? emit.notes.unpinned : landed).push_back(f);
    emit.notes.flying.pop_front();
  }
  std::set<std::string> done;
  for (const Flying& f : landed) {
    const std::string d = register_text(emit, f.step->output);
    if (done.insert(d).second) emit.text.line("pin({});", d);
    const Place& a = f.step->inputs[0];
    if (a.kind == Place::Kind::Variable && done.insert(register_text(emit, a)).second) emit.text.line("keep({});", register_text(emit, a));
  }
}

/// An mma reads it: it lies in swizzled panels of one of these spans.
bool lies_in_spans(EmitContext& emit, std::size_t value, std::initializer_list<int> spans, const TileOp& op) {
  const auto swizzle = emit.tiles.swizzle_of(value);
  if (!emit.tiles.layout_of(value) || (swizzle && std::find(spans.begin(), spans.end(), *swizzle) != spans.end())) return true;
  emit.refuse("product", op,
              fmt::format("'{}' reads '{}', which lies as {}: layout {}=panels {}", op.name, emit.kernel.values[value].name,
                          emit.tiles.plan->values[value].text, emit.kernel.values[value].name, *spans.begin()));
  return false;
}

/// What the first wgmma of the turn takes from registers, where its signs are known.
const Place* made_before(const EmitContext& emit, const Step& turn) {
  const auto& steps = emit.section->steps;
  auto at = std::find_if(steps.begin(), steps.end(), [&](const Step& s) { return &s == &turn; });
  at = std::find_if(at, steps.end(), [](const Step& s) { return s.kind == StepKind::Issue && s.engine == Engine::Mma; });
  if (at == steps.end()) return nullptr;
  const Place& a = at->inputs.at(0);
  return a.kind == Place::Kind::Variable && emit.tiles.values[a.value].packed && is_positive(emit, a.value) ? &a : nullptr;
}

/// The zero that a sum starts from needs no instruction: the first wgmma does not add.
bool only_sums_read_init(const EmitContext& emit, const Step& fill) {
  if (fill.output.iteration != -1 || !is_zero_fill(emit, fill.output.value)) return false;
  for (const Section& section : emit.role->sections)
    for (const Step& step : section.steps)
      for (std::size_t k = 0; k < step.inputs.size(); ++k) {
        const Place& p = step.inputs[k];
        if (p.kind != Place::Kind::Variable || p.index != fill.output.index || p.value != fill.output.value || p.iteration != -1) continue;
        if (step.engine != Engine::Mma || k != 2) return false;
      }
  return true;
}

}  // namespace heddle::codegen
