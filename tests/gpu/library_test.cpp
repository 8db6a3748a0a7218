// Vendors' libraries beside a kernel: opened, checked, timed; and everything that may be wrong with them, which never keeps the
// kernel from being timed.
#include <dlfcn.h>

#include "codegen/run/library.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <list>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "codegen/run/cudnn_attention.h"
#include "codegen/run/data.h"
#include "codegen/run/reference.h"
#include "core/answers/measurement_summary.h"
#include "core/formats/measurement_json.h"
#include "tests/gpu/fixture.h"

using namespace heddle;
using namespace heddle::codegen;
using heddle::test::FakeGpu;
using heddle::test::measured;
using heddle::test::small_attention;
using heddle::test::small_gemm;

namespace {

Measurement attention_beside(const std::string& cudnn) {
  const FakeGpu gpu("ok", cudnn);
  return measured(small_attention());
}

TensorPlan tensor_plan(const char* name, std::vector<std::int64_t> shape, TensorRole role) {
  return {name, DType::Bf16, std::move(shape), role};
}

/// Softmax of scaled scores of the keys that a query sees, times values, in double precision.
std::vector<float> attention_formula(const LibraryAttention& a, const std::vector<TensorPlan>& tensors,
                                     const std::vector<std::vector<std::uint8_t>>& data) {
  std::vector<float> result;
  const auto at = [&](std::size_t t, std::int64_t head, std::int64_t row, std::int64_t d) {
    return static_cast<double>(element(tensors[t], data[t], (head * tensors[t].shape[1] + row) * a.columns + d));
  };
  for (std::int64_t h = 0; h < a.heads; ++h)
    for (std::int64_t row = 0; row < a.queries; ++row) {
      const std::int64_t keys = a.causal ? row + a.keys - a.queries + 1 : a.keys;
      std::vector<double> p;
      double total = 0;
      for (std::int64_t j = 0; j < keys; ++j) {
        double score = 0;
        for (std::int64_t d = 0; d < a.columns; ++d) score += at(a.q, h, row, d) * at(a.k, h, j, d);
        total += p.emplace_back(std::exp(score / std::sqrt(static_cast<double>(a.columns))));
      }
      for (std::int64_t d = 0; d < a.columns; ++d) {
        double sum = 0;
        for (std::int64_t j = 0; j < keys; ++j) sum += p[static_cast<std::size_t>(j)] / total * at(a.v, h, j, d);
        result.push_back(static_cast<float>(sum));
      }
    }
  return result;
}

}  // namespace

TEST_CASE("attention is timed beside cuDNN, whose fastest right engine counts", "[gpu]") {
  const Measurement m = attention_beside("ok");
  INFO(measurement_text(m));
  CHECK(m.status == RunStatus::Verified);
  REQUIRE(m.timing.has_value());
  CHECK(m.timing->kernel.median_us == Approx(100));
  CHECK(m.timing->no_library.empty());
  REQUIRE(m.timing->libraries.size() == 1);
  const TimedLibrary& cudnn = m.timing->libraries[0];
  CHECK(cudnn.times.name == "cuDNN 9.19.0");
  CHECK(cudnn.times.median_us == Approx(90));
  CHECK(cudnn.times.blocks_us.size() == 3);
  CHECK(cudnn.times.tflops > 0);
  CHECK(cudnn.absent.empty());
  REQUIRE(cudnn.checks.size() == 1);
  CHECK(cudnn.checks[0].passed);
  CHECK(cudnn.checks[0].input == "random with outlier rows");
  CHECK(cudnn.checks[0].worst > 0);
  CHECK(*m.timing->ratio() == Approx(0.9));
  const std::string text = measurement_summary(m, TextStyle{});
  CHECK(text.find("heddle has 0.900 of its speed") != std::string::npos);
  CHECK(text.find("cuDNN 9.19.0: right by the same criteria on random with outlier rows inputs, worst O[") != std::string::npos);
}

TEST_CASE("a version without the single operation is asked for the pattern only", "[gpu]") {
  const Measurement m = attention_beside("oldest");
  INFO(measurement_text(m));
  REQUIRE(m.timing.has_value());
  REQUIRE(m.timing->libraries.size() == 1);
  CHECK(m.timing->libraries[0].times.name == "cuDNN 9.0.0");
  CHECK(m.timing->libraries[0].times.median_us == Approx(95));
  CHECK(m.timing->libraries[0].checks.at(0).passed);
}

