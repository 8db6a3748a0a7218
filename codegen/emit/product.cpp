#include "codegen/emit/product.h"

#include <fmt/format.h>

namespace heddle::codegen {

std::string product_name(const ProductShape& shape) {
  return fmt::format("product_n{}_{}{}{}{}", shape.n, shape.a_registers ? "rs" : "ss", shape.a_mn_major ? "_ta" : "",
                     shape.b_mn_major ? "_t" : "", shape.f16 ? "_f16" : "");
}

std::string product_text(const ProductShape& shape) {
  const int count = shape.n / 2;
  const char* type = shape.f16 ? "f16" : "bf16";
  std::string text = fmt::format("/// D += A B, m64n{}k16; `add` 0: D = A B.\nDEVICE void {}(float (&d)[{}], {}, u64 b, int add) {{\n",
                                 shape.n, product_name(shape), count, shape.a_registers ? "u32 a0, u32 a1, u32 a2, u32 a3" : "u64 a");
  const int a = count, b = shape.a_registers ? a + 4 : a + 1, p = b + 1;
  text += fmt::format("  asm volatile(\"{{ .reg .pred p; setp.ne.b32 p, %{}, 0;\\n\"\n", p);
  text += fmt::format("      \"wgmma.mma_async.sync.aligned.m64n{}k16.f32.{}.{}\\n\"\n      \"{{", shape.n, type, type);
  for (int i = 0; i < count; ++i) {
    if (i > 0 && i % 16 == 0) text += "\"\n      \"";
    text += fmt::format("%{}{}", i, i + 1 < count ? "," : "");
  }
  if (shape.a_registers)
    text += fmt::format("}},\\n\"\n      \"{{%{}, %{}, %{}, %{}}}, %{}, p, 1, 1, {}; }}\"\n", a, a + 1, a + 2, a + 3, b,
                        shape.b_mn_major ? 1 : 0);
  else
    text += fmt::format("}},\\n\"\n      \"%{}, %{}, p, 1, 1, {}, {}; }}\"\n", a, b, shape.a_mn_major ? 1 : 0, shape.b_mn_major ? 1 : 0);
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
