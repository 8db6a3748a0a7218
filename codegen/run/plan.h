// Everything a child process needs to run a kernel, as one value that travels to it in one piece: machine code, launch, tensors,
// what to compare the results with, and how often to do what.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "codegen/emit/emit.h"
#include "core/base/result.h"
#include "core/records/measurement.h"

namespace heddle::codegen {

struct TensorPlan {
  std::string name;
  DType dtype = DType::F32;
  std::vector<std::int64_t> shape;
  TensorRole role = TensorRole::Input;
  int packed = 0;                       ///< core/kernel/packed.h: 1 thread by thread, 2 in lines; then it has whole blocks
  std::vector<std::int32_t> indices{};  ///< what an index tensor holds
  std::int64_t elements() const;
  std::int64_t bytes() const;
};

struct KernelPlan {
  std::string cubin;
  LaunchPlan launch;
  std::int64_t record_words = 0;  ///< of 64 bits, its last argument; 0: it is no recording build
};

/// A straightforward kernel of ours that computes an output in f32. Arguments: all inputs in the kernel's order, the output, and
/// a switch: 1 rounds every intermediate result as a plain bf16 program would.
struct ReferencePlan {
  std::string cubin, entry = "heddle_reference";
  std::size_t output = 0;    ///< of the tensors
  std::int64_t threads = 0;  ///< one per piece of work, in blocks of 256
  int slices = 1;            ///< launches; argument before the switch: which one
  std::string about;         ///< for the report
};

/// How far an element may be off.
enum class Criterion {
  Exact,      ///< bit for bit the reference rounded to the tensor's type
  Tolerance,  ///< |computed - reference| <= absolute + relative |reference|, in the root mean square below rms
  Attention   ///< FlashAttention's own tests: the largest error at most twice that of a plain bf16 program, plus rounding noise
};

struct Expected {
  std::size_t tensor = 0;
  Criterion criterion = Criterion::Tolerance;
  double relative = 0, absolute = 0, rms = 0;
  std::vector<float> values;  ///< empty: the reference kernel computes them; NaN: whatever is there will do
};

/// One set of inputs.
struct CasePlan {
  enum class Data { Integers, Random, Outliers, Given };
  std::string name;  ///< "small integers", "random" ...
  Data data = Data::Random;
  std::vector<std::vector<float>> given;  ///< per tensor, Given only: inputs, and what accumulated outputs start from
  std::vector<Expected> expected;
};

/// cuBLAS' matrix product: row-major C[m,n] = A[m,k] B[k,n] or, transposed, B[n,k].
struct LibraryGemm {
  std::size_t a = 0, b = 0, c = 0;
  std::int64_t m = 0, n = 0, k = 0;
  bool b_transposed = false;
};

/// cuDNN's attention: row-major Q and O [heads, queries, columns], K and V [heads, keys, columns], scores scaled by
/// 1 / sqrt(columns). Causal: the last query sees every key, the one before it all but the last key, and so on.
struct LibraryAttention {
  std::size_t q = 0, k = 0, v = 0, o = 0;
  std::int64_t heads = 0, queries = 0, keys = 0, columns = 0;
  bool causal = false;
};

/// What a vendor's library does on the same buffers.
using LibraryPlan = std::variant<LibraryGemm, LibraryAttention>;

struct RunPlan {
  std::string kernel, machine;
  std::string arch = "sm_90a";  ///< of all its machine code
  std::vector<TensorPlan> tensors;
  KernelPlan plain;
  std::optional<KernelPlan> loop, ops;  ///< recording builds
  std::vector<KernelPlan> micros;       ///< micro-kernels (codegen/calibrate): where there are any, only they run
  std::optional<ReferencePlan> reference;
  std::vector<CasePlan> cases;  ///< empty: results are not looked at
  std::vector<LibraryPlan> libraries;
  std::string no_library;  ///< why there are none
  std::int64_t flops = 0;
  std::uint64_t seed = 1;
  int repeats = 20;                             ///< runs on the first case's data, compared bitwise
  std::string left_out;                         ///< of the time (Timing::left_out)
  int launches = 50, warmups = 10, blocks = 7;  ///< blocks 0: no timing
  int sustained_launches = 500;                 ///< without a pause, after the blocks; 0: none
  double pause_seconds = 0.5;
};

/// "small integers", "random", "random with outlier rows"
const char* to_string(CasePlan::Data data);

std::string plan_bytes(const RunPlan& plan);
/// Faults of a plan that is cut off or not ours.
Result<RunPlan> parse_plan(std::string_view bytes);

}  // namespace heddle::codegen
