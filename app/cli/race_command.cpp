// heddle race: programs of a kernel against each other on the GPU, here or on the host of --on, where those that are chosen and compiled
// here only run.
#include <algorithm>

#include <fmt/format.h>

#include "app/ask/race.h"
#include "app/ask/subject.h"
#include "app/cli/host_session.h"
#include "app/cli/lowering.h"
#include "app/cli/solving.h"
#include "app/command/called.h"
#include "app/command/commands.h"
#include "app/command/exit_code.h"
#include "app/command/interrupt.h"
#include "app/command/progress_line.h"
#include "codegen/run/driver.h"
#include "core/formats/constraints_json.h"
#include "core/formats/kernel_json.h"
#include "core/formats/machine_json.h"
#include "core/formats/race_json.h"
#include "core/formats/schedule_json.h"
#ifdef HEDDLE_HAS_SOLVER
#include "app/ask/race_field.h"
#endif

namespace heddle::app {
namespace {

RaceOptions race_options(const Arguments& arguments) {
  RaceOptions options;
  options.best = static_cast<int>(arguments.integer("--best").value_or(options.best));
  options.far = static_cast<int>(arguments.integer("--far").value_or(options.far));
  options.heuristics = !arguments.has("--no-heuristics");
  options.stages = static_cast<int>(arguments.integer("--max-stages").value_or(options.stages));
  options.rounds = static_cast<int>(arguments.integer("--rounds").value_or(options.rounds));
  if (const auto minutes = arguments.integer("--minutes")) options.race_seconds = 60.0 * static_cast<double>(*minutes);
  options.launches = static_cast<int>(arguments.integer("--launches").value_or(options.launches));
  options.warmups = static_cast<int>(arguments.integer("--warmups").value_or(options.warmups));
  options.sustained_launches = static_cast<int>(arguments.integer("--sustained").value_or(options.sustained_launches));
  options.verify = !arguments.has("--no-verify");
  options.build = build_options(arguments);
  options.compile.compiler = compiler_of(arguments);
  options.compile.cache = codegen::default_cache();
  return options;
}

/// How texts are written and rounds are run, as words again: who takes part is settled here.
std::vector<std::string> words_of_rounds(const Arguments& arguments) {
  std::vector<std::string> words;
  for (const char* flag : {"--no-verify", "--no-turns", "--least-rings"})
    if (arguments.has(flag)) words.emplace_back(flag);
  for (const char* flag :
       {"--rounds", "--minutes", "--launches", "--warmups", "--sustained", "--compiler", "--cluster", "--cut", "--groups"})
    for (const std::string& value : arguments.all(flag)) words.insert(words.end(), {flag, value});
  return words;
}

bool is_out(const Racer& racer) { return !racer.why_not.empty(); }

/// The programs of an earlier race. Its parameters and layouts become those of the inputs.
Result<std::vector<RaceEntry>> earlier_racers(const std::string& file, CommandInputs& inputs, std::vector<Fault>& warnings) {
  const Result<Race> race = read_race(file, &warnings);
  if (!race) return race.error();
  const auto refused = [&](const char* pointer, std::string message) {
    return Error{ErrorKind::Input, {{file, pointer, std::move(message), ""}}};
  };
  if (race->kernel != inputs.kernel().name)
    return refused("/kernel", fmt::format("the race is of kernel '{}', not '{}'", race->kernel, inputs.kernel().name));
  InstanceSpec spec = inputs.instance.spec();
  for (const auto& [name, value] : spec.params)
    if (const auto own = race->params.find(name); own != race->params.end() && own->second != value)
      return refused("/params", fmt::format("the race is of {}={}, not {}", name, own->second, value));
  spec.params = own_params(inputs.kernel(), race->params);
  if (!race->racers.empty() && !race->racers.front().schedule_text.empty()) {
    const Result<ScheduleHead> head = parse_schedule_head(race->racers.front().schedule_text, file);
    if (!head) return head.error();
    spec.choices = head->layouts;
  }
  Result<Instance> instance = make_instance(std::move(spec));
  if (!instance) return instance.error();
  inputs.instance = *std::move(instance);
  return racers_of(*race, file, inputs.problem());
}

class RaceCommand {
 public:
  RaceCommand(const Arguments& arguments, const Terminal& terminal)
      : arguments_(arguments), terminal_(terminal), json_(arguments.has("--json")), options_(race_options(arguments)) {}

  int run() {
    if (const int refused = refuse_words()) return refused;
    Result<CommandInputs> inputs = load_inputs(arguments_, terminal_);
    if (!inputs) return report(terminal_, inputs.error(), json_);
    std::vector<RaceEntry> entries;
    if (const auto file = arguments_.text("--racers")) {
      std::vector<Fault> warnings;
      Result<std::vector<RaceEntry>> earlier = earlier_racers(*file, *inputs, warnings);
      print_warnings(terminal_, warnings);
      if (!earlier) return report(terminal_, earlier.error(), json_);
      entries = *std::move(earlier);
    }
    int code = kDone;
    if (arguments_.has("--on")) {
      if (!host_.emplace(arguments_, terminal_).open(code)) return code;
    } else if (const auto driver = codegen::cuda::open_driver(); !driver.ok()) {
      return report(terminal_, driver.error(), json_);
    }
    std::optional<Schedule> schedule;
    if (!arguments_.has("--racers")) {
      schedule = schedule_to_show(*inputs, arguments_, terminal_, code);
      if (!schedule || code == kInterrupted) return code;
    }
    Subject subject = subject_with(*inputs, std::move(schedule));
    if (entries.empty() && subject.schedule) entries = field_of(subject);
    return race(subject, std::move(entries));
  }

