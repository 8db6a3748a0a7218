#include "ptx/capture/record.h"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>

#include "ptx/capture/hardware_map.h"
#include "ptx/capture/image.h"
#include "ptx/capture/say.h"

namespace heddle::ptx::capture {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostContents = 1 << 16;
constexpr std::size_t kMostLaunches = 1000;
// CU_LAUNCH_PARAM_END, _BUFFER_POINTER and _BUFFER_SIZE of cuda.h.
void* const kEnd = nullptr;
void* const kBufferPointer = reinterpret_cast<void*>(1);
void* const kBufferSize = reinterpret_cast<void*>(2);

std::string setting(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

/// Names of templates may be longer than a screen.
std::string shortened(const std::string& name) {
  constexpr std::size_t kMost = 100;
  return name.size() <= kMost ? name : name.substr(0, kMost) + "...";
}

std::uint64_t setting(const char* name, std::uint64_t otherwise) {
  const std::string value = setting(name);
  return value.empty() ? otherwise : std::strtoull(value.c_str(), nullptr, 10);
}

CapturedText text_of(std::string ptx) {
  CapturedText text{std::move(ptx), "", {}};
  text.target = target_of(text.ptx);
  text.entries = entries_of(text.ptx);
  return text;
}

const CapturedEntry* find(const CapturedText& text, const std::string& name) {
  const auto at = std::find_if(text.entries.begin(), text.entries.end(), [&](const CapturedEntry& entry) { return entry.name == name; });
  return at == text.entries.end() ? nullptr : &*at;
}

/// The block that the kernel sees, from the address of each parameter, or from the block as a whole.
std::vector<std::uint8_t> parameter_block(const CapturedEntry& entry, const LaunchCall& call) {
  std::vector<std::uint8_t> block(entry.block_bytes, 0);
  if (call.parameters) {
    for (std::size_t k = 0; k < entry.parameters.size(); ++k)
      if (call.parameters[k]) std::memcpy(block.data() + entry.parameters[k].at, call.parameters[k], entry.parameters[k].bytes);
    return block;
  }
  const void* given = nullptr;
  std::size_t bytes = 0;
  for (void** at = call.extra; at && *at != kEnd; at += 2) {
    if (*at == kBufferPointer) given = at[1];
    if (*at == kBufferSize) bytes = *static_cast<const std::size_t*>(at[1]);
  }
  if (given) std::memcpy(block.data(), given, std::min(bytes, block.size()));
  return block;
}

/// A program may have hundreds of them, as PyTorch has.
void say_machine_code_only(const CapturedKernel& kernel) {
  constexpr int kMost = 3;
  static int said = 0;
  if (++said > kMost) return said == kMost + 1 ? say("other kernels are machine code only, too") : void();
  const std::string arch = target().substr(3), &why = kernel.module->trouble;
  say(shortened(kernel.name) + " is machine code only" + (why.empty() ? "" : ", " + why) + "; keep its PTX: nvcc -gencode arch=compute_" +
      arch + ",code=[sm_" + arch + ",compute_" + arch + "], or name the folder with it: --texts FOLDER");
}

std::vector<std::uint64_t> words_of(const std::vector<std::uint8_t>& bytes) {
  std::vector<std::uint64_t> words(bytes.size() / 8);
  if (!words.empty()) std::memcpy(words.data(), bytes.data(), words.size() * 8);
  return words;
}

std::vector<NamedParameter> names_of(const CapturedEntry& entry) {
  std::vector<NamedParameter> names;
  for (std::size_t k = 0; k < entry.parameters.size(); ++k)
    if (const CapturedParameter& parameter = entry.parameters[k]; !parameter.array)
      names.push_back({"param_" + std::to_string(k), parameter.at, parameter.type});
  return names;
}

/// The text as a file N and `ending` that was not there before, N from `next` on; its name. Empty: the folder takes none, or not all of it.
/// Several processes may write at the same time.
std::string write_new(const std::string& folder, const std::string& ending, std::size_t& next, const std::string& text) {
  std::string name;
  int file = -1;
  do {
    name = std::to_string(next++) + ending;
    file = open((folder + "/" + name).c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (file < 0 && errno == EEXIST);
  if (file < 0) return "";
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t wrote = ::write(file, text.data() + done, text.size() - done);
    if (wrote < 0 && errno != EINTR) break;
    done += static_cast<std::size_t>(std::max<ssize_t>(wrote, 0));
  }
  if (close(file) == 0 && done == text.size()) return name;
  unlink((folder + "/" + name).c_str());
  return "";
}

}  // namespace

const std::string& target() {
  static const auto& name = *new std::string(setting("HEDDLE_CAPTURE_TARGET").empty() ? "sm_90a" : setting("HEDDLE_CAPTURE_TARGET"));
  return name;
}

std::array<std::uint8_t, 128> opaque_map(std::size_t index) {
  std::array<std::uint8_t, 128> bytes{};
  std::memcpy(bytes.data(), "heddle.tensormap", 16);
  const std::uint64_t number = index;
  std::memcpy(bytes.data() + 16, &number, 8);
  return bytes;
}

CaptureRecord& CaptureRecord::get() {
  static auto& record = *[] {
    auto* const made = new CaptureRecord;  // leaked: programs launch while they end
    // A program that forks may launch in both: no other thread holds the lock in the child.
    pthread_atfork([] { get().mutex_.lock(); }, [] { get().mutex_.unlock(); }, [] { get().mutex_.unlock(); });
    return made;
  }();
  return record;
}

CaptureRecord::CaptureRecord() : memory_(setting("HEDDLE_CAPTURE_CONTENTS", kMostContents)), folder_(setting("HEDDLE_CAPTURE_DIR")) {
  if (folder_.empty()) folder_ = ".";
}

std::shared_ptr<const CapturedModule> CaptureRecord::read_module(const void* data) {
  CapturedImage image = read_image(data);
  auto module = std::make_shared<CapturedModule>();
  module->machine_code = image.machine_code;
  module->trouble = std::move(image.trouble);
  module->kernels = std::move(image.kernels);
  for (std::string& text : image.texts) module->texts.push_back(text_of(std::move(text)));
  for (const CapturedText& text : module->texts)
    for (const CapturedEntry& entry : text.entries)
      if (std::find(module->kernels.begin(), module->kernels.end(), entry.name) == module->kernels.end())
        module->kernels.push_back(entry.name);
  return module;
}

void CaptureRecord::add_module(const void* handle, std::shared_ptr<const CapturedModule> module) {
  const std::lock_guard<std::mutex> lock(mutex_);
  modules_[handle] = std::move(module);
}

std::shared_ptr<const CapturedModule> CaptureRecord::module(const void* handle) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto at = modules_.find(handle);
  return at == modules_.end() ? nullptr : at->second;
}

const void* CaptureRecord::add_kernel(const void* handle, const std::string& name, std::shared_ptr<const CapturedModule> module) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!module) return nullptr;
  if (!handle) {
    for (const auto& [known, kernel] : kernels_)
      if (kernel.module == module && kernel.name == name) return known;
    const bool has = std::any_of(module->texts.begin(), module->texts.end(), [&](const CapturedText& text) { return find(text, name); });
    if (!has && !module->machine_code) return nullptr;
    handle = reinterpret_cast<const void*>(0x10000 + 16 * ++next_handle_);
  }
  const CapturedKernel& kernel = kernels_[handle] = {name, std::move(module)};
  // Compilers load a kernel when they have just made it: later there may be a newer one of the same name.
  if (kernel.module->texts.empty() && kernel.module->machine_code) (void)texts_beside(kernel);
  return handle;
}

