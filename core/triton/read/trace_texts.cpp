// A tritonparse log is one JSON event a line. Those of compilations hold the compiler's texts under the names of their files, and the same
// metadata that Triton writes beside them.
#include <map>
#include <set>

#include "core/base/json.h"
#include "core/base/line_file.h"
#include "core/triton/read/found_texts.h"

namespace heddle::triton {
namespace {

constexpr std::size_t kMostTextsOfTrace = 4'000;
constexpr std::size_t kMostBytesOfTrace = std::size_t{256} << 20;
constexpr std::string_view kEnding = ".ttgir";

}  // namespace

Result<std::vector<FoundText>> read_trace(const std::string& path) {
  Result<LineFile> file = LineFile::open(path);
  if (!file) return file.error();
  std::vector<FoundText> texts;
  std::vector<Fault> faults;
  std::set<std::string> seen;
  std::map<std::string, int> of_kernel;
  std::size_t bytes = 0;
  while (texts.size() < kMostTextsOfTrace && bytes < kMostBytesOfTrace) {
    const Result<std::optional<LineFile::Line>> line = file->next();
    if (!line) return line.error();
    if (!*line) break;
    const std::string_view content = (*line)->text;
    if (content.find(kEnding) == std::string_view::npos || content.find("file_content") == std::string_view::npos) continue;
    const Result<Json> event = parse_json(content, path);
    if (!event) {  // the last line of a run that was killed, for example
      if (faults.size() < 16) faults.push_back({path, "line " + std::to_string((*line)->number), event.error().faults.front().message, {}});
      continue;
    }
    const Json* payload = event->find("payload");
    if (!payload) payload = &*event;
    const Json* contents = payload->find("file_content");
    if (!contents || !contents->members()) continue;
    const Json* metadata = payload->find("metadata");
    for (const JsonMember& member : *contents->members()) {
      const std::string* text = member.value.string();
      if (!text || !member.key.ends_with(kEnding) || texts.size() >= kMostTextsOfTrace) continue;
      FoundText found;
      found.path = path;
      found.line = static_cast<std::size_t>((*line)->number);
      found.kernel = kernel_in(*text);
      if (found.kernel.empty()) found.kernel = member.key.substr(0, member.key.size() - kEnding.size());
      if (metadata && metadata->is_object()) {
        found.metadata = read_metadata(metadata->line(), path);
        if (const Json* hash = metadata->find("hash"); hash && hash->string()) found.folder = *hash->string();
      }
      // A compilation is told again when its kernel is taken from the cache.
      if (!found.folder.empty() && !seen.insert(found.folder + "/" + member.key).second) continue;
      found.text = *text;
      found.loaded = found.usual = true;
      found.compile = texts.size();
      found.compile_of_kernel = ++of_kernel[found.kernel];
      bytes += text->size();
      texts.push_back(std::move(found));
    }
  }
  if (!texts.empty()) return texts;
  if (!faults.empty()) return Error{ErrorKind::Input, std::move(faults)};
  return Error{ErrorKind::Input,
               {{path,
                 {},
                 "no event in this log holds a .ttgir",
                 "was it written by tritonparse's structured logging, with the compiler's texts?"}}};
}

}  // namespace heddle::triton
