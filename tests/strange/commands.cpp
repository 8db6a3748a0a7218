// The recipes. What takes long is bounded here: seconds, counts, jobs. Everything else comes from the ranges of the command table.
#include "tests/strange/commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "solver/baselines/baselines.h"
#include "tests/strange/documents.h"

namespace heddle::strange {
namespace {

using app::CommandSpec;
using app::OptionSpec;
using app::PositionalSpec;
using app::PositionalType;
using app::ValueType;

struct Recipe {
  int weight;                               ///< how often, in comparison
  bool about_subject = true;                ///< its words begin with a subject's
  std::vector<std::string> leave_out = {};  ///< options that reach outside (clusters, GPUs) or take the machine away from others
};

const std::map<std::string, Recipe>& recipes() {
  static const std::map<std::string, Recipe> all{
      {"solve", {14}},
      {"check", {16}},
      {"audit", {8, false}},
      {"diff", {6}},
      {"compare", {4}},
      {"analyze", {10}},
      {"explain", {4}},
      {"slack", {6}},
      {"price", {3}},
      {"show", {9}},
      {"layout", {8}},
      {"simulate", {10}},
      {"traffic", {6}},
      {"validate", {2, false}},
      {"fit", {2, false}},
      {"export", {14}},
      {"emit", {5}},
      {"compile", {1}},
      {"interpret", {4}},
      {"run", {1, true, {"--on", "--package", "--remote-program"}}},
      {"race", {1, true, {"--on", "--package", "--remote-program"}}},
      {"profile", {1, true, {"--on", "--package", "--remote-program"}}},
      {"overlay", {2}},
      {"adopt", {3}},
      {"calibrate", {1, false, {"--on", "--package", "--remote-program"}}},
      {"bench", {1, false}},
      {"capture", {1, false}},
      {"eval", {8}},
      {"alternatives", {3}},
      {"latency", {3}},
      {"family", {2}},
      {"tune", {4}},
      {"sensitivity", {2}},
      {"pareto", {3}},
      {"period", {4}},
      {"paper", {3}},
      {"new", {6, false}},
      {"list", {1, false}},
      {"schema", {1, false}},
      {"completion", {1, false}},
      {"gui", {1, false}},
      {"version", {1, false}},
      {"help", {1, false}},
      {"merge", {3, false}},
      {"store", {2, false}},
      {"serve", {1, false, {"--memory"}}},
      {"batch", {1, false, {"--memory", "--slurm", "--shards", "--partition", "--time", "--mem", "--sbatch", "--dry-run"}}},
  };
  return all;
}

/// Seconds are short wherever one can say how long.
const std::set<std::string> kAlways{"--timeout", "--member-timeout", "--solve-timeout", "--relax-seconds", "--limit",
                                    "--budget",  "--interleavings",  "--count",         "--jobs",          "--pause"};

/// The most that is asked for of what takes time in proportion.
const std::map<std::string, std::int64_t> kMost{{"--interleavings", 20}, {"--count", 3},    {"--budget", 3},   {"--jobs", 2},
                                                {"--tiles", 3},          {"--repeats", 2},  {"--launches", 2}, {"--warmups", 2},
                                                {"--blocks", 2},         {"--sustained", 2}};

using Values = std::vector<std::string>;

struct Maker {
  Dice& dice;
  World& world;
  Subject& subject;
  Line& line;