void CaptureRecord::add_kernel_alias(const void* handle, const void* same) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (const auto at = kernels_.find(same); at != kernels_.end()) kernels_[handle] = CapturedKernel(at->second);
}

std::optional<CapturedKernel> CaptureRecord::kernel(const void* handle) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto at = kernels_.find(handle);
  return at == kernels_.end() ? std::nullopt : std::optional(at->second);
}

std::optional<CapturedEntry> CaptureRecord::entry(const void* handle) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto at = kernels_.find(handle);
  const CapturedEntry* entry = nullptr;
  if (at == kernels_.end() || !choose(at->second, entry)) return std::nullopt;
  return *entry;
}

void CaptureRecord::add_map(const std::array<std::uint8_t, 128>& opaque, TensorMap map) {
  const std::lock_guard<std::mutex> lock(mutex_);
  maps_[opaque] = std::move(map);
}

std::optional<TensorMap> CaptureRecord::map(const std::array<std::uint8_t, 128>& opaque) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto at = maps_.find(opaque);
  return at == maps_.end() ? std::nullopt : std::optional(at->second);
}

std::size_t CaptureRecord::maps() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return maps_.size();
}

/// Where a module is machine code only: the newest text with such an entry in the folders of HEDDLE_CAPTURE_TEXTS, where compilers that
/// keep their PTX have put it.
const CapturedModule* CaptureRecord::texts_beside(const CapturedKernel& kernel) {
  const std::pair key(kernel.module.get(), kernel.name);
  if (const auto known = beside_.find(key); known != beside_.end()) return &known->second;
  std::istringstream folders(setting("HEDDLE_CAPTURE_TEXTS"));
  fs::file_time_type newest{};
  CapturedModule found;
  for (std::string folder; std::getline(folders, folder, ':');) {
    std::error_code ignored;
    for (fs::recursive_directory_iterator at(folder, ignored), end; at != end; at.increment(ignored)) {
      if (at->path().extension() != ".ptx" || !at->is_regular_file(ignored)) continue;
      const fs::file_time_type time = at->last_write_time(ignored);
      if (!found.texts.empty() && time < newest) continue;
      std::ifstream file(at->path(), std::ios::binary);
      std::string ptx{std::istreambuf_iterator<char>(file), {}};
      ptx.resize(std::min(ptx.size(), ptx.find('\0')));
      CapturedText text = text_of(std::move(ptx));
      if (!find(text, kernel.name)) continue;
      newest = time;
      found.texts.assign(1, std::move(text));
    }
  }
  return found.texts.empty() ? nullptr : &(beside_[key] = std::move(found));
}

