// Lines of text.
#include "tests/support/sweep_files.h"

#include <fmt/format.h>

#include "core/base/hash.h"
#include "core/base/json.h"
#include "core/formats/schedule_json.h"
#include "tests/support/small_problem.h"

namespace heddle::test {
namespace {

std::string schedule_line(const Problem& toy, Cycle ii) {
  Schedule schedule = ii == 2 ? place(toy, 2, {{0, 0}, {1, 0}, {3, 0}}) : place(toy, 3, {{0, 0}, {1, 0}, {2, 0}});
  derive_groups(toy, schedule);
  schedule.kernel = toy.kernel;
  schedule.machine = toy.machine;
  schedule.params = toy.params;
  return schedule_json(toy, schedule).line();
}

}  // namespace

std::string tuning_run(const std::string& kernel, const std::string& machine) {
  return fmt::format(
             R"({{"line":"run","schema":"heddle.tuning/1","kernel":"{}","machine":"{}","params":{{}},"objective":"cycles","unit":"cycles","fidelity":"solver","method":"baco","seed":0,"budget":8,)"
             R"("space":{{"schema":"heddle.space/1","parameters":[{{"name":"TILE","kind":"ordinal","values":[64,128,256],"log":true,"default":128}},)"
             R"({{"name":"stages","kind":"integer","low":1,"high":4,"default":2}},{{"name":"form","kind":"categorical","values":["plain","unrolled"],"default":"plain"}}]}},)"
             R"("configurations":24,"known_feasible":20,"lower_bound":100,"subject":"0123456789abcdef","command":"heddle tune {} {} --budget 8 --history h.jsonl"}})",
             kernel, machine, kernel, machine) +
         "\n";
}

std::string tuning_evaluation(int number, const std::string& config, const std::string& status, double value, const std::string& more) {
  return fmt::format(R"({{"line":"evaluation","number":{},"by":"{}","config":{{{}}},"fidelity":"solver","status":"{}"{}{}}})", number,
                     number == 1 ? "default" : "model", config, status, value > 0 ? fmt::format(",\"value\":{}", value) : std::string(),
                     more.empty() ? "" : "," + more) +
         "\n";
}

std::string tuning_end(const std::string& reason, bool proved) {
  return fmt::format("{{\"line\":\"end\",\"reason\":\"{}\",\"proved\":{}}}\n", reason, proved);
}

std::string toy_history(const Problem& toy) {
  return tuning_run() +
         tuning_evaluation(1, R"("TILE":128,"stages":2,"form":"plain")", "feasible", 150,
                           R"("label":"TILE=128 stages=2","ii":3,"stages":1,"seconds":0.5,"schedule":)" + schedule_line(toy, 3)) +
         tuning_evaluation(
             2, R"("TILE":256,"stages":2,"form":"plain")", "optimal", 102,
             R"("label":"TILE=256 stages=2","ii":2,"stages":2,"bound":100,"seconds":0.25,"schedule":)" + schedule_line(toy, 2)) +
         tuning_evaluation(3, R"("TILE":256,"stages":4,"form":"unrolled")", "refused", 0,
                           R"("why":"spills: 12 registers","seconds":1,"demands":["at most 4 stages"])") +
         tuning_evaluation(4, R"("TILE":64,"stages":1,"form":"plain")", "pruned", 0,
                           R"("bound":140,"why":"its bound of 140 is not below the best, 102","open":3,"excluded":17)") +
         tuning_end("budget", false);
}

std::string long_history(int count) {
  std::string text = tuning_run();
  for (int i = 1; i <= count; ++i) {
    const int tile = 64 << (i % 3), stages = 1 + i % 4;
    const bool fails = i % 11 == 0;
    text += tuning_evaluation(
        i, fmt::format(R"("TILE":{},"stages":{},"form":"{}")", tile, stages, i % 2 ? "plain" : "unrolled"),
        fails   ? "infeasible"
        : i % 3 ? "optimal"
                : "feasible",
        fails ? 0 : 100 + (i * 7919) % 1000,
        fails ? "\"why\":\"shared memory\"" : fmt::format("\"stages\":{},\"smem\":{},\"seconds\":0.01", stages, 1024 * stages * tile));
  }
  return text;
}

std::string batch_line(int job, int of, const std::string& status, const std::string& more, const std::string& batch) {
  return fmt::format(
             R"({{"job":{},"of":{},"batch":"{}","line":1,"id":"00000000000000bb","do":"solve","kernel":"toy_fig1","machine":"toy","params":{{}},"options":{{"max-stages":{}}},"status":"{}"{}}})",
             job, of, batch, job, status, more.empty() ? "" : "," + more) +
         "\n";
}

std::string journal_line(const std::string& line) {
  const std::string text = line.substr(0, line.find_last_not_of('\n') + 1);
  return Hash().add(text).hex() + " " + text + "\n";
}

}  // namespace heddle::test
