// First all programs are chosen, written and compiled; then they run, each round in processes of their own, so that a program that hangs
// or faults ends only itself.
#include "app/ask/race.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <set>

#include <fmt/chrono.h>

#include "app/ask/kernel.h"
#include "app/ask/listener.h"
#include "app/ask/subject.h"
#include "codegen/run/measure.h"
#include "core/answers/summary.h"
#include "core/base/clock.h"
#include "core/base/quantile.h"
#include "core/base/version.h"
#include "core/formats/race_json.h"
#include "core/formats/schedule_json.h"
#include "core/library/contenders.h"
#include "core/motion/motion.h"
#include "core/records/race_statistics.h"
#include "solver/programs/least_program.h"

namespace heddle::app {
namespace {

struct RaceEntry {
  std::string name;
  Schedule schedule;
};

/// Which op follows which in a group's turn of the loop.
using Neighbours = std::set<std::pair<std::size_t, std::size_t>>;

Neighbours neighbours_of(const timing::LoopProgram& program) {
  Neighbours all;
  for (const std::vector<timing::StreamStep>& stream : program.streams)
    for (std::size_t i = 0; i < stream.size(); ++i) all.emplace(stream[i].op.index(), stream[(i + 1) % stream.size()].op.index());
  return all;
}

/// Of a's neighbours, those that stand in `b`, too.
std::size_t shared_neighbours(const Neighbours& a, const Neighbours& b) {
  return static_cast<std::size_t>(std::count_if(a.begin(), a.end(), [&](const auto& pair) { return b.contains(pair); }));
}

class RaceField {
 public:
  RaceField(const Subject& subject, const RaceOptions& options) : subject_(subject), options_(options) {}

  std::vector<RaceEntry> entries(const std::stop_token& stop, const std::function<void(std::string)>& doing) {
    take({"as given", *subject_.schedule});
    for (Contender& contender : shelf_contenders(subject_.problem()))
      if (contender.schedule) take({std::move(contender.name), *std::move(contender.schedule)});
    if (subject_.problem().contention.known && options_.best + options_.far > 0) take_models(stop, doing);
    return std::move(entries_);
  }

 private:
  /// False: the same program takes part already.
  bool take(RaceEntry entry) {
    if (std::any_of(entries_.begin(), entries_.end(), [&](const RaceEntry& e) { return same_program(e.schedule, entry.schedule); }))
      return false;
    entries_.push_back(std::move(entry));
    return true;
  }

  void take_models(const std::stop_token& stop, const std::function<void(std::string)>& doing) {
    std::vector<programs::KnownProgram> known;
    for (const RaceEntry& entry : entries_) known.push_back({entry.name, entry.schedule});
    programs::LeastOptions search;
    search.rules.constraints = subject_.constraints;
    search.rules.stages = options_.stages;
    search.seconds = subject_.limits.timeout_seconds;
    search.seed = subject_.limits.seed;
    search.top = 400, search.percent = kFarPercent;
    const auto progress = [&](const programs::EnumerationProgress& news) { doing(news.phase); };
    const std::vector<programs::Ranked> top = programs::least_program(subject_.problem(), known, search, stop, progress).top;
    std::vector<Neighbours> of, taken;
    for (const programs::Ranked& program : top) of.push_back(neighbours_of(program.program));
    std::vector<bool> used(top.size(), false);
    for (std::size_t i = 0, best = 0; i < top.size() && best < static_cast<std::size_t>(options_.best); ++i) {
      used[i] = true;
      if (!take_ranked(top[i], fmt::format("model {}", best + 1))) continue;
      taken.push_back(of[i]), ++best;
    }
    for (int far = 0; far < options_.far;) {
      // The one whose nearest relative is farthest; of equals the shorter.
      std::optional<std::size_t> next;
      std::size_t least = 0;
      for (std::size_t i = 0; i < top.size(); ++i) {
        if (used[i]) continue;
        std::size_t nearest = 0;
        for (const Neighbours& other : taken) nearest = std::max(nearest, shared_neighbours(of[i], other));
        if (!next || nearest < least) next = i, least = nearest;
      }
      if (!next) return;
      used[*next] = true;
      if (take_ranked(top[*next], fmt::format("far {}", far + 1))) taken.push_back(of[*next]), ++far;
    }
  }

  bool take_ranked(const programs::Ranked& program, const std::string& name) {
    programs::MadeSchedule made = programs::schedule_of(subject_.problem(), subject_.constraints, program);
    return made.schedule && take({name, *std::move(made.schedule)});
  }

