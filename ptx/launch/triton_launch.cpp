#include "ptx/launch/triton_launch.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/base/json_reader.h"
#include "core/base/scanner.h"
#include "ptx/launch/parameter_type.h"

namespace heddle::ptx {
namespace {

struct DescriptorMeta {
  MapElement element = MapElement::Bf16;
  std::vector<std::int64_t> box;  ///< outermost first
  int swizzle = 0;                ///< bytes
  bool padded = false, im2col = false;
};

struct TritonMeta {
  std::string name;
  std::int64_t shared = 0, ctas = 1;
  std::vector<DescriptorMeta> descriptors;
};

/// Triton's own numbers of element types, as its driver turns them into those of CUtensorMapDataType.
MapElement element_of(std::int64_t triton) {
  const std::int64_t cuda = triton == 8 ? 10 : triton == 9 ? 8 : triton == 10 ? 9 : triton;
  return static_cast<MapElement>(cuda);
}

void read_descriptor(const Cursor& at, DescriptorMeta& meta) {
  ObjectReader object(at);
  meta.element = element_of(object.integer("elem_type", 0, 15));
  meta.swizzle = static_cast<int>(object.integer("swizzle", 0, 3)) * 32;
  if (meta.swizzle == 96) meta.swizzle = 128;
  meta.padded = object.boolean("fp4_padded", false);
  meta.im2col = object.boolean("is_im2col", false);
  for (const Cursor& size : object.required_list("block_size"))
    if (const auto number = size.integer(1, 256)) meta.box.push_back(*number);
  object.abandon();
}

/// "a" of `%a: !tt.tensordesc<...> loc(...)`: what stands directly inside the brackets of the kernel.
std::vector<std::string> argument_names(std::string_view ttgir) {
  std::vector<std::string> names;
  const std::size_t begin = ttgir.find("tt.func public @");
  if (begin == std::string_view::npos) return names;
  int depth = 0;
  for (std::size_t at = ttgir.find('(', begin); at < ttgir.size(); ++at) {
    const char c = ttgir[at];
    if (c == '(') ++depth;
    if (c == ')' && --depth == 0) break;
    if (c != '%' || depth != 1) continue;
    const std::size_t end = ttgir.find_first_of(":,) \n", at);
    if (end == std::string_view::npos) break;
    names.emplace_back(ttgir.substr(at + 1, end - at - 1));
  }
  return names;
}

class TritonReader {
 public:
  TritonReader(const std::vector<EntryParameter>& entry, const std::vector<std::string>& given, const TritonMeta& meta)
      : entry_(entry), given_(given), meta_(meta) {}

  TritonLaunch launch(const std::vector<std::string>& names) {
    made_.base.kernel = meta_.name;
    made_.base.dynamic_shared = static_cast<std::uint64_t>(meta_.shared);
    made_.base.cluster = {static_cast<std::uint32_t>(meta_.ctas), 1, 1};
    made_.base.grid = made_.base.cluster;
    std::size_t descriptor = 0;
    for (std::size_t p = 0; p < entry_.size(); ++p) {
      const std::string name = p < names.size() ? names[p] : std::string();
      if (entry_[p].map() && descriptor < meta_.descriptors.size()) {
        const std::string map = name.empty() ? fmt::format("desc{}", descriptor) : name;
        p = add_descriptor(p, map, meta_.descriptors[descriptor++]);
      } else if (!name.empty()) {
        add_name(p, name);
      }
    }
    return std::move(made_);
  }

 private:
  void add_name(std::size_t p, const std::string& name) {
    if (!entry_[p].type.empty()) made_.base.names.push_back({name, entry_[p].at, entry_[p].type});
  }

  /// What the caller says of a word: "q.shape.0=2048", with or without type.
  std::optional<std::uint64_t> said(const std::string& name) const {
    for (const std::string& word : given_)
      if (word.starts_with(name + "=")) {
        const std::size_t mark = word.rfind(':');
        return read_number<std::uint64_t>(std::string_view(word).substr(mark == std::string::npos ? name.size() + 1 : mark + 1));
      }
    return std::nullopt;
  }

