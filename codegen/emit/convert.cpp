// Registers of one type into registers of another, group by group: as many elements as the narrower type has in a register.
#include <algorithm>
#include <optional>

#include "codegen/emit/operands.h"
#include "codegen/emit/relayout.h"
#include "codegen/emit/shared_access.h"
#include "codegen/emit/tile_ops.h"
#include "core/layout/plan.h"
#include "core/layout/reader.h"

namespace heddle::codegen {
namespace {

/// As wrappers are called: "e4m3".
std::string short_name(DType type) {
  const std::string name = to_string(type);
  return name.starts_with("f8") ? name.substr(2) : name;
}

bool is_half(DType type) { return type == DType::Bf16 || type == DType::F16; }

/// Neighbours of a thread in `to` lie half a word of 4-bit numbers apart in `from`, everything else is alike.
bool are_half_words_apart(const Layout& from, const Layout& to) {
  for (const LayoutAxis axis : {LayoutAxis::Register, LayoutAxis::Lane, LayoutAxis::Warp})
    if (from.extent(axis) != to.extent(axis)) return false;
  LayoutPlace place;
  for (std::int64_t warp = 0; warp < from.extent(LayoutAxis::Warp); ++warp)
    for (std::int64_t lane = 0; lane < from.extent(LayoutAxis::Lane); ++lane)
      for (std::int64_t r = 0; r < from.extent(LayoutAxis::Register); ++r) {
        place[LayoutAxis::Warp] = warp, place[LayoutAxis::Lane] = lane, place[LayoutAxis::Register] = r;
        const auto one = element_at(from, place);
        place[LayoutAxis::Register] = r / 8 * 8 + r % 4 * 2 + r % 8 / 4;
        if (!one || one != element_at(to, place)) return false;
      }
  return true;
}

/// For each register of `to` the one of `from` that has its element, which is the same in all threads; nothing where it is not.
std::optional<std::vector<std::int64_t>> sources_of(const Layout& from, const Layout& to) {
  const LayoutReader elements(to);
  const PlaceReader places(from);
  std::vector<std::int64_t> sources;
  bool same = true;
  for (std::int64_t r = 0; r < to.extent(LayoutAxis::Register); ++r) {
    std::optional<std::int64_t> source;
    for (std::int64_t t = 0; t < to.extent(LayoutAxis::Lane) * to.extent(LayoutAxis::Warp); ++t) {
      LayoutPlace place;
      place[LayoutAxis::Register] = r, place[LayoutAxis::Lane] = t % kWarpLanes, place[LayoutAxis::Warp] = t / kWarpLanes;
      const std::int64_t element = elements.element(place);
      bool found = false;
      if (element >= 0)
        places.each(element, [&](const LayoutPlace& held) {
          if (held[LayoutAxis::Lane] != place[LayoutAxis::Lane] || held[LayoutAxis::Warp] != place[LayoutAxis::Warp]) return;
          found = found || !source || *source == held[LayoutAxis::Register];
          if (!source) source = held[LayoutAxis::Register];
        });
      same = same && found;
    }
    sources.push_back(source.value_or(0));
  }
  return same ? std::optional(std::move(sources)) : std::nullopt;
}

/// How a group of `count` elements, the first of them in register `first` of `from`, is read as f32: lines before, then a text for each.
std::vector<std::string> take_group(EmitContext& emit, DType type, const std::string& from, const std::string& first, int count) {
  std::vector<std::string> texts;
  const int per = 32 / bits_of(type);
  const std::string name = short_name(type);
  for (int w = 0; w < count / per; ++w) {
    const std::string word = fmt::format("{}[{}{}]", from, first, w > 0 ? fmt::format(" + {}", w) : "");
    const auto pairs = [&](const std::string& of, std::initializer_list<const char*> registers) {
      for (const char* r : registers)
        for (const char* half : {"low", "high"}) texts.push_back(fmt::format("{}_{}({}{})", half, of, r, w));
    };
    if (per == 1) {
      texts.push_back(word);
    } else if (is_half(type)) {
      for (const char* half : {"low", "high"}) texts.push_back(fmt::format("{}_{}({})", half, name, word));
    } else if (is_byte_float(type)) {
      emit.text.line("u32 a{0}, b{0};", w);
      emit.text.line("f16_of_{}({}, a{}, b{});", name, word, w, w);
      pairs("f16", {"a", "b"});
    } else if (type == DType::I4) {
      emit.text.line("u32 a{0}, b{0}, c{0}, d{0};", w);
      emit.text.line("bf16_of_i4({0}, a{1}, b{1}, c{1}, d{1});", word, w);
      pairs("bf16", {"a", "b", "c", "d"});
    } else {
      for (int k = 0; k < 4; ++k) texts.push_back(fmt::format("f32_of_i8({}, {})", word, k));
    }
  }
  return texts;
}

}  // namespace

void write_convert(EmitContext& emit, const Step& step, const TileOp& op) {
  const TiledValue& out = emit.tiles.values[step.output.value];
  const TiledValue& in = emit.tiles.values[step.inputs.at(0).value];
  const DType type = emit.kernel.values[step.inputs[0].value].dtype, made = emit.kernel.values[step.output.value].dtype;
  const int group = std::max(in.per_register, out.per_register);
  if (!in.layout || !out.layout || in.layout->kind != out.layout->kind || in.layout->elements != out.layout->elements ||
      in.layout->elements % std::max(group, 2) != 0)
    return emit.refuse("convert", op, fmt::format("'{}' does not convert registers into registers of the same shape", op.name));
  if (type != made && made == DType::I4)
    return emit.refuse("convert", op, fmt::format("'{}' makes numbers of 4 bits, which can be read only", op.name));
  // Where registers lie otherwise afterwards, the type changes first, where they are.
  const Layout *is = emit.tiles.layout_of(step.inputs[0].value), *wanted = emit.tiles.layout_of(step.output.value);
  const bool differs =
      is && wanted && emit.tiles.plan->values[step.inputs[0].value].text != emit.tiles.plan->values[step.output.value].text;
  const bool halves = differs && type == DType::I4 && is_half(made) && are_half_words_apart(*is, *wanted);
  const OpPlan* planned = emit.tiles.plan ? emit.tiles.plan->find(op.name) : nullptr;  // ops of one name in two lists have one plan
  const bool renames = differs && type == DType::F32 && type != made && planned && planned->change &&
                       planned->change->kind == ConversionClass::Rename && planned->change->bits == 32 &&
                       planned->change->from == step.inputs[0].value && planned->change->to == step.output.value;
  const bool moves = differs && !halves && !renames;
  const auto refused = [&](const std::string& why) {
    emit.refuse("convert", op,
                fmt::format("'{}' makes registers that lie as \"{}\" of registers that lie as \"{}\": {}", op.name,
                            emit.tiles.plan->values[step.output.value].text, emit.tiles.plan->values[step.inputs[0].value].text, why));
  };
  const std::string from = input_array(emit, step, 0), result = begin_result(emit, step), to = moves ? "lying" : result,
                    name = short_name(made);
  const int words = emit.tiles.words_of(step, step.output.value), elements = emit.tiles.elements_of(step, step.output.value);
  if (moves) emit.text.line("{} lying[{}];", emit.tiles.type_of(step.output.value), words);
  if (renames) {
    const auto sources = sources_of(*is, *wanted);
    if (!sources || sources->size() % static_cast<std::size_t>(out.per_register) != 0) return refused("threads take other registers");
    for (std::size_t w = 0; w * static_cast<std::size_t>(out.per_register) < sources->size(); ++w) {
      std::string list;
      for (int k = 0; k < out.per_register; ++k)
        list += fmt::format("{}{}[{}]", k > 0 ? ", " : "", from,
                            (*sources)[w * static_cast<std::size_t>(out.per_register) + static_cast<std::size_t>(k)]);
      emit.text.line("{}[{}] = pack_{}({});", to, w, name, list);
    }
    return end_result(emit, step);
  }
  emit.text.raw("#pragma unroll");
  if (type == made) {
    emit.text.line("for (int e = 0; e < {}; ++e) {}[e] = {}[e];", words, to, from);
  } else if (is_half(made) && type == DType::F32) {
    emit.text.line("for (int e = 0; e < {0}; ++e) {1}[e] = pack_{3}({2}[2 * e], {2}[2 * e + 1]);", words, to, from, name);
  } else if (is_half(type) && made == DType::F32) {
    emit.text.line("for (int e = 0; e < {0}; ++e) {1}[2 * e] = low_{3}({2}[e]), {1}[2 * e + 1] = high_{3}({2}[e]);", elements / 2, to, from,
                   short_name(type));
  } else if (made == DType::F16 && (is_byte_float(type) || type == DType::I8)) {
    emit.text.line("for (int e = 0; e < {0}; ++e) f16_of_{3}({2}[e], {1}[2 * e], {1}[2 * e + 1]);", elements / 4, to, from,
                   short_name(type));
  } else if (is_half(made) && type == DType::I4) {
    emit.text.line("for (int e = 0; e < {0}; ++e) {3}_of_i4{4}({2}[e], {1}[4 * e], {1}[4 * e + 1], {1}[4 * e + 2], {1}[4 * e + 3]);",
                   elements / 8, to, from, name, halves ? "_halves" : "");
  } else {
    emit.text.open("for (int e = 0; e < {}; ++e) {{", elements / group);
    const auto index = [](const std::string& of, int per) { return per == 1 ? of : fmt::format("{} * {}", per, of); };
    const std::vector<std::string> texts = take_group(emit, type, from, index("e", group / in.per_register), group);
    for (int w = 0; w < group / out.per_register; ++w) {
      std::string list;
      for (int k = 0; k < out.per_register; ++k) list += (k > 0 ? ", " : "") + texts[static_cast<std::size_t>(w * out.per_register + k)];
      emit.text.line("{}[{}{}] = {};", to, index("e", group / out.per_register), w > 0 ? fmt::format(" + {}", w) : "",
                     out.per_register == 1 ? list : fmt::format("pack_{}({})", name, list));
    }
    emit.text.close();
  }
  if (moves) {
    // Ops of one name in two lists have one plan.
    const OpPlan* plan = emit.tiles.plan->find(op.name);
    if (plan && plan->scratch_bytes > 0 && plan->accesses.at(0).registers == step.inputs[0].value &&
        plan->accesses[0].value == step.output.value) {
      emit.text.line("// {}", to_string(ConversionClass::SharedMemory));
      write_through_scratch(emit, step, op, to, result);
    } else {
      if (emit.tiles.pieces_of(step, step.output.value) > 1)
        return refused("it holds a piece of its tile at a time, and only whole tiles are changed so");
      const RelayoutText text = relayout_text(*is, *wanted, bits_of(made), {to, result, emit.tiles.type_of(step.output.value)});
      if (!text.refusal.empty()) return refused(text.refusal);
      emit.text.line("// {}", to_string(text.kind));
      for (const std::string& each : text.lines) emit.text.raw(each);
    }
  }
  end_result(emit, step);
}

}  // namespace heddle::codegen
