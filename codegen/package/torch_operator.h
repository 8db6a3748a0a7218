// A kernel's tensors and sizes as PyTorch has them: names of arguments, types, where a size is read off a shape, and the operator's schema.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/package/package.h"

namespace heddle::codegen {

/// A type as C++ and Python of PyTorch call it. Two 4-bit numbers are a Byte.
struct TorchType {
  const char* scalar;  ///< "BFloat16": c10::toString, and at::k...
  const char* python;  ///< "torch.bfloat16"
  int elements = 1;    ///< of the kernel's in one of PyTorch's
};
TorchType torch_type(DType dtype);

struct TorchTensor {
  PackageTensor as;
  std::string name;                         ///< of the argument
  bool given = true;                        ///< by the caller; else the operator makes it
  bool written = false;                     ///< though it is given
  std::string words;                        ///< "[HEADS, Q_LEN, 128]"
  std::vector<std::string> python_extents;  ///< over the sizes, in elements of the kernel
  std::string packed;                       ///< "threads" or "lines": the order of its bytes; empty: row after row
};

struct TorchSize {
  std::string param;                    ///< as in formulas, and a member of heddle_K_sizes
  std::string name;                     ///< in Python
  std::optional<std::size_t> tensor{};  ///< where it is read, of the operator's tensors; none: an argument of its own
  std::size_t dimension = 0;            ///< of that tensor
  std::int64_t value = 1, small = 1;    ///< at which the kernel was made, and for tests
  bool shapes = true;                   ///< a tensor's shape depends on it
  bool optional = false;                ///< the argument may be left out: no shape says it, and no length that a tensor holds
  bool argument() const { return !tensor; }
};

/// An argument that may be left out, and then is the kernel's own.
struct TorchScalar {
  std::string member;  ///< of heddle_K_sizes
  std::string name;    ///< in Python
};

struct TorchOperator {
  std::string name;                  ///< package_name()
  std::vector<TorchTensor> tensors;  ///< those that are given, then those that are made, each in the kernel's order
  std::vector<TorchSize> sizes;      ///< arguments that may be left out are the last of those that are arguments
  std::vector<TorchScalar> scalars;  ///< arguments behind all others

  std::size_t given() const;
  /// "gemm(Tensor A, Tensor B) -> Tensor"
  std::string schema() const;
};

TorchOperator torch_operator(const PackageSubject& subject);

/// The expression as Python over those of its names that are in `variables`; all other names are numbers. It may call ceil_div, min and
/// max. Nothing where it looks up an index tensor by one of the variables.
std::optional<std::string> python_formula(const Expr& expr, const Scope& scope, const std::vector<std::string>& variables);

/// Letters, digits and underscores; no keyword of Python, and no name that the package's Python uses itself.
std::string python_name(std::string_view name);

}  // namespace heddle::codegen
