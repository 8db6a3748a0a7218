// Emitted kernels as PTX, with the launch of a few tiles: what heddle check judges of kernels of our own.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "codegen/emit/emit.h"
#include "codegen/program/build.h"
#include "ptx/launch/launch.h"
#include "tests/codegen/fixture.h"

namespace heddle::test {

/// A kernel at sizes that one cluster goes through in a moment: a few tiles one after the other, and trips that are no multiple of the
/// stages, so that rings wrap at another place in each tile.
struct SmallKernel {
  std::string name;
  Scope sizes;
  std::string schedule{};  ///< of the repository; empty: the one that lies with the tests
  codegen::BuildOptions options{};
};
std::string to_string(const SmallKernel& kernel);

/// Every shipped kernel that has a text, by itself or by a schedule of kernels/schedules, in pairs too where it can be written so.
std::vector<SmallKernel> small_kernels();

struct PtxKernel {
  Lowering from;
  codegen::Program program;
  codegen::Emission emission;
  ptx::Launch launch;  ///< one cluster, which works through all tiles
  std::string text;    ///< PTX with line information
};

/// At its sizes, by its schedule.
Lowering lowering_of(const SmallKernel& kernel);
/// Of a program that may have been changed; what is refused or does not compile fails the test. Nothing where there is no nvcc, which is
/// said once.
std::optional<PtxKernel> ptx_kernel(const Lowering& from, const codegen::Program& program);

}  // namespace heddle::test
