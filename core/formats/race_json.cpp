#include "core/formats/race_json.h"

#include "core/base/atomic_file.h"
#include "core/formats/members.h"
#include "core/formats/schedule_text_member.h"

namespace heddle {
namespace {
constexpr const char* kRaceSchema = "heddle.race/1";
}

template <class Io>
void visit(Io& io, Racer& r) {
  const auto times = as::list(as::positive, 0, 1'000'000);
  io.part("racer");
  io.required("name", r.name, as::label);
  io.optional("also", r.also, as::list(as::label), "other names of the same program");
  io.optional("schedule_file", r.schedule_text, as::or_null(as::ScheduleText{}), "the schedule itself (heddle.schedule/1)");
  io.always("ii", r.ii);
  io.always("period", r.period, "by the model, cycles an iteration; 0: the machine has no numbers of contention");
  io.optional("cubin_hash", r.cubin_hash);
  io.optional("why_not", r.why_not, as::text, "why it has no times, or no more of them");
  io.always("cold_us", r.cold_us, times, "per launch, one number a round");
  io.always("sustained_us", r.sustained_us, times, "the same of launches without a pause");
  io.always("cycles", r.cycles, times, "of an iteration of the steady loop, a number for each round in which it was measured");
}

template <class Io>
void visit(Io& io, Race& r) {
  io.required("kernel", r.kernel, as::label);
  io.required("machine", r.machine, as::label);
  io.always("params", r.params);
  io.always("device", r.device, as::text);
  io.optional("host", r.host, as::text, "other machine that it ran on, as ssh knows it");
  io.always("heddle", r.heddle, "version of the program");
  io.always("command", r.command);
  io.always("date", r.date, "ISO 8601, UTC");
  io.always("ended", r.ended, "why it ended");
  io.always("settled", r.settled, "of each two neighbours, who is faster");
  io.always("rounds", r.rounds);
  io.always("seconds", r.seconds);
  io.required("racers", r.racers);
}

Json race_schema() { return document_schema<Race>(kRaceSchema, "A race of a kernel's programs on a GPU"); }

std::string race_text(const Race& race) {
  return document_text<Race>(document_json(kRaceSchema, race), {}, kRaceSchema, read_members<Race>);
}

Result<Race> parse_race(std::string_view text, const std::string& file_name, std::vector<Fault>* warnings) {
  return read_document<Race>(text, file_name, kRaceSchema, warnings, read_members<Race>);
}

Result<Race> read_race(const std::string& path, std::vector<Fault>* warnings) {
  const Result<std::string> text = read_file(path);
  return text ? parse_race(*text, path, warnings) : text.error();
}

}  // namespace heddle
