#include "codegen/emit/hand_over.h"

#include <algorithm>

#include "codegen/emit/places.h"

namespace heddle::codegen {
namespace {

/// Registers that a store or load of a hand-over moves at once: a word, or two or four where the plan says so. Who puts and who takes must
/// agree on it, so what is handed over and every piece of it that somebody takes must come in as many.
int handed_words(EmitContext& emit, std::size_t value) {
  const TileOp* maker = nullptr;
  for (const auto* list : {&emit.kernel.prologue, &emit.kernel.body, &emit.kernel.epilogue})
    for (const TileOp& op : *list)
      if (std::find(op.outputs.begin(), op.outputs.end(), emit.kernel.values[value].name) != op.outputs.end()) maker = &op;
  if (!maker) return 1;
  const std::string_view instruction = hand_over_instruction(emit.tiles.plan.get(), maker->name);
  const int wanted = instruction == "st.shared.16" ? 4 : instruction == "st.shared.8" ? 2 : 1;
  int odd = emit.tiles.words_of(value) % wanted == 0 ? 0 : emit.tiles.words_of(value);
  for (const Role& role : emit.program.roles)
    for (const Section& section : role.sections)
      for (const Step& step : section.steps)
        for (const Place& p : step.inputs)
          if (p.value == value && p.kind == Place::Kind::Buffer && emit.program.buffers[p.index].registers &&
              emit.tiles.words_of(step, value) % wanted != 0)
            odd = emit.tiles.words_of(step, value);
  if (odd == 0) return wanted;
  emit.refuse("hand_over", *maker,
              fmt::format("'{}' hands over {} registers of '{}' at once, which {} cannot store: {} can", maker->name, odd,
                          emit.kernel.values[value].name, instruction, odd % 2 == 0 ? "st.shared.8" : "st.shared.4"));
  return 1;
}

}  // namespace

void write_hand_over(EmitContext& emit, const Step& step) {
  const Place& from = step.inputs.at(0);
  const std::string array = register_text(emit, from);
  const int threads = 32 * emit.role->warps, words = emit.tiles.words_of(from.value), at_once = handed_words(emit, from.value);
  emit.text.raw("#pragma unroll");
  if (at_once == 1)
    return emit.text.line("for (int r = 0; r < {}; ++r) store_word({} + (r * {} + tid) * 4, {}[r]);", words, slot_text(emit, step.output),
                          threads, array);
  const bool floats = !emit.tiles.values[from.value].packed;
  std::string moved;
  for (int k = 0; k < at_once; ++k) {
    const std::string word = fmt::format("{}[{} * r{}]", array, at_once, k > 0 ? fmt::format(" + {}", k) : "");
    moved += ", " + (floats && at_once == 4 ? fmt::format("__float_as_uint({})", word) : word);
  }
  emit.text.line("for (int r = 0; r < {}; ++r) {}({} + (r * {} + tid) * {}{});", words / at_once,
                 at_once == 4 ? "store_words"
                 : floats     ? "store_pair"
                              : "store_two",
                 slot_text(emit, step.output), threads, 4 * at_once, moved);
}

void take_hand_over(EmitContext& emit, const Step& step, std::size_t input) {
  const Place& p = step.inputs[input];
  const int words = emit.tiles.words_of(step, p.value), skipped = step.piece.number * words, threads = 32 * emit.role->warps;
  const bool pieces = emit.tiles.pieces_of(step, p.value) > 1 && skipped > 0;
  const int at_once = handed_words(emit, p.value);
  emit.text.line("{} taken{}[{}];", emit.tiles.type_of(p.value), input, words);
  emit.text.raw("#pragma unroll");
  if (at_once == 1)
    return emit.text.line("for (int r = 0; r < {}; ++r) load_word({} + ({}r * {} + tid) * 4, taken{}[r]);", words, slot_text(emit, p),
                          pieces ? fmt::format("{} + ", skipped * threads) : "", threads, input);
  const bool floats = !emit.tiles.values[p.value].packed;
  const std::string at = fmt::format("{} + ({}r * {} + tid) * {}", slot_text(emit, p),
                                     pieces ? fmt::format("{} + ", skipped / at_once * threads) : "", threads, 4 * at_once);
  const auto word = [&](int k) { return fmt::format("taken{}[{} * r{}]", input, at_once, k > 0 ? fmt::format(" + {}", k) : ""); };
  if (at_once == 2)
    return emit.text.line("for (int r = 0; r < {}; ++r) {}({}, {}, {});", words / 2, floats ? "load_words" : "load_two", at, word(0),
                          word(1));
  if (!floats)
    return emit.text.line("for (int r = 0; r < {}; ++r) load_words({}, {}, {}, {}, {});", words / 4, at, word(0), word(1), word(2),
                          word(3));
  emit.text.line("for (int r = 0; r < {}; ++r) {{", words / 4);
  emit.text.raw("  u32 bits[4];");
  emit.text.line("  load_words({}, bits[0], bits[1], bits[2], bits[3]);", at);
  emit.text.line("  for (int k = 0; k < 4; ++k) taken{}[4 * r + k] = __uint_as_float(bits[k]);", input);
  emit.text.raw("}");
}

}  // namespace heddle::codegen
