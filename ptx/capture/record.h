// What the program has said so far: modules, kernels, tensor maps, memory. Every launch ends in write_launch, which writes a file of
// heddle.launch/1 into HEDDLE_CAPTURE_DIR, and the text of its kernel as N.ptx, once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "ptx/capture/entry.h"
#include "ptx/capture/memory.h"
#include "ptx/launch/launch.h"

namespace heddle::ptx::capture {

/// A PTX text with its entries.
struct CapturedText {
  std::string ptx, target;
  std::vector<CapturedEntry> entries;
};

struct CapturedModule {
  std::vector<CapturedText> texts;
  std::string trouble;               ///< why it has no text, or not all of them
  bool machine_code = false;         ///< it has a cubin
  std::vector<std::string> kernels;  ///< names of all, as far as they are known
};

struct CapturedKernel {
  std::string name;
  std::shared_ptr<const CapturedModule> module;
};

/// What cuLaunchKernel says.
struct LaunchCall {
  std::array<std::uint32_t, 3> grid{1, 1, 1}, cluster{0, 0, 0}, block{1, 1, 1};  ///< cluster 0: as the text says
  std::uint64_t dynamic_shared = 0;
  void** parameters = nullptr;  ///< an address for each
  void** extra = nullptr;       ///< or the whole block
};

/// sm_90a unless HEDDLE_CAPTURE_TARGET says otherwise.
const std::string& target();

/// A tensor map in the 128 bytes that stand for it where there is no driver; no two maps have the same.
std::array<std::uint8_t, 128> opaque_map(std::size_t index);

/// All members may be called by several threads.
class CaptureRecord {
 public:
  static CaptureRecord& get();

  /// Pre: see read_image().
  std::shared_ptr<const CapturedModule> read_module(const void* image);
  void add_module(const void* handle, std::shared_ptr<const CapturedModule> module);
  std::shared_ptr<const CapturedModule> module(const void* handle);
  /// The handle of a kernel; where there is no driver, `handle` is null and one is made. Null: there is no such kernel.
  const void* add_kernel(const void* handle, const std::string& name, std::shared_ptr<const CapturedModule> module);
  /// A driver may have two handles for one kernel.
  void add_kernel_alias(const void* handle, const void* same);
  std::optional<CapturedKernel> kernel(const void* handle);
  /// The kernel's entry in the text that the device would run.
  std::optional<CapturedEntry> entry(const void* handle);

  void add_map(const std::array<std::uint8_t, 128>& opaque, TensorMap map);
  std::optional<TensorMap> map(const std::array<std::uint8_t, 128>& opaque);
  std::size_t maps();  ///< how many there are

  void write_launch(const void* kernel, const LaunchCall& call);

  /// `use(memory)` while nobody else can.
  template <class F>
  auto memory(const F& use) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return use(memory_);
  }

 private:
  CaptureRecord();
  const CapturedText* choose(const CapturedKernel& kernel, const CapturedEntry*& entry);
  const CapturedModule* texts_beside(const CapturedKernel& kernel);
  void place_maps(Launch& launch) const;
  std::string write_text(const std::string& ptx);

  std::mutex mutex_;
  CapturedMemory memory_;
  std::string folder_;
  std::map<const void*, std::shared_ptr<const CapturedModule>> modules_;
  std::map<const void*, CapturedKernel> kernels_;
  std::map<std::array<std::uint8_t, 128>, TensorMap> maps_;
  std::map<std::string, std::string> written_;  ///< text: its file
  /// By module and kernel: its text out of HEDDLE_CAPTURE_TEXTS.
  std::map<std::pair<const CapturedModule*, std::string>, CapturedModule> beside_;
  std::unordered_set<std::size_t> launches_;  ///< hashes of their files
  std::size_t next_launch_ = 0, next_text_ = 0;
  std::uint64_t next_handle_ = 0;
};

/// As it stands in the file; members that are as they usually are left out.
std::string launch_text(const Launch& launch);

}  // namespace heddle::ptx::capture
