// A kernel as an operator of PyTorch: a folder that pip installs, with the CUDA package's files unchanged, an extension that calls them,
// and what torch.compile has to know. Sizes are read off the tensors' shapes, by the kernel file's own formulas.
#pragma once

#include <vector>

#include "codegen/package/package.h"

namespace heddle::codegen {

/// pyproject.toml, setup.py, README.md, csrc/ (K.cu, K.h, their README.md, shapes.h, binding.cpp), src/heddle_K/ (Python) and
/// tests/test_K.py. K is package_name().
std::vector<PackageFile> torch_package(const PackageSubject& subject);

}  // namespace heddle::codegen
