#include "ptx/report/show.h"

#include <fmt/format.h>

#include <algorithm>

#include "ptx/report/roles.h"
#include "ptx/report/spell.h"
#include "ptx/report/steady.h"
#include "ptx/run/memory.h"

namespace heddle::ptx {
namespace {

/// A trip on one line: what repeats is said once, with how often.
std::string trip_text(const std::vector<RunEvent>& trip, const RunNames& names) {
  std::string line, last;
  int times = 0;
  const auto flush = [&] {
    if (last.empty()) return;
    if (!line.empty()) line += " | ";
    line += times > 1 ? fmt::format("{} x{}", last, times) : last;
  };
  for (const RunEvent& event : trip) {
    std::string text = event_text(event, names);
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

std::string show_text(const PtxRecord& record, bool times) {
  const RunNames names(record);
  std::string text;
  for (const PtxRole& role : names.roles) {
    text += to_string(role, record);
    const std::optional<SteadyLoop> loop = steady_loop(record, role);
    if (!loop) {
      text += "\n";
      continue;
    }
    text += fmt::format(": loop of lines {} to {}, {} trips", record.at(loop->first).line, record.at(loop->last).line, loop->trips);
    if (times) text += fmt::format(", {} cycles each", loop->period / 1000);
    text += "\n    " + trip_text(loop->trip, names) + "\n";
  }
  for (const PtxRing& ring : names.rings) {
    text += fmt::format("ring {}: {} {} of {} bytes from {}", ring.name, ring.slots.size(), ring.slots.size() == 1 ? "slot" : "slots",
                        ring.slot_bytes(), ring.slots.empty() ? 0 : byte_of(ring.slots[0].begin));
    if (record.ctas > 1) text += fmt::format(" of CTA {}", ring.cta);
    text += fmt::format(", {} {}, lines", ring.copies, ring.copies == 1 ? "copy" : "copies");
    for (const int place : ring.places) text += fmt::format(" {}", record.at(place).line);
    text += "\n";
  }
  return text;
}

}  // namespace heddle::ptx
