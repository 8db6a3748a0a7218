#include "ptx/launch/launch_rules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/base/json.h"
#include "ptx/launch/parameter_type.h"

namespace heddle::ptx {
namespace {

constexpr std::uint64_t kMostShared = 227 * 1024, kMostBlock = 1024, kMostCluster = 16;
constexpr std::uint64_t kMostExtent = std::uint64_t{1} << 32, kMostStride = std::uint64_t{1} << 40;

class Rules {
 public:
  explicit Rules(const Launch& launch) : launch_(launch) {}

  std::vector<Fault> all() {
    shape();
    parameters();
    for (std::size_t m = 0; m < launch_.maps.size(); ++m) placed_map(m);
    for (std::size_t b = 0; b < launch_.buffers.size(); ++b) buffer(b);
    return std::move(faults_);
  }

 private:
  template <class... Args>
  void fault(std::string pointer, fmt::format_string<Args...> sentence, Args&&... args) {
    faults_.push_back({{}, std::move(pointer), fmt::format(sentence, std::forward<Args>(args)...), {}});
  }

  void shape() {
    static constexpr std::uint64_t kMostGrid[] = {(std::uint64_t{1} << 31) - 1, 65'535, 65'535}, kMostThreads[] = {1024, 1024, 64};
    std::uint64_t threads = 1, blocks = 1;
    for (std::size_t d = 0; d < 3; ++d) {
      const char axis = "xyz"[d];
      if (launch_.grid[d] < 1 || launch_.grid[d] > kMostGrid[d])
        fault("/grid", "a grid has 1 to {} CTAs along {}, not {}", kMostGrid[d], axis, launch_.grid[d]);
      if (launch_.cluster[d] < 1 || launch_.cluster[d] > kMostCluster)
        fault("/cluster", "a cluster has 1 to {} CTAs along {}, not {}", kMostCluster, axis, launch_.cluster[d]);
      else if (launch_.grid[d] % launch_.cluster[d] != 0)
        fault("/cluster", "a grid is whole clusters: {} CTAs along {} are no multiple of {}", launch_.grid[d], axis, launch_.cluster[d]);
      if (launch_.block[d] > kMostThreads[d])
        fault("/block", "a CTA has at most {} threads along {}, not {}", kMostThreads[d], axis, launch_.block[d]);
      threads *= std::min<std::uint64_t>(launch_.block[d], kMostBlock + 1), blocks *= std::min<std::uint64_t>(launch_.cluster[d], 1 << 20);
    }
    const bool all_zero = launch_.block == std::array<std::uint32_t, 3>{0, 0, 0};
    if (threads == 0 && !all_zero) fault("/block", "a CTA of {} threads has none; all 0 means what the text says", said(launch_.block));
    if (threads > kMostBlock) fault("/block", "a CTA has at most {} threads, not {}", kMostBlock, said(launch_.block));
    if (blocks > kMostCluster) fault("/cluster", "a cluster has at most {} CTAs, not {}", kMostCluster, said(launch_.cluster));
    if (launch_.dynamic_shared > kMostShared)
      fault("/dynamic_shared", "a CTA has at most {} bytes of shared memory, not {}", kMostShared, launch_.dynamic_shared);
  }

  static std::string said(const std::array<std::uint32_t, 3>& size) { return fmt::format("{} x {} x {}", size[0], size[1], size[2]); }

  void parameters() {
    const std::uint64_t bytes = launch_.parameters.size();
    if (bytes > kMostParameterBytes) fault("/parameters", "a parameter block has at most {} bytes, not {}", kMostParameterBytes, bytes);
    std::set<std::string> seen;
    for (std::size_t n = 0; n < launch_.names.size(); ++n) {
      const NamedParameter& word = launch_.names[n];
      const std::string pointer = fmt::format("/names/{}", n);
      const auto type = parameter_type(word.type);
      if (!type) fault(pointer + "/type", "unknown type '{}'; known are {}", word.type, fmt::join(parameter_type_words(), ", "));
      if (!seen.insert(word.name).second) fault(pointer + "/name", "two words are called '{}'", word.name);
      if (type && (word.at > bytes || bytes - word.at < type->bytes))
        fault(pointer + "/at", "'{}' is {} bytes at {}, and the block ends at {}", word.name, type->bytes, word.at, bytes);
    }
  }

  void placed_map(std::size_t index) {
    const PlacedMap& placed = launch_.maps[index];
    const std::string pointer = fmt::format("/maps/{}", index);
    if (placed.at % 64 != 0) fault(pointer + "/at", "a tensor map lies at a multiple of 64 bytes, not at {}", placed.at);
    if (placed.in_parameters && (placed.at > launch_.parameters.size() || launch_.parameters.size() - placed.at < kMapBytes))
      fault(pointer + "/at", "a tensor map has {} bytes; at {} it ends behind the block's {}", kMapBytes, placed.at,
            launch_.parameters.size());
    if (!places_.insert({placed.in_parameters, placed.at}).second) fault(pointer + "/at", "two tensor maps lie at {}", placed.at);
    map(pointer, placed.map);
  }