const CapturedText* CaptureRecord::choose(const CapturedKernel& kernel, const CapturedEntry*& entry) {
  const CapturedModule* module = kernel.module.get();
  if (module->texts.empty() && module->machine_code) {
    module = texts_beside(kernel);
    if (!module) {
      say_machine_code_only(kernel);
      return nullptr;
    }
  }
  const CapturedText* best = nullptr;
  std::string others;
  for (const CapturedText& text : module->texts) {
    const CapturedEntry* here = find(text, kernel.name);
    if (!here) continue;
    if (!runs_on(text.target, target())) {
      others += (others.empty() ? "" : ", ") + text.target;
      continue;
    }
    const auto rank = [](const CapturedText& t) { return std::pair(t.target == target(), std::atoi(t.target.c_str() + 3)); };
    if (!best || rank(text) > rank(*best)) {
      best = &text;
      entry = here;
    }
  }
  if (best) return best;
  if (!others.empty())
    say("the PTX of " + shortened(kernel.name) + " is for " + others + " and does not run on " + target() +
        "; name the device with --target");
  else
    say("there is no PTX of " + shortened(kernel.name) + (module->trouble.empty() ? "" : ": " + module->trouble));
  return nullptr;
}

std::string CaptureRecord::write_text(const std::string& ptx) {
  if (const auto at = written_.find(ptx); at != written_.end()) return at->second;
  const std::string name = write_new(folder_, ".ptx", next_text_, ptx);
  return name.empty() ? name : written_[ptx] = name;
}

/// Maps lie at multiples of 64 bytes, in parameters and in memory.
void CaptureRecord::place_maps(Launch& launch) const {
  const auto search = [&](const std::vector<std::uint8_t>& bytes, std::uint64_t base, bool in_parameters) {
    for (std::size_t at = 0; at + 128 <= bytes.size(); at += 64) {
      std::array<std::uint8_t, 128> here;
      std::memcpy(here.data(), bytes.data() + at, 128);
      if (const auto map = maps_.find(here); map != maps_.end())
        launch.maps.push_back({base + at, in_parameters, map->second});
      else if (auto own = read_hardware_map(here.data()); own && memory_.piece(own->address).second > 0)
        launch.maps.push_back({base + at, in_parameters, std::move(*own)});
    }
  };
  search(launch.parameters, 0, true);
  std::vector<std::uint64_t> words = words_of(launch.parameters);
  for (const PlacedMap& placed : launch.maps) words.push_back(placed.map.address);
  launch.buffers = memory_.reached_from(words);
  for (const GlobalBuffer& buffer : launch.buffers) search(buffer.contents, buffer.address, false);
  for (const PlacedMap& placed : launch.maps)
    if (!placed.in_parameters) words.push_back(placed.map.address);
  launch.buffers = memory_.reached_from(words);
}

void CaptureRecord::write_launch(const void* handle, const LaunchCall& call) {
  const std::lock_guard<std::mutex> lock(mutex_);
  static const std::size_t most = setting("HEDDLE_CAPTURE_MOST", kMostLaunches);
  if (launches_.size() > most) return;  // it has been said
  const auto at = kernels_.find(handle);
  if (at == kernels_.end()) return say("a kernel is launched that no module of the program had");
  const CapturedEntry* entry = nullptr;
  const CapturedText* text = choose(at->second, entry);
  if (!text) return;
  Launch launch;
  launch.kernel = at->second.name;
  launch.grid = call.grid;
  launch.cluster = call.cluster[0] == 0 ? entry->cluster : call.cluster;
  launch.block = call.block;
  launch.dynamic_shared = call.dynamic_shared;
  launch.parameters = parameter_block(*entry, call);
  launch.names = names_of(*entry);
  place_maps(launch);
  launch.ptx = write_text(text->ptx);
  if (launch.ptx.empty()) return say("nothing can be written to " + folder_);
  // A loop that launches the same again writes it once.
  const std::string json = launch_text(launch);
  if (!launches_.insert(std::hash<std::string>()(json)).second) return;
  if (launches_.size() > most) return say("only the first " + std::to_string(most) + " launches are written; --most N takes more");
  if (write_new(folder_, ".json", next_launch_, json).empty()) say("nothing can be written to " + folder_);
}

}  // namespace heddle::ptx::capture
