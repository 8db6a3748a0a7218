// K.h: sizes, tensors and strides as C has them.
#include <fmt/format.h>

#include "codegen/package/c_text.h"
#include "codegen/package/parts.h"

namespace heddle::codegen {
namespace {

const char* role_words(TensorRole role) {
  switch (role) {
    case TensorRole::Input: return "read";
    case TensorRole::Output: return "written";
    case TensorRole::InOut: return "added to: zeros before the first launch give the sum alone";
    case TensorRole::Index: return "read: whole numbers";
  }
  return "";
}

std::string shape_words(const PackageTensor& tensor) { return fmt::format("[{}]", fmt::join(tensor.extents, ", ")); }

std::string sizes_struct(const PackageParts& parts) {
  if (parts.sizes.empty()) return "/* All sizes are fixed: tensors say them. */\n";
  std::string members;
  for (const PackageSize& size : parts.sizes)
    members += fmt::format("  int64_t {};{}\n", size.name, size.about.empty() ? "" : fmt::format(" /* {} */", c_comment(size.about)));
  for (const PackageScalar& scalar : parts.scalars)
    members += fmt::format("  double {}; /* 0 stands for {:.9g} */\n", scalar.name, scalar.standard);
  return fmt::format("/* What a call chooses. Each size is at least 1. */\ntypedef struct heddle_{0}_sizes {{\n{1}}} heddle_{0}_sizes;\n",
                     parts.name, members);
}

}  // namespace

std::string interface_text(const PackageParts& parts) {
  std::string members, strides, contiguous;
  bool indices = false;
  for (const PackageTensor& tensor : parts.tensors) {
    members += fmt::format("  {}void* {}; /* {} {}, {}{} */\n", is_written(tensor.role) ? "" : "const ", tensor.member,
                           to_string(tensor.dtype), shape_words(tensor), role_words(tensor.role),
                           tensor.packed ? "; prepacked, in the order of place_of_... in the .cu" : "");
    strides += fmt::format("  int64_t {}[{}];\n", tensor.member, std::max<std::size_t>(tensor.extents.size(), 1));
    if (!tensor.strided) contiguous += fmt::format("{}{}", contiguous.empty() ? "" : ", ", tensor.member);
    indices = indices || tensor.role == TensorRole::Index;
  }
  Blanks blanks = parts.blanks();
  blanks.emplace_back("SIZES", sizes_struct(parts));
  blanks.emplace_back("TENSOR_COMMENT",
                      indices ? " * Index tensors must keep what the kernel file says of them: numbers of at least -1, below their bounds."
                              : " * Shapes are outermost first.");
  blanks.emplace_back("TENSOR_MEMBERS", members);
  blanks.emplace_back("STRIDE_COMMENT", contiguous.empty() ? " * Of a dimension of one element nothing is asked."
                                                           : " * These must be contiguous: " + contiguous + ".");
  blanks.emplace_back("STRIDE_MEMBERS", strides);
  blanks.emplace_back("RUN_SIZES", parts.sizes.empty() ? "" : fmt::format("const heddle_{}_sizes* sizes, ", parts.name));
  return filled("interface.h.in", blanks);
}

}  // namespace heddle::codegen