  std::string value() { return subject.problem && !subject.problem->values.empty() ? dice.pick(subject.problem->values).name : "v"; }
  std::string op() { return subject.problem ? dice.pick(subject.problem->ops).name : "op"; }
  std::string schedule() { return subject.schedules.empty() || dice.chance(3) ? world.path("kernel0.json") : dice.pick(subject.schedules); }
  std::string one_of(const std::vector<std::string>& files) {
    return files.empty() || dice.chance(2) ? world.path("nothing.json") : dice.pick(files);
  }
  std::string output(const std::string& stem, const std::string& ending) {
    line.outputs.push_back(world.fresh(stem, ending));
    return line.outputs.back();
  }
  std::string written_file(const std::string& ending) { return dice.chance(12) ? "-" : output("out", ending); }
};

std::string layout_text(Dice& dice) {
  return dice.pick({"(64,64):(64,1)", "Sw<3,3,3> o (64,64):(64,1)", "Sw<3,3,4> o (64,128):(128,1)", "(64,64):(72,1)",
                    "(64,(8,8)):(64,(1,8))", "{register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []}",
                    "{offset = [[0, 1], [1, 0]]}", "{register = [[0, 1], [0, 1]]}", "Sw<9,9,20> o (64,64):(64,1)", "(64,64):(64", "(((((",
                    "#ttg.blocked<{order = [1, 0]}>"});
}

std::string access_name(Dice& dice) {
  return dice.pick(
      {"ldmatrix.x4", "ldmatrix.x1.trans", "stmatrix.x2", "ld.shared.16", "st.shared.8", "st.shared.1", "wgmma.ss.bf16", "mov"});
}

/// Whether the line is about a layout by itself.
bool by_itself(const Line& line) {
  return line.words.size() > 1 && line.words[0] == "layout" && line.words[1].find_first_of("(<{") != std::string::npos;
}

std::string ending_for(Dice& dice, const std::string& command) {
  if (command == "compare") return dice.pick({".html", ".csv", ".md", ".json", ".txt"});
  return dice.pick({".json", ".json", ".out", ".svg"});
}

/// By flag, for options whose values the table cannot know.
const std::map<std::string, std::function<std::string(Maker&)>>& value_makers() {
  static const std::map<std::string, std::function<std::string(Maker&)>> all{
      {"--out",
       [](Maker& m) { return m.line.command == "batch" ? m.output("out", ".jsonl") : m.written_file(ending_for(m.dice, m.line.command)); }},
      {"--param",
       [](Maker& m) {
         return fmt::format("{}={}", m.subject.params.empty() ? "P" : m.dice.pick(m.subject.params),
                            m.dice.chance(85) ? m.dice.between(1, 8) : m.dice.odd(-1, std::int64_t{1} << 40));
       }},
      {"--subtile",
       [](Maker& m) {
         return fmt::format("{}={}", m.subject.tiles.empty() ? "P" : m.dice.pick(m.subject.tiles), m.dice.pick({1, 2, 2, 4}));
       }},
      {"--constraints", [](Maker& m) { return m.one_of(m.world.constraints); }},
      {"--clock",
       [](Maker& m) {
         return m.dice.pick({"sustained", "max", "1200", "0", "fast"});
       }},
      {"--measured",
       [](Maker& m) {
         return m.dice.pick({"cublas_8192=700", "cublas_8192=-1", "cublas_8192", "none=1e300"});
       }},
      {"--kind",
       [](Maker& m) {
         return m.dice.pick({"gemm", "attention_forward_causal", "measurement", "gem"});
       }},
      {"--only",
       [](Maker& m) {
         return m.dice.pick({"gemm", "check", "gemm-small", "gem"});
       }},
      {"--schedules", [](Maker& m) { return m.output("folder", ""); }},
      {"--texts", [](Maker& m) { return m.one_of(m.world.constraints); }},
      {"--map", [](Maker& m) { return m.one_of(m.world.constraints); }},
      {"--launch", [](Maker& m) { return m.written_file(".json"); }},
      {"--ground", [](Maker& m) { return m.one_of(m.world.constraints); }},
      {"--racers", [](Maker& m) { return m.one_of(m.world.constraints); }},
      {"--source", [](Maker& m) { return m.one_of(m.world.constraints); }},
      {"--demand", [](Maker& m) { return m.subject.problem ? demand_sentence(m.dice, *m.subject.problem) : "iterations one by one"; }},
      {"--set", [](Maker& m) { return m.subject.problem ? change_text(m.dice, *m.subject.problem) : "groups=2"; }},
      {"--if", [](Maker& m) { return m.subject.problem ? change_text(m.dice, *m.subject.problem) : "groups=2"; }},
      {"--align",
       [](Maker& m) {
         return m.dice.chance(50) ? m.op() : m.dice.pick({"start", "most"});
       }},
      {"--op", [](Maker& m) { return m.op(); }},
      {"--scalar",
       [](Maker& m) {
         return m.dice.pick({"scale=0.25", "scale=", "weight=1e400", "=1", "scale=nan"});
       }},
      {"--kernel",
       [](Maker& m) {
         return m.dice.pick({"gemm", "attention_forward", "nothing"});
       }},
      {"--anchor", [](Maker& m) { return m.op(); }},
      {"--also", [](Maker& m) { return m.schedule(); }},
      {"--below", [](Maker& m) { return m.schedule(); }},
      {"--baseline", [](Maker& m) { return m.dice.pick(solver::baselines()).name; }},
      {"--switch",
       [](Maker& m) {
         return m.dice.pick({"normalize=off",
                             "u=17",
                             "table=occupancy",
                             "cost-list=ops",
                             "entries=multiset",
                             "tie-break=min-sum",
                             "floor=one",
                             "cluster=100",
                             "variable-latency=none",
                             "streaming=off",
                             "spill-cost=1",
                             "blocking=none",
                             "pool=warps",
                             "groups=3",
                             "same-warp=equal",
                             "concurrency=cycles",
                             "spill-concurrency=on",
                             "registers=1",
                             "register-charge=whole",
                             "cross-warp=never",
                             "same-cycle-guard=off"});
       }},
      {"--name",
       [](Maker& m) {
         return m.dice.pick({"mine", "a b", "x[1]", "-"});
       }},
      {"--out-dir", [](Maker& m) { return m.output("folder", ""); }},
      {"--emit-only", [](Maker& m) { return m.output("folder", ""); }},
      {"--vary",
       [](Maker& m) {
         const std::string param = m.subject.params.empty() ? "P" : m.dice.pick(m.subject.params);
         return m.dice.chance(40) || m.subject.params.empty()  ? "groups=1..2"
                : m.dice.chance(70) || m.subject.tiles.empty() ? param + "=1,2"
                                                               : "subtile:" + m.dice.pick(m.subject.tiles) + "=1,2";
       }},
      {"--space", [](Maker& m) { return m.one_of(m.world.spaces); }},
      {"--history", [](Maker& m) { return m.dice.chance(60) ? m.output("tuning", ".jsonl") : m.one_of(m.world.histories); }},
      {"--show", [](Maker& m) { return m.one_of(m.world.histories); }},
      {"--svg", [](Maker& m) { return m.output("picture", ".svg"); }},
      {"--png", [](Maker& m) { return m.output("picture", ".png"); }},
      {"--value", [](Maker& m) { return m.value(); }},
      {"--compare", [](Maker& m) { return by_itself(m.line)   ? layout_text(m.dice)
                                          : m.dice.chance(50) ? m.value()
                                                              : m.schedule(); }},
      {"--with", [](Maker& m) { return layout_text(m.dice); }},
      {"--layout", [](Maker& m) { return m.value() + "=" + layout_text(m.dice); }},
      {"--instruction",
       [](Maker& m) {
         return m.op() + "=" + access_name(m.dice) + m.dice.pick({"", "", ",2,3", ",-1,99"});
       }},
      {"--choose", [](Maker& m) { return m.dice.chance(60)   ? "all"
                                         : m.dice.chance(50) ? m.value()
                                                             : m.op(); }},
      {"--access", [](Maker& m) { return access_name(m.dice); }},
      {"--machine",
       [](Maker& m) {
         return m.dice.pick({"h100", "b200", "toy", "nowhere"});
       }},
      {"--type",
       [](Maker& m) {
         return m.dice.pick({"f16", "f32", "bf16", "f8e4m3", "i4", "f17"});
       }},
      {"--shape",
       [](Maker& m) {
         return m.dice.pick({"64,64", "64x128", "16,8", "64", "0,64", "64,64,64", "1,4194304"});
       }},
      {"--trace", [](Maker& m) { return m.output("trace", ".json"); }},
      {"--cuda", [](Maker& m) { return m.output("text", ".cu"); }},
      {"--schedule", [](Maker& m) { return m.output("solved", ".json"); }},
      {"--select", [](Maker& m) { return m.op(); }},
      {"--screenshot", [](Maker& m) { return m.output("window", ".png"); }},
      {"--size",
       [](Maker& m) {
         return m.dice.pick({"800x600", "0x0", "wide"});
       }},
      {"--do",
       [](Maker& m) {
         return m.dice.pick({"solve", "click:nothing", "list"});
       }},
      {"--pass",
       [](Maker& m) {
         return m.dice.pick({"tritongpu-pipeline", "tritongpu-schedule-loops:2", "x"});
       }},
      {"--shard", [](Maker& m) { return fmt::format("{}/{}", m.dice.between(1, 2), 2); }},
  };
  return all;
}

std::string seconds(Maker& m, const std::string& flag) {
  if (flag == "--pause") return "0.01";
  if (flag == "--limit") return m.dice.pick({"1", "3"});
  return m.dice.pick({"0.01", "0.05", "0.1", "0.2"});
}

std::string integer(Maker& m, const OptionSpec& option) {
  const auto most = kMost.find(option.flag);
  std::int64_t high = most == kMost.end() ? option.high : std::min(most->second, option.high);
  if (option.flag == "--ii") high = m.dice.chance(80) ? 2000 : option.high;
  if (option.flag == "--loop")
    return std::to_string(m.subject.loops.empty() || m.dice.chance(5) ? m.dice.between(0, 3) : m.dice.pick(m.subject.loops));
  return std::to_string(most == kMost.end() ? m.dice.odd(option.low, high) : m.dice.between(option.low, high));
}

void add_option(Maker& m, const OptionSpec& option) {
  std::string value;
  switch (option.type) {
    case ValueType::Switch:
      m.line.words.push_back(option.short_flag.empty() || m.dice.chance(50) ? option.flag : option.short_flag);
      return;
    case ValueType::Choice:
      value = m.dice.pick(option.choices);
      if (!m.subject.dump && (value == "schedule_graph" || value == "variants" || value == "joint-solver")) value = "svg";
      break;
    case ValueType::Integer: value = integer(m, option); break;
    case ValueType::Seconds: value = seconds(m, option.flag); break;
    default: value = value_makers().at(option.flag)(m); break;
  }
  if (m.dice.chance(20)) {
    m.line.words.push_back(option.flag + "=" + value);
  } else {
    m.line.words.push_back(option.flag);
    m.line.words.push_back(value);
  }
  const bool changes = option.flag == "--constraints" && read_text(value).find("\"changes\"") != std::string::npos;
  for (const char* flag : {"--param", "--subtile", "--set", "--groups", "--loop", "--reading", "--layout", "--instruction", "--choose"})
    if (option.flag == flag || (changes && flag == std::string_view("--set"))) m.line.numbers += " " + option.flag + "=" + value;
  for (const char* flag : {"--constraints", "--demand", "--max-stages"})
    if (option.flag == flag) m.line.demands += " " + option.flag + "=" + value;
}

bool forbidden(const Recipe& recipe, const std::string& flag) {
  return std::find(recipe.leave_out.begin(), recipe.leave_out.end(), flag) != recipe.leave_out.end();
}

/// Whether the subject has what the option is about. Else the line would end before it began.
bool fits(const Maker& m, const std::string& flag) {
  if (flag == "--param") return !m.subject.params.empty() && !m.subject.dump;
  if (flag == "--subtile") return !m.subject.tiles.empty() && m.dice.chance(30);
  if (flag == "--emitter" || flag == "--reading") return m.subject.dump;
  if (flag == "--loop") return m.subject.loops.size() > 1;
  if (flag == "--pass") return false;  // of logs of Triton's compiler, of which there are none here
  if (flag == "--constraints") return !m.world.constraints.empty();
  if (flag == "--space") return !m.world.spaces.empty();
  if (flag == "--show") return !m.world.histories.empty();
  if (flag == "--resume") return false;
  for (const char* only : {"--type", "--shape", "--access", "--with", "--machine"})
    if (flag == only) return by_itself(m.line);
  for (const char* only : {"--value", "--op", "--param", "--set", "--layout", "--instruction"})
    if (flag == only && by_itself(m.line)) return false;
  if (flag == "--also" || flag == "--below") return !m.subject.schedules.empty();
  return true;
}

void add_options(Maker& m, const CommandSpec& command, const Recipe& recipe) {
  const int likely = std::max(4, 250 / static_cast<int>(command.options.size() + 1));
  for (const OptionSpec& option : command.options) {
    if (forbidden(recipe, option.flag)) continue;
    const bool always = kAlways.contains(option.flag);
    const bool needed = (command.name == "export" && option.flag == "--format") || (command.name == "family" && option.flag == "--vary") ||
                        (command.name == "bench" && option.flag == "--list") ||  // measuring would take the GPU away from others
                        (command.name == "price" && option.flag == (m.subject.problem ? "--demand" : "--groups"));
    const bool json = option.flag == "--json" && m.dice.chance(45);
    // Numbers and demands apply to few subjects that they were not made for.
    if (!fits(m, option.flag) && !m.dice.chance(2)) continue;
    if (!always && !needed && !json && !m.dice.chance(likely)) continue;
    add_option(m, option);
    if (option.repeats && option.flag != "--param" && option.flag != "--subtile" && m.dice.chance(30)) add_option(m, option);
    if (option.flag == "--emitter") m.line.demands += " --emitter";
  }
  for (const OptionSpec& option : app::common_options())
    if (option.flag != "--help" ? m.dice.chance(8) : m.dice.chance(1)) add_option(m, option);
}

void add_positionals(Maker& m, const CommandSpec& command, const Recipe& recipe) {
  std::vector<std::string>& words = m.line.words;
  std::size_t first = 0;
  if (command.name == "layout" && m.dice.chance(50)) {
    words.push_back(layout_text(m.dice));
    return;
  }
  if (recipe.about_subject) {
    const bool whole = command.positionals.size() > 1 && command.positionals[1].type == PositionalType::Machine;
    words.push_back(m.subject.words[0]);
    first = 1;
    if (whole) {
      first = 2;
      if (m.subject.words.size() > 1) words.push_back(m.subject.words[1]);
    }
  }
  for (std::size_t i = first; i < command.positionals.size(); ++i) {
    const PositionalSpec& p = command.positionals[i];
    if (!p.required && m.dice.chance(p.type == PositionalType::Schedule ? 30 : 50)) break;
    switch (p.type) {
      case PositionalType::Kernel: words.push_back(m.one_of(m.world.kernels)); break;
      case PositionalType::Machine:
        words.push_back(m.dice.chance(70) ? m.one_of(m.world.machines) : m.dice.pick({"h100", "h200", "toy"}));
        break;
      case PositionalType::Schedule:
        if (m.subject.schedules.empty() && !p.required) return;
        words.push_back(m.schedule());
        break;
      case PositionalType::Choice: words.push_back(m.dice.pick(p.choices)); break;
      case PositionalType::Command: words.push_back(m.dice.pick(app::command_table()).name); break;
      case PositionalType::Name:
        words.push_back(p.name == "OP"                                 ? m.op()
                        : p.name == "MEASUREMENT" || p.name == "TRACE" ? m.one_of(m.world.measurements)
                                                                       : m.one_of(m.world.jobs));
        break;
      case PositionalType::Files:
        for (std::int64_t n = m.dice.between(1, 2); n > 0; --n)
          words.push_back(command.name == "audit"   ? m.one_of(m.world.dumps)
                          : command.name == "merge" ? m.one_of(m.world.results)
                                                    : m.schedule());
        if (command.name == "merge" && m.dice.chance(60)) {
          words.erase(words.begin(), words.end());
          words.push_back("merge");
          for (const std::string& file : m.world.results) words.push_back(file);
        }
        break;
      case PositionalType::Settings:
        for (std::int64_t n = m.dice.between(0, 4); n > 0; --n)
          words.push_back(m.dice.pick(p.choices) + (m.dice.chance(50)   ? std::to_string(64 * m.dice.between(0, 64))
                                                    : m.dice.chance(50) ? m.dice.pick({"yes", "no", "gelu", "none", "f16", "causal", "NK"})
                                                                        : std::to_string(m.dice.odd(-1, std::int64_t{1} << 40))));
        break;
    }
  }
}

bool sensible(const Maker& m, const std::string& name) {
  if (name == "audit") return !m.world.dumps.empty();
  if (name == "batch") return !m.world.jobs.empty();
  if (name == "adopt" || name == "overlay") return !m.world.measurements.empty();
  if (name == "check" || name == "diff") return !m.subject.schedules.empty();
  if (name == "eval" || name == "interpret" || name == "emit") return m.subject.computes;
  return true;
}

std::string draw_command(Dice& dice, const Maker& m) {
  int sum = 0;
  for (const auto& [name, recipe] : recipes()) sum += sensible(m, name) ? recipe.weight : 0;
  std::int64_t at = dice.between(0, sum - 1);
  for (const auto& [name, recipe] : recipes())
    if (sensible(m, name) && (at -= recipe.weight) < 0) return name;
  return "version";
}

}  // namespace

bool Line::has(const std::string& word) const { return std::find(words.begin(), words.end(), word) != words.end(); }

std::string Line::value(const std::string& flag) const {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == flag && i + 1 < words.size()) return words[i + 1];
    if (words[i].starts_with(flag + "=")) return words[i].substr(flag.size() + 1);
  }
  return {};
}

