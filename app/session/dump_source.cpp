#include "app/session/dump_source.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/analysis/period.h"
#include "core/check/checker.h"
#include "core/instance/instance.h"
#include "core/library/dump_text.h"

namespace heddle::app {
namespace {

constexpr int kMostDocuments = 32;

/// The one to begin with.
std::size_t usual_loop(const dump::Dump& dump) {
  const auto first = [&](auto wanted) { return std::find_if(dump.loops.begin(), dump.loops.end(), wanted); };
  auto it = first([](const dump::Loop& l) { return l.scheduled() && !l.outer; });
  if (it == dump.loops.end()) it = first([](const dump::Loop& l) { return l.scheduled(); });
  if (it == dump.loops.end()) it = first([](const dump::Loop& l) { return !l.nodes.empty(); });
  return static_cast<std::size_t>(it - dump.loops.begin());  // a dump has a loop with ops
}

}  // namespace

std::string DumpSource::name_of(std::size_t which) const {
  const dump::Dump& d = file->documents[which].dump;
  std::string name = fmt::format("{}#{},{}", file->path, the_loop().id, to_string(reading));
  if (d.variants > 0) name += fmt::format(",variant{}", d.variant);
  return name;
}

Result<DumpSource> read_dump_source(const std::string& name) {
  const Result<std::shared_ptr<const DumpText>> text = taken_for_dump(name);
  if (!text) return text.error();
  const DumpText::SharedDump meant = (*text)->document();
  if (!meant) return meant.error();
  const dump::Address& address = *(*text)->address();
  auto file = std::make_shared<DumpFile>();
  file->path = address.path;
  file->text = (*text)->text();
  DumpSource source;
  source.reading = (*text)->reading();
  const int count = std::max(1, (*meant)->variants);
  for (int variant = 0; variant < count; ++variant) {
    const bool wanted = variant == address.variant;
    if (variant >= kMostDocuments && !wanted) {
      ++file->left_out;
      continue;
    }
    const DumpText::SharedDump dump = wanted ? meant : (*text)->file()->document(variant);
    if (!dump) return dump.error();
    if (wanted) source.document = file->documents.size();
    file->documents.push_back({**dump, dump::audit(**dump)});
  }
  const dump::Dump& dump = file->documents[source.document].dump;
  source.loop = usual_loop(dump);
  if (address.loop) {
    const Result<const dump::Loop*> loop = dump::find_loop(dump, address);
    if (!loop) return loop.error();
    source.loop = static_cast<std::size_t>(*loop - dump.loops.data());
  }
  source.file = std::move(file);
  return source;
}

std::shared_ptr<const DumpVerdict> judge_stored(const DumpDocument& document, std::size_t index) {
  const dump::Loop& loop = document.dump.loops[index];
  const auto& audits = document.audit.loops;
  const auto audit = std::find_if(audits.begin(), audits.end(), [&](const dump::LoopAudit& a) { return a.loop == index; });
  if (!loop.scheduled() || audit == audits.end()) return nullptr;
  DumpVerdict verdict;
  const std::size_t broken = audit->broken.size() + audit->slot_conflicts.size();
  verdict.own = !audit->illegal() && !audit->unsustainable();
  std::string own = broken == 0 ? "it is legal" : fmt::format("it breaks {} rule{}", broken, broken == 1 ? "" : "s");
  if (audit->program.deadlock)
    own += fmt::format("{} its groups wait for each other", broken == 0 ? ", but" : " and");
  else if (audit->unsustainable())
    own += fmt::format("{} its groups sustain {} cycles, not the stated {}", broken == 0 ? ", but" : " and", audit->program.cycles(),
                       audit->stated_ii);
  std::string full;
  const auto problem = make_problem(
      spec_of(dump::to_kernel(document.dump, loop, dump::Reading::Full), dump::to_machine(document.dump, loop, dump::Reading::Full)));
  const auto schedule = problem ? dump::to_schedule(document.dump, loop, *problem) : std::nullopt;
  if (!schedule) {
    verdict.full = false;
    full = "it cannot be read";
  } else {
    const std::size_t count = check(*problem, *schedule, dump::problem_rules(document.dump, loop, *problem)).violations.size();
    const Period period = sustainable_period(*problem, *schedule);
    verdict.full = count == 0 && !period.deadlock;
    full = count == 0 ? "it is legal" : fmt::format("it breaks {} rule{}", count, count == 1 ? "" : "s");
    if (period.deadlock)
      full += " and deadlocks";
    else if (period.cycles() > schedule->ii)
      full += fmt::format(" and sustains {} cycles", period.cycles());
  }
  verdict.sentence =
      fmt::format("By the compiler's reading (issue slots) {}; by the full reading (occupancies, hand-offs, rings) {}.", own, full);
  return std::make_shared<const DumpVerdict>(std::move(verdict));
}

const char* short_name(dump::Reading reading) { return reading == dump::Reading::Full ? "full" : "issue slots"; }

const char* about(dump::Reading reading) {
  return reading == dump::Reading::Full
             ? "Heddle's reading: a unit is held for the op's occupancy, what crosses warp groups costs a hand-off, rings have credits."
             : "The compiler's own reading: a unit is reserved for issue slots only; no warp groups, hand-offs or rings.";
}

}  // namespace heddle::app
