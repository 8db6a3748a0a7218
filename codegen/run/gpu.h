// A device and its memory for the child process that runs a plan. Failures are thrown inside codegen/run/*.cpp and caught in
// execute_plan(): every one ends the run, with a status and a sentence.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "codegen/run/driver.h"
#include "codegen/run/plan.h"
#include "core/records/measurement.h"

namespace heddle::codegen {

struct RunFailure {
  RunStatus status;
  std::string sentence;
};

class Gpu {
 public:
  /// NoGpu when there is none that runs machine code for `arch`, "sm_90a".
  explicit Gpu(const std::string& arch);

  const MeasuredDevice& device() const { return device_; }
  const cuda::Driver& driver() const { return driver_; }
  cuda::Stream stream() const { return stream_; }

  /// Uninitialised; lives as long as the process.
  cuda::Memory allocate(std::int64_t bytes, const std::string& what);
  void fill(cuda::Memory memory, unsigned char byte, std::int64_t bytes);
  void upload(cuda::Memory to, const std::vector<std::uint8_t>& bytes);
  void download(void* to, cuda::Memory from, std::int64_t bytes);
  void copy(cuda::Memory to, cuda::Memory from, std::int64_t bytes);
  /// Waits for everything; a fault of a kernel shows here.
  void finish(const std::string& what);
  /// Microseconds per launch, of `launches` in a row.
  double time(int launches, const std::function<void(int)>& launch, const std::string& what);
  void check(int code, RunStatus status, const std::string& what) const;

 private:
  cuda::Driver driver_;
  MeasuredDevice device_;
  cuda::Stream stream_ = nullptr;
  cuda::Event begin_ = nullptr, end_ = nullptr;
};

/// A kernel that is ready to be started on sets of buffers.
class LoadedKernel {
 public:
  /// `records`: memory for the records of a recording build; 0 for others.
  LoadedKernel(Gpu& gpu, const KernelPlan& plan, const std::vector<TensorPlan>& tensors, cuda::Memory records = 0);
  /// Prepares arguments for one set of buffers, indexed like the tensors; answers the set's number.
  std::size_t add_buffers(const std::vector<cuda::Memory>& buffers);
  void launch(std::size_t set);
  int blocks() const { return blocks_; }

 private:
  struct Arguments {
    std::vector<cuda::TensorMap> maps;
    std::vector<cuda::Memory> pointers;
    std::vector<void*> list;
  };
  Gpu& gpu_;
  const KernelPlan& plan_;
  const std::vector<TensorPlan>& tensors_;
  cuda::Function function_ = nullptr;
  cuda::Memory records_ = 0;
  int blocks_ = 1;
  std::vector<Arguments> sets_;
};

/// A function of a cubin.
cuda::Function load_function(Gpu& gpu, const std::string& cubin, const std::string& entry);

}  // namespace heddle::codegen