 private:
  int refuse_words() const {
    for (const char* flag : {"--out", "--schedule"})
      if (const auto path = arguments_.text(flag))
        if (const int failed = expect_writable(terminal_, *path, json_)) return failed;
    if (const int refused = refuse_without_host(arguments_, terminal_)) return refused;
    if (arguments_.has("--racers") && arguments_.text("SCHEDULE"))
      return refuse(terminal_, "--racers says which programs run, and SCHEDULE another one; give one of them", json_);
    return kDone;
  }

  /// question(watch), heard on the terminal; Ctrl-C ends it with what is known.
  template <class Question>
  auto watched(const Question& question) const {
    const InterruptScope interrupt;
    ProgressLine line(terminal_);
    return question(RaceWatch{interrupt.token(), [&](const News& news) {
                                if (!news.doing.empty()) line.show({news.doing});
                                if (news.line.empty()) return;
                                // Where no line is redrawn, a round is news.
                                terminal_.err_is_tty ? line.say(news.line) : line.announce(news.line);
                              }});
  }

#ifdef HEDDLE_HAS_SOLVER
  Subject subject_with(const CommandInputs& inputs, std::optional<Schedule> schedule) const {
    Subject subject = subject_of(inputs, arguments_);
    subject.schedule = std::move(schedule);
    return subject;
  }
  std::vector<RaceEntry> field_of(const Subject& subject) const {
    return watched([&](const RaceWatch& watch) { return race_field(subject, options_, watch); });
  }
#else
  Subject subject_with(const CommandInputs& inputs, std::optional<Schedule> schedule) const {
    Subject subject{inputs.instance, inputs.constraints, std::move(schedule)};
    subject.source = inputs.source;
    return subject;
  }
  std::vector<RaceEntry> field_of(const Subject& subject) const { return known_racers(subject); }
#endif

  int race(const Subject& subject, std::vector<RaceEntry> entries) {
    std::vector<std::string> compiled;
    Result<std::string> compiler = std::string();
    if (host_) {
      compiler = codegen::find_compiler(options_.compile.compiler);
      options_.for_host = true, options_.text_only = !compiler.ok();
      options_.compile.entries = &compiled;
    }
    Result<ReadyRace> ready = watched([&](const RaceWatch& watch) { return ready_race(subject, options_, std::move(entries), watch); });
    if (!ready) return report(terminal_, ready.error(), json_);
    if (!host_ || std::all_of(ready->race.racers.begin(), ready->race.racers.end(), is_out))
      return tell(subject, watched([&](const RaceWatch& watch) { return ask_race(subject, options_, *std::move(ready), watch); }));
    std::vector<RemoteFile> files;
    if (compiler.ok())
      if (auto cubins = cubins_for_host(compiled, *compiler); cubins.ok()) files = *std::move(cubins);  // else it is compiled there
    int code = kDone;
    if (!race_there(subject.instance, std::move(files), ready->race, code)) return code;
    return tell(subject, race_answer(std::move(ready->race), ready->entries));
  }

  /// The rounds, on the host; false: there is no result, and it has been said why.
  bool race_there(const Instance& instance, std::vector<RemoteFile> files, Race& race, int& code) {
    Race sent = race;
    std::erase_if(sent.racers, is_out);
    files.push_back({"kernel.json", kernel_text(instance.kernel())});
    files.push_back({"machine.json", machine_text(instance.machine())});
    files.push_back({"race.json", race_text(sent)});
    std::vector<std::string> words{"race", "./kernel.json", "./machine.json", "--racers", "./race.json", "--json", "--no-color"};
    if (!instance.changes().empty()) {
      files.push_back({"changes.json", constraints_text({}, instance.changes())});
      words.insert(words.end(), {"--constraints", "./changes.json"});
    }
    const std::vector<std::string> rounds = words_of_rounds(arguments_);
    words.insert(words.end(), rounds.begin(), rounds.end());
    const auto child = host_->run(words, files, code);
    if (!child) return false;
    Result<Race> run = parse_race(child->out, host_->name());
    if (run && run->racers.size() != sent.racers.size())
      run = Error::environment(fmt::format("heddle on {} ran other programs", host_->name()), "is it of another version?");
    if (!run) {
      const bool ended = child->code == kDone || child->code == kNoProof;
      code = ended ? report(terminal_, run.error(), json_) : host_->passed_on(*child);
      return false;
    }
    auto next = run->racers.begin();
    for (Racer& racer : race.racers)
      if (!is_out(racer)) racer = std::move(*next++);
    race.host = host_->name(), race.device = run->device, race.ended = run->ended;
    race.settled = run->settled, race.rounds = run->rounds, race.seconds = run->seconds;
    return true;
  }

  /// To the terminal, then to the files that were asked for: a full disk must not cost a race.
  int tell(const Subject& subject, RaceAnswer answer) const {
    if (answer.error) return report(terminal_, *answer.error, json_);
    answer.race.command = arguments_.command_line;
    const Telling how{json_ ? Telling::Form::Json : Telling::Form::Text, terminal_.style};
    const std::string text = told(subject, answer, how);
    terminal_.out << (json_ ? text : as_called(text));
    if (const auto file = arguments_.text("--out"))
      if (const int failed = write_text(terminal_, *file, race_text(answer.race))) return failed;
    if (const auto file = arguments_.text("--schedule"); file && answer.winner)
      if (const int failed = write_text(terminal_, *file, schedule_text(subject.problem(), *answer.winner))) return failed;
    return exit_code(ended(answer));
  }

  const Arguments& arguments_;
  const Terminal& terminal_;
  const bool json_;
  RaceOptions options_;
  std::optional<HostSession> host_;
};

}  // namespace

int run_race(const Arguments& arguments, const Terminal& terminal) { return RaceCommand(arguments, terminal).run(); }

}  // namespace heddle::app
