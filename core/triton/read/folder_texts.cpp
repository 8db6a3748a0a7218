// Triton's cache is a folder of folders named by hashes, each with a kernel's text in every form and a `.json`; a kernel dump looks alike.
#include <algorithm>
#include <filesystem>
#include <map>

#include "core/base/atomic_file.h"
#include "core/base/json.h"
#include "core/triton/read/found_texts.h"

namespace heddle::triton {
namespace {

constexpr std::size_t kMostEntries = 20'000;  // looked at
constexpr std::size_t kMostTextsOfFolder = 4'000;
constexpr int kDeepestFolder = 2;  // a cache, its folders named by digest, and their files
constexpr std::uint64_t kLargestMetadata = std::uint64_t{4} << 20;

std::optional<std::int64_t> integer_of(const Json& json, std::string_view key) {
  const Json* member = json.find(key);
  const std::int64_t* value = member ? member->integer() : nullptr;
  return value ? std::optional(*value) : std::nullopt;
}

std::string string_of(const Json& json, std::string_view key) {
  const Json* member = json.find(key);
  const std::string* value = member ? member->string() : nullptr;
  return value ? *value : std::string();
}

}  // namespace

Metadata read_metadata(std::string_view text, const std::string& file) {
  Metadata metadata;
  const Result<Json> json = parse_json(text, file);
  if (!json || !json->is_object()) return metadata;
  metadata.file = file;
  metadata.shared = integer_of(*json, "shared");
  metadata.num_warps = integer_of(*json, "num_warps");
  metadata.num_stages = integer_of(*json, "num_stages");
  metadata.num_ctas = integer_of(*json, "num_ctas");
  metadata.tmem_size = integer_of(*json, "tmem_size");
  metadata.name = string_of(*json, "name");
  metadata.triton_version = string_of(*json, "triton_version");
  if (const Json* target = json->find("target"); target && target->is_object()) metadata.target = integer_of(*target, "arch");
  return metadata;
}

Metadata metadata_beside(const std::string& path) {
  std::filesystem::path json(path);
  json.replace_extension(".json");
  std::error_code code;
  if (json == std::filesystem::path(path) || !std::filesystem::is_regular_file(json, code)) return {};
  const Result<std::string> text = read_file(json.string(), kLargestMetadata);
  return text ? read_metadata(*text, json.string()) : Metadata();
}

Result<std::vector<FoundText>> read_folder(const std::string& path) {
  namespace fs = std::filesystem;
  std::vector<FoundText> texts;
  std::error_code code;
  std::size_t entries = 0;
  bool all = true;
  // Links to folders are not followed, so that rings of them end.
  fs::recursive_directory_iterator at(path, fs::directory_options::skip_permission_denied, code);
  if (code) return Error::in_file(path, "the folder cannot be read: " + code.message());
  for (const fs::recursive_directory_iterator end; !code && at != end; at.increment(code)) {
    if (++entries > kMostEntries || texts.size() >= kMostTextsOfFolder) {
      all = false;
      break;
    }
    std::error_code ignored;
    if (at.depth() + 1 >= kDeepestFolder) at.disable_recursion_pending();
    if (at->path().extension() != ".ttgir" || !at->is_regular_file(ignored)) continue;
    FoundText text;
    text.path = at->path().string();
    text.folder = at->path().parent_path().filename().string();
    text.kernel = at->path().stem().string();
    text.usual = true;
    texts.push_back(std::move(text));
  }
  std::sort(texts.begin(), texts.end(), [](const FoundText& a, const FoundText& b) { return a.path < b.path; });
  std::map<std::string, int> of_kernel;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    texts[i].compile = i;
    texts[i].compile_of_kernel = ++of_kernel[texts[i].kernel];
  }
  if (texts.empty())
    return Error{ErrorKind::Input,
                 {{path,
                   {},
                   all ? "is a folder without a .ttgir in it or in the folders inside it"
                       : "is a folder without a .ttgir among its first 20000 files",
                   "give a file in it, or a folder of Triton's cache (TRITON_CACHE_DIR) or of its kernel dump (TRITON_DUMP_DIR)"}}};
  return texts;
}

}  // namespace heddle::triton
