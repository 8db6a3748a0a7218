// A program as CUDA C++ for Hopper (sm_90a) or Blackwell (sm_100a): one self-contained text without includes, every number a literal,
// small PTX wrappers on top, then the kernel, role by role, in the order of the program's steps.
//
// Nothing from a file reaches the text but numbers and names of letters, digits and underscores: identifiers are made here,
// coordinates are written from their coefficients, and comments carry names with everything else replaced.
//
// How values lie and in which instructions they move says the problem's plan (core/layout/plan.h, which has the defaults too); nothing
// of that is decided here. Sources: PTX ISA 9.0 (wgmma register fragments, tcgen05 data path layouts, matrix and instruction descriptors,
// tensor maps); probed by compiling.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "codegen/emit/records.h"
#include "codegen/program/program.h"
#include "codegen/program/refusal.h"
#include "core/kernel/kernel.h"
#include "core/problem/problem.h"
#include "core/schedule/schedule.h"

namespace heddle::codegen {

/// What the host must encode with cuTensorMapEncodeTiled. Innermost dimension first. Of a tensor of 4-bit numbers: in bytes of two.
struct TensorMapPlan {
  std::size_t tensor = 0;             ///< of the kernel
  std::vector<std::int64_t> extents;  ///< of the tensor
  std::vector<std::int64_t> box;
  int swizzle = 0;                          ///< bytes of the span whose 16-byte pieces are exchanged: 128, 64, 32; 0: none
  std::vector<std::int64_t> strides{};      ///< elements between neighbours along each dimension; empty: as the extents have it
  std::vector<std::string> extent_texts{};  ///< with sizes at run time: the extents as C over the kernel's parameters (RunTimeSizes)
  bool operator==(const TensorMapPlan&) const = default;
};

/// A 32-bit int of the text's `struct Sizes`.
struct SizeField {
  std::string name;
  std::string formula;  ///< C over the kernel's parameters, in 64 bits; may call ceil_div, min and max
  bool operator==(const SizeField&) const = default;
};

/// What must hold of the sizes: a host refuses to start the kernel with others.
struct SizeCondition {
  std::string formula;   ///< C as in SizeField; holds where it is not 0
  std::string sentence;  ///< what holds then: "contiguous rows of A are multiples of 16 bytes"
  /// A tensor of the kernel whose strides follow from its extents: where a caller gives them, they must be multiples of 16 bytes instead.
  std::optional<std::size_t> rows_of{};
  bool operator==(const SizeCondition&) const = default;
};

/// A number that the caller may choose (core/kernel/scalars.h), from kLeastScalar to kMostScalar.
struct RunTimeScalar {
  std::string name;
  double standard = 1;  ///< where it is not given
  bool operator==(const RunTimeScalar&) const = default;
};

/// A float of the text's `struct Sizes`, behind its ints.
struct ScalarField {
  std::string name;
  std::size_t scalar = 0;  ///< of RunTimeSizes::scalars
  double factor = 1;       ///< the field is the scalar times this, rounded once
  bool operator==(const ScalarField&) const = default;
};

/// What a text takes as an argument where its schedule does not depend on it, so that one text serves every size.
struct RunTimeSizes {
  std::vector<std::string> params;  ///< of the kernel: the caller chooses them, all others are literals of the text
  std::vector<SizeField> fields;    ///< of `struct Sizes`, in its order
  std::string tiles;                ///< C as in SizeField: LaunchPlan::tiles
  /// In this order: where one does not hold, formulas of later ones, of `fields` and of `tiles` may divide by 0 or leave 64 bits.
  std::vector<SizeCondition> conditions{};
  std::vector<RunTimeScalar> scalars{};
  std::vector<ScalarField> numbers{};  ///< of `struct Sizes`, in its order
  bool operator==(const RunTimeSizes&) const = default;
};

/// How the kernel is started. Arguments: the maps, then the pointers, in this order, then the sizes where it takes them at run time; a
/// recording build takes its memory last.
struct LaunchPlan {
  std::string entry = "heddle_kernel";
  int threads = 0;
  int cluster = 1;  ///< blocks per cluster, as the text says it too: the grid is a multiple of it
  std::int64_t smem_bytes = 0;
  std::int64_t tiles = 1;  ///< blocks beyond this have nothing to do; one per SM is right
  std::vector<TensorMapPlan> maps;
  std::vector<std::size_t> pointers;    ///< tensors that threads read or write themselves, by plain loads and stores
  std::optional<RunTimeSizes> sizes{};  ///< absent: all sizes are literals of the text
};

/// Lines of the text that are one step of one role. Spans are in the order of the text and do not overlap; what is in none
/// of them (wrappers, barrier set-up, loop heads, cursors) belongs to no op.
struct SourceSpan {
  int first_line = 0, last_line = 0;  ///< 1-based, both included
  std::size_t role = 0;               ///< of the program
  OpRef op;
  StepKind kind = StepKind::Compute;
  Section::Part part = Section::Part::Steady;
  std::int64_t iteration = 0;  ///< in the steady loop, of its first pass; 0 before it
  int stage = 0;               ///< of the schedule
  Cycle slot = -1;             ///< of the schedule; -1: not in it
};

struct Emission {
  std::string source;
  LaunchPlan launch;
  std::vector<SourceSpan> lines;
  std::optional<RecordPlan> records;  ///< of a recording build
};

struct EmitResult {
  std::optional<Emission> emission;  ///< absent exactly when there are refusals
  std::vector<Refusal> refusals;
};

EmitResult emit_cuda(const Kernel& kernel, const Problem& problem, const Schedule& schedule, const Program& program,
                     Recording recording = Recording::None);

}  // namespace heddle::codegen