  void map(const std::string& pointer, const TensorMap& map) {
    const std::size_t rank = map.extents.size();
    const std::string name = map.name.empty() ? "the tensor" : map.name;
    if (rank < 1 || rank > 5) return fault(pointer + "/extents", "{} has 1 to 5 dimensions, not {}", name, rank);
    if (map.box.size() != rank) fault(pointer + "/box", "{} has {} dimensions, its box {}", name, rank, map.box.size());
    if (map.strides.size() != rank - 1)
      fault(pointer + "/strides", "{} has {} dimensions, hence {} strides (none for the innermost), not {}", name, rank, rank - 1,
            map.strides.size());
    if (!map.steps.empty() && map.steps.size() != rank)
      fault(pointer + "/steps", "{} has {} dimensions, its steps {}", name, rank, map.steps.size());
    for (std::size_t d = 0; d < rank; ++d)
      if (map.extents[d] < 1 || map.extents[d] > kMostExtent)
        fault(fmt::format("{}/extents/{}", pointer, d), "an extent is 1 to {}, not {}", kMostExtent, map.extents[d]);
    for (std::size_t d = 0; d < map.steps.size(); ++d)
      if (map.steps[d] < 1 || map.steps[d] > 8) fault(fmt::format("{}/steps/{}", pointer, d), "a step is 1 to 8, not {}", map.steps[d]);
    for (std::size_t d = 0; d < map.box.size(); ++d)
      if (map.box[d] < 1 || map.box[d] > 256)
        fault(fmt::format("{}/box/{}", pointer, d), "a box has 1 to 256 elements along a dimension, not {}", map.box[d]);
    alignment(pointer, map);
    if (!map.box.empty()) swizzle(pointer, map);
  }

  void alignment(const std::string& pointer, const TensorMap& map) {
    const bool gaps = map.element == MapElement::U4Align16 || map.element == MapElement::U6Align16;
    const std::uint64_t aligned = map.interleave == 32 || gaps ? 32 : 16;
    if (map.address % aligned != 0)
      fault(pointer + "/address", "a tensor begins at a multiple of {} bytes, not at {}", aligned, address_text(map.address));
    for (std::size_t d = 0; d < map.strides.size(); ++d)
      if (map.strides[d] % aligned != 0 || map.strides[d] >= kMostStride)
        fault(fmt::format("{}/strides/{}", pointer, d), "a stride is a multiple of {} bytes below {}, not {}", aligned, kMostStride,
              map.strides[d]);
    if (gaps && !map.extents.empty() && map.extents[0] % 128 != 0)
      fault(pointer + "/extents/0", "of {} the innermost extent is a multiple of 128, not {}", to_string(map.element), map.extents[0]);
  }

  void swizzle(const std::string& pointer, const TensorMap& map) {
    const std::uint64_t row = map.box[0] * shared_bytes_of_16(map.element) / 16;
    if (map.interleave == 0 && row % 16 != 0)
      fault(pointer + "/box/0", "a box of {} {} has rows of {} bytes, no multiple of 16", map.box[0], to_string(map.element), row);
    if (map.interleave == 0 && map.swizzle > 0 && row > static_cast<std::uint64_t>(map.swizzle))
      fault(pointer + "/box/0", "rows of {} bytes are longer than the swizzle of {} bytes", row, map.swizzle);
    if (map.interleave == 32 && map.swizzle != 32)
      fault(pointer + "/swizzle", "with an interleave of 32 bytes the swizzle is 32, not {}", map.swizzle);
    if (map.interleave != 0 && map.extents.size() < 3)
      fault(pointer + "/interleave", "an interleaved tensor has 3 dimensions or more, not {}", map.extents.size());
    if (map.swizzle_atom != 16 && map.swizzle != 128)
      fault(pointer + "/swizzle_atom", "only the swizzle of 128 bytes has atoms of {} bytes", map.swizzle_atom);
    if (box_bytes(map) > kMostShared)
      fault(pointer + "/box", "a box of {} bytes does not fit into the {} of shared memory", box_bytes(map), kMostShared);
  }

  void buffer(std::size_t index) {
    const GlobalBuffer& buffer = launch_.buffers[index];
    const std::string pointer = fmt::format("/buffers/{}", index);
    if (buffer.bytes > ~std::uint64_t{0} - buffer.address)
      fault(pointer + "/bytes", "{} bytes from {} on leave the address space", buffer.bytes, address_text(buffer.address));
    if (buffer.contents.size() > buffer.bytes)
      fault(pointer + "/contents", "{} bytes are given for a buffer of {}", buffer.contents.size(), buffer.bytes);
  }

  const Launch& launch_;
  std::vector<Fault> faults_;
  std::set<std::pair<bool, std::uint64_t>> places_;
};

}  // namespace

std::vector<Fault> faults_of(const Launch& launch) { return Rules(launch).all(); }

}  // namespace heddle::ptx
