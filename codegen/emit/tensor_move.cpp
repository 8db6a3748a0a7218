#include "codegen/emit/tensor_move.h"

#include <fmt/format.h>

namespace heddle::codegen {

namespace {

/// "%1, %2, ...", some to a line of the asm's text.
std::string column_operands(int first, int count) {
  std::string text;
  for (int i = 0; i < count; ++i)
    text += fmt::format("{}%{}{}", i > 0 && i % 16 == 0 ? "\"\n      \"" : "", first + i, i + 1 < count ? ", " : "");
  return text;
}

std::string column_registers(const char* constraint, int count) {
  std::string text;
  for (int i = 0; i < count; ++i)
    text += fmt::format("{}\"{}\"(r[At + {}]){}", i > 0 && i % 8 == 0 ? "\n        " : "", constraint, i, i + 1 < count ? ", " : "");
  return text;
}

std::string typed_load_text(int n, const char* type, const char* constraint) {
  return fmt::format(
      "template <int At, int M> DEVICE void tensor_load_n{0}(u32 from, {1} (&r)[M]) {{\n"
      "  asm volatile(\"tcgen05.ld.sync.aligned.32x32b.x{0}.b32\\n\"\n      \"{{{2}}}, [%{0}];\"\n      : {3}\n      : \"r\"(from));\n}}\n",
      n, type, column_operands(0, n), column_registers(constraint, n));
}

std::string typed_store_text(int n, const char* type, const char* constraint) {
  return fmt::format(
      "template <int At, int M> DEVICE void tensor_store_n{0}(u32 to, const {1} (&r)[M]) {{\n"
      "  asm volatile(\"tcgen05.st.sync.aligned.32x32b.x{0}.b32 [%0],\\n\"\n      \"{{{2}}};\"\n      ::\"r\"(to),\n        {3}\n      : "
      "\"memory\");\n}}\n",
      n, type, column_operands(1, n), column_registers(constraint, n));
}

}  // namespace

std::string tensor_load_text(int n) {
  return fmt::format("/// {} columns of this thread's lane.\n", n) + typed_load_text(n, "float", "=f") + typed_load_text(n, "u32", "=r");
}

std::string tensor_store_text(int n) {
  return fmt::format("/// {} columns of this thread's lane.\n", n) + typed_store_text(n, "float", "f") + typed_store_text(n, "u32", "r");
}

}  // namespace heddle::codegen