  const Subject& subject_;
  const RaceOptions& options_;
  std::vector<RaceEntry> entries_;
};

/// A racer's kernel: with its results looked at, and without.
struct RacerKernel {
  std::optional<codegen::Program> program;
  std::optional<codegen::PreparedRun> prepared;
};

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

std::string number_or_none(double number, const char* format) { return number > 0 ? fmt::format(fmt::runtime(format), number) : "-"; }

}  // namespace

std::optional<Error> run_rounds(Race& race, const RaceOptions& options, const std::stop_token& stop, const TimeRacer& timed,
                                const std::function<void(std::string)>& doing) {
  const Clock::time_point begin = Clock::now();
  const auto end = [&](const char* why) {
    race.ended = why;
    race.settled = race.rounds > 0 && all_settled(race);
    race.seconds = seconds_between(begin, Clock::now());
  };
  while (true) {
    if (stop.stop_requested()) return end("interrupted"), std::nullopt;
    if (running(race) == 0) return end("no program is left"), std::nullopt;
    if (race.rounds > 0 && all_settled(race)) return end("ranks are settled"), std::nullopt;
    if (race.rounds >= options.rounds) return end("the last round"), std::nullopt;
    if (seconds_between(begin, Clock::now()) > options.race_seconds) return end("time is up"), std::nullopt;
    const std::vector<Racer> before = race.racers;
    for (std::size_t k = 0; k < race.racers.size(); ++k) {
      const std::size_t i = race.rounds % 2 == 0 ? k : race.racers.size() - 1 - k;
      if (!race.racers[i].why_not.empty()) continue;
      doing(fmt::format("round {}: {}", race.rounds + 1, race.racers[i].name));
      const Result<Measurement> found = timed(i, options.verify && race.rounds == 0);
      if (!found) return end("it could not be run"), found.error();
      if (stop.stop_requested()) {  // half a round is none: times are compared round by round
        race.racers = before;
        break;
      }
      keep_times(race.racers[i], *found);
      if (found->status == RunStatus::NoGpu) return end("there is no GPU"), Error::environment(found->sentence);
    }
    if (!stop.stop_requested()) ++race.rounds;
  }
}

RaceAnswer ask_race(const Subject& subject, const RaceOptions& options, std::stop_token stop, const Listener<RaceAnswer>& listener) {
  const auto doing = [&](std::string text) { listener.tell({.doing = std::move(text)}); };
  const Problem& problem = subject.problem();
  RaceAnswer answer;
  Race& race = answer.race;
  race.kernel = subject.instance.kernel().name, race.machine = problem.machine, race.params = problem.params, race.heddle = version();
  race.date = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  const std::vector<RaceEntry> entries = RaceField(subject, options).entries(stop, doing);
  std::vector<RacerKernel> kernels;
  for (const RaceEntry& entry : entries) {
    if (stop.stop_requested()) break;
    doing("the compiler is at work on " + entry.name);
    Racer& racer = race.racers.emplace_back();
    racer.name = entry.name, racer.ii = entry.schedule.ii, racer.schedule_text = schedule_text(problem, entry.schedule);
    if (problem.contention.known) racer.period = motion::motion_of(problem, entry.schedule).period.cycles();
    Result<RacerKernel> kernel = compiled_racer(subject, options, entry.schedule, stop, racer.why_not);
    if (!kernel) {
      answer.error = kernel.error();
      return answer;
    }
    if (kernel->prepared) {
      racer.cubin_hash = kernel->prepared->build.cubin_hash;
      for (const Racer& other : race.racers)
        if (&other != &racer && other.cubin_hash == racer.cubin_hash) racer.why_not = "the same machine code as '" + other.name + "'";
    }
    kernels.push_back(*std::move(kernel));
  }
  answer.error = run_rounds(
      race, options, stop,
      [&](std::size_t i, bool verify) -> Result<Measurement> {
        codegen::PreparedRun& prepared = *kernels[i].prepared;
        if (!verify) prepared.plan.cases.clear(), prepared.plan.reference.reset();
        codegen::RunOptions run;
        run.limit_seconds = options.limit_seconds;
        run.stop = stop;
        Result<codegen::RunResult> result = codegen::run_plan(prepared.plan, run);
        if (!result) return result.error();
        const auto request = measure_request_of(subject, options, entries[i].schedule, *kernels[i].program);
        Measurement found = codegen::measurement_of(request, prepared, std::move(*result));
        if (found.device) race.device = found.device->name;
        return found;
      },
      doing);
  answer.cancelled = stop.stop_requested();
  if (const Racer* first = race.winner()) {
    answer.winner = entries[static_cast<std::size_t>(first - race.racers.data())].schedule;
    answer.winner->name = fmt::format("fastest of {}", ranked_by_median(race.times()).size());
    answer.winner->provenance.note = fmt::format("measured fastest of {} on {}, {}{}: {}", ranked_by_median(race.times()).size(),
                                                 race.device, race.date, race.settled ? "" : " (ranks not settled)", first->name);
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
  const std::vector<std::vector<double>> times = race.times();
  const std::vector<std::size_t> order = ranked_by_median(times);
  const std::vector<bool> settled = settled_neighbours(times);
  std::vector<std::vector<std::string>> rows;
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    const Racer& r = race.racers[order[rank]];
    const bool last = rank + 1 == order.size();
    rows.push_back({fmt::format("{}", rank + 1), printable(r.name), number_or_none(r.period, "{:.1f}"),
                    number_or_none(median(r.cycles), "{:.1f}"), number_or_none(median(r.cold_us), "{:.2f}"),
                    number_or_none(median(r.sustained_us), "{:.2f}"),
                    last            ? ""
                    : settled[rank] ? "yes"
                                    : "not settled",
                    ""});
  }
  for (const Racer& r : race.racers)
    if (!r.why_not.empty())
      rows.push_back({"-", printable(r.name), number_or_none(r.period, "{:.1f}"), "-", "-", "-", "", printable(r.why_not)});
  std::string text = problem_title(subject.problem()) + (race.device.empty() ? "" : " on " + printable(race.device)) + "\n";
  text += text_table({{"rank"},
                      {"program"},
                      {"model", true},
                      {"cycles", true},
                      {"cold us", true},
                      {"sustained us", true},
                      {"before the next"},
                      {"left out"}},
                     rows, how.style.width);
  const std::optional<double> tau = race.correlation();
  text += tau ? fmt::format("model against measured: rank correlation {:.2f} (Kendall's tau-b)\n", *tau)
              : std::string("model against measured: nothing to compare\n");
  text += fmt::format("{} rounds in {:.0f} s; {}\n", race.rounds, race.seconds, race.ended);
  return text;
}

}  // namespace heddle::app
