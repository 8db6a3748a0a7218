// A kernel small enough for the emulator, and the fake GPU to run it on.
#pragma once

#include <string>

#include "codegen/run/measure.h"

namespace heddle::test {

/// While it lives, driver, NVRTC, cuBLAS and cuDNN are the fake ones, misbehaving as HEDDLE_FAKE_GPU = `mode` and HEDDLE_FAKE_CUDNN =
/// `cudnn` say.
class FakeGpu {
 public:
  explicit FakeGpu(const std::string& mode = "ok", const std::string& cudnn = "ok");
  ~FakeGpu();
  FakeGpu(const FakeGpu&) = delete;
  FakeGpu& operator=(const FakeGpu&) = delete;
};

/// A plan's owner: everything that a request refers to.
struct Prepared {
  Kernel kernel;
  Problem problem;
  Schedule schedule;
  codegen::Program program;
  codegen::PreparedRun run;
  codegen::MeasureRequest request(bool profile) const;
};

/// gemm_hopper of 2 by 1 tiles and 5 trips, compiled by the fake NVRTC.
const Prepared& small_gemm();

/// gemm_w4a16_hopper, or with prepacked weights, of 2 tiles and 4 trips, rows and tokens ragged.
const Prepared& small_weights(bool prepacked);
/// gemm_fp8_hopper of 2 by 2 tiles and 4 trips, the last rows ragged.
const Prepared& small_scaled_gemm();

/// attention_forward_hopper of one tile and 2 trips.
const Prepared& small_attention();

/// The same of gemm_blackwell and attention_forward_blackwell.
const Prepared& small_blackwell_gemm();
const Prepared& small_blackwell_attention();

/// Run in a child process of the real heddle program.
Measurement measured(const Prepared& prepared, double limit_seconds = 300);

/// What the program itself answers to these words; `before` stands in front of it in the shell's line.
struct Outcome {
  int code = 0;
  std::string out, err;
};
Outcome heddle_says(const std::string& words, const std::string& before = {});
/// Where its files go.
std::string commands_folder();
/// Words of a small gemm that is quickly run.
std::string quick_gemm();

}  // namespace heddle::test
