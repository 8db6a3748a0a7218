// Measurements of the toy and what they are validated on, for tests of the session and the window: two rows that are a pair, one that a
// number was fitted to, one that nothing stands for and one of a machine that nobody knows.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "app/session/truth_state.h"
#include "core/formats/schedule_json.h"
#include "core/library/library.h"
#include "core/problem/resolve.h"
#include "tests/support/fake_solver.h"

namespace heddle::test {

class TruthFiles {
 public:
  TruthFiles() {
    std::filesystem::create_directories(folder_);
    const Problem problem = *resolve(*load_kernel("toy_fig1"), *load_machine("toy"));
    write("best.json", schedule_text(problem, toy_schedule(problem, true)));
    write("other.json", schedule_text(problem, toy_schedule(problem, false)));
    write_rows(row("fast", "gemm", 50, "best.json", 8, R"(, "pair": [{"than": "slow", "changes": "fewer trips"}])") +
               row("slow", "gemm", 20, "other.json", 80) +
               row("made", "attention_forward", 40, "best.json", 16, R"(, "fitted": "the toy")") + row("closed", "gemm", 1, "", 1) +
               row("elsewhere", "gemm", 1, "best.json", 1, "", "h2o"));
    write("ground.json", R"({"schema": "heddle.validation/1", "machines": [{"name": "toybox", "machine": "toy"}], "bands": []})");
  }
  ~TruthFiles() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  TruthFiles(const TruthFiles&) = delete;
  TruthFiles& operator=(const TruthFiles&) = delete;

  app::TruthTools tools() const { return {{path("rows.jsonl")}, path("ground.json")}; }
  void write_rows(const std::string& text) const { write("rows.jsonl", text); }
  /// `schedule`: best.json, other.json, "solved" where it names none, "" where nothing stands for it.
  std::string row(const std::string& id, const std::string& kernel, int tflops, const std::string& schedule, int trips,
                  const std::string& more = {}, const std::string& machine = "toybox") const {
    const std::string found = schedule == "solved" ? "" : R"("schedule": ")" + path(schedule) + R"(", )";
    const std::string stands =
        schedule.empty() ? "" : R"(, "heddle": {"kernel": "toy_fig1", )" + found + R"("params": {"T": )" + std::to_string(trips) + "}}";
    return R"({"id": ")" + id + R"(", "kind": "ablation", "kernel": ")" + kernel + R"(", "implementation": "toy", "machine": ")" + machine +
           R"(", "tflops": )" + std::to_string(tflops) + R"(, "problem": {"M": 100, "N": 100, "K": 100}, "source": "made up")" + stands +
           more + "}\n";
  }

 private:
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  void write(const std::string& name, const std::string& text) const { std::ofstream(path(name)) << text; }

  std::filesystem::path folder_ = std::filesystem::temp_directory_path() / ("heddle_truth_" + std::to_string(::getpid()));
};

}  // namespace heddle::test
