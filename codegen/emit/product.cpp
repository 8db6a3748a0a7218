#include "codegen/emit/product.h"

#include <fmt/format.h>

namespace heddle::codegen {

namespace {

/// As PTX names it.
const char* ptx_type(DType type) {
  switch (type) {
    case DType::F16: return "f16";
    case DType::F8e4m3: return "e4m3";
    case DType::F8e5m2: return "e5m2";
    default: return "bf16";
  }
}

}  // namespace

bool makes_product(DType a, DType b) { return is_byte_float(a) ? is_byte_float(b) : a == b && (a == DType::Bf16 || a == DType::F16); }

std::string product_name(const ProductShape& shape) {
  const std::string types = shape.a == DType::Bf16 ? std::string() : std::string("_") + ptx_type(shape.a);
  return fmt::format("product_n{}_{}{}{}{}{}", shape.n, shape.a_registers ? "rs" : "ss", shape.a_mn_major ? "_ta" : "",
                     shape.b_mn_major ? "_t" : "", types, shape.a == shape.b ? std::string() : std::string("_") + ptx_type(shape.b));
}

std::string product_text(const ProductShape& shape) {
  const int count = shape.n / 2;
  std::string text =
      fmt::format("/// D += A B, m64n{}k{}; `add` 0: D = A B.\nDEVICE void {}(float (&d)[{}], {}, u64 b, int add) {{\n", shape.n,
                  shape.depth(), product_name(shape), count, shape.a_registers ? "u32 a0, u32 a1, u32 a2, u32 a3" : "u64 a");
  const int a = count, b = shape.a_registers ? a + 4 : a + 1, p = b + 1;
  text += fmt::format("  asm volatile(\"{{ .reg .pred p; setp.ne.b32 p, %{}, 0;\\n\"\n", p);
  text += fmt::format("      \"wgmma.mma_async.sync.aligned.m64n{}k{}.f32.{}.{}\\n\"\n      \"{{", shape.n, shape.depth(),
                      ptx_type(shape.a), ptx_type(shape.b));
  for (int i = 0; i < count; ++i) {
    if (i > 0 && i % 16 == 0) text += "\"\n      \"";
    text += fmt::format("%{}{}", i, i + 1 < count ? "," : "");
  }
  // Only numbers of 16 bits may be stored the other way round.
  const std::string a_major = is_byte_float(shape.a) ? "" : fmt::format(", {}", shape.a_mn_major ? 1 : 0);
  const std::string b_major = is_byte_float(shape.a) ? "" : fmt::format(", {}", shape.b_mn_major ? 1 : 0);
  if (shape.a_registers)
    text += fmt::format("}},\\n\"\n      \"{{%{}, %{}, %{}, %{}}}, %{}, p, 1, 1{}; }}\"\n", a, a + 1, a + 2, a + 3, b, b_major);
  else
    text += fmt::format("}},\\n\"\n      \"%{}, %{}, p, 1, 1{}{}; }}\"\n", a, b, a_major, b_major);
  text += "      : ";
  for (int i = 0; i < count; ++i) {
    if (i > 0 && i % 8 == 0) text += "\n        ";
    text += fmt::format("\"+f\"(d[{}]){}", i, i + 1 < count ? ", " : "\n");
  }
  text += shape.a_registers ? "      : \"r\"(a0), \"r\"(a1), \"r\"(a2), \"r\"(a3), \"l\"(b), \"r\"(add));\n}\n"
                            : "      : \"l\"(a), \"l\"(b), \"r\"(add));\n}\n";
  return text;
}

}  // namespace heddle::codegen
