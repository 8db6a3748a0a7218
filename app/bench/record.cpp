#include "app/bench/record.h"

#include <algorithm>

#include "core/formats/contention_reading_member.h"
#include "core/formats/members.h"

namespace heddle::app {
namespace {
constexpr const char* kBenchSchema = "heddle.bench/1";
}

template <class Io>
void visit(Io& io, StepRecord& s) {
  io.required("name", s.name, as::label, "of the step; its files are NAME.json and NAME.log");
  io.required("outcome", s.verdict.outcome, as::word("outcome", StepOutcome::Interrupted));
  io.always("finding", s.verdict.finding, "what was seen");
  io.optional("next", s.verdict.next, "what to look at");
  io.optional("readings", s.verdict.readings, as::list(as::part, 0, 10'000), "of the machine file's numbers of contention");
  io.always("seconds", s.seconds, as::real);
  io.always("date", s.date, "ISO 8601, UTC");
}

template <class Io>
void visit(Io& io, BenchRecord& r) {
  io.required("machine", r.machine, as::label);
  io.always("heddle", r.heddle, "version of the program");
  io.always("steps", r.steps);
}

const StepRecord* BenchRecord::find(const std::string& name) const {
  const auto found = std::find_if(steps.begin(), steps.end(), [&](const StepRecord& step) { return step.name == name; });
  return found == steps.end() ? nullptr : &*found;
}

void BenchRecord::keep(StepRecord step) {
  const auto place = std::find_if(steps.begin(), steps.end(), [&](const StepRecord& old) { return old.name == step.name; });
  if (place == steps.end())
    steps.push_back(std::move(step));
  else
    *place = std::move(step);
}

Json bench_schema() { return document_schema<BenchRecord>(kBenchSchema, "What heddle bench has found out"); }

std::string bench_text(const BenchRecord& record) { return document_json(kBenchSchema, record).pretty(); }

Result<BenchRecord> parse_bench(std::string_view text, const std::string& file) {
  return read_document<BenchRecord>(text, file, kBenchSchema, nullptr, read_members<BenchRecord>);
}

}  // namespace heddle::app
