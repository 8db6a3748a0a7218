#include "codegen/package/templates.h"

#include <algorithm>
#include <cassert>

#include "core/base/scanner.h"

namespace heddle::codegen {

std::string filled(std::string_view file, const Blanks& blanks) {
  const auto files = package_templates();
  const auto found = std::find_if(files.begin(), files.end(), [&](const EmbeddedFile& f) { return f.name == file; });
  assert(found != files.end());
  const std::string_view text = found->text;
  std::string result;
  std::size_t at = 0;
  while (true) {
    const std::size_t begin = text.find('@', at);
    if (begin == std::string_view::npos) return result.append(text.substr(at));
    std::size_t end = begin + 1;
    while (end < text.size() && in_name(text[end])) ++end;
    if (end == text.size() || text[end] != '@' || end == begin + 1) {  // of Python: a decorator, a product
      result.append(text.substr(at, begin + 1 - at));
      at = begin + 1;
      continue;
    }
    const std::string_view name = text.substr(begin + 1, end - begin - 1);
    const auto blank = std::find_if(blanks.begin(), blanks.end(), [&](const auto& b) { return b.first == name; });
    assert(blank != blanks.end());
    result.append(text.substr(at, begin - at)).append(blank->second);
    at = end + 1;
  }
}

}  // namespace heddle::codegen
