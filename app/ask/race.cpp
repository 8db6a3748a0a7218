// Each program runs in a process of its own in each round, so that one that hangs or faults ends only itself.
#include "app/ask/race.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>

#include <fmt/chrono.h>

#include "app/ask/kernel.h"
#include "app/ask/subject.h"
#include "core/answers/race_table.h"
#include "core/answers/summary.h"
#include "core/base/clock.h"
#include "core/base/version.h"
#include "core/formats/race_json.h"
#include "core/formats/schedule_json.h"
#include "core/library/contenders.h"
#include "core/motion/motion.h"
#include "core/records/race_statistics.h"

namespace heddle::app {
namespace {

codegen::MeasureRequest measure_request_of(const Subject& subject, const RaceOptions& options, const Schedule& schedule,
                                           const codegen::Program& program) {
  codegen::MeasureRequest request{subject.instance.kernel(), subject.problem(), schedule, program, options.compile};
  request.compile.arch = program.arch;
  request.verify = options.verify;
  request.library = false;
  request.repeats = 2;
  request.launches = options.launches, request.warmups = options.warmups, request.blocks = 1;
  request.sustained_launches = options.sustained_launches;
  request.pause_seconds = options.pause_seconds;
  return request;
}

/// Or why there is none, in `why_not`; the error of an environment in which no text is compiled.
Result<RacerKernel> compiled_racer(const Subject& subject, const RaceOptions& options, const Schedule& schedule,
                                   const std::stop_token& stop, std::string& why_not) {
  const codegen::CompileQuestion question{subject.instance.kernel(), subject.problem(), schedule};
  WrittenKernel written = written_kernel(question, options.build);
  if (!written.emission) {
    why_not = written.refusals.empty() ? "no text can be written of it" : written.refusals.front().sentence;
    return RacerKernel{};
  }
  if (options.text_only) return RacerKernel{*std::move(written.program), {}};
  codegen::BuiltKernel text{std::move(written.build), *std::move(written.program), *std::move(written.emission), {}, {}, {}, {}};
  const codegen::CompileFunction compile = [&](const std::string& source, const std::string& arch) {
    codegen::CompileOptions with = options.compile;
    with.arch = arch;
    return codegen::compile_cuda(source, with);
  };
  Result<codegen::BuiltKernel> built = compiled_kernel(question, std::move(text), compile, stop, [](const std::string&) {});
  if (!built) {
    if (built.error().kind == ErrorKind::Environment) return built.error();
    why_not = built.error().faults.front().message;
    return RacerKernel{};
  }
  if (!built->faults.empty()) {
    why_not = built->faults.front().sentence;
    return RacerKernel{};
  }
  RacerKernel racer{std::move(built->program), {}};
  Result<codegen::PreparedRun> prepared = codegen::prepare_run(measure_request_of(subject, options, schedule, *racer.program));
  if (!prepared) return prepared.error();
  racer.prepared = *std::move(prepared);
  return racer;
}

void keep_times(Racer& racer, const Measurement& found) {
  if (found.status != RunStatus::Verified && found.status != RunStatus::Unverified) {
    racer.why_not = found.sentence.empty() ? to_string(found.status) : found.sentence;
    return;
  }
  if (!found.timing) return;
  const TimedKernel& times = found.timing->kernel;
  if (times.median_us > 0) racer.cold_us.push_back(times.median_us);
  if (times.sustained_us > 0) racer.sustained_us.push_back(times.sustained_us);
  if (found.timing->cycles_per_iteration > 0) racer.cycles.push_back(found.timing->cycles_per_iteration);
}

bool all_settled(const Race& race) {
  const std::vector<bool> settled = settled_neighbours(race.times());
  return std::all_of(settled.begin(), settled.end(), [](bool yes) { return yes; });
}

std::size_t running(const Race& race) {
  return static_cast<std::size_t>(std::count_if(race.racers.begin(), race.racers.end(), [](const Racer& r) { return r.why_not.empty(); }));
}

std::size_t settled_ranks(const Race& race) {
  const std::vector<bool> settled = settled_neighbours(race.times());
  return static_cast<std::size_t>(std::count(settled.begin(), settled.end(), true));
}

/// "round 3 of at most 40: fa3 leads 7 programs, 4 of 6 ranks are settled"
std::string round_text(const Race& race, const RaceOptions& options) {
  const Racer* first = race.winner();
  if (!first) return fmt::format("round {} of at most {}: no program is left", race.rounds, options.rounds);
  const std::size_t timed = ranked_by_median(race.times()).size();
  return fmt::format("round {} of at most {}: {} leads {}, {} of {} settled", race.rounds, options.rounds, first->name,
                     count_of(timed, "program"), settled_ranks(race), count_of(timed - 1, "rank"));
}

}  // namespace

bool add_racer(std::vector<RaceEntry>& entries, RaceEntry entry) {
  const auto same =
      std::find_if(entries.begin(), entries.end(), [&](const RaceEntry& known) { return same_program(known.schedule, entry.schedule); });
  if (same == entries.end()) {
    entries.push_back(std::move(entry));
    return true;
  }
  same->also.push_back(std::move(entry.name));
  return false;
}

std::vector<RaceEntry> known_racers(const Subject& subject) {
  std::vector<RaceEntry> entries{{"as given", *subject.schedule}};
  // A kernel of somebody else's may have the name of a shipped one.
  if (subject.allows(SourceUse::KernelText))
    for (Contender& contender : shelf_contenders(subject.problem()))
      if (contender.schedule) add_racer(entries, {std::move(contender.name), *std::move(contender.schedule)});
  return entries;
}

Result<std::vector<RaceEntry>> racers_of(const Race& race, const std::string& file, const Problem& problem) {
  std::vector<RaceEntry> entries;
  Error error;
  for (std::size_t i = 0; i < race.racers.size(); ++i) {
    const Racer& racer = race.racers[i];
    const std::string pointer = fmt::format("/racers/{}", i);
    if (racer.schedule_text.empty()) {
      error.faults.push_back({file, pointer, "has no schedule", "heddle race writes one for each program"});
      continue;
    }
    Result<Schedule> schedule = parse_schedule(racer.schedule_text, file, problem);
    if (schedule)
      entries.push_back({racer.name, *std::move(schedule), racer.also});
    else
      for (Fault fault : schedule.error().faults) {
        fault.pointer = pointer + "/schedule_file" + fault.pointer;
        error.faults.push_back(std::move(fault));
      }
  }
  if (!error.faults.empty()) return error;
  return entries;
}

Result<ReadyRace> ready_race(const Subject& subject, const RaceOptions& options, std::vector<RaceEntry> entries, const RaceWatch& watch) {
  const Problem& problem = subject.problem();
  ReadyRace ready;
  Race& race = ready.race;
  race.kernel = subject.instance.kernel().name, race.machine = problem.machine, race.params = problem.params, race.heddle = version();
  race.date = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  watch.hear({.line = fmt::format("writing and compiling {}", count_of(entries.size(), "program"))});
  for (RaceEntry& entry : entries) {
    if (watch.stop.stop_requested()) break;
    watch.hear({.doing = "the compiler is at work on " + entry.name});
    Schedule& schedule = entry.schedule;
    if (options.for_host) schedule.certificate.reset(), schedule.claim.reset(), schedule.params.clear(), schedule.machine.clear();
    Racer& racer = race.racers.emplace_back();
    racer.name = entry.name, racer.also = entry.also, racer.ii = schedule.ii, racer.schedule_text = schedule_text(problem, schedule);
    racer.why_not = entry.why_not;
    if (problem.contention.known) racer.period = motion::motion_of(problem, schedule).period.cycles();
    RacerKernel kernel;
    if (racer.why_not.empty()) {
      Result<RacerKernel> made = compiled_racer(subject, options, schedule, watch.stop, racer.why_not);
      if (!made) return made.error();
      kernel = *std::move(made);
    }
    if (kernel.prepared) {
      racer.cubin_hash = kernel.prepared->build.cubin_hash;
      for (const Racer& other : race.racers)
        if (&other != &racer && other.cubin_hash == racer.cubin_hash) racer.why_not = "the same machine code as '" + other.name + "'";
    }
    ready.kernels.push_back(std::move(kernel));
    ready.entries.push_back(std::move(entry));
  }
  return ready;
}

std::optional<Error> run_rounds(Race& race, const RaceOptions& options, const TimeRacer& timed, const RaceWatch& watch) {
  const Clock::time_point begin = Clock::now();
  const auto end = [&](const char* why) {
    race.ended = why;
    race.settled = race.rounds > 0 && all_settled(race);
    race.seconds = seconds_between(begin, Clock::now());
  };
  while (true) {
    if (watch.stop.stop_requested()) return end("interrupted"), std::nullopt;
    if (running(race) == 0) return end("no program is left"), std::nullopt;
    if (race.rounds > 0 && all_settled(race)) return end("ranks are settled"), std::nullopt;
    if (race.rounds >= options.rounds) return end("the last round"), std::nullopt;
    if (seconds_between(begin, Clock::now()) > options.race_seconds) return end("time is up"), std::nullopt;
    const std::vector<Racer> before = race.racers;
    for (std::size_t k = 0; k < race.racers.size(); ++k) {
      const std::size_t i = race.rounds % 2 == 0 ? k : race.racers.size() - 1 - k;
      if (!race.racers[i].why_not.empty()) continue;
      watch.hear({.doing = fmt::format("round {}: {}", race.rounds + 1, race.racers[i].name)});
      const Result<Measurement> found = timed(i, options.verify && race.rounds == 0);
      if (!found) return end("it could not be run"), found.error();
      if (watch.stop.stop_requested()) {  // half a round is none: times are compared round by round
        race.racers = before;
        break;
      }
      keep_times(race.racers[i], *found);
      if (found->status == RunStatus::NoGpu) return end("there is no GPU"), Error::environment(found->sentence);
    }
    if (watch.stop.stop_requested()) continue;
    ++race.rounds;
    watch.hear({.line = round_text(race, options)});
  }
}

RaceAnswer ask_race(const Subject& subject, const RaceOptions& options, ReadyRace ready, const RaceWatch& watch) {
  Race& race = ready.race;
  const auto timed = [&](std::size_t i, bool verify) -> Result<Measurement> {
    codegen::PreparedRun& prepared = *ready.kernels[i].prepared;
    if (!verify) prepared.plan.cases.clear(), prepared.plan.reference.reset();
    codegen::RunOptions run;
    run.limit_seconds = options.limit_seconds;
    run.stop = watch.stop;
    Result<codegen::RunResult> result = codegen::run_plan(prepared.plan, run);
    if (!result) return result.error();
    const auto request = measure_request_of(subject, options, ready.entries[i].schedule, *ready.kernels[i].program);
    Measurement found = codegen::measurement_of(request, prepared, std::move(*result));
    if (found.device) race.device = found.device->name;
    return found;
  };
  std::optional<Error> error = run_rounds(race, options, timed, watch);
  RaceAnswer answer = race_answer(std::move(race), ready.entries);
  answer.error = std::move(error);
  answer.cancelled = watch.stop.stop_requested();
  return answer;
}

RaceAnswer race_answer(Race race, const std::vector<RaceEntry>& entries) {
  RaceAnswer answer;
  answer.race = std::move(race);
  const Race& run = answer.race;
  if (const Racer* first = run.winner()) {
    const std::size_t timed = ranked_by_median(run.times()).size();
    answer.winner = entries[static_cast<std::size_t>(first - run.racers.data())].schedule;
    answer.winner->name = fmt::format("fastest of {}", timed);
    answer.winner->provenance.note =
        fmt::format("measured fastest of {} on {}{}, {}{}: {}", timed, run.device, run.host.empty() ? "" : " at " + run.host, run.date,
                    run.settled ? "" : " (ranks not settled)", first->name);
  }
  return answer;
}

Ended ended(const RaceAnswer& answer) {
  if (answer.cancelled) return Ending::Interrupted;
  return answer.race.settled ? Ending::Done : Ending::NoProof;
}

std::string told(const Subject& subject, const RaceAnswer& answer, const Telling& how) {
  const Race& race = answer.race;
  if (how.json()) return race_text(race);
  std::vector<std::vector<std::string>> rows;
  for (const RaceRow& row : race_rows(race))
    rows.push_back({row.rank, row.program, row.model, row.cycles, row.cold_us, row.sustained_us, row.settled, row.left_out});
  std::string text = problem_title(subject.problem()) + (race.device.empty() ? "" : " on " + printable(race.device)) +
                     (race.host.empty() ? "" : " at " + printable(race.host)) + "\n";
  text += text_table({{"rank"},
                      {"program"},
                      {"model", true},
                      {"cycles", true},
                      {"cold us", true},
                      {"sustained us", true},
                      {"before the next"},
                      {"left out"}},
                     rows, how.style.width);
  text += correlation_text(race) + "\n" + rounds_text(race) + "\n";
  return text;
}

}  // namespace heddle::app
