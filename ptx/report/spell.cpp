#include "ptx/report/spell.h"

#include <fmt/format.h>

#include <charconv>

#include "ptx/judge/reference.h"
#include "ptx/run/memory.h"

namespace heddle::ptx {
namespace {

std::string spelled_one(char kind, std::uint64_t number, const RunNames& names) {
  const PtxRecord& record = names.record;
  switch (static_cast<ReferenceKind>(kind)) {
    case ReferenceKind::Warp: return role_of_warp(names.roles(), record, static_cast<int>(number));
    case ReferenceKind::Place: {
      if (number >= record.function->code.size()) return "?";
      const PtxInstruction& at = record.at(static_cast<int>(number));
      return fmt::format("line {} ({})", at.line, at.row != nullptr ? at.row->words : at.mnemonic);
    }
    case ReferenceKind::Barrier: return names.barriers().of(number);
    case ReferenceKind::Shared: {
      const std::string slot = slot_name(names.rings(), number);
      return slot.empty() ? fmt::format("byte {}", byte_of(number)) : slot;
    }
    case ReferenceKind::Register:
      return number < record.function->registers.size() ? std::string(record.function->registers[number].name) : "?";
  }
  return "?";
}

std::string map_name(const PtxRecord& record, int map) {
  if (map < 0) return "bytes";
  const PlacedMap& placed = record.launch->maps[static_cast<std::size_t>(map)];
  return placed.map.name.empty() ? fmt::format("map at {}", placed.at) : placed.map.name;
}

/// Of a path its last part: what people call the file.
std::string_view file_name(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

}  // namespace

const std::vector<PtxRole>& RunNames::roles() const {
  if (!roles_) roles_ = roles_of(record);
  return *roles_;
}

const std::vector<PtxRing>& RunNames::rings() const {
  if (!rings_) rings_ = rings_of(record);
  return *rings_;
}

const BarrierNames& RunNames::barriers() const {
  if (!barriers_) barriers_.emplace(record, roles(), rings());
  return *barriers_;
}

const std::vector<int>& RunNames::events_of(int warp) const {
  if (events_.empty()) {
    events_.resize(static_cast<std::size_t>(record.warps_per_cta * record.ctas));
    for (std::size_t i = 0; i < record.trace->size(); ++i)
      events_[static_cast<std::size_t>((*record.trace)[i].warp)].push_back(static_cast<int>(i));
  }
  return events_[static_cast<std::size_t>(warp)];
}

std::string spelled(std::string_view sentence, const RunNames& names) {
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

std::string event_text(const RunEvent& event, const RunNames& names) {
  const PtxRecord& record = names.record;
  const auto barrier = [&](std::uint64_t address) { return names.barriers().of(address); };
  const auto place = [&](std::uint64_t address) {
    const std::string slot = slot_name(names.rings(), address);
    return slot.empty() ? fmt::format("{}", byte_of(address)) : slot;
  };
  switch (event.kind) {
    case EventKind::Wait: return "wait " + barrier(event.address);
    case EventKind::Arrive: return "arrive " + barrier(event.address);
    case EventKind::Expect: return fmt::format("expect {} bytes {}", event.amount, barrier(event.address));
    case EventKind::NamedSync: return fmt::format("sync {} ({} threads)", event.address, event.amount);
    case EventKind::NamedArrive: return fmt::format("arrive at {} ({} threads)", event.address, event.amount);
    case EventKind::ClusterArrive: return "cluster arrive";
    case EventKind::ClusterWait: return "cluster wait";
    case EventKind::Fence: return "fence";
    case EventKind::Registers: return fmt::format("registers {}", event.amount);
    case EventKind::Load:
      return fmt::format("LOAD {} ({})", event.map < 0 ? place(event.address) : map_name(record, event.map), event.amount);
    case EventKind::Store: return fmt::format("STORE {} ({})", map_name(record, event.map), event.amount);
    case EventKind::StoreCommit: return "commit stores";
    case EventKind::StoreWait: return fmt::format("wait stores <={}", event.amount);
    case EventKind::Copy: return fmt::format("COPY {}", place(event.address));
    case EventKind::CopyCommit: return "commit copies";
    case EventKind::CopyWait: return fmt::format("wait copies <={}", event.amount);
    case EventKind::Product: return fmt::format("MMA {}x{}x{}", event.rows, event.columns, event.depth);
    case EventKind::ProductFence: return "fence mma";
    case EventKind::ProductCommit: return event.barrier == 0 ? "commit mma" : "commit mma to " + barrier(event.barrier);
    case EventKind::ProductWait: return fmt::format("wait mma <={}", event.amount);
    case EventKind::TensorLoad: return fmt::format("load tmem ({} columns)", event.amount);
    case EventKind::TensorStore: return fmt::format("store tmem ({} columns)", event.amount);
    case EventKind::TensorWait: return "wait tmem";
    case EventKind::TensorCopy: return "copy to tmem";
    case EventKind::TensorAlloc: return fmt::format("allocate {} columns", event.amount);
    case EventKind::TensorFree: return "free columns";
    case EventKind::Arithmetic: return fmt::format("{} instructions", event.amount);
    case EventKind::SharedRead: return "read shared";
    case EventKind::SharedWrite: return "write shared";
    case EventKind::GlobalRead: return "read global";
    case EventKind::GlobalWrite: return "write global";
    case EventKind::Dependents: return "dependent launch";
    case EventKind::Exit: return "exit";
  }
  return "";
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
