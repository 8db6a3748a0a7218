#include "ptx/report/show.h"

#include <fmt/format.h>

#include <algorithm>

#include "ptx/report/roles.h"
#include "ptx/report/steady.h"
#include "ptx/run/memory.h"

namespace heddle::ptx {
namespace {

std::string map_name(const PtxRecord& record, int map) {
  if (map < 0) return "bytes";
  const PlacedMap& placed = record.launch->maps[static_cast<std::size_t>(map)];
  return placed.map.name.empty() ? fmt::format("map at {}", placed.at) : placed.map.name;
}

/// A trip on one line: what repeats is said once, with how often.
std::string trip_text(const std::vector<RunEvent>& trip, const PtxRecord& record, const std::vector<PtxRing>& rings) {
  std::string line, last;
  int times = 0;
  const auto flush = [&] {
    if (last.empty()) return;
    if (!line.empty()) line += " | ";
    line += times > 1 ? fmt::format("{} x{}", last, times) : last;
  };
  for (const RunEvent& event : trip) {
    std::string text = event_text(event, record, rings);
    if (text == last) {
      ++times;
      continue;
    }
    flush();
    last = std::move(text);
    times = 1;
  }
  flush();
  return line;
}

}  // namespace

std::string event_text(const RunEvent& event, const PtxRecord& record, const std::vector<PtxRing>& rings) {
  const auto barrier = [&](std::uint64_t address) { return barrier_name(rings, address, record); };
  const auto place = [&](std::uint64_t address) {
    const std::string slot = slot_name(rings, address);
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
    case EventKind::TensorLoad: return fmt::format("load tmem ({} columns)", event.columns);
    case EventKind::TensorStore: return fmt::format("store tmem ({} columns)", event.columns);
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

std::string show_text(const PtxRecord& record, bool times) {
  const std::vector<PtxRing> rings = rings_of(record);
  std::string text;
  for (const PtxRole& role : roles_of(record)) {
    text += to_string(role, record);
    const std::optional<SteadyLoop> loop = steady_loop(record, role);
    if (!loop) {
      text += "\n";
      continue;
    }
    text += fmt::format(": loop of lines {} to {}, {} trips", record.at(loop->first).line, record.at(loop->last).line, loop->trips);
    if (times) text += fmt::format(", {} cycles each", loop->period / 1000);
    text += "\n    " + trip_text(loop->trip, record, rings) + "\n";
  }
  for (const PtxRing& ring : rings) {
    text += fmt::format("ring {}: {} {} of {} bytes from {}", ring.name, ring.slots.size(), ring.slots.size() == 1 ? "slot" : "slots",
                        ring.slot_bytes, ring.slots.empty() ? 0 : byte_of(ring.slots[0].begin));
    if (record.ctas > 1) text += fmt::format(" of CTA {}", ring.cta);
    text += fmt::format(", {} {}, lines", ring.copies, ring.copies == 1 ? "copy" : "copies");
    for (const int place : ring.places) text += fmt::format(" {}", record.at(place).line);
    text += "\n";
  }
  return text;
}

}  // namespace heddle::ptx