  /// The place of the last parameter that belongs to it.
  std::size_t add_descriptor(std::size_t p, const std::string& name, const DescriptorMeta& meta) {
    const std::size_t rank = meta.box.size();
    const Result<TensorMap> usual = map_by_hand(map_words(name, meta));
    if (!usual) return p;  // what is wrong with it is said where the words are used
    TensorMap map = *usual;
    for (std::size_t d = 0; d < rank; ++d)
      if (const auto extent = said(fmt::format("{}.shape.{}", name, d))) map.extents[rank - 1 - d] = *extent;
    const std::vector<std::uint64_t> shape = map.extents;
    if (meta.padded) map.extents[0] *= 2;
    made_.words.maps.push_back(fmt::format("{}={} of {}", entry_[p].at, map_words(name, meta), fmt::join(map.extents, "x")));
    std::uint64_t stride = 1;
    std::vector<std::uint64_t> strides;
    for (const std::uint64_t extent : shape) strides.push_back(stride), stride *= extent;
    for (std::size_t d = 0; d < 2 * rank && p + 1 < entry_.size(); ++d) {
      const EntryParameter& next = entry_[p + 1];
      if (next.type.empty() || next.bytes != (d < rank ? 4u : 8u)) break;  // a version of Triton that hands these over otherwise
      add_name(++p, fmt::format("{}.{}.{}", name, d < rank ? "shape" : "stride", d % rank));
      made_.words.parameters.push_back(
          fmt::format("{}={}:{}", next.at, next.type, d < rank ? shape[rank - 1 - d] : strides[2 * rank - 1 - d]));
    }
    return p;
  }

  /// Innermost first, with rows no longer than the swizzle, as the driver makes them.
  static std::string map_words(const std::string& name, const DescriptorMeta& meta) {
    std::vector<std::int64_t> box(meta.box.rbegin(), meta.box.rend());
    const auto bytes = static_cast<std::int64_t>(shared_bytes_of_16(meta.element));
    if (meta.swizzle > 0 && !box.empty()) box[0] = std::min(box[0], meta.swizzle * 16 / bytes);
    return fmt::format("{} {} {} swizzle{}{}", name, fmt::join(box, "x"), to_string(meta.element), meta.swizzle,
                       meta.im2col ? " im2col" : "");
  }

  const std::vector<EntryParameter>& entry_;
  const std::vector<std::string>& given_;
  const TritonMeta& meta_;
  TritonLaunch made_;
};

}  // namespace

bool says_triton(std::string_view json) {
  const auto has = [&](std::string_view key) { return json.find(key) != std::string_view::npos; };
  return has("\"tensordesc_meta\"") || (has("\"num_warps\"") && has("\"shared\""));
}

Result<TritonLaunch> triton_launch(const TritonBeside& beside, const std::vector<EntryParameter>& entry,
                                   const std::vector<std::string>& given) {
  const Result<Json> json = parse_json(beside.json, beside.json_file);
  if (!json) return json.error();
  ReadLog log{beside.json_file, {}, {}, {}};
  TritonMeta meta;
  {
    ObjectReader root(Cursor(*json, {}, log));
    meta.name = root.string("name");
    meta.shared = root.integer("shared", 0, 1 << 20);
    meta.ctas = root.integer("num_ctas", 1, 16, 1);
    if (json->find("tensordesc_meta") && !json->find("tensordesc_meta")->is_null())
      for (const Cursor& at : root.list("tensordesc_meta")) read_descriptor(at, meta.descriptors.emplace_back());
    root.abandon();  // the rest is Triton's
  }
  if (!log.faults.empty()) return log.error();
  return TritonReader(entry, given, meta).launch(argument_names(beside.ttgir));
}

}  // namespace heddle::ptx
