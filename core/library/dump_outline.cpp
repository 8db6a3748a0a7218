// A dump in words: what it holds, which loops and readings there are to choose from.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "core/base/text_style.h"
#include "core/chart/chart_layout.h"
#include "core/dump/native.h"
#include "core/library/dump_text.h"

namespace heddle {
namespace {

std::string facts_of(const dump::DumpLoop& loop) {
  if (loop.nodes.empty()) return "no ops";
  std::string text = count_of(static_cast<std::int64_t>(loop.nodes.size()), "op");
  if (loop.stated_ii && loop.scheduled()) return text + fmt::format(" · II {}", grouped(*loop.stated_ii));
  if (loop.min_ii) return text + fmt::format(" · MinII {}", grouped(*loop.min_ii));
  return text + " · no schedule";
}

/// The loop that has this one as an op.
std::optional<std::int64_t> loop_around(const dump::Dump& dump, std::int64_t id) {
  for (const dump::DumpLoop& outer : dump.loops)
    for (const dump::DumpNode& n : outer.nodes)
      if (n.super && n.inner_loop == id && outer.id != id) return outer.id;
  return std::nullopt;
}

const char* word_of(dump::DumpReading reading) { return reading == dump::DumpReading::Full ? "full" : "issue slots"; }

const char* about_reading(dump::DumpReading reading) {
  return reading == dump::DumpReading::Full
             ? "Heddle's reading: a unit is held for the op's occupancy, what crosses warp groups costs a hand-off, rings have credits."
             : "The compiler's own reading: a unit is reserved for issue slots only; no warp groups, hand-offs or rings.";
}

}  // namespace

std::string DumpText::reading_name() const { return word_of(reading()); }

SourceOutline DumpText::outline() const {
  const dump::Dump& dump = the_dump();
  SourceOutline outline;
  outline.title = "DUMP";
  outline.file = printable(std::filesystem::path(path()).filename().string());
  if (dump.variants > 0) outline.file += fmt::format(" · {} variants", dump.variants);
  outline.format = to_string(dump.format);
  outline.about = fmt::format("{}{}; shared memory {} bytes, tensor memory {} bytes", outline.format,
                              dump.algorithm.empty() ? "" : ", made by " + printable(dump.algorithm), grouped(dump.smem_budget),
                              grouped(dump.tmem_budget));
  for (const dump::DumpLoop& loop : dump.loops) {
    std::string name = fmt::format("loop {}", loop.id);
    if (const auto around = loop_around(dump, loop.id)) name += fmt::format(" in {}", *around);
    outline.loops.push_back(
        {std::to_string(loop.id), std::move(name), facts_of(loop), {}, &loop == &the_loop(), FilePart{{}, loop.id, {}}});
  }
  for (const dump::DumpReading one : {dump::DumpReading::Full, dump::DumpReading::IssueSlots})
    outline.readings.push_back({to_string(one), word_of(one), {}, about_reading(one), reading() == one, FilePart{{}, {}, to_string(one)}});
  return outline;
}

}  // namespace heddle
