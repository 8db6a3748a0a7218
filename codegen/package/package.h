// A kernel as files that a program can call: device text and host code (K.cu), a C interface (K.h), a build file, an example that checks
// and times, and a page that says what was proved. K is package_name().
//
// All of it comes from the launch plan and the kernel's tensors, as `heddle run` does (codegen/run/map_arguments.h). With sizes at run time
// (LaunchPlan::sizes) the interface takes them; else it takes none.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "codegen/emit/emit.h"
#include "codegen/program/program.h"
#include "core/kernel/kernel.h"
#include "core/problem/problem.h"
#include "core/schedule/schedule.h"

namespace heddle::codegen {

struct PackageFile {
  std::string path;  ///< below the package's folder
  std::string text;
  bool operator==(const PackageFile&) const = default;
};

/// What a package is written from. Pre: the emission is of this program, without records.
struct PackageSubject {
  const Kernel& kernel;
  const Problem& problem;
  const Schedule& schedule;
  const Program& program;
  const Emission& emission;
  std::string command;                   ///< that writes it; empty: not known
  std::vector<std::string> compilers{};  ///< what each compiler that was asked makes of the text, a sentence each
  std::optional<double> predicted_us{};  ///< of a launch at the program's sizes
  std::string why_fixed_sizes{};         ///< why a call chooses none; empty: it does, or that is not known
};

/// A tensor as the interface has it.
struct PackageTensor {
  std::size_t tensor = 0;  ///< of the kernel
  std::string member;      ///< of heddle_K_tensors and heddle_K_strides; the tensor's name but for C++'s keywords
  DType dtype = DType::F32;
  TensorRole role = TensorRole::Input;
  std::vector<std::string> extents;  ///< outermost first, C over the sizes' names (size_name()) in 64 bits: may call ceil_div, min and max
  bool strided = false;              ///< rows may lie apart; else it must be contiguous
  bool packed = false;               ///< its bytes are in the order of prepacked weights, which K.cu's place_of_... says
};

/// Lower case, with the constants of the text that the kernel file has otherwise: "attention_forward_hopper_d64". Functions and types of
/// the interface begin with heddle_K_.
std::string package_name(const PackageSubject& subject);

/// A number that the caller may choose, as a member of heddle_K_sizes.
std::string scalar_name(const std::string& scalar);

/// In the kernel's order.
std::vector<PackageTensor> package_tensors(const PackageSubject& subject);

/// K.cu, K.h, CMakeLists.txt, example.cpp, README.md.
std::vector<PackageFile> cuda_package(const PackageSubject& subject);

}  // namespace heddle::codegen
