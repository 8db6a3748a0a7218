#include "ptx/report/spell.h"

#include <fmt/format.h>

#include <charconv>

#include "ptx/judge/reference.h"
#include "ptx/run/memory.h"

namespace heddle::ptx {
namespace {

std::string spelled_one(char kind, std::uint64_t number, const SpelledNames& names) {
  const PtxRecord& record = names.record;
  switch (static_cast<ReferenceKind>(kind)) {
    case ReferenceKind::Warp: return role_of_warp(names.roles, record, static_cast<int>(number));
    case ReferenceKind::Place: {
      if (number >= record.function->code.size()) return "?";
      const PtxInstruction& at = record.at(static_cast<int>(number));
      return fmt::format("line {} ({})", at.line, at.row != nullptr ? at.row->words : at.mnemonic);
    }
    case ReferenceKind::Barrier: return barrier_name(names.rings, number, record);
    case ReferenceKind::Shared: {
      const std::string slot = slot_name(names.rings, number);
      return slot.empty() ? fmt::format("byte {}", byte_of(number)) : slot;
    }
    case ReferenceKind::Register:
      return number < record.function->registers.size() ? std::string(record.function->registers[number].name) : "?";
  }
  return "?";
}

/// Of a path its last part: what people call the file.
std::string_view file_name(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

}  // namespace

std::string spelled(std::string_view sentence, const SpelledNames& names) {
  std::string text;
  while (!sentence.empty()) {
    const std::size_t begin = sentence.find(kReferenceBegin);
    text += sentence.substr(0, begin);
    if (begin == std::string_view::npos) break;
    const std::size_t end = sentence.find(kReferenceEnd, begin);
    if (end == std::string_view::npos || end < begin + 3) break;
    std::uint64_t number = 0;
    std::from_chars(sentence.data() + begin + 2, sentence.data() + end, number);
    text += spelled_one(sentence[begin + 1], number, names);
    sentence.remove_prefix(end + 1);
  }
  return text;
}

std::string source_of(const PtxRecord& record, int pc) {
  if (pc < 0 || pc >= static_cast<int>(record.function->code.size())) return "";
  std::string text;
  int place = record.at(pc).place;
  // A chain of inlined places is short; a damaged text could make a circle of it.
  for (int depth = 0; place >= 0 && place < static_cast<int>(record.function->places.size()) && depth < 8; ++depth) {
    const SourcePlace& at = record.function->places[static_cast<std::size_t>(place)];
    const bool known = at.file >= 0 && at.file < static_cast<int>(record.module->files.size());
    const std::string_view file = known ? file_name(record.module->files[static_cast<std::size_t>(at.file)]) : "?";
    text += fmt::format("{}{}:{}", text.empty() ? "" : ", inlined at ", file, at.line);
    place = at.inlined_into;
  }
  return text;
}

}  // namespace heddle::ptx