TEST_CASE("whatever is wrong with cuDNN is one sentence, and the kernel is timed without it", "[gpu]") {
  const struct {
    const char *mode, *words;
  } cases[] = {{"old", "cuDNN 8.9 is too old; 9.0 or newer is needed"},
               {"no-start", "cuDNN 9.19.0 does not start (CUDNN_STATUS_NOT_INITIALIZED: the fake has no device)"},
               {"no-engine", "cuDNN 9.19.0 has no engine for this (the fake has nothing for it)"},
               {"no-plan", "cuDNN 9.19.0 has no engine for this (CUDNN_STATUS_NOT_SUPPORTED: the fake makes no plans)"},
               {"refuse", "cuDNN 9.19.0 does not start (CUDNN_STATUS_EXECUTION_FAILED: the fake executes nothing)"},
               {"tires", "cuDNN 9.19.0 stops working (CUDNN_STATUS_EXECUTION_FAILED: the fake executes nothing)"},
               {"wrong", "the result of cuDNN 9.19.0 is wrong"}};
  for (const auto& c : cases) {
    const Measurement m = attention_beside(c.mode);
    INFO(c.mode << ": " << measurement_text(m));
    CHECK(m.status == RunStatus::Verified);
    REQUIRE(m.timing.has_value());
    CHECK(m.timing->kernel.median_us == Approx(100));
    REQUIRE(m.timing->libraries.size() == 1);
    CHECK(m.timing->libraries[0].absent == c.words);
    CHECK(m.timing->libraries[0].times.blocks_us.empty());
    CHECK_FALSE(m.timing->ratio().has_value());
    CHECK(measurement_summary(m, TextStyle{}).find(fmt::format("not timed: {}", c.words)) != std::string::npos);
  }
}

TEST_CASE("no cuDNN, and one that lacks what is needed, are sentences", "[gpu]") {
  const FakeGpu gpu;
  Dl_info facts{};
  void* const mathematics = ::dlopen("libm.so.6", RTLD_NOW);
  REQUIRE(mathematics);
  REQUIRE(::dladdr(::dlsym(mathematics, "cbrt"), &facts) != 0);
  const struct {
    const char *place, *words;
  } cases[] = {{"/nowhere/libcudnn.so.9", "cuDNN is not installed"},
               {facts.dli_fname, "the cuDNN that is installed lacks cudnnGetVersion"},
               {"libm.so.6", "HEDDLE_CUDNN names no absolute path: libm.so.6"},
               {"./libcudnn.so.9", "HEDDLE_CUDNN names no absolute path: ./libcudnn.so.9"}};
  for (const auto& c : cases) {
    ::setenv("HEDDLE_CUDNN", c.place, 1);
    const Measurement m = measured(small_attention());
    INFO(measurement_text(m));
    CHECK(m.status == RunStatus::Verified);
    REQUIRE(m.timing.has_value());
    CHECK(m.timing->libraries.at(0).absent == c.words);
    CHECK(m.timing->libraries[0].times.name == "cuDNN");
  }
}

TEST_CASE("a library that takes the device down leaves the kernel's verdict", "[gpu]") {
  const Measurement m = attention_beside("fault");
  INFO(measurement_text(m));
  CHECK(m.status == RunStatus::Verified);
  CHECK(m.sentence ==
        "not timed: cuDNN 9.19.0 faults: CUDA_ERROR_ILLEGAL_ADDRESS (an illegal memory access was encountered) "
        "(without libraries the kernel can be timed)");
  CHECK(m.timing->kernel.blocks_us.empty());
}

TEST_CASE("cuBLAS is held to the kernel's criteria too, and need not start", "[gpu]") {
  for (const auto& [mode, words] :
       {std::pair{"cublas-wrong", "the result of cuBLAS 13.1.0 is wrong"}, {"cublas-refuse", "cuBLAS 13.1.0 does not start (status 13)"}}) {
    const FakeGpu gpu(mode);
    const Measurement m = measured(small_gemm());
    INFO(measurement_text(m));
    CHECK(m.status == RunStatus::Verified);
    CHECK(m.timing->kernel.median_us == Approx(100));
    CHECK(m.timing->libraries.at(0).absent == words);
  }
}

TEST_CASE("cuDNN's graph computes attention, with and without mask, in each of its forms", "[gpu]") {
  const FakeGpu gpu;
  std::list<std::vector<std::uint8_t>> memory;  // the fake's device is the host
  cuda::Driver driver;
  driver.allocate = [](cuda::Memory* workspace, std::size_t) { return *workspace = 4096, 0; };
  const struct {
    std::int64_t heads, queries, keys;
    bool causal;
    std::size_t forms;
  } cases[] = {{2, 24, 40, false, 2}, {1, 1, 1, false, 2}, {2, 32, 32, true, 1}, {2, 16, 40, true, 1}, {1, 1, 7, true, 1}};
  for (const auto& c : cases) {
    INFO(c.heads << " heads, " << c.queries << " queries, " << c.keys << " keys, causal " << c.causal);
    const LibraryAttention a{0, 1, 2, 3, c.heads, c.queries, c.keys, 32, c.causal};
    const std::vector<TensorPlan> tensors{
        tensor_plan("Q", {c.heads, c.queries, 32}, TensorRole::Input), tensor_plan("K", {c.heads, c.keys, 32}, TensorRole::Input),
        tensor_plan("V", {c.heads, c.keys, 32}, TensorRole::Input), tensor_plan("O", {c.heads, c.queries, 32}, TensorRole::Output)};
    std::vector<std::vector<std::uint8_t>> data;
    std::vector<cuda::Memory> buffers;
    for (std::size_t t = 0; t < tensors.size(); ++t) {
      data.push_back(make_data(tensors[t], CasePlan{"random", CasePlan::Data::Random, {}, {}}, t, 20260411));
      buffers.push_back(reinterpret_cast<cuda::Memory>(memory.emplace_back(data[t]).data()));
    }
    const std::vector<float> wanted = attention_formula(a, tensors, data);
    const auto kernels = open_library(a, tensors, driver, nullptr);
    REQUIRE(kernels.ok());
    CHECK(kernels->size() == c.forms);
    for (const LibraryKernel& kernel : *kernels) {
      std::vector<std::uint8_t>& result = memory.back();
      std::fill(result.begin(), result.end(), std::uint8_t{0xff});
      CHECK(kernel.launch(buffers).empty());
      const OutputCheck check = check_output(tensors[3], "random", {3, Criterion::Tolerance, 1.0 / 128, 0.01, 0, {}}, result, wanted, {});
      INFO(check.at << " off by " << check.worst);
      CHECK(check.passed);
    }
  }
  const auto none = open_library(LibraryAttention{0, 1, 2, 3, 1, 9, 8, 32, true}, {}, driver, nullptr);
  REQUIRE_FALSE(none.ok());
  CHECK(none.error().faults.front().message == "cuDNN 9.19.0 has no causal mask for more queries than keys");
}

