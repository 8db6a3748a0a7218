// cuDNN 9, opened at run time: the few functions of its graph interface, and the numbers that name its descriptors and their
// attributes, declared here as its documentation has them (cudnn_graph.h of cuDNN 9.19; numbers do not change within a major
// version, newer ones say since when they exist), so that the program builds and starts without it.
//
// Everything in that interface is a descriptor: made with a kind, given attributes, finished; operations refer to tensors, a graph
// to operations, heuristics to a graph, an execution plan to an engine that the heuristics recommend.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "codegen/run/driver.h"
#include "core/base/result.h"

namespace heddle::codegen::cudnn {

using Handle = struct OpaqueCudnn*;
using Descriptor = void*;

struct Api {
  std::size_t (*version)() = nullptr;  ///< 91900 is 9.19.0
  int (*create)(Handle*) = nullptr;
  int (*set_stream)(Handle, cuda::Stream) = nullptr;
  const char* (*status_name)(int) = nullptr;
  void (*last_error)(char*, std::size_t) = nullptr;
  int (*make)(int kind, Descriptor*) = nullptr;
  int (*destroy)(Descriptor) = nullptr;
  int (*finish)(Descriptor) = nullptr;
  int (*set)(Descriptor, int attribute, int type, std::int64_t count, const void*) = nullptr;
  int (*get)(Descriptor, int attribute, int type, std::int64_t wanted, std::int64_t* count, void*) = nullptr;
  int (*execute)(Handle, Descriptor plan, Descriptor pack) = nullptr;

  /// "cuDNN 9.19.0"
  std::string name() const;
  /// "CUDNN_STATUS_NOT_SUPPORTED (the reason that it gives, if it does)"
  std::string says(int status) const;
  /// The reason that it gave last, in its own words; empty where there is none.
  std::string reason() const;
};
inline constexpr std::size_t kOldest = 90000;

/// HEDDLE_CUDNN names the library, else libcudnn.so.9. Environment errors: not installed, incomplete, older than 9.0.
Result<Api> open_api();

// Kinds of descriptors.
inline constexpr int kPointwise = 0, kEngineConfig = 3, kHeuristics = 4, kExecutionPlan = 5, kPointwiseOperation = 13, kOperationGraph = 15,
                     kVariantPack = 16, kTensor = 17;
inline constexpr int kMatmul = 18, kMatmulOperation = 19, kReduction = 21, kReductionOperation = 22;
inline constexpr int kDeviceProperties = 38;  ///< since 9.8
inline constexpr int kSdpaForward = 41;       ///< since 9.13

// Types of attributes.
inline constexpr int kHandleType = 0, kDataTypeType = 1, kBooleanType = 2, kInt64Type = 3, kPointerType = 6, kHeuristicModeType = 8,
                     kPointwiseModeType = 14;
inline constexpr int kDescriptorType = 15, kReductionType = 18, kCharType = 24;

// Attributes.
inline constexpr int kPointwiseMode = 0, kPointwisePrecision = 1, kPointwiseAxis = 9;
inline constexpr int kHeuristicsMode = 200, kHeuristicsGraph = 201, kHeuristicsResults = 202, kHeuristicsDevice = 204;
inline constexpr int kPlanHandle = 400, kPlanEngineConfig = 401, kPlanWorkspace = 402, kPlanDevice = 407;
inline constexpr int kPointwiseOf = 750, kPointwiseX = 751, kPointwiseB = 752, kPointwiseY = 753, kPointwiseT = 758;
inline constexpr int kGraphHandle = 800, kGraphOperations = 801;
inline constexpr int kTensorAlignment = 900, kTensorType = 901, kTensorExtents = 902, kTensorStrides = 903, kTensorId = 906,
                     kTensorVirtual = 907, kTensorByValue = 908;
inline constexpr int kPackIds = 1000, kPackPointers = 1001, kPackWorkspace = 1003;
inline constexpr int kMatmulPrecision = 1500, kMatmulA = 1520, kMatmulB = 1521, kMatmulC = 1522, kMatmulOf = 1523;
inline constexpr int kReductionOperator = 1600, kReductionPrecision = 1601, kReductionX = 1610, kReductionY = 1611, kReductionOf = 1612;
inline constexpr int kDeviceJson = 2702;
inline constexpr int kSdpaQ = 2800, kSdpaK = 2801, kSdpaV = 2802, kSdpaO = 2803, kSdpaScale = 2805;

// Values.
inline constexpr int kFloat = 0, kHalf = 2, kInt32 = 4, kBf16 = 9, kBool = 11;
inline constexpr int kAdd = 0, kMul = 1, kDiv = 6, kSub = 9, kExp = 13, kLog = 15, kCompareGe = 303, kIndex = 501, kSelect = 601;
inline constexpr int kReduceAdd = 0, kReduceMax = 3;
inline constexpr int kRecommended = 3, kFallback = 2;  ///< modes of the heuristics: A, and engines for what it knows none for

/// The descriptors of one graph, which live as long as it does. The first call that fails is kept, and those after it do nothing.
class Maker {
 public:
  explicit Maker(const Api& api) : api_(api) {}
  ~Maker();
  Maker(const Maker&) = delete;
  Maker& operator=(const Maker&) = delete;

  const Api& api() const { return api_; }
  Descriptor make(int kind);
  Maker& set(Descriptor to, int attribute, const std::vector<std::int64_t>& values);
  Maker& set(Descriptor to, int attribute, const std::vector<Descriptor>& values, int type = kDescriptorType);
  Maker& set_flag(Descriptor to, int attribute);
  /// Values of an enumeration of the interface, and their type.
  Maker& set_word(Descriptor to, int attribute, int type, int value);
  Maker& set_text(Descriptor to, int attribute, const std::string& text);
  Descriptor finish(Descriptor what);

  bool good() const { return failure_.empty(); }
  /// What went wrong; forgets it.
  std::string take_failure();

 private:
  void check(int status);
  Api api_;
  std::vector<Descriptor> owned_;
  std::string failure_;
};

}  // namespace heddle::codegen::cudnn
