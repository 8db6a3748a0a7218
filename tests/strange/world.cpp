// Which documents a world has, and which of them Heddle reads.
#include "tests/strange/world.h"

#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/analysis/bounds.h"
#include "core/dump/dump_json.h"
#include "core/formats/changes_json.h"
#include "core/formats/constraints_json.h"
#include "core/formats/kernel_json.h"
#include "core/formats/machine_json.h"
#include "core/formats/measurement_json.h"
#include "core/formats/schedule_json.h"
#include "core/formats/space_json.h"
#include "core/formats/tuning_json.h"
#include "core/library/library.h"
#include "core/library/source.h"
#include "core/problem/resolve.h"
#include "tests/strange/documents.h"
#include "tests/support/random_schedule.h"

namespace heddle::strange {
namespace {

template <class T>
bool count(World& world, const std::string& kind, const Result<T>& result) {
  Share& share = world.shares[kind];
  ++share.made;
  if (result) {
    ++share.read;
    return true;
  }
  // Why, beside the file: whoever improves the generator wants to know.
  std::ofstream(world.path("refused.txt"), std::ios::app) << kind << ": " << to_string(result.error()) << "\n";
  return false;
}

std::optional<Problem> resolved(World& world, const std::string& kind, const Result<Kernel>& kernel, const Result<Machine>& machine) {
  if (!kernel || !machine) return std::nullopt;
  Result<Problem> problem = resolve(*kernel, *machine);
  return count(world, kind, problem) ? std::optional(std::move(*problem)) : std::nullopt;
}

/// Numbers of a shipped machine, moved.
Document moved_machine(Dice& dice, Document machine) {
  for (Document& unit : machine["units"])
    if (dice.chance(20)) unit["capacity"] = unit.value("capacity", std::int64_t{1}) + dice.between(0, 3);
  for (const auto& [key, value] : machine["limits"].items())
    if (dice.chance(10))
      machine["limits"][key] = std::max<std::int64_t>(1, value.get<std::int64_t>() * dice.pick({50, 90, 110, 200}) / 100);
  for (Document& rule : machine["rules"])
    if (dice.chance(10)) rule["latency"] = dice.between(0, 2000);
  machine["name"] = "moved";
  return machine;
}

void add_files_about(Dice& dice, World& world, Subject& subject, const Document& kernel) {
  const Problem& problem = *subject.problem;
  for (int n = 0; n < 2; ++n) {
    const std::string file = world.fresh("schedule", ".json");
    write_text(file, written(dice, schedule_document(dice, problem)));
    if (count(world, "schedule", read_schedule(file, problem))) subject.schedules.push_back(file);
  }
  {
    std::mt19937 random(static_cast<unsigned>(dice.next()));
    const std::string file = world.fresh("random", ".json");
    const Document schedule = Document::parse(schedule_text(problem, test::random_schedule(problem, random)));
    write_text(file, written(dice, dice.chance(50) ? disguised_schedule(dice, schedule, problem) : schedule));
    if (count(world, "schedule", read_schedule(file, problem))) subject.schedules.push_back(file);
  }
  {
    const std::string file = world.fresh("demands", ".json");
    write_text(file, written(dice, constraints_document(dice, problem)));
    if (count(world, "constraints", read_constraints(file, problem)) && read_changes(file)) world.constraints.push_back(file);
  }
  const std::string measurement = world.fresh("measurement", ".json");
  write_text(measurement, written(dice, measurement_document(dice, problem)));
  if (count(world, "measurement", read_measurement(measurement))) world.measurements.push_back(measurement);
  const Document space = space_document(dice, kernel);
  const std::string file = world.fresh("space", ".json");
  write_text(file, written(dice, space));
  if (count(world, "space", read_space(file))) world.spaces.push_back(file);
  const std::string history = world.fresh("history", ".jsonl");
  write_text(history, history_lines(dice, space, subject.words[0], subject.words[1]));
  if (count(world, "history", read_tuning(history))) world.histories.push_back(history);
  const std::string jobs = world.fresh("jobs", ".jsonl");
  write_text(jobs, job_lines(dice, subject.words[0], subject.words[1], subject.schedules));
  world.jobs.push_back(jobs);
}

Subject own_subject(Dice& dice, World& world) {
  const bool numbers = dice.chance(55);
  const bool toy = !numbers && dice.chance(10);
  const Document machine = toy ? Document::parse(read_text(*find_in_library(Shelf::Machines, "toy"))) : machine_document(dice);
  const Document kernel = numbers ? numbers_kernel(dice, machine) : executable_kernel(dice, machine);
  Subject subject;
  subject.words = {world.fresh("kernel", ".json"), world.fresh("machine", ".json")};
  write_text(subject.words[0], written(dice, kernel));
  write_text(subject.words[1], written(dice, machine));
  const Result<Kernel> read_k = read_kernel(subject.words[0]);
  const Result<Machine> read_m = read_machine(subject.words[1]);
  count(world, "kernel", read_k);
  count(world, "machine", read_m);
  if (!toy)
    subject.problem = resolved(world, "kernel on machine", read_k, read_m);
  else if (read_k && read_m)
    if (const auto problem = resolve(*read_k, *read_m)) subject.problem = *problem;
  if (kernel.contains("params"))
    for (const Document& param : kernel["params"]) subject.params.push_back(param["name"]);
  subject.computes = !numbers;
  for (const std::string& param : subject.params)
    if (!numbers && kernel["values"].dump().find('"' + param + '"') != std::string::npos) subject.tiles.push_back(param);
  world.kernels.push_back(subject.words[0]);
  world.machines.push_back(subject.words[1]);
  if (subject.problem) add_files_about(dice, world, subject, kernel);
  return subject;
}

Subject shipped_subject(Dice& dice, World& world) {
  struct Pair {
    const char *kernel, *machine;
  };
  static const std::vector<Pair> pairs{{"toy_fig1", "toy"},
                                       {"gemm_hopper", "h100"},
                                       {"gemm_hopper", "h200"},
                                       {"layernorm", "h100"},
                                       {"attention_forward_hopper", "h100"},
                                       {"gemm_short_k_hopper", "h100"},
                                       {"gemm_blackwell", "b200"},
                                       {"swiglu_dual_gemm_hopper", "h100"},
                                       {"gemm_fp8_hopper", "h100"},
                                       {"gemm_w4a16_hopper", "h100"},
                                       {"attention_forward_tile_hopper", "h100"}};
  const Pair& pair = dice.pick(pairs);
  Subject subject;
  subject.shipped = true;
  subject.words = {pair.kernel, pair.machine};
  const Document machine = Document::parse(read_text(*find_in_library(Shelf::Machines, pair.machine)));
  if (dice.chance(40)) {
    subject.words[1] = world.fresh("machine", ".json");
    write_text(subject.words[1], written(dice, moved_machine(dice, machine)));
    count(world, "machine", read_machine(subject.words[1]));
    world.machines.push_back(subject.words[1]);
  }
  const Result<Kernel> kernel = load_kernel(subject.words[0]);
  const Result<Machine> read = load_machine(subject.words[1]);
  if (kernel && read)
    if (const auto problem = resolve(*kernel, *read)) subject.problem = *problem;
  if (kernel)
    for (const Param& param : kernel->params) subject.params.push_back(param.name);
  for (const std::string& param : subject.params)
    if (param.find("TILE") != std::string::npos || param.find("ROWS") != std::string::npos) subject.tiles.push_back(param);
  subject.computes = true;
  for (const LibraryEntry& entry : list_library(Shelf::Schedules))
    if (entry.name.starts_with(std::string(pair.kernel) + "/")) subject.schedules.push_back(entry.name);
  if (subject.problem) {
    const std::string file = world.fresh("schedule", ".json");
    write_text(file, written(dice, schedule_document(dice, *subject.problem)));
    if (count(world, "schedule", read_schedule(file, *subject.problem))) subject.schedules.push_back(file);
  }
  return subject;
}

void add_project(Dice& dice, World& world, const Subject& about) {
  if (!about.problem) return;
  Subject subject = about;
  const std::string file = world.fresh("project", ".heddle.json");
  const auto source = [&](const std::string& word) { return std::filesystem::path(word).filename().string(); };
  write_text(file, written(dice, project_document(dice, *about.problem, source(about.words[0]), source(about.words[1]))));
  subject.words = {file};
  world.subjects.push_back(std::move(subject));
}

void add_dump(Dice& dice, World& world) {
  const DumpDocument document = dump_document(dice);
  const std::string file = world.fresh("dump", ".json");
  const std::string text = written(dice, document.dump);
  write_text(file, text);
  const Result<dump::Dump> dump = dump::parse_dump(text, file);
  if (!count(world, "dump", dump)) return;
  world.dumps.push_back(file);
  if (!document.solution.is_null()) {
    world.solutions.push_back(world.fresh("solution", ".json"));
    write_text(world.solutions.back(), document.solution.dump());
  }
  const dump::DumpLoop& loop = dice.pick(dump->loops);
  Subject subject;
  subject.dump = true;
  for (const dump::DumpLoop& each : dump->loops) subject.loops.push_back(each.id);
  std::string name = file;
  if (dump->loops.size() > 1 || dice.chance(30)) name += "#" + std::to_string(loop.id);
  if (dice.chance(20)) name += std::string(name.find('#') == std::string::npos ? "#" : ",") + (dice.chance(50) ? "full" : "issue-slots");
  subject.words = {name};
  subject.problem = resolved(world, "loop of a dump", load_kernel(name), load_machine(name));
  if (!document.solution.is_null())
    subject.schedules.push_back(world.solutions.back());
  else if (find_source(name)->has_own())
    subject.schedules.push_back(name);
  if (subject.problem && dice.chance(50)) {
    subject.schedules.push_back(world.fresh("schedule", ".json"));
    write_text(subject.schedules.back(), written(dice, schedule_document(dice, *subject.problem)));
    count(world, "schedule", read_schedule(subject.schedules.back(), *subject.problem));
  }
  world.subjects.push_back(std::move(subject));
}

}  // namespace

void write_text(const std::string& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

World make_world(Dice& dice, const std::string& folder) {
  World world;
  world.folder = folder;
  const int kind = static_cast<int>(dice.between(0, 9));
  if (kind <= 5) {
    world.subjects.push_back(own_subject(dice, world));
    if (dice.chance(40)) add_project(dice, world, world.subjects[0]);
  } else if (kind == 6) {
    world.subjects.push_back(shipped_subject(dice, world));
  }
  if (kind > 6 || dice.chance(10)) add_dump(dice, world);
  if (world.subjects.empty()) world.subjects.push_back(own_subject(dice, world));
  for (const std::string& text : result_lines(dice)) {
    world.results.push_back(world.fresh("results", ".jsonl"));
    write_text(world.results.back(), text);
  }
  return world;
}

void adopt(World& world, Subject& subject, const std::string& file) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(file, ignored) || std::filesystem::file_size(file, ignored) > (1u << 20)) return;
  const std::string text = read_text(file);
  const auto says = [&](const char* schema) {
    return text.substr(0, 4096).find(std::string("\"heddle.") + schema + "/1\"") != std::string::npos;
  };
  if (says("pareto"))
    world.fronts.push_back(file);
  else if (says("tuning"))
    world.histories.push_back(file);
  else if (says("space"))
    world.spaces.push_back(file);
  else if (says("measurement"))
    world.measurements.push_back(file);
  else if (says("constraints"))
    world.constraints.push_back(file);
  else if (says("schedule") && !file.ends_with(".heddle.json"))
    subject.schedules.push_back(file);
  else if (const auto source = says("") ? nullptr : compilers_file(file); source && source->kind() == SourceKind::Dump)
    world.dumps.push_back(file);
}

}  // namespace heddle::strange
