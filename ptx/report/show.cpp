#include "ptx/report/show.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "ptx/report/steady.h"
#include "ptx/run/memory.h"

namespace heddle::ptx {
namespace {

std::vector<ShownStep> steps_of(const std::vector<RunEvent>& trip, const RunNames& names) {
  std::vector<ShownStep> steps;
  for (const RunEvent& event : trip) {
    std::string text = event_text(event, names);
    if (!steps.empty() && steps.back().text == text)
      ++steps.back().times;
    else
      steps.push_back({std::move(text), names.record.at(event.pc).line, source_of(names.record, event.pc), 1});
  }
  return steps;
}

ShownRole shown_role(const PtxRole& role, const RunNames& names, bool costs) {
  ShownRole shown;
  shown.name = to_string(role, names.record);
  shown.cta = role.cta;
  for (const int warp : role.warps) shown.warps.push_back(warp % std::max(1, names.record.warps_per_cta));
  const std::optional<SteadyLoop> loop = steady_loop(names, role);
  if (!loop) return shown;
  shown.trips = loop->trips;
  if (costs) shown.cycles = loop->period / kCycle;
  shown.first_line = names.record.at(loop->first).line;
  shown.last_line = names.record.at(loop->last).line;
  shown.trip = steps_of(loop->trip, names);
  return shown;
}

ShownRing shown_ring(const PtxRing& ring, const PtxRecord& record) {
  ShownRing shown{ring.name, ring.cta, {}, ring.copies, {}};
  for (const RingSlot& slot : ring.slots)
    shown.slots.push_back({byte_of(slot.begin), byte_of(slot.begin) + static_cast<std::int64_t>(slot.end - slot.begin),
                           slot.full == 0 ? -1 : std::int64_t{byte_of(slot.full)},
                           slot.empty == 0 ? -1 : std::int64_t{byte_of(slot.empty)}});
  for (const int place : ring.places) shown.lines.push_back(record.at(place).line);
  return shown;
}

}  // namespace

ShownRun shown_run(const RunNames& names, bool costs) {
  ShownRun run;
  run.ctas = names.record.ctas;
  for (const PtxRole& role : names.roles()) run.roles.push_back(shown_role(role, names, costs));
  for (const PtxRing& ring : names.rings()) run.rings.push_back(shown_ring(ring, names.record));
  return run;
}

std::string show_text(const ShownRun& run, int width) {
  std::string text;
  for (const ShownRole& role : run.roles) {
    text += role.name;
    if (role.trips == 0) {
      text += "\n";
      continue;
    }
    text += fmt::format(": loop of lines {} to {}, {} trips", role.first_line, role.last_line, role.trips);
    if (role.cycles > 0) text += fmt::format(", {} cycles each", role.cycles);
    std::vector<std::string> steps;
    for (const ShownStep& step : role.trip) steps.push_back(step.times > 1 ? fmt::format("{} x{}", step.text, step.times) : step.text);
    text += "\n" + wrapped(fmt::format("{}", fmt::join(steps, " | ")), "    ", width);
  }
  for (const ShownRing& ring : run.rings) {
    const ShownSlot first = ring.slots.empty() ? ShownSlot{} : ring.slots.front();
    std::string line = fmt::format("ring {}: {} of {} bytes from {}", ring.name,
                                   count_of(static_cast<std::int64_t>(ring.slots.size()), "slot"), first.end - first.begin, first.begin);
    if (run.ctas > 1) line += fmt::format(" of CTA {}", ring.cta);
    line += fmt::format(", {}, {} {}", count_of(ring.copies, "copy", "copies"), ring.lines.size() == 1 ? "line" : "lines",
                        fmt::join(ring.lines, " "));
    text += wrapped(line, "", width);
  }
  if (!run.rings.empty())
    text += wrapped(fmt::format("bytes of shared memory count from its beginning, where {} are reserved", kReservedShared), "", width);
  return text;
}

}  // namespace heddle::ptx
