// Dumps damaged at random are read or refused with a fault in words; what is read can be audited, resolved and exported.
#include <catch2/catch.hpp>
#include <random>

#include "core/base/atomic_file.h"
#include "core/base/json.h"
#include "core/dump/audit.h"
#include "core/dump/audit_report.h"
#include "core/dump/dump_json.h"
#include "core/dump/export.h"
#include "core/dump/native.h"
#include "core/problem/resolve.h"
#include "tests/support/mutate_json.h"
#include "tests/support/paths.h"

using namespace heddle;
using namespace heddle::dump;

namespace {

constexpr std::uint64_t kSeed = 20260201;
constexpr int kMutations = 4000;

void require_spoken(const Error& error, const std::string& text) {
  bool spoken = !error.faults.empty();
  for (const Fault& fault : error.faults) spoken = spoken && !fault.message.empty() && fault.file.starts_with("fuzz.json");
  if (!spoken) FAIL("an error without a fault in words and its file, for:\n" << text);
}

}  // namespace

TEST_CASE("damaged dumps are read or refused, and what is read can be worked with", "[core]") {
  INFO("seed " << kSeed);
  std::mt19937_64 random(kSeed);
  std::vector<std::string> texts;
  for (const char* name : {"scores.schedule_graph.json", "scores.ddg.json", "flat.schedule_graph.json", "small.curated.json",
                           "cycles.joint.json", "groups.joint.json"})
    texts.push_back(read_file(test::repository_path(std::string("tests/dumps/") + name)).value());
  int good = 0, resolved = 0, exported = 0;
  for (int i = 0; i < kMutations; ++i) {
    const std::string text = test::mutate_json(texts[static_cast<std::size_t>(i) % texts.size()], random);
    is_dump_text(text);
    const auto dump = parse_dump(text, "fuzz.json");
    if (!dump) {
      require_spoken(dump.error(), text);
      continue;
    }
    ++good;
    const DumpAudit found = audit(*dump);
    if (audit_text(*dump, found, {}).empty()) FAIL("no text for:\n" << text);
    for (std::size_t l = 0; l < dump->loops.size(); ++l)
      for (const DumpReading reading : {DumpReading::Full, DumpReading::IssueSlots}) {
        const auto problem = resolve(to_kernel(*dump, dump->loops[l], reading), to_machine(*dump, dump->loops[l], reading));
        if (!problem) {
          require_spoken(problem.error(), text);
          continue;
        }
        ++resolved;
        auto schedule = to_schedule(*dump, dump->loops[l], *problem);
        if (!schedule) continue;
        schedule->ii += 1;
        for (Placement& p : schedule->ops) p.start += 3;
        if (const auto out = export_schedule_graph(text, *dump, l, *problem, *schedule)) {
          ++exported;
          if (const auto again = parse_json(*out, "fuzz.json"); !again) FAIL(to_string(again.error()) << "\nfor:\n" << text);
        }
        if (const auto out = export_joint_solution(*dump, *problem, *schedule); !out) require_spoken(out.error(), text);
      }
  }
  CHECK(good > 50);
  CHECK(resolved > 100);
  CHECK(exported > 20);
}
