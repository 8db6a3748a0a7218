// Registration of operators, as PyTorch's macros have it: what a package says is kept, and a program asks for it.
#pragma once

#include <any>

#include "ATen/ATen.h"

namespace torch {

/// Of all libraries, by name: schemas ("gemm(Tensor A, ...)") and the functions for CUDA.
struct Registered {
  std::map<std::string, std::string> schemas;
  std::map<std::string, std::any> functions;
};
inline Registered& registered() {
  static Registered all;
  return all;
}

struct Library {
  void def(const std::string& schema, const std::vector<at::Tag>&) { registered().schemas[schema.substr(0, schema.find('('))] = schema; }
  template <class Function>
  void impl(const char* name, Function function) {
    registered().functions[name] = function;
  }
};

struct AtStart {
  explicit AtStart(void (*say)(Library&)) {
    Library library;
    say(library);
  }
};

}  // namespace torch

#define TORCH_LIBRARY_FRAGMENT(space, name)                         \
  static void schemas_of_##space(torch::Library&);                  \
  static const torch::AtStart at_start_##space(schemas_of_##space); \
  static void schemas_of_##space(torch::Library& name)
#define TORCH_LIBRARY_IMPL(space, key, name)                                    \
  static void functions_of_##space##key(torch::Library&);                       \
  static const torch::AtStart at_start_##space##key(functions_of_##space##key); \
  static void functions_of_##space##key(torch::Library& name)
