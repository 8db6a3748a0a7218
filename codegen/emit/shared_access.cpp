// Tiles in shared memory as their layouts say: the boxes by which TMA brings and takes them, and how threads store and load them. Which
// layout a value has and which instruction an op, says the plan (core/layout/plan.h); nothing is decided here.
#include <algorithm>
#include <bit>

#include "codegen/emit/access_text.h"
#include "codegen/emit/writer.h"
#include "core/layout/known.h"
#include "core/layout/notation.h"
#include "core/layout/plan.h"

namespace heddle::codegen {
namespace {

constexpr std::int64_t kMostBoxRows = 256, kMostBoxColumns = 256;

/// "panels 64" of those that the tile could lie in.
std::string known_panels(std::int64_t rows, std::int64_t columns, int bits) {
  for (const int span : {128, 64, 32})
    if (panels_layout(rows, columns, bits, span)) return fmt::format("panels {}", span);
  return "panels 0";
}

}  // namespace

const heddle::Layout* Writer::layout_of(std::size_t value) const {
  return plan_ && value < plan_->values.size() ? plan_->values[value].layout.get() : nullptr;
}

std::optional<int> Writer::swizzle_of(std::size_t v) const {
  const heddle::Layout* layout = layout_of(v);
  if (!layout || layout->shape.size() != 2) return std::nullopt;
  return box_swizzle(*layout, bits_of(kernel_.values[v].dtype));
}

bool Writer::has_relabelled_rows(std::size_t v) const {
  const heddle::Layout* layout = layout_of(v);
  return layout && relabelled_swizzle(*layout, bits_of(kernel_.values[v].dtype));
}

/// Boxes of TMA that lie in memory as the tile does.
std::optional<Writer::Panels> Writer::panels_of(std::size_t v, const TileOp& op) {
  const auto& shape = values_[v].shape;
  const std::int64_t bits = bits_of(kernel_.values[v].dtype);
  const auto packed = plan_->packed.find(op.tensor);
  if (packed == plan_->packed.end() && bits >= 16 && shape.size() == 1 && shape[0] <= kMostBoxColumns) {
    // A box has at least 16 bytes: a shorter vector brings its neighbours along, which are not read.
    const std::int64_t width = op.kind == "tma_load" ? std::max(shape[0], kLeastBoxBytes * 8 / bits) : shape[0];
    if (width * bits % 128 == 0) return Panels{1, static_cast<int>(width), 1, width * bits / 8, 0};
  }
  const auto refused = [&](const std::string& why) {
    refuse("tile_shape", op, why);
    return std::nullopt;
  };
  const heddle::Layout* layout = layout_of(v);
  const auto swizzle = swizzle_of(v);
  if (packed != plan_->packed.end()) {
    const std::int64_t bytes = layout ? layout->elements() * bits / 8 : 0;
    if (!layout || plan_->values[v].text != (packed->second == PackedOrder::Lines ? "packed lines" : "packed") ||
        bytes / kPackedRow > kMostBoxRows)
      return refused(fmt::format("'{}' moves a tile of a prepacked tensor that lies otherwise, or is too large for a box", op.name));
    return Panels{1, static_cast<int>(kPackedRow * 8 / std::max<std::int64_t>(bits, 8)), bytes / kPackedRow, bytes, 0};
  }
  if (layout && layout->shape.size() == 2 && !swizzle)
    return refused(fmt::format("'{}' lies as {}, which no box reads: layout {}={}", kernel_.values[v].name, plan_->values[v].text,
                               kernel_.values[v].name, known_panels(shape[0], shape[1], static_cast<int>(bits))));
  const std::int64_t span = swizzle.value_or(tiles_ == Tiles::WarpRows ? 0 : 128), most = span > 0 ? span * 8 / bits : kMostBoxColumns;
  const std::int64_t width = span > 0 || shape.size() != 2 ? most : std::min(most, shape[1]);
  if (!layout || shape.size() != 2 || shape[1] % width != 0 || shape[0] > kMostBoxRows) {
    const std::string other = shape.size() == 2 ? known_panels(shape[0], shape[1], static_cast<int>(bits)) : "panels 0";
    return refused(fmt::format("'{}' moves a tile that is not two-dimensional, at most {} rows and a multiple of {} columns{}", op.name,
                               kMostBoxRows, most,
                               shape.size() == 2 && shape[0] <= kMostBoxRows && span > 0 && other != "panels 0"
                                   ? fmt::format(": layout {}={}", kernel_.values[v].name, other)
                                   : std::string()));
  }
  const std::int64_t elements = std::max<std::int64_t>(8 / bits, 1);  // of a number that a box counts: two of 4 bits are a byte
  return Panels{static_cast<int>(shape[1] / width),
                static_cast<int>(width / elements),
                shape[0],
                shape[0] * width * bits / 8,
                static_cast<int>(span),
                has_relabelled_rows(v)};
}

/// Registers of a tile to its place in shared memory, or back.
void Writer::write_access(const Step& step, const TileOp& op, bool store) {
  const Place& registers = store ? step.inputs.at(0) : step.output;
  const Place& memory = store ? step.output : step.inputs.at(0);
  const char* rule = store ? "smem_store" : "smem_load";
  const Value& value = values_[registers.value];
  const DType type = kernel_.values[memory.value].dtype;
  const OpPlan* plan = plan_->find(op.name);
  const auto is_that = [&](const OpAccess& access) { return access.value == memory.value; };
  const auto counted = plan ? std::find_if(plan->accesses.begin(), plan->accesses.end(), is_that) : std::vector<OpAccess>::const_iterator{};
  const bool known = plan && counted != plan->accesses.end();
  const heddle::Layout *held = layout_of(registers.value), *kept = known ? plan_->memory_of(*counted).get() : layout_of(memory.value);
  if (!value.layout || !held || !kept || value.shape != kept->shape || kernel_.values[registers.value].dtype != type)
    return refuse(rule, op,
                  store ? fmt::format("'{}' does not store a register tile as it is", op.name)
                        : fmt::format("'{}' does not load a tile into registers as it is", op.name));
  if (!plan || plan->instruction.name.empty())
    return refuse(rule, op,
                  fmt::format("no instruction is known by which '{}' can move '{}'{}", op.name, kernel_.values[registers.value].name,
                              plan && !plan->unknown.empty() ? ": " + plan->unknown : std::string()));
  const Buffer& buffer = program_.buffers[memory.index];
  const std::int64_t room = kept->extent(LayoutAxis::Offset) * bits_of(type) / 8 / step.piece.count;
  if (room > buffer.slot_bytes)
    return refuse(rule, op,
                  fmt::format("'{}' takes {} bytes as {}, and {} are set aside for it", kernel_.values[memory.value].name, room,
                              plan_->values[memory.value].text, buffer.slot_bytes));
  std::int64_t alignment = 1024;
  while (buffer.offset % alignment != 0 || (buffer.depth > 1 && buffer.slot_bytes % alignment != 0)) alignment /= 2;
  const AccessTextResult made = access_text({held, kept, bits_of(type), plan->instruction, step.piece.number, step.piece.count,
                                             pieces_of(step, registers.value) > 1, alignment, known ? counted->by.get() : nullptr},
                                            store ? "to" : "from");
  const std::string where =
      fmt::format("'{}' ({}) and '{}' ({})", kernel_.values[registers.value].name, plan_->values[registers.value].text,
                  kernel_.values[memory.value].name, plan_->values[memory.value].text);
  if (!made.text)
    return refuse(rule, op, fmt::format("'{}' moves between {} by {}: {}", op.name, where, plan->instruction.name, made.refusal));
  const AccessText& text = *made.text;
  const bool is_store = text.instruction.kind == InstructionKind::SharedStore || text.instruction.kind == InstructionKind::MatrixStore;
  if (is_store != store) return refuse(rule, op, fmt::format("'{}' cannot move by {}", op.name, text.instruction.name));
  const std::string array = store ? input_array(step, 0) : begin_result(step);
  const bool row = store && tiles_ == Tiles::ThreadRows && value.layout->usual;
  for (const std::string& each : lines_of(text, array, store ? slot_text(memory) : value_text(memory), !value.packed,
                                          words_of(step, registers.value), row ? "  // chunks of this thread's row" : ""))
    raw(each);
  if (!store) end_result(step);
}

void Writer::write_through_scratch(const Step& step, const TileOp& op, const std::string& from, const std::string& to) {
  const std::size_t value = step.output.value;
  const int pieces = pieces_of(step, value);
  std::optional<std::int64_t> first;
  for (const OpAccess& access : plan_->find(op.name)->accesses) {
    AccessTextResult made = access_text({access.held.get(),
                                         access.scratch.get(),
                                         access.bits,
                                         {access.by->name, access.exchange},
                                         pieces > 1 ? step.piece.number : 0,
                                         pieces,
                                         pieces > 1,
                                         1024,
                                         access.by.get()},
                                        access.store ? "to" : "from");
    // What other warps hold of a piece afterwards is that piece.
    if (made.text && pieces > 1 && made.text->first != first.value_or(made.text->first))
      made = {std::nullopt, "it holds a piece of its tile at a time, whose elements are in other pieces afterwards"};
    if (!made.text)
      return refuse("convert", op,
                    fmt::format("'{}' brings '{}' to other warps through shared memory by {}: {}", op.name, kernel_.values[value].name,
                                access.by->name, made.refusal));
    first = made.text->first;
    const auto words = static_cast<int>(access.held->extent(LayoutAxis::Register)) / values_[value].per_register / pieces;
    raw("{");
    ++indent_;
    for (const std::string& each :
         lines_of(*made.text, access.store ? from : to, fmt::format("smem + {}", role_->scratch_offset), !values_[value].packed, words))
      raw(each);
    --indent_;
    raw("}");
    line("{}  // {}", meeting(op), access.store ? "all of it is there" : "and has been read, before anything else comes there");
  }
}

// ---- registers from role to role

/// Registers that a store or load of a hand-over moves at once: a word, or two or four where the plan says so. Who puts and who takes must
/// agree on it, so what is handed over and every piece of it that somebody takes must come in as many.
int Writer::handed_words(std::size_t value) {
  const TileOp* maker = nullptr;
  for (const auto* list : {&kernel_.prologue, &kernel_.body, &kernel_.epilogue})
    for (const TileOp& op : *list)
      if (std::find(op.outputs.begin(), op.outputs.end(), kernel_.values[value].name) != op.outputs.end()) maker = &op;
  if (!maker) return 1;
  const std::string_view instruction = hand_over_instruction(plan_.get(), maker->name);
  const int wanted = instruction == "st.shared.16" ? 4 : instruction == "st.shared.8" ? 2 : 1;
  int odd = words_of(value) % wanted == 0 ? 0 : words_of(value);
  for (const Role& role : program_.roles)
    for (const Section& section : role.sections)
      for (const Step& step : section.steps)
        for (const Place& p : step.inputs)
          if (p.value == value && p.kind == Place::Kind::Buffer && program_.buffers[p.index].registers &&
              words_of(step, value) % wanted != 0)
            odd = words_of(step, value);
  if (odd == 0) return wanted;
  refuse("hand_over", *maker,
         fmt::format("'{}' hands over {} registers of '{}' at once, which {} cannot store: {} can", maker->name, odd,
                     kernel_.values[value].name, instruction, odd % 2 == 0 ? "st.shared.8" : "st.shared.4"));
  return 1;
}

void Writer::write_hand_over(const Step& step) {
  const Place& from = step.inputs.at(0);
  const std::string array = register_text(from);
  const int threads = 32 * role_->warps, words = words_of(from.value), at_once = handed_words(from.value);
  raw("#pragma unroll");
  if (at_once == 1)
    return line("for (int r = 0; r < {}; ++r) store_word({} + (r * {} + tid) * 4, {}[r]);", words, slot_text(step.output), threads, array);
  const bool floats = !values_[from.value].packed;
  std::string moved;
  for (int k = 0; k < at_once; ++k) {
    const std::string word = fmt::format("{}[{} * r{}]", array, at_once, k > 0 ? fmt::format(" + {}", k) : "");
    moved += ", " + (floats && at_once == 4 ? fmt::format("__float_as_uint({})", word) : word);
  }
  line("for (int r = 0; r < {}; ++r) {}({} + (r * {} + tid) * {}{});", words / at_once,
       at_once == 4 ? "store_words"
       : floats     ? "store_pair"
                    : "store_two",
       slot_text(step.output), threads, 4 * at_once, moved);
}

void Writer::take_hand_over(const Step& step, std::size_t input) {
  const Place& p = step.inputs[input];
  const int words = words_of(step, p.value), skipped = step.piece.number * words, threads = 32 * role_->warps;
  const bool pieces = pieces_of(step, p.value) > 1 && skipped > 0;
  const int at_once = handed_words(p.value);
  line("{} taken{}[{}];", type_of(p.value), input, words);
  raw("#pragma unroll");
  if (at_once == 1)
    return line("for (int r = 0; r < {}; ++r) load_word({} + ({}r * {} + tid) * 4, taken{}[r]);", words, slot_text(p),
                pieces ? fmt::format("{} + ", skipped * threads) : "", threads, input);
  const bool floats = !values_[p.value].packed;
  const std::string at = fmt::format("{} + ({}r * {} + tid) * {}", slot_text(p),
                                     pieces ? fmt::format("{} + ", skipped / at_once * threads) : "", threads, 4 * at_once);
  const auto word = [&](int k) { return fmt::format("taken{}[{} * r{}]", input, at_once, k > 0 ? fmt::format(" + {}", k) : ""); };
  if (at_once == 2)
    return line("for (int r = 0; r < {}; ++r) {}({}, {}, {});", words / 2, floats ? "load_words" : "load_two", at, word(0), word(1));
  if (!floats)
    return line("for (int r = 0; r < {}; ++r) load_words({}, {}, {}, {}, {});", words / 4, at, word(0), word(1), word(2), word(3));
  line("for (int r = 0; r < {}; ++r) {{", words / 4);
  raw("  u32 bits[4];");
  line("  load_words({}, bits[0], bits[1], bits[2], bits[3]);", at);
  line("  for (int k = 0; k < 4; ++k) taken{}[4 * r + k] = __uint_as_float(bits[k]);", input);
  raw("}");
}

}  // namespace heddle::codegen