std::vector<std::string> missing_recipes() {
  std::vector<std::string> missing;
  for (const CommandSpec& command : app::command_table()) {
    const auto recipe = recipes().find(command.name);
    if (recipe == recipes().end()) {
      missing.push_back(command.name);
      continue;
    }
    for (const OptionSpec& option : command.options) {
      const bool free_form = option.type != ValueType::Switch && option.type != ValueType::Choice && option.type != ValueType::Integer &&
                             option.type != ValueType::Seconds;
      if (free_form && !value_makers().contains(option.flag) && !forbidden(recipe->second, option.flag))
        missing.push_back(command.name + " " + option.flag);
    }
  }
  for (const auto& [name, recipe] : recipes())
    if (!app::find_command(name)) missing.push_back(name + ", which is no command any more");
  return missing;
}

Line random_line(Dice& dice, World& world, const std::string& command) {
  Line line;
  line.subject = static_cast<std::size_t>(dice.between(0, static_cast<std::int64_t>(world.subjects.size()) - 1));
  Subject& subject = world.subjects[line.subject];
  Maker maker{dice, world, subject, line};
  line.command = command.empty() ? draw_command(dice, maker) : command;
  const CommandSpec& spec = *app::find_command(line.command);
  const Recipe& recipe = recipes().at(line.command);
  line.words.push_back(line.command);
  add_positionals(maker, spec, recipe);
  for (const std::string& word : subject.words) line.numbers += word + " ";
  add_options(maker, spec, recipe);
  if (subject.words[0].ends_with(".heddle.json")) line.demands += " of " + subject.words[0];
  return line;
}

}  // namespace heddle::strange
