// From instructions of integers, bits and moves to the functions that carry them out.
#include "ptx/run/lane_functions.h"

namespace heddle::ptx {

namespace lanes {
namespace {

struct NumberType {
  int bits = 0;
  char kind = 0;  ///< s u b p
  bool pairs = false;
};
NumberType type_of(std::string_view word) {
  if (word == "pred") return {1, 'p', false};
  if (word.size() < 2 || (word[0] != 's' && word[0] != 'u' && word[0] != 'b')) return {};
  NumberType type{0, word[0], false};
  std::size_t at = 1;
  for (; at < word.size() && word[at] >= '0' && word[at] <= '9' && type.bits < 1000; ++at) type.bits = type.bits * 10 + (word[at] - '0');
  if (word.substr(at) == "x2" && type.bits == 16)
    type.pairs = true, type.bits = 32;
  else if (at != word.size())
    return {};
  if (type.bits != 8 && type.bits != 16 && type.bits != 32 && type.bits != 64) return {};
  return type;
}

bool comparison_of(std::string_view word, DecodedInstruction& d) {
  struct Row {
    std::string_view word;
    PtxComparison comparison;
    bool is_unsigned;
  };
  static constexpr Row rows[] = {{"eq", PtxComparison::Eq, false}, {"ne", PtxComparison::Ne, false}, {"lt", PtxComparison::Lt, false},
                                 {"le", PtxComparison::Le, false}, {"gt", PtxComparison::Gt, false}, {"ge", PtxComparison::Ge, false},
                                 {"lo", PtxComparison::Lt, true},  {"ls", PtxComparison::Le, true},  {"hi", PtxComparison::Gt, true},
                                 {"hs", PtxComparison::Ge, true}};
  for (const Row& row : rows)
    if (row.word == word) {
      d.comparison = row.comparison;
      if (row.is_unsigned) d.is_signed = false;
      return true;
    }
  return false;
}

BoolJoin join_of(const PtxInstruction& instruction, std::size_t from) {
  for (std::size_t i = from; i + 1 < instruction.words.size(); ++i) {
    if (instruction.words[i] == "and") return BoolJoin::And;
    if (instruction.words[i] == "or") return BoolJoin::Or;
    if (instruction.words[i] == "xor") return BoolJoin::Xor;
  }
  return BoolJoin::None;
}

bool give(DecodedInstruction& d, int count, LaneFunction function, KnownBitsFunction known = nullptr) {
  if (d.count < count) return false;
  d.function = function;
  d.known_bits = known;
  return true;
}

bool decode_compare(const PtxInstruction& i, DecodedInstruction& d) {
  if (i.words.size() < 3 || !comparison_of(i.words[1], d)) return false;
  d.join = join_of(i, 2);
  const int count = d.join == BoolJoin::None ? 2 : 3;
  if (d.join == BoolJoin::None) d.join_negated = false;
  if (i.opcode == Opcode::Setp) return give(d, count, fn_setp, known_setp);
  const std::string_view to = i.words[i.words.size() - 2];
  d.word = to == "f32" ? 0x3F800000u : 0xFFFFFFFFu;
  return give(d, count, fn_set, known_set);
}

bool decode_cvt(const PtxInstruction& i, DecodedInstruction& d) {
  if (i.words.size() < 3) return false;
  const NumberType to = type_of(i.words[i.words.size() - 2]), from = type_of(i.words.back());
  if (to.bits == 0 || from.bits == 0 || to.pairs || from.pairs) return false;
  d.from_bits = static_cast<std::int8_t>(from.bits);
  d.is_signed = from.kind == 's';
  d.bits = d.result_bits;
  d.word = static_cast<Word>(to.bits) << 1 | (to.kind == 's' ? 1 : 0);
  d.mode = i.has("sat") ? kSaturate : kLow;
  return give(d, 1, fn_cvt, known_cvt);
}

bool decode_permute(const PtxInstruction& i, DecodedInstruction& d) {
  static constexpr std::string_view modes[] = {"", "f4e", "b4e", "rc8", "ecl", "ecr", "rc16"};
  for (std::int16_t mode = 1; mode < 7; ++mode)
    if (i.has(modes[mode])) d.mode = mode;
  d.bits = 32;
  return give(d, 3, fn_prmt, known_prmt);
}

bool decode_logic(const PtxInstruction& i, DecodedInstruction& d) {
  switch (i.opcode) {
    case Opcode::And: return give(d, 2, fn_and, known_and);
    case Opcode::Or: return give(d, 2, fn_or, known_or);
    case Opcode::Xor: return give(d, 2, fn_xor, known_xor);
    case Opcode::Not: return give(d, 1, fn_not, known_not);
    case Opcode::Cnot: return give(d, 1, fn_cnot);
    case Opcode::Lop3: {
      const std::size_t at = 4;
      if (i.operands.size() <= at || i.operands[at].kind != PtxOperand::Kind::Immediate) return false;
      if (d.twin >= 0 && join_of(i, 1) == BoolJoin::None) return false;
      d.word = i.operands[at].immediate & 0xFF;
      d.join = join_of(i, 1);
      return give(d, d.join == BoolJoin::None ? 4 : 5, fn_lop3, d.join == BoolJoin::None ? known_lop3 : nullptr);
    }
    case Opcode::Shl: return give(d, 2, fn_shl, known_shl);
    case Opcode::Shr: return give(d, 2, fn_shr, known_shr);
    case Opcode::Shf: {
      d.mode = i.has("wrap") ? kWrap : kClamp;
      d.word = i.has("l") ? 1 : 0;
      d.bits = 32;
      return give(d, 3, fn_shf, known_shf);
    }
    case Opcode::Bfe: return give(d, 3, fn_bfe, known_bfe);
    case Opcode::Bfi: return give(d, 4, fn_bfi, known_bfi);
    case Opcode::Bfind: d.mode = i.has("shiftamt") ? 1 : 0; return give(d, 1, fn_bfind);
    case Opcode::Clz: return give(d, 1, fn_clz);
    case Opcode::Popc: return give(d, 1, fn_popc);
    case Opcode::Brev: return give(d, 1, fn_brev);
    case Opcode::Bmsk: d.mode = i.has("wrap") ? kWrap : kClamp; return give(d, 2, fn_bmsk);
    case Opcode::Szext: d.mode = i.has("wrap") ? kWrap : kClamp; return give(d, 2, fn_szext);
    case Opcode::Fns: return give(d, 3, fn_fns);
    default: return false;
  }
}

bool decode_sums(const PtxInstruction& i, DecodedInstruction& d) {
  switch (i.opcode) {
    case Opcode::Add: return give(d, 2, fn_add, known_add);
    case Opcode::Sub: return give(d, 2, fn_sub, known_sub);
    case Opcode::Mul: return give(d, 2, fn_mul, known_mul);
    case Opcode::Mad: return give(d, 3, fn_mad, known_mad);
    case Opcode::Mul24: return give(d, 2, fn_mul24);
    case Opcode::Mad24: return give(d, 3, fn_mad24);
    case Opcode::Div: return give(d, 2, fn_div);
    case Opcode::Rem: return give(d, 2, fn_rem);
    case Opcode::Neg: return give(d, 1, fn_neg);
    case Opcode::Abs: return give(d, 1, fn_abs);
    case Opcode::Min: return give(d, 2, fn_min);
    case Opcode::Max: return give(d, 2, fn_max);
    case Opcode::Sad: return give(d, 3, fn_sad);
    default: return false;
  }
}

}  // namespace
}  // namespace lanes

bool decode_integers(const PtxInstruction& i, DecodedInstruction& d) {
  using namespace lanes;
  if (i.words.size() < 2) return false;
  const NumberType type = type_of(i.words.back());
  if (i.opcode == Opcode::Cvt) return decode_cvt(i, d);
  if (i.opcode == Opcode::Prmt) return decode_permute(i, d);  // a mode may stand behind the type
  if (i.opcode == Opcode::Mov || i.opcode == Opcode::Selp) {
    // moves of floats are moves of bits
    const int bits = type.bits != 0 ? type.bits : bits_of(scalar_of(i.words.back()));
    if (bits <= 0 || bits > 64) return false;
    d.bits = static_cast<std::int8_t>(bits);
    if (i.opcode == Opcode::Mov) return d.count == 1 && give(d, 1, fn_mov, known_move);
    return give(d, 3, fn_selp, known_selp);
  }
  if (i.opcode == Opcode::Cvta) {
    // Addresses of all spaces are generic ones already, but where their upper half was dropped on the way (LLVM's short pointers).
    d.bits = d.result_bits;
    if (i.has("to") || d.bits != 64 || (!i.has("param") && !i.has("local"))) return give(d, 1, fn_mov, known_move);
    d.word = i.has("param") ? kParameterWindow : kLocalWindow;
    return give(d, 1, fn_cvta);
  }
  if (i.opcode == Opcode::Slct && i.words.back() == "s32" && i.words.size() > 2) {
    const int bits = bits_of(scalar_of(i.words[i.words.size() - 2]));
    d.bits = static_cast<std::int8_t>(bits);
    return bits > 0 && bits <= 64 && give(d, 3, fn_slct);
  }
  if (type.bits == 0) return false;
  d.bits = static_cast<std::int8_t>(type.bits);
  d.is_signed = type.kind == 's';
  if (i.opcode == Opcode::Setp || i.opcode == Opcode::Set) return decode_compare(i, d);
  if (i.opcode == Opcode::Dp4a || i.opcode == Opcode::Dp2a) {
    if (i.words.size() < 3) return false;
    d.word = (i.words[i.words.size() - 2] == "s32" ? 1u : 0u) | (i.words.back() == "s32" ? 2u : 0u);
    d.mode = i.has("hi") ? kHigh : kLow;
    return give(d, 3, i.opcode == Opcode::Dp4a ? fn_dp4a : fn_dp2a);
  }
  if (type.pairs) {
    if (i.opcode != Opcode::Add && i.opcode != Opcode::Min && i.opcode != Opcode::Max) return false;
    d.mode = kPairs;
  } else if (i.has("wide")) {
    d.mode = kWideProduct;
    if (type.bits > 32) return false;
  } else if (i.has("hi")) {
    d.mode = i.has("sat") ? kSaturate : kHigh;
  } else if (i.has("sat")) {
    d.mode = kSaturate;
  }
  if (i.opcode == Opcode::Min || i.opcode == Opcode::Max) d.word = i.has("relu") ? 1 : 0;
  return decode_sums(i, d) || decode_logic(i, d);
}

}  // namespace heddle::ptx
