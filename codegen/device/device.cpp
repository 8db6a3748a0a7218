#include "codegen/device/device.h"

#include <utility>
#include <vector>

#include "core/base/scanner.h"

namespace heddle::codegen {

namespace {

struct Definition {
  std::string text;  ///< with the comment above it
  std::string_view name;
  bool function = false;
};

/// The word before `end`.
std::string_view word_before(std::string_view text, std::size_t end) {
  std::size_t begin = end;
  while (begin > 0 && in_name(text[begin - 1])) --begin;
  return text.substr(begin, end - begin);
}

/// Takes the name from the line that says it.
void name_it(Definition& definition, std::string_view line) {
  const std::size_t device = line.find("DEVICE");
  if (line.starts_with("#define "))
    definition.name = word_before(line, line.find(' ', 8));
  else if (line.starts_with("typedef "))
    definition.name = word_before(line, line.find(';'));
  else if (line.starts_with("struct "))
    definition.name = word_before(line, line.find(" {"));
  else if (device != std::string_view::npos && definition.name.empty())
    definition.name = word_before(line, line.find('(', device)), definition.function = true;
}

/// A definition ends with its only line or with a brace of its own.
std::vector<Definition> all_definitions() {
  std::vector<Definition> found;
  for (const EmbeddedFile& file : device_files()) {
    Definition open;
    if (!found.empty()) open.text = "\n";  // between files
    const std::string_view text = file.body();
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = text.find('\n', at) + 1;
      const std::string_view line = text.substr(at, end - at);
      at = end;
      open.text += line;
      name_it(open, line);
      const bool one_line =
          !open.name.empty() && (!open.function || (line.find("DEVICE") != std::string_view::npos && line.ends_with("}\n")));
      if (one_line || line == "}\n") found.push_back(std::exchange(open, {}));
    }
  }
  return found;
}

/// Of a function: calls it.
bool uses(std::string_view text, const Definition& definition) {
  const std::string_view name = definition.name;
  for (std::size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const char before = at > 0 ? text[at - 1] : ' ', after = at + name.size() < text.size() ? text[at + name.size()] : ' ';
    if (!in_name(before) && (definition.function ? after == '(' || after == '<' : !in_name(after))) return true;
  }
  return false;
}

}  // namespace

std::string device_text(std::string_view body) {
  static const std::vector<Definition> definitions = all_definitions();
  std::string kept;
  for (std::size_t d = definitions.size(); d-- > 0;)
    if (uses(body, definitions[d]) || uses(kept, definitions[d])) kept.insert(0, definitions[d].text);
  return kept;
}

}  // namespace heddle::codegen