TEST_CASE("the libraries of a kernel are those of its formula", "[gpu]") {
  const auto& attention = small_attention();
  const auto libraries = libraries_for(attention.kernel, attention.run.plan.tensors);
  REQUIRE(libraries.size() == 1);
  CHECK(library_name(libraries[0]) == std::string("cuDNN"));
  const auto& a = std::get<LibraryAttention>(libraries[0]);
  CHECK(a.heads == 1);
  CHECK(a.queries == 128);
  CHECK(a.keys == 256);
  CHECK(a.columns == 128);
  CHECK_FALSE(a.causal);
  std::vector<TensorPlan> other = attention.run.plan.tensors;
  other[1].shape[0] = 2;  // K of more heads
  CHECK(libraries_for(attention.kernel, other).empty());
  const auto again = parse_plan(plan_bytes(attention.run.plan));
  REQUIRE(again.ok());
  CHECK(std::get<LibraryAttention>(again->libraries.at(0)).keys == 256);
}

// The real library, where it is installed, looks at the graph for an H100 that need not be there (properties of a device as JSON:
// since 9.11). Engines are compiled with the driver's help: where there is none, that is the only thing it may miss.
TEST_CASE("the installed cuDNN takes our graphs for attention on an H100", "[gpu]") {
  constexpr const char* kH100 =
      R"({"deviceVer":900,"driverVer":13000,"cudaDeviceId":0,"totalGlobalMem":85000000000,"maxGridSize":[2147483647,65535,65535],"maxBlockSize":[1024,1024,64],)"
      R"("regsPerBlock":65536,"multiProcessorCount":132,"warpSize":32,"maxSharedMemoryPerBlock":49152,"maxSharedMemoryPerBlockOptin":232448,)"
      R"("reservedSharedMemoryPerBlock":1024,"maxRegistersPerSM":65536,"maxCtasPerSM":32,"maxThreadsPerBlock":1024,"maxThreadsPerSM":2048,"pciDeviceId":0,)"
      R"("isTccDriver":0,"supportCoopLaunch":1,"smClockRateKHz":1980000,"memClockRateKHz":2619000,"l2CacheSize":52428800,"deviceName":"NVIDIA H100 80GB HBM3"})";
  const auto api = cudnn::open_api();
  if (!api.ok() || api->version() < 91100) {
    WARN("skipped: " << (api.ok() ? api->name() + " cannot plan for a device that is not there" : api.error().faults.front().message));
    return;
  }
  const struct {
    std::int64_t queries, keys;
    bool causal;
  } cases[] = {{8192, 8192, false}, {128, 1408, false}, {8192, 8192, true}, {1024, 8192, true}};
  for (const auto& c : cases)
    for (const DType dtype : {DType::Bf16, DType::F16})
      for (const auto form : {cudnn::AttentionForm::Pattern, cudnn::AttentionForm::OneOperation}) {
        const LibraryAttention attention{0, 1, 2, 3, 32, c.queries, c.keys, 128, c.causal};
        if (!cudnn::has_form(*api, attention, form)) continue;
        cudnn::Maker maker(*api);
        const cudnn::Descriptor device = maker.make(cudnn::kDeviceProperties);
        maker.set_text(device, cudnn::kDeviceJson, kH100).finish(device);
        REQUIRE(maker.good());
        const auto found = cudnn::plan_attention(maker, attention, dtype, form, {nullptr, device});
        INFO(api->name() << ", " << c.queries << " queries, " << c.keys << " keys, causal " << c.causal << ": " << found.why_none);
        CHECK(found.recommended >= 1);
        const bool no_driver =
            found.why_none.find("libcuda") != std::string::npos || found.why_none.find("CUDA_DRIVER") != std::string::npos;
        CHECK((!found.plans.empty() || no_driver));
      }
}
