// Spaces, measurements, and the files of one JSON object per line: jobs, results, histories.
#include <fmt/format.h>

#include <algorithm>

#include "tests/strange/documents.h"

namespace heddle::strange {

Document space_document(Dice& dice, const Document& kernel) {
  Document parameters = Document::array(), constraints = Document::array();
  if (kernel.contains("params"))
    for (const Document& param : kernel["params"]) {
      if (!dice.chance(60)) continue;
      const std::int64_t value = param["value"];
      const Document name = param["name"];
      switch (dice.between(0, 1)) {
        case 0:
          parameters.push_back(
              {{"name", name}, {"kind", "integer"}, {"low", std::max<std::int64_t>(1, value - 1)}, {"high", value + dice.between(1, 3)}});
          break;
        default:
          parameters.push_back({{"name", name}, {"kind", "ordinal"}, {"values", {value, value + 1, value + 7}}, {"default", value}});
          break;
      }
      if (dice.chance(20)) parameters.back()["log"] = true;
      if (dice.chance(20)) constraints.push_back(fmt::format("{} % {} >= 0", name.get<std::string>(), dice.between(1, 3)));
    }
  for (const char* cap : {"groups", "stages", "warps", "registers", "smem", "tmem"})
    if (dice.chance(25)) {
      const std::int64_t low = dice.chance(80) ? dice.between(1, 3) : 16;
      Document p{{"name", cap}, {"kind", "integer"}, {"low", low}, {"high", low + dice.between(1, 3)}};
      if (dice.chance(20)) {
        p["prior"] = Document::array();
        for (std::int64_t n = p["high"].get<std::int64_t>() - low; n >= 0; --n) p["prior"].push_back(0.25);
      }
      parameters.push_back(p);
    }
  if (dice.chance(30)) parameters.push_back({{"name", "grid"}, {"kind", "categorical"}, {"values", {"tiles", "persistent"}}});
  if (dice.chance(20))
    parameters.push_back({{"name", "order"}, {"kind", "categorical"}, {"values", {"longest", "grid"}}, {"prior", {1, 1e-9}}});
  if (parameters.empty()) parameters.push_back({{"name", "stages"}, {"kind", "ordinal"}, {"values", {1}}});
  Document space{{"schema", "heddle.space/1"}, {"parameters", parameters}};
  if (!constraints.empty()) space["constraints"] = constraints;
  if (dice.chance(20)) space["name"] = "odd <space>";
  return space;
}

Document measurement_document(Dice& dice, const Problem& problem) {
  const auto number = [&]() -> Document {
    if (dice.chance(10)) return nullptr;
    return dice.chance(80) ? Document(static_cast<double>(dice.between(0, 100000)) / 7)
                           : Document(dice.pick({0, -5, std::int64_t{1} << 60}));
  };
  const auto length = [&]() -> Document {
    return dice.chance(80) ? Document(static_cast<double>(dice.between(0, 100000)) / 7)
                           : Document(dice.pick({std::int64_t{0}, std::int64_t{1} << 60}));
  };
  Document m{{"schema", "heddle.measurement/1"},
             {"kernel", problem.kernel},
             {"machine", problem.machine},
             {"status", dice.pick({"verified", "unverified", "wrong", "unstable", "timed-out", "faulted", "refused", "no-gpu"})}};
  if (!problem.params.empty()) m["params"] = problem.params;
  if (dice.chance(50)) m["predicted_ii"] = dice.odd(0, std::int64_t{1} << 50);
  if (dice.chance(50)) m["measured_ii"] = number();
  if (dice.chance(30)) m["device"] = {{"name", "GPU <x>"}, {"arch", "sm_90"}, {"sms", dice.odd(0, 2147483647)}, {"clock_mhz", number()}};
  if (dice.chance(90)) {
    Document ops = Document::array(), timeline = Document::array();
    for (const Op& op : problem.ops) {
      if (dice.chance(15)) continue;
      Document item{{"op", op.name},        {"group", "g"},       {"samples", dice.odd(0, 1000)}, {"start", number()},
                    {"duration", length()}, {"spread", length()}, {"predicted_start", number()},  {"predicted_duration", number()}};
      if (dice.chance(80)) item["observed_end"] = dice.chance(60);
      ops.push_back(item);
      const std::int64_t start = dice.between(0, 900);
      if (timeline.size() < 40)
        timeline.push_back(
            {{"op", op.name}, {"group", "g"}, {"iteration", dice.odd(0, 100)}, {"start", start}, {"end", start + dice.between(0, 2000)}});
    }
    m["profile"] = {{"median_us", number()},           {"plain_us", number()}, {"trusted", dice.chance(80)},
                    {"records", dice.odd(0, 1 << 20)}, {"ops", ops},           {"timeline", timeline}};
  }
  return m;
}

std::string job_lines(Dice& dice, const std::string& kernel, const std::string& machine, const std::vector<std::string>& schedules) {
  std::string text;
  for (std::int64_t n = dice.between(1, 3); n > 0; --n) {
    Document job{{"do", dice.pick({"solve", "analyze", "simulate", "show", "eval"})}, {"kernel", kernel}};
    if (dice.chance(30)) job["schema"] = "heddle.job/1";
    const std::string command = job["do"];
    if (command != "eval") job["machine"] = machine;
    if (!schedules.empty() && dice.chance(50)) job["do"] = "check", job["machine"] = machine, job["schedule"] = dice.pick(schedules);
    if (job["do"] == "solve" || job["do"] == "show" || job["do"] == "simulate") job["options"] = {{"timeout", 0.2}};
    if (job["do"] == "solve" && dice.chance(30)) job["each"] = {{"options", {{"max-stages", {{"from", 1}, {"to", 2}}}}}};
    if (dice.chance(10)) text += "# a remark\n\n";
    text += job.dump() + "\n";
  }
  return text;
}

std::vector<std::string> result_lines(Dice& dice) {
  const std::int64_t jobs = dice.between(1, 6), shards = dice.between(1, 3);
  std::vector<std::string> texts(static_cast<std::size_t>(shards));
  for (std::int64_t job = 1; job <= jobs; ++job) {
    if (dice.chance(5)) continue;  // missing
    Document line{{"job", job},
                  {"of", jobs},
                  {"batch", "0123456789abcdef"},
                  {"line", job},
                  {"id", fmt::format("{:016x}", job * 77)},
                  {"do", "solve"},
                  {"status", dice.pick({"proved", "feasible", "infeasible", "done", "negative", "unknown", "timeout", "out of memory",
                                        "crashed", "failed", "unavailable", "kernel failed"})}};
    if (dice.chance(50)) line["result"] = {{"ii", dice.odd(1, 99999)}, {"text", "a\nb"}};
    std::string& text = texts[static_cast<std::size_t>((job - 1) % shards)];
    text += line.dump() + "\n";
    if (dice.chance(5)) text += line.dump() + "\n";                               // repeated
    if (dice.chance(3)) line["status"] = "done", texts[0] += line.dump() + "\n";  // contradicted
  }
  return texts;
}

std::string history_lines(Dice& dice, const Document& space, const std::string& kernel, const std::string& machine) {
  Document run{{"line", "run"},
               {"schema", "heddle.tuning/1"},
               {"kernel", kernel},
               {"machine", machine},
               {"params", Document::object()},
               {"objective", "cycles"},
               {"unit", "cycles"},
               {"fidelity", dice.pick({"bound", "heuristic", "simulator", "solver"})},
               {"method", dice.pick({"baco", "random", "bandit", "exhaustive"})},
               {"seed", 0},
               {"budget", dice.odd(0, 1000)},
               {"space", space},
               {"configurations", nullptr},
               {"subject", "0123456789abcdef"},
               {"solver", "Z3"},
               {"heddle", "0"},
               {"command", "heddle tune <odd>"}};
  if (dice.chance(50)) run["lower_bound"] = dice.between(0, 5000);
  std::string text = run.dump() + "\n";
  for (std::int64_t n = dice.between(0, 4), i = 1; i <= n; ++i) {
    Document config = Document::object();
    for (const Document& p : space["parameters"]) {
      if (p["kind"] == "integer")
        config[p["name"]] = dice.between(p["low"], p["high"]);
      else
        config[p["name"]] = p["values"][static_cast<std::size_t>(dice.between(0, static_cast<std::int64_t>(p["values"].size()) - 1))];
    }
    Document e{{"line", "evaluation"},
               {"number", i},
               {"by", "sample"},
               {"config", config},
               {"fidelity", run["fidelity"]},
               {"status", dice.pick({"optimal", "feasible", "unknown", "pruned", "infeasible", "refused"})}};
    if (dice.chance(70)) e["value"] = dice.between(5000, 90000), e["bound"] = dice.between(0, 5000);
    if (dice.chance(50)) e["ii"] = dice.between(1, 900);
    if (dice.chance(30)) e["why"] = "because & <so>";
    text += e.dump() + "\n";
  }
  if (dice.chance(50))
    text +=
        Document{{"line", "end"}, {"reason", "budget"}, {"evaluations", 1}, {"proved", dice.chance(50)}, {"seconds", 1.5}}.dump() + "\n";
  return text;
}

}  // namespace heddle::strange
