#include "ptx/text/module.h"

#include <algorithm>
#include <array>

namespace heddle::ptx {

namespace {

struct ScalarRow {
  std::string_view word;
  Scalar type;
  int bits;
  char kind;  ///< 'f' float, 's' signed, 'u' unsigned, 'b' bits
};

constexpr std::array kScalars = {
    ScalarRow{"none", Scalar::None, 0, 'b'},
    ScalarRow{"pred", Scalar::Pred, 1, 'b'},
    ScalarRow{"b8", Scalar::B8, 8, 'b'},
    ScalarRow{"b16", Scalar::B16, 16, 'b'},
    ScalarRow{"b32", Scalar::B32, 32, 'b'},
    ScalarRow{"b64", Scalar::B64, 64, 'b'},
    ScalarRow{"b128", Scalar::B128, 128, 'b'},
    ScalarRow{"u8", Scalar::U8, 8, 'u'},
    ScalarRow{"u16", Scalar::U16, 16, 'u'},
    ScalarRow{"u32", Scalar::U32, 32, 'u'},
    ScalarRow{"u64", Scalar::U64, 64, 'u'},
    ScalarRow{"s8", Scalar::S8, 8, 's'},
    ScalarRow{"s16", Scalar::S16, 16, 's'},
    ScalarRow{"s32", Scalar::S32, 32, 's'},
    ScalarRow{"s64", Scalar::S64, 64, 's'},
    ScalarRow{"f16", Scalar::F16, 16, 'f'},
    ScalarRow{"f16x2", Scalar::F16x2, 32, 'f'},
    ScalarRow{"bf16", Scalar::Bf16, 16, 'f'},
    ScalarRow{"bf16x2", Scalar::Bf16x2, 32, 'f'},
    ScalarRow{"f32", Scalar::F32, 32, 'f'},
    ScalarRow{"f32x2", Scalar::F32x2, 64, 'f'},
    ScalarRow{"f64", Scalar::F64, 64, 'f'},
    ScalarRow{"tf32", Scalar::Tf32, 32, 'f'},
    ScalarRow{"e4m3", Scalar::E4m3, 8, 'f'},
    ScalarRow{"e5m2", Scalar::E5m2, 8, 'f'},
    ScalarRow{"e4m3x2", Scalar::E4m3x2, 16, 'f'},
    ScalarRow{"e5m2x2", Scalar::E5m2x2, 16, 'f'},
    ScalarRow{"e2m1", Scalar::E2m1, 4, 'f'},
    ScalarRow{"e2m1x2", Scalar::E2m1x2, 8, 'f'},
    ScalarRow{"e2m3", Scalar::E2m3, 6, 'f'},
    ScalarRow{"e3m2", Scalar::E3m2, 6, 'f'},
    ScalarRow{"ue8m0", Scalar::Ue8m0, 8, 'f'},
    ScalarRow{"ue8m0x2", Scalar::Ue8m0x2, 16, 'f'},
};

/// Rows stand in the order of the enumeration.
constexpr bool in_order() {
  for (std::size_t i = 0; i < kScalars.size(); ++i) {
    if (static_cast<std::size_t>(kScalars[i].type) != i) return false;
  }
  return true;
}
static_assert(in_order());

const ScalarRow& row_of(Scalar type) { return kScalars[static_cast<std::size_t>(type)]; }

}  // namespace

Scalar scalar_of(std::string_view word) {
  if (word.size() < 2 || word.size() > 7) return Scalar::None;
  for (const ScalarRow& row : kScalars) {
    if (row.word == word) return row.type;
  }
  return Scalar::None;
}

int bits_of(Scalar type) { return row_of(type).bits; }
bool is_float(Scalar type) { return row_of(type).kind == 'f'; }
bool is_signed(Scalar type) { return row_of(type).kind == 's'; }

bool PtxInstruction::has(std::string_view word) const { return std::find(words.begin(), words.end(), word) != words.end(); }

const PtxFunction* PtxModule::find(std::string_view name) const {
  for (const PtxFunction& function : functions) {
    if (function.name == name) return &function;
  }
  return nullptr;
}

}  // namespace heddle::ptx
